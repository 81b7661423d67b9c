package exchange_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/exchange"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// synonymWords are what sets of synonyms are made of, so that many share one.
var synonymWords = []string{"ux", "user experience", "UI", "car", "auto-mobile", "Zoé", "boss", "tea", "茶", "chai"}

// synonymSets are the words of all sets, private ones apart.
func (w *world) synonymSets() (list []string) {
	for _, set := range w.mem.Synonyms(w.local) {
		list = append(list, fmt.Sprintf("%v %q", set.Private, set.Words))
	}
	return list
}

// live does something to the memories of a store.
func live(rt *rapid.T, w *world) {
	ctx := w.Context()
	w.now = w.now.Add(time.Second)
	var ids, contexts []string
	for _, m := range w.list() {
		ids = append(ids, m.ID)
	}
	for _, c := range w.mem.AllContexts(w.local) {
		contexts = append(contexts, c.ID)
	}
	one := func() string { return rapid.SampledFrom(append([]string{"none"}, ids...)).Draw(rt, "id") }
	statement := func() string {
		return rapid.SampledFrom([]string{
			"I like tea", "<b>tea</b> & \"coffee\"", "Ich trinke \u2028 Tee", "two\nlines", "\U0001F375",
		}).Draw(rt, "statement") + fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "n"))
	}
	var err error
	switch rapid.IntRange(0, 10).Draw(rt, "what") {
	case 0, 1, 2:
		d := memory.Draft{
			Statement: statement(), Private: rapid.Bool().Draw(rt, "private"), Pinned: rapid.Bool().Draw(rt, "pinned"),
			Tier: rapid.SampledFrom(record.Tiers).Draw(rt, "tier"), Contexts: contexts,
			Questions: []string{"What tea?"}, Tags: []string{"drinks/tea"}, Summary: "tea",
			Source: record.MemorySource{Kind: "user", Client: "notes"},
		}
		if rapid.Bool().Draw(rt, "with handle") {
			d.Handle = fmt.Sprintf("handle_%d", rapid.IntRange(0, 20).Draw(rt, "handle"))
		}
		if rapid.Bool().Draw(rt, "valid") {
			d.ValidFrom, d.Confidence = &w.now, ptr(rapid.Float64Range(0, 1).Draw(rt, "confidence"))
		}
		if rapid.Bool().Draw(rt, "supersedes") {
			d.Supersedes = []string{one()}
		}
		_, err = w.mem.Add(ctx, w.local, []memory.Draft{d})
	case 3:
		_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: one(), Statement: ptr(statement())}, nil)
	case 4:
		_, err = w.mem.Archive(ctx, w.local, one(), nil)
	case 5:
		_, err = w.mem.Retract(ctx, w.local, one(), nil)
	case 6:
		err = w.mem.Delete(ctx, w.local, one(), true, nil)
	case 7:
		_, err = w.mem.Use(ctx, w.local, []string{one()})
	case 8:
		c := memory.ContextDraft{Name: fmt.Sprintf("Context %d", w.ids), Private: rapid.Bool().Draw(rt, "private")}
		if len(contexts) > 0 && rapid.Bool().Draw(rt, "below") {
			c.ParentID = rapid.SampledFrom(contexts).Draw(rt, "parent")
		}
		_, err = w.mem.PutContext(ctx, w.local, c, nil)
	case 10:
		words := rapid.SliceOfNDistinct(rapid.SampledFrom(synonymWords), 2, 3, rapid.ID[string]).Draw(rt, "words")
		_, err = w.mem.PutSynonyms(ctx, w.local, words, rapid.Bool().Draw(rt, "private"))
	case 9:
		if len(contexts) > 0 {
			_, _, err = w.mem.DeleteContext(ctx, w.local, rapid.SampledFrom(contexts).Draw(rt, "context"), false)
		}
	}
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Conflict, fault.Invalid: // what is drawn need not be possible
	default:
		if err != nil {
			rt.Fatal(err)
		}
	}
}

