package kv_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

type record struct {
	Text string   `json:"text"`
	Tags []string `json:"tags,omitempty"`
}

var (
	notes  = kv.NewCollection[record]("note")
	things = kv.NewCollection[record]("note-thing") // a name that begins like the other
	ctx    = context.Background()
)

const dir = "/store"

// open opens a store on the disk, or in memory on none, and closes it with
// the test.
func open(t testing.TB, d *disk, opts kv.Options) *kv.Store {
	t.Helper()
	name := kv.InMemory
	if d != nil {
		name, opts.FS = dir, d
	}
	s, err := kv.Open(name, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t testing.TB, s *kv.Store, id, text string) {
	t.Helper()
	if err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, id, &record{Text: text}) }); err != nil {
		t.Fatal(err)
	}
}

// dump returns everything that a store holds.
func dump(t testing.TB, s *kv.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := s.View(ctx, func(tx *kv.Tx) error {
		for id, r := range notes.All(tx, "") {
			out[id] = r.Text
		}
		for id, r := range things.All(tx, "") {
			out["thing "+id] = r.Text
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantState(t testing.TB, s *kv.Store, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, dump(t, s)); diff != "" {
		t.Fatalf("state (-want +got):\n%s", diff)
	}
	if got := s.Status().Records; got != len(want) {
		t.Fatalf("Records = %d, want %d", got, len(want))
	}
}

func wantKind(t testing.TB, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error %v, want one of kind %v", err, kind)
	}
	return e
}

// stores runs a test in memory and on a disk.
func stores(t *testing.T, test func(t *testing.T, s *kv.Store)) {
	t.Run("memory", func(t *testing.T) { test(t, open(t, nil, kv.Options{})) })
	t.Run("disk", func(t *testing.T) { test(t, open(t, newDisk(), kv.Options{})) })
}

func TestReadsAndWrites(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		err := s.Update(ctx, func(tx *kv.Tx) error {
			for _, id := range []string{"b", "a", "c/d", "ä"} {
				if err := notes.Put(tx, id, &record{Text: "<" + id + ">", Tags: []string{id}}); err != nil {
					return err
				}
			}
			return things.Put(tx, "a", &record{Text: "other"})
		})
		if err != nil {
			t.Fatal(err)
		}
		wantState(t, s, map[string]string{"a": "<a>", "b": "<b>", "c/d": "<c/d>", "ä": "<ä>", "thing a": "other"})
		err = s.View(ctx, func(tx *kv.Tx) error {
			r, err := notes.Get(tx, "b")
			if err != nil || r == nil || !slices.Equal(r.Tags, []string{"b"}) {
				t.Errorf("Get b = %+v, %v", r, err)
			}
			if r, err := notes.Get(tx, "missing"); r != nil || err != nil {
				t.Errorf("Get missing = %+v, %v", r, err)
			}
			if ok, err := notes.Has(tx, "c/d"); !ok || err != nil {
				t.Errorf("Has c/d = %v, %v", ok, err)
			}
			if got := ids(notes, tx, ""); !slices.Equal(got, []string{"a", "b", "c/d", "ä"}) {
				t.Errorf("All = %q", got)
			}
			if got := ids(notes, tx, "c"); !slices.Equal(got, []string{"c/d"}) {
				t.Errorf("All c = %q", got)
			}
			for range notes.All(tx, "") {
				break
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func ids[T any](c kv.Collection[T], tx *kv.Tx, prefix string) []string {
	var out []string
	for id := range c.All(tx, prefix) {
		out = append(out, id)
	}
	return out
}

// The loop in an Update sees the transaction's own writes, also those that
// its body makes.
func TestScanInUpdate(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		const n = 1000 // several fetches
		err := s.Update(ctx, func(tx *kv.Tx) error {
			for i := range n {
				if err := notes.Put(tx, fmt.Sprintf("%04d", i), &record{Text: "old"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(ctx, func(tx *kv.Tx) error {
			for _, id := range []string{"0000", "0255", "0256", "0999"} {
				if err := notes.Delete(tx, id); err != nil {
					return err
				}
			}
			for _, id := range []string{"", "0100a", "0999b"} {
				if id == "" {
					id = "0"
				}
				if err := notes.Put(tx, id, &record{Text: "new"}); err != nil {
					return err
				}
			}
			seen := 0
			for id, r := range notes.All(tx, "0") {
				seen++
				if r.Text == "gone" {
					t.Errorf("%s was deleted by the loop", id)
				}
				r.Text = "seen"
				if err := notes.Put(tx, id, r); err != nil {
					return err
				}
				if id == "0500" {
					if err := notes.Delete(tx, "0501"); err != nil {
						return err
					}
				}
			}
			if want := n - 4 + 3 - 1; seen != want {
				t.Errorf("loop saw %d records, want %d", seen, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got := dump(t, s)
		if len(got) != n-4+3-1 {
			t.Errorf("%d records", len(got))
		}
		for id, text := range got {
			if text != "seen" {
				t.Errorf("%s = %q", id, text)
			}
		}
	})
}

func TestFailedUpdateLeavesNothing(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		put(t, s, "a", "1")
		boom := errors.New("boom")
		change := func(tx *kv.Tx) {
			_ = notes.Put(tx, "a", &record{Text: "2"})
			_ = notes.Put(tx, "b", &record{Text: "2"})
		}
		if err := s.Update(ctx, func(tx *kv.Tx) error { change(tx); return boom }); !errors.Is(err, boom) {
			t.Errorf("error %v", err)
		}
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Errorf("recovered %v", r)
				}
			}()
			_ = s.Update(ctx, func(tx *kv.Tx) error { change(tx); panic("boom") })
		}()
		done := make(chan struct{})
		go func() { // as t.Fatal in a transaction would
			defer close(done)
			_ = s.Update(ctx, func(tx *kv.Tx) error { change(tx); runtime.Goexit(); return nil })
		}()
		<-done
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		ran := func(*kv.Tx) error { t.Error("ran with a cancelled context"); return nil }
		if err := s.Update(cancelled, ran); !errors.Is(err, context.Canceled) {
			t.Errorf("Update: %v", err)
		}
		if err := s.View(cancelled, ran); !errors.Is(err, context.Canceled) {
			t.Errorf("View: %v", err)
		}
		wantState(t, s, map[string]string{"a": "1"})
		if s.Seq() != 1 {
			t.Errorf("Seq = %d", s.Seq())
		}
		put(t, s, "b", "3") // the writer lock is free
		wantState(t, s, map[string]string{"a": "1", "b": "3"})
	})
}

func TestMisuse(t *testing.T) {
	s := open(t, nil, kv.Options{})
	var old *kv.Tx
	for name, tc := range map[string]struct {
		kind fault.Kind
		fn   func(tx *kv.Tx) error
	}{
		"nil record": {fault.Internal, func(tx *kv.Tx) error { return notes.Put(tx, "a", nil) }},
		"no id":      {fault.Invalid, func(tx *kv.Tx) error { return notes.Put(tx, "", &record{}) }},
		"long id":    {fault.Limit, func(tx *kv.Tx) error { return notes.Put(tx, strings.Repeat("x", 5000), &record{}) }},
		"big transaction": {fault.Limit, func(tx *kv.Tx) error {
			big := kv.NewCollection("big", kv.Codec[string]{
				Encode: func(v *string) (string, error) { return *v, nil },
				Decode: func(s string) (*string, error) { return &s, nil },
			})
			v := strings.Repeat("x", 64<<20)
			for i := range 4 {
				if err := big.Put(tx, fmt.Sprint(i), &v); err != nil {
					return err
				}
			}
			return nil
		}},
		"unreadable": {fault.Internal, func(tx *kv.Tx) error {
			c := kv.NewCollection("c", kv.Codec[string]{
				Encode: func(v *string) (string, error) { return *v, nil },
				Decode: func(string) (*string, error) { return nil, errors.New("no") },
			})
			v := "x"
			return c.Put(tx, "a", &v)
		}},
		"unencodable": {fault.Internal, func(tx *kv.Tx) error {
			f := func() {}
			return kv.NewCollection[func()]("f").Put(tx, "a", &f)
		}},
		"kept transaction": {fault.Internal, func(tx *kv.Tx) error {
			if old == nil {
				_ = s.View(ctx, func(tx *kv.Tx) error { old = tx; return nil })
			}
			for range notes.All(old, "") {
				t.Error("read")
			}
			_, err := notes.Get(old, "a")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			st := s
			if name == "big transaction" {
				st = open(t, newDisk(), kv.Options{})
			}
			wantKind(t, st.Update(ctx, tc.fn), tc.kind)
			if st.Seq() != 0 {
				t.Error("something was written")
			}
		})
	}
	t.Run("write in View", func(t *testing.T) {
		wantKind(t, s.View(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "a", &record{}) }), fault.Internal)
	})
	t.Run("collection name", func(t *testing.T) {
		for _, name := range []string{"", "A", "1a", "a/b", "a b", "-a", "!format"} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%q was accepted", name)
					}
				}()
				kv.NewCollection[record](name)
			}()
		}
	})
}

// A stored record that can't be decoded ends a loop with an error.
func TestUnreadableRecord(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		put(t, s, "a", "1")
		broken := kv.NewCollection[int]("note") // the same records as numbers
		scan := func(tx *kv.Tx) error {
			for range broken.All(tx, "") {
				t.Error("yielded")
			}
			if tx.Err() == nil {
				t.Error("Tx.Err is nil")
			}
			return nil
		}
		wantKind(t, s.View(ctx, scan), fault.Internal)
		wantKind(t, s.Update(ctx, scan), fault.Internal)
		// It can be replaced and deleted all the same.
		var olds []any
		s.OnCommit(func(cs *kv.ChangeSet) { olds = append(olds, cs.Changes[0].Old) })
		seven := 7
		if err := s.Update(ctx, func(tx *kv.Tx) error { return broken.Put(tx, "a", &seven) }); err != nil {
			t.Fatal(err)
		}
		if len(olds) != 1 || olds[0] != nil {
			t.Errorf("Old = %v", olds)
		}
	})
}

