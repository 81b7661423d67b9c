package words

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	decl "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestPERF10_AGlossaryAgainstAMap counts words of all lengths in a glossary and in a
// map.
func TestPERF10_AGlossaryAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v glossary
		numbers := make(map[string]wordID)
		for range rapid.IntRange(1, 3).Draw(t, "notes") {
			from, weights := len(v.found), make(map[wordID]uint32)
			for range rapid.IntRange(0, 80).Draw(t, "words") {
				word := rapid.StringMatching(`[ab]{1,3}|a{1,20}b?|[ab]{15,18}|é{1,9}`).Draw(t, "word")
				if rapid.Bool().Draw(t, "soon") {
					v.countSoon([]byte(word), 2, from)
				} else {
					v.countBatch(2, from)
					v.count([]byte(word), 2, from)
				}
				id, known := numbers[word]
				if !known {
					id = wordID(len(numbers))
					numbers[word] = id
				}
				weights[id] += 2
			}
			v.countBatch(2, from)
			for word, id := range numbers {
				if string(v.bytes(id)) != word {
					t.Fatalf("%d is %q, want %q", id, v.bytes(id), word)
				}
			}
			if found := v.found[from:]; len(found) != len(weights) {
				t.Fatalf("found %v, want %v", found, weights)
			}
			for _, o := range v.found[from:] {
				if o.weight != weights[o.word] {
					t.Fatalf("found %v, want %v", v.found[from:], weights)
				}
			}
			if rapid.Bool().Draw(t, "forget") {
				v.forget(manyWords)
			}
		}
	})
}

// TestPERF10_ALongWordAfterManyShortOnes counts one when the table of long words is
// far too small for all words: it has to grow as far as it takes.
func TestPERF10_ALongWordAfterManyShortOnes(t *testing.T) {
	for _, short := range []int{30, 31, 32, 64, 127, 128, 129, 1000, 5000} {
		var v glossary
		for i := range short {
			v.count(fmt.Appendf(nil, "w%d", i), 1, 0)
		}
		long := []byte("internationalisation")
		v.count(long, 1, 0)
		v.count(long, 1, 0)
		if len(v.found) != short+1 || v.found[short].weight != 2 {
			t.Errorf("after %d short words: %d words found, want %d", short, len(v.found), short+1)
		}
	}
}

// TestPERF10_ManyWordsInAGlossary makes the tables grow.
func TestPERF10_ManyWordsInAGlossary(t *testing.T) {
	var v glossary
	word := func(i int) string { return strings.Repeat("w", i%25) + fmt.Sprint("-", i) }
	for range 2 {
		for i := range 20_000 {
			if id, _ := v.sighting([]byte(word(i))); int(id) != i || string(v.bytes(id)) != word(i) {
				t.Fatalf("%q has number %d", word(i), id)
			}
		}
	}
}

// TestPERF10_APanicBehindACommitIsHeardOf has the part of a large commit that nobody
// waits for break: the next commit ends the writing, as one that breaks itself does.
func TestPERF10_APanicBehindACommitIsHeardOf(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	defer func() { _ = db.Close() }() // it says that a view broke
	r := over(t, db, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "one"})
	words := []part{{new(reading), []change{{id: "b", now: notedoc.Of(&notes.Note{Note: decl.Note{ID: "b"}})}}}} // they are missing
	at := r.db.Seq() + 1
	r.db.OnPrepare(func(cs *kv.ChangeSet) {
		if cs.Seq == at {
			r.ahead.Put(at, &prepared{list: words[0].list, parts: words, partly: true})
		}
	})
	r.put(t, notes.Draft{ID: "b", Body: "two"})
	if s := r.db.Status(); s.Mode != "read-write" {
		t.Fatalf("%+v", s)
	}
	r.rlock() // until it is entered
	r.mu.RUnlock()
	r.put(t, notes.Draft{ID: "c", Body: "three"})
	if s := r.db.Status(); s.Mode != "read-only" {
		t.Errorf("%+v", s)
	}
	if _, err := r.notes.Put(ctx, notes.Draft{ID: "d", Body: "four"}, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a write after that: %v", err)
	}
}