// TestMEM11_AnExportIsLossless: whatever was done to the memories, their export into an empty store and out of it
// again is the same to the byte, and a second import of it takes nothing in.
func TestMEM11_AnExportIsLossless(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := open(t), open(t)
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			live(rt, from)
		}
		first := from.export(exchange.JSONL)
		out := to.take(first)
		if out.Left != 0 || out.Total != 0 || out.Same != 0 || out.Memories != len(from.list()) ||
			out.Synonyms != len(from.synonymSets()) {
			rt.Fatalf("taken in: %+v", *out)
		}
		if second := to.export(exchange.JSONL); second != first {
			rt.Fatalf("the export was\n%s\nand is\n%s", first, second)
		}
		before := to.db.Seq()
		out = to.take(first)
		if out.Memories+out.Contexts+out.Synonyms+out.Versions+out.Numbers+out.Total != 0 || out.Same == 0 && len(from.list()) > 0 {
			rt.Fatalf("taken in again: %+v", *out)
		}
		if to.export(exchange.JSONL) != first || to.db.Seq() != before {
			rt.Fatal("a second import changed something")
		}
		to.prefix = "next" // Numbers go on where they were.
		a, b := from.add(memory.Draft{Statement: "the next one"}), to.add(memory.Draft{Statement: "the next one"})
		if a.Number != b.Number {
			rt.Fatalf("the next number is %d, and was %d", b.Number, a.Number)
		}
	})
}

// TestMEM11_AnImportIntoAStoreWithMemories keeps the store whole, loses nothing of it, and says of each record of the
// file what has become of it.
func TestMEM11_AnImportIntoAStoreWithMemories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from, to := open(t), open(t)
		to.prefix = rapid.SampledFrom([]string{"m", "other"}).Draw(rt, "prefix")
		for range rapid.IntRange(0, 25).Draw(rt, "steps") {
			live(rt, from)
			live(rt, to)
		}
		had := to.list()
		hadContexts := len(to.mem.AllContexts(to.local))
		records := len(from.list()) + len(from.mem.AllContexts(from.local)) + len(from.synonymSets())
		sets := slices.Concat(from.mem.Synonyms(from.local), to.mem.Synonyms(to.local))
		text := from.export(exchange.JSONL)
		out := to.take(text)
		if out.Memories+out.Contexts+out.Synonyms+out.Same+out.Left != records {
			rt.Fatalf("of %d records: %+v", records, *out)
		}
		if n := len(to.list()); n != len(had)+out.Memories {
			rt.Fatalf("%d memories, want %d and %d", n, len(had), out.Memories)
		}
		if n := len(to.mem.AllContexts(to.local)); n != hadContexts+out.Contexts {
			rt.Fatalf("%d contexts, want %d and %d", n, hadContexts, out.Contexts)
		}
		for _, set := range sets {
			if !slices.ContainsFunc(to.mem.Synonyms(to.local), func(now *memory.Synonyms) bool {
				return now.Private == set.Private && len(memory.WithoutSynonyms(set.Words, now.Words)) == 0
			}) {
				rt.Fatalf("%q no longer mean the same: %q", set.Words, to.synonymSets())
			}
		}
		numbers := make(map[int64]bool)
		for _, m := range to.list() {
			if numbers[m.Number] {
				rt.Fatalf("the number %d is there twice", m.Number)
			}
			numbers[m.Number] = true
		}
		for _, m := range had {
			now, err := to.mem.Get(to.local, m.ID)
			if err != nil || now.Statement != m.Statement || now.Number != m.Number || now.Handle != m.Handle {
				rt.Fatalf("%+v became %+v: %v", m, now, err)
			}
		}
		again := to.take(text)
		if again.Memories+again.Contexts+again.Synonyms+again.Versions+again.Numbers != 0 || again.Left != out.Left {
			rt.Fatalf("taken in again: %+v, first %+v", *again, *out)
		}
	})
}
