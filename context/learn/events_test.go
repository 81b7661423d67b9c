package learn_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// world is a store with memories and a log of events.
type world struct {
	rapid.TB
	db            *kv.Store
	mem           *memory.Store
	log           *learn.EventLog
	local, remote *audience.View
}

func open(t rapid.TB) *world {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	w := &world{TB: t, db: db}
	w.must(err)
	ents, err := entities.Open(db, entities.Options{})
	w.must(err)
	ns, err := notes.Open(db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{Deleted: learn.ForgetInEvents})
	w.must(err)
	w.log = &learn.EventLog{DB: db, Store: w.mem}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) add(id string, private bool) {
	_, err := w.mem.Add(context.Background(), w.local, []memory.Draft{{ID: id, Statement: "statement of " + id, Private: private}})
	w.must(err)
}

func (w *world) append(e learn.Event) int64 {
	w.must(w.db.Update(context.Background(), func(tx *kv.Tx) error { return learn.AppendEvent(tx, &e) }))
	return e.Seq
}

func (w *world) list(v *audience.View, q learn.EventQuery) (seqs []int64, more bool) {
	list, more, err := w.log.List(context.Background(), v, q)
	w.must(err)
	seqs = []int64{}
	for _, e := range list {
		seqs = append(seqs, e.Seq)
	}
	return seqs, more
}

func (w *world) sound() {
	w.must(w.db.View(context.Background(), func(tx *kv.Tx) error {
		problems, err := learn.CheckEvents(tx)
		if len(problems) > 0 {
			w.Errorf("problems: %q", problems)
		}
		return err
	}))
}