func TestClosed(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		put(t, s, "a", "1")
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		never := func(*kv.Tx) error { t.Error("ran"); return nil }
		wantKind(t, s.Update(ctx, never), fault.Unavailable)
		wantKind(t, s.View(ctx, never), fault.Unavailable)
		_ = s.Snapshot(ctx)
		if st := s.Status(); st.Seq != 1 {
			t.Errorf("Status = %+v", st)
		}
	})
}

// TestREL8_AllThatComputesEndsAtOnce: no view waits for what another one computes that has not been told yet.
func TestREL8_AllThatComputesEndsAtOnce(t *testing.T) {
	stores(t, func(t *testing.T, s *kv.Store) {
		told := 0
		for range 2 {
			s.OnClose(func(bool) {
				if s.Closing().Err() != nil {
					told++
				}
			})
		}
		if err := s.Closing().Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil || told != 2 {
			t.Errorf("%d of 2 functions were called behind the end: %v", told, err)
		}
	})
}

// The time of the last transaction is known again after a start, unless only a
// snapshot holds it.
func TestWritten(t *testing.T) {
	d := newDisk()
	put := func(s *kv.Store, id string) {
		t.Helper()
		if err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, id, &record{Text: id}) }); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, d, kv.Options{SnapshotAfter: -1})
	if at := s.Written(); !at.IsZero() {
		t.Errorf("an empty store was written at %v", at)
	}
	var told time.Time
	s.OnCommit(func(cs *kv.ChangeSet) { told = cs.Time })
	put(s, "a")
	put(s, "b")
	if at := s.Written(); at.IsZero() || !at.Equal(told) {
		t.Errorf("written at %v, the change set says %v", at, told)
	}
	again := func() *kv.Store {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, d, kv.Options{SnapshotAfter: -1})
		return s
	}
	if at := again().Written(); !at.Equal(told) {
		t.Errorf("after a start written at %v, want %v", at, told)
	}
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if at := again().Written(); !at.IsZero() {
		t.Errorf("a snapshot knows that it was written at %v", at)
	}
}