func TestMEM53_AnEventSaysWhatChangedAndNoText(t *testing.T) {
	was := record.MemoryRecord{ID: "m1", Tier: record.TierWorking, Status: record.MemoryActive, Statement: "old", Confidence: 0.7, ConfidenceAt: noon}
	now := was
	now.Tier, now.Statement, now.TierSince, now.SupersededBy = record.TierHistory, "new", noon, "m2"
	used := record.MemoryUse{Worked: 1, Score: 0.7}
	c := learn.CompareMemory(&was, &now, &record.MemoryUse{}, &used)
	var e learn.Event
	learn.AddChange(&e, c)
	ptr := func(s string) *string { return &s }
	score, was1, worked, none := 0.7, 0.5, 1, 0
	var zero time.Time
	want := learn.Event{
		IDs:    []string{"m1"},
		Before: []record.LearnedMemory{{ID: "m1", Tier: ptr("working"), TierSince: &zero, Worked: &none, Score: &was1}},
		After:  []record.LearnedMemory{{ID: "m1", Tier: ptr("history"), TierSince: &noon, SupersededBy: ptr("m2"), Worked: &worked, Score: &score}},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
}

func TestMEM5_EventsOfADeletedMemoryAreGone(t *testing.T) {
	w := open(t)
	for _, id := range []string{"a", "b", "c"} {
		w.add(id, false)
	}
	by := "b"
	only := w.append(learn.Event{Kind: record.LearnedPromoted, At: noon, IDs: []string{"b"}})
	both := w.append(learn.Event{
		Kind: record.LearnedSuperseded, At: noon, IDs: []string{"a", "b"}, Before: []record.LearnedMemory{{ID: "a"}, {ID: "b"}},
		After: []record.LearnedMemory{{ID: "a", SupersededBy: &by, Evidence: []string{"b", "c"}}, {ID: "b", Contradicts: []string{"a"}}},
	})
	w.must(w.mem.Delete(t.Context(), w.local, "b", true, nil))
	list, _, err := w.log.List(t.Context(), w.local, learn.EventQuery{Limit: 10})
	w.must(err)
	want := []learn.Event{{
		Seq: both, Kind: record.LearnedSuperseded, At: noon, IDs: []string{"a"}, Before: []record.LearnedMemory{{ID: "a"}},
		After: []record.LearnedMemory{{ID: "a", Evidence: []string{"c"}}},
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if seqs, _ := w.list(w.local, learn.EventQuery{ID: "b", Limit: 10}); len(seqs) > 0 {
		t.Errorf("events %v of what is gone", seqs)
	}
	w.sound()
	if next := w.append(learn.Event{Kind: record.LearnedPromoted, At: noon, IDs: []string{"a"}}); next != both+1 || only != 1 {
		t.Errorf("event %d after %d", next, both)
	}
}

func TestPRIV1_AnEventOfAPrivateMemoryIsNotThere(t *testing.T) {
	w := open(t)
	w.add("open", false)
	w.add("secret", true)
	by := "secret"
	w.append(learn.Event{Kind: record.LearnedPromoted, At: noon, IDs: []string{"open"}, After: []record.LearnedMemory{{ID: "open", Evidence: []string{"message"}}}})
	w.append(learn.Event{Kind: record.LearnedPromoted, At: noon, IDs: []string{"secret"}})
	w.append(learn.Event{Kind: record.LearnedContested, At: noon, IDs: []string{"open", "secret"}})
	w.append(learn.Event{Kind: record.LearnedSuperseded, At: noon, IDs: []string{"open"}, After: []record.LearnedMemory{{ID: "open", SupersededBy: &by}}})
	for _, c := range []struct {
		view *audience.View
		id   string
		want []int64
	}{
		{w.local, "", []int64{4, 3, 2, 1}},
		{w.remote, "", []int64{1}},
		{w.local, "secret", []int64{4, 3, 2}},
		{w.remote, "secret", []int64{}},
		{w.remote, "open", []int64{1}},
	} {
		if got, _ := w.list(c.view, learn.EventQuery{ID: c.id, Limit: 10}); !slices.Equal(got, c.want) {
			t.Errorf("events of %q for %s: %v, want %v", c.id, c.view.Reader(), got, c.want)
		}
	}
	list, _, err := w.log.List(t.Context(), w.remote, learn.EventQuery{Limit: 1})
	w.must(err)
	if list[0].After[0].Evidence != nil {
		t.Errorf("a remote reader is shown %v, which may be private", list[0].After[0].Evidence)
	}
}

// TestMEM53_EventsAreListedAsTheyWere compares the log with a plain list, with deletions and few that are kept.
func TestMEM53_EventsAreListedAsTheyWere(t *testing.T) {
	const kept = 12
	defer learn.KeepOnly(kept)()
	rapid.Check(t, func(t *rapid.T) {
		w := open(t)
		defer func() { _ = w.db.Close() }()
		memories := []string{"a", "ab", "b", "c"}
		for _, id := range memories {
			w.add(id, false)
		}
		var model []learn.Event
		seq, now := int64(0), noon
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(memories) > 1 && rapid.IntRange(0, 9).Draw(t, "what") == 0 {
				i := rapid.IntRange(0, len(memories)-1).Draw(t, "gone")
				id := memories[i]
				memories = slices.Delete(memories, i, i+1)
				w.must(w.mem.Delete(context.Background(), w.local, id, true, nil))
				for j := range model {
					model[j].IDs = slices.DeleteFunc(model[j].IDs, func(x string) bool { return x == id })
				}
				model = slices.DeleteFunc(model, func(e learn.Event) bool { return len(e.IDs) == 0 })
				continue
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "hours")) * time.Hour)
			ids := rapid.SliceOfNDistinct(rapid.SampledFrom(memories), 1, len(memories), rapid.ID[string]).Draw(t, "ids")
			seq++
			e := learn.Event{Kind: record.LearnedPromoted, At: now, IDs: ids}
			if got := w.append(e); got != seq {
				t.Fatalf("event %d, want %d", got, seq)
			}
			e.Seq, e.IDs = seq, slices.Clone(ids)
			model = append(model, e)
			model = slices.DeleteFunc(model, func(e learn.Event) bool { return e.Seq <= seq-kept })
		}
		w.sound()
		q := learn.EventQuery{
			ID:     rapid.SampledFrom([]string{"", "", "a", "ab", "b"}).Draw(t, "of"),
			Before: rapid.Int64Range(0, seq+1).Draw(t, "before"), Limit: rapid.IntRange(1, 15).Draw(t, "limit"),
			Since: noon.Add(time.Duration(rapid.IntRange(0, 10).Draw(t, "since")) * time.Hour),
		}
		want := []int64{}
		for _, e := range slices.Backward(model) {
			if !e.At.Before(q.Since) && (q.Before == 0 || e.Seq < q.Before) && (q.ID == "" || slices.Contains(e.IDs, q.ID)) {
				want = append(want, e.Seq)
			}
		}
		more := len(want) > q.Limit
		want = want[:min(len(want), q.Limit)]
		if got, gotMore := w.list(w.local, q); !slices.Equal(got, want) || gotMore != more {
			t.Fatalf("%+v: %v, more %v, want %v, %v", q, got, gotMore, want, more)
		}
	})
}

func TestREL3_EventsFitAfterALoss(t *testing.T) {
	w := open(t)
	for i := range 3 {
		w.add(fmt.Sprint("m", i), false)
		w.append(learn.Event{Kind: record.LearnedPromoted, At: noon, IDs: []string{fmt.Sprint("m", i)}})
	}
	w.must(w.db.Update(t.Context(), func(tx *kv.Tx) error { return memory.Records.Delete(tx, "m1") }))
	w.must(w.db.View(t.Context(), func(tx *kv.Tx) error {
		if problems, err := learn.CheckEvents(tx); len(problems) != 1 || err != nil {
			t.Errorf("problems %q, %v", problems, err)
		}
		return nil
	}))
	w.must(w.db.Update(t.Context(), learn.MendEvents))
	w.sound()
	if got, _ := w.list(w.local, learn.EventQuery{Limit: 9}); !slices.Equal(got, []int64{3, 1}) {
		t.Errorf("events %v", got)
	}
}