func TestStatus(t *testing.T) {
	mem := open(t, nil, kv.Options{}).Status()
	if mem.Mode != "read-write" || mem.Durability != "memory" {
		t.Errorf("in memory: %+v", mem)
	}
	d := newDisk()
	s := open(t, d, kv.Options{Now: func() time.Time { return time.Unix(7, 0) }})
	put(t, s, "a", "1")
	st := s.Status()
	if st.Durability != "strict" || st.Seq != 1 || st.Records != 1 || st.JournalBytes == 0 || !st.Recovered.Clean {
		t.Errorf("on disk: %+v", st)
	}
	if err := s.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if st := s.Status(); st.SnapshotSeq != 1 || st.JournalBytes != 0 {
		t.Errorf("after a snapshot: %+v", st)
	}
	put(t, s, "b", "1")
	s2 := open(t, d.restart(), kv.Options{})
	if st := s2.Status(); st.Recovered.Clean || st.Recovered.Replayed != 1 || st.Recovered.Lost != 0 || st.SnapshotSeq != 1 {
		t.Errorf("after a kill: %+v", st)
	}
	wantState(t, s2, map[string]string{"a": "1", "b": "1"})
}

// states returns what a store held after each transaction, by sequence
// number, as told by its change sets.
type states struct{ at []map[string]string }

func follow(s *kv.Store) *states {
	h := &states{at: []map[string]string{{}}}
	s.OnCommit(func(cs *kv.ChangeSet) {
		next := maps.Clone(h.at[len(h.at)-1])
		for _, d := range notes.Each(cs) {
			if d.New == nil {
				delete(next, d.ID)
			} else {
				next[d.ID] = d.New.Text
			}
		}
		h.at = append(h.at, next)
	})
	return h
}
