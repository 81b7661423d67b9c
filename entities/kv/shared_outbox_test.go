package kv_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// addition is what a client asks for: a new record, behind another one when Behind is set. A
// blind one does not look whether it is there: only the outbox keeps it from being done twice.
type addition struct {
	ID, Text, Behind string
	Blind            bool
}

// addNew does an addition, for a call and for its replay.
func addNew(ctx context.Context, s *kv.Store, a addition) error {
	ctx = kv.Queueable(ctx, kv.Later{Kind: "add", Body: func() ([]byte, error) { return json.Marshal(a) }})
	return s.Update(ctx, func(tx *kv.Tx) error {
		if has, err := notes.Has(tx, a.ID); err != nil || has && !a.Blind {
			return errors.Join(err, fault.New(fault.Conflict, "it is there").WithRef(a.ID).WithHint("choose another id"))
		}
		if a.Behind != "" {
			if has, err := notes.Has(tx, a.Behind); err != nil || !has {
				return errors.Join(err, fault.New(fault.NotFound, "what it follows is not there"))
			}
		}
		return notes.Put(tx, a.ID, &record{Text: a.Text})
	})
}

func replaying(s *kv.Store) {
	s.Replay(func(ctx context.Context, w kv.Waiting) error {
		var a addition
		if err := json.Unmarshal(w.Body, &a); err != nil {
			return err
		}
		return addNew(ctx, s, a)
	})
}

// queued opens stores that queue, over one log.
func queued(t *testing.T, n int) (l *kvtest.Log, machines []*kvtest.Machine, stores []*kv.Store) {
	t.Helper()
	l = kvtest.NewLog(kv.Position{})
	for range n {
		m := l.Machine()
		s := openQueued(t, kv.InMemory, kv.Options{Log: m})
		machines, stores = append(machines, m), append(stores, s)
	}
	return l, machines, stores
}

func openQueued(t testing.TB, dir string, o kv.Options) *kv.Store {
	t.Helper()
	s := startQueued(t, dir, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// startQueued opens a store that its caller closes. Its format is 1 where none is given.
func startQueued(t testing.TB, dir string, o kv.Options) *kv.Store {
	t.Helper()
	o.Format, o.Queue = max(o.Format, 1), true
	s, err := kv.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	replaying(s)
	s.Follow()
	return s
}

// cutAtAppend has a fault happen to the next append, and cuts the machine off before its answer.
func cutAtAppend(m *kvtest.Machine, fault kvtest.Fault) {
	m.Faults(func() kvtest.Fault { return fault })
	m.Slow(func(op string) {
		if op == "appended" {
			m.Cut(true)
		}
	})
}

func mustAdd(t *testing.T, s *kv.Store, id, text string) {
	t.Helper()
	if err := addNew(ctx, s, addition{ID: id, Text: text}); err != nil {
		t.Fatal(err)
	}
}

func waiting(t testing.TB, s *kv.Store) []kv.Waiting {
	t.Helper()
	list, err := s.Waiting(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// settled waits until nothing waits but what was refused. A transaction that reads all records waits
// for the replays.
func settled(t testing.TB, stores ...*kv.Store) {
	t.Helper()
	for _, s := range stores {
		for tries := 0; ; tries++ {
			if tries == 1000 {
				t.Fatalf("what waits is not replayed: %+v", waiting(t, s))
			}
			if err := s.CatchUp(ctx); err != nil {
				t.Fatal(err)
			}
			err := s.Update(ctx, func(tx *kv.Tx) error {
				for range notes.All(tx, "") { // it only waits
				}
				return tx.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
			if st, _ := s.Replica(); st.Waiting == 0 {
				break
			}
		}
	}
	for _, s := range stores {
		if err := s.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// same checks that all stores hold the same, and returns it.
func same(t testing.TB, stores ...*kv.Store) map[string]string {
	t.Helper()
	want := dump(t, stores[0])
	_, sum, err := stores[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range stores[1:] {
		_, got, err := s.Digest()
		if err != nil || got != sum {
			t.Fatalf("store %d holds other bytes, %v:\n%v\n%v", i+1, err, dump(t, s), want)
		}
	}
	return want
}

func pendingNote(t testing.TB, s *kv.Store, id string) (pending bool) {
	t.Helper()
	err := s.View(ctx, func(tx *kv.Tx) error { pending = notes.Pending(tx, id); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return pending
}

func TestSYNC4_AdditionsWithoutTheOthersAreSeenAndReplayed(t *testing.T) {
	_, machines, stores := queued(t, 2)
	put(t, stores[0], "a", "1")
	catchUp(t, stores[1])
	_, before, _ := stores[1].Digest()
	machines[1].Cut(true)
	mustAdd(t, stores[1], "first", "1")
	if err := addNew(ctx, stores[1], addition{ID: "second", Text: "2", Behind: "first"}); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, stores[1]); !maps.Equal(got, map[string]string{"a": "1", "first": "1", "second": "2"}) {
		t.Fatalf("it reads %v", got)
	}
	if !pendingNote(t, stores[1], "first") || pendingNote(t, stores[1], "a") {
		t.Error("pending is what does not wait, or what waits is not")
	}
	if _, sum, _ := stores[1].Digest(); sum != before {
		t.Error("the digest holds what waits")
	}
	list := waiting(t, stores[1])
	if len(list) != 2 || list[0].Kind != "add" || !slices.Equal(list[0].Keys, []string{"note/first"}) || list[1].Number <= list[0].Number {
		t.Fatalf("waiting: %+v", list)
	}
	if st, _ := stores[1].Replica(); st.Waiting != 2 || st.Refused != 0 || stores[1].Status().Records != 3 {
		t.Errorf("status: %+v, %d records", st, stores[1].Status().Records)
	}
	// Whatever is no addition is refused, also where it follows one.
	err := stores[1].Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "first", &record{Text: "changed"}) })
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Unavailable || !e.Retryable {
		t.Fatalf("a change without the others: %v", err)
	}
	put(t, stores[0], "b", "2")
	machines[1].Cut(false)
	// And what follows an addition is not refused as soon as it can be done.
	put(t, stores[1], "first", "changed")
	settled(t, stores...)
	if got := same(t, stores...); !maps.Equal(got, map[string]string{"a": "1", "b": "2", "first": "changed", "second": "2"}) {
		t.Fatalf("they have %v", got)
	}
	if pendingNote(t, stores[1], "second") || len(waiting(t, stores[1])) != 0 {
		t.Error("something waits still")
	}
}

func TestSYNC4_WhatTheOthersRuleOutIsKeptWithTheReason(t *testing.T) {
	_, machines, stores := queued(t, 2)
	catchUp(t, stores...)
	machines[1].Cut(true)
	mustAdd(t, stores[1], "x", "mine")
	mustAdd(t, stores[1], "y", "mine")
	put(t, stores[0], "x", "theirs")
	machines[1].Cut(false)
	settled(t, stores...)
	if got := same(t, stores...); !maps.Equal(got, map[string]string{"x": "theirs", "y": "mine"}) {
		t.Fatalf("they have %v", got)
	}
	list := waiting(t, stores[1])
	if len(list) != 1 || list[0].Refused == nil || list[0].Refused.Kind != "conflict" || list[0].Refused.Ref != "x" || list[0].Refused.Hint == "" {
		t.Fatalf("waiting: %+v", list)
	}
	number := list[0].Number
	if err := stores[1].Drop(ctx, number+7); fault.KindOf(err) != fault.NotFound {
		t.Errorf("drop of nothing: %v", err)
	}
	if err := stores[1].Again(ctx, number); err != nil {
		t.Fatal(err)
	}
	settled(t, stores...)
	list = waiting(t, stores[1])
	if len(list) != 1 || list[0].Refused == nil || list[0].Number == number {
		t.Fatalf("tried again: %+v", list)
	}
	if err := stores[0].Update(ctx, func(tx *kv.Tx) error { return notes.Delete(tx, "x") }); err != nil {
		t.Fatal(err)
	}
	if err := stores[1].Again(ctx, list[0].Number); err != nil {
		t.Fatal(err)
	}
	settled(t, stores...)
	if got := same(t, stores...); !maps.Equal(got, map[string]string{"x": "mine", "y": "mine"}) {
		t.Fatalf("they have %v", got)
	}
	machines[1].Cut(true)
	mustAdd(t, stores[1], "z", "1")
	list = waiting(t, stores[1])
	if err := stores[1].Drop(ctx, list[0].Number); fault.KindOf(err) != fault.Conflict {
		t.Errorf("drop of what waits: %v", err)
	}
	machines[1].Cut(false)
	settled(t, stores...)
}

// A refused append is certainly not in the log, so the addition is queued.
func TestSYNC4_WhatTheLogRefusesIsQueued(t *testing.T) {
	_, machines, stores := queued(t, 2)
	catchUp(t, stores...)
	machines[1].Faults(func() kvtest.Fault { return kvtest.FaultRefuse })
	queuedCtx := kv.Queueable(ctx, kv.Later{Kind: "add", Body: func() ([]byte, error) { return json.Marshal(addition{ID: "sure", Text: "2"}) }})
	if err := addNew(queuedCtx, stores[1], addition{ID: "sure", Text: "2"}); err != nil {
		t.Fatal(err)
	}
	if n, ok := kv.Queued(queuedCtx); !ok || n != waiting(t, stores[1])[0].Number {
		t.Errorf("queued as %d, %v", n, ok)
	}
	machines[1].Faults(nil)
	settled(t, stores...)
	if got := same(t, stores...); !maps.Equal(got, map[string]string{"sure": "2"}) {
		t.Fatalf("they have %v", got)
	}
}

// appends returns how often each text of a record was appended.
func appends(t *testing.T, l *kvtest.Log) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, b := range l.Entries() {
		e, err := outbox.DecodeEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range e.Transactions {
			for _, w := range tx.Writes {
				if strings.HasPrefix(w.Key, "note/") {
					r, err := kv.JSON[record]().Decode(w.Value)
					if err != nil {
						t.Fatal(err)
					}
					count[r.Text]++
				}
			}
		}
	}
	return count
}

// An addition of which nobody knows whether the log has it is queued, and done again only if the
// log does not have it. The additions are blind: only the outbox keeps them from being done twice.
func TestSYNC4_WhatTheLogMayHaveIsQueuedAndDoneOnce(t *testing.T) {
	for name, test := range map[string]struct {
		fault kvtest.Fault
		again bool // the program is started again meanwhile
		lands bool // it arrives when everything works
	}{
		"it has it":                       {fault: kvtest.FaultLoseAnswer},
		"it has it, and a start between":  {fault: kvtest.FaultLoseAnswer, again: true},
		"it does not":                     {fault: kvtest.FaultLoseRequest},
		"it does not, and a start":        {fault: kvtest.FaultLoseRequest, again: true},
		"it has it later":                 {fault: kvtest.FaultLate, lands: true},
		"it has it later, after a start":  {fault: kvtest.FaultLate, again: true, lands: true},
		"something else gets there first": {fault: kvtest.FaultLate},
	} {
		t.Run(name, func(t *testing.T) {
			l := kvtest.NewLog(kv.Position{})
			other := openQueued(t, kv.InMemory, kv.Options{Log: l.Machine()})
			m, dir := l.Machine(), t.TempDir()
			s := startQueued(t, dir, kv.Options{Log: m})
			catchUp(t, s)
			cutAtAppend(m, test.fault)
			a := addition{ID: "a", Text: "1", Blind: true}
			if err := addNew(ctx, s, a); err != nil {
				t.Fatal(err)
			}
			if list := waiting(t, s); len(list) != 1 || !pendingNote(t, s, "a") {
				t.Fatalf("%+v waits", list)
			}
			m.Slow(nil)
			m.Faults(nil)
			if test.again {
				stop(t, s)
				m = l.Machine()
				m.Cut(true)
				s = startQueued(t, dir, kv.Options{Log: m})
			}
			defer stop(t, s)
			if got := dump(t, s); got["a"] != "1" || !pendingNote(t, s, "a") {
				t.Fatalf("before it is known it has %v", got)
			}
			switch {
			case test.lands:
				l.Land()
			case test.fault == kvtest.FaultLate:
				put(t, other, "b", "2")
			}
			m.Cut(false)
			settled(t, s, other)
			if got := same(t, s, other); got["a"] != "1" || pendingNote(t, s, "a") || len(waiting(t, s)) != 0 {
				t.Errorf("they have %v", got)
			}
			if n := appends(t, l)["1"]; n != 1 {
				t.Errorf("it was appended %d times", n)
			}
		})
	}
}

// What is no addition, and an addition that can't wait, is told to be of unknown outcome.
func TestSYNC4_WhatTheLogMayHaveAndCannotWaitIsUnknown(t *testing.T) {
	_, machines, stores := queued(t, 2)
	catchUp(t, stores...)
	cannot := kv.Queueable(ctx, kv.Later{Kind: "add", Body: func() ([]byte, error) { return nil, fault.New(fault.Conflict, "it can't wait") }})
	for name, ctx := range map[string]context.Context{"no addition": ctx, "one that can't wait": cannot} {
		catchUp(t, stores[1])
		cutAtAppend(machines[1], kvtest.FaultLoseAnswer)
		err := stores[1].Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, name, &record{Text: name}) })
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Unavailable || e.Retryable || !errors.Is(err, outbox.ErrUnknown) {
			t.Errorf("%s: told %v", name, err)
		}
		machines[1].Slow(nil)
		machines[1].Faults(nil)
		machines[1].Cut(false)
	}
	settled(t, stores...)
	if got := same(t, stores...); len(got) != 2 || len(waiting(t, stores[1])) != 0 {
		t.Errorf("they have %v", got)
	}
}

func TestSYNC4_AnOutboxHasALimit(t *testing.T) {
	_, machines, stores := queued(t, 1)
	machines[0].Cut(true)
	large := strings.Repeat("x", 12<<20)
	var err error
	n := 0
	for ; err == nil && n < 10; n++ {
		err = addNew(ctx, stores[0], addition{ID: fmt.Sprint(n), Text: large})
	}
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Limit || e.Hint == "" || n != 3 {
		t.Fatalf("after %d: %v", n, err)
	}
	if len(dump(t, stores[0])) != 2 {
		t.Error("what was refused is there")
	}
}

// What is taken back comes as a change set, the last written first.
func TestSYNC4_WhatIsTakenBackComesToTheHandlers(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	m := l.Machine()
	s, err := kv.Open(kv.InMemory, kv.Options{Log: m, Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put(t, s, "a", "by the log")
	m.Cut(true)
	var got []string
	s.OnCommit(func(cs *kv.ChangeSet) {
		for _, d := range notes.Each(cs) {
			text := func(r *record) string {
				if r == nil {
					return "-"
				}
				return r.Text
			}
			got = append(got, d.ID+": "+text(d.Old)+" "+text(d.New))
		}
	})
	for i := range 2 {
		c := kv.Queueable(ctx, kv.Later{Kind: "add", Body: func() ([]byte, error) { return nil, nil }})
		err := s.Update(c, func(tx *kv.Tx) error {
			return errors.Join(notes.Put(tx, "a", &record{Text: fmt.Sprint(i)}), notes.Put(tx, fmt.Sprint("b", i), &record{Text: "new"}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	m.Cut(false)
	catchUp(t, s)
	want := []string{"a: by the log 0", "b0: - new", "a: 0 1", "b1: - new", "b1: new -", "a: 1 by the log", "b0: new -"}
	if !slices.Equal(got, want) {
		t.Errorf("the handlers got %q, want %q", got, want)
	}
	if len(waiting(t, s)) != 2 {
		t.Error("what nobody replays does not wait")
	}
}

func TestSYNC4_WhatWaitsOutlivesRestartsAndLeaving(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	other := openQueued(t, kv.InMemory, kv.Options{Log: l.Machine()})
	put(t, other, "a", "1")
	d := newDisk()
	m := l.Machine()
	open := func(o kv.Options) *kv.Store {
		t.Helper()
		o.FS, o.Format, o.Queue = d, 1, true
		s, err := kv.Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		replaying(s)
		s.Follow()
		return s
	}
	closed := func(s *kv.Store) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(kv.Options{Log: m})
	catchUp(t, s)
	m.Cut(true)
	mustAdd(t, s, "b", "2")
	closed(s)
	s = open(kv.Options{Log: m})
	mustAdd(t, s, "c", "3")
	if got := dump(t, s); len(got) != 3 || !pendingNote(t, s, "b") {
		t.Fatalf("after a restart: %v", got)
	}
	closed(s)
	left := d.restart()
	m.Cut(false)
	s = open(kv.Options{Log: m})
	settled(t, s, other)
	if got := same(t, s, other); !maps.Equal(got, map[string]string{"a": "1", "b": "2", "c": "3"}) {
		t.Fatalf("they have %v", got)
	}
	closed(s)
	d = left
	s = open(kv.Options{Leave: true})
	if got := dump(t, s); len(got) != 3 || pendingNote(t, s, "b") || len(waiting(t, s)) != 0 {
		t.Fatalf("who has left has %v, %v", got, waiting(t, s))
	}
	put(t, s, "d", "4")
	closed(s)
}

// The log is lost when the first of three is replayed: the others are seen again, in order.
func TestSYNC4_ALogThatIsLostInTheMiddle(t *testing.T) {
	l, machines, stores := queued(t, 2)
	catchUp(t, stores...)
	machines[1].Cut(true)
	mustAdd(t, stores[1], "x", "taken by then")
	full := strings.Repeat("1", 1<<20) // an entry takes no more behind it
	mustAdd(t, stores[1], "a", full)
	if err := addNew(ctx, stores[1], addition{ID: "b", Text: "2", Behind: "a"}); err != nil {
		t.Fatal(err)
	}
	put(t, stores[0], "x", "theirs")
	machines[1].Slow(func(op string) {
		if op == "append" && written(t, l, "note/a") { // x was refused
			machines[1].Cut(true)
		}
	})
	machines[1].Cut(false)
	for tries := 0; ; tries++ {
		if st, _ := stores[1].Replica(); st.Refused == 1 && st.Waiting == 1 && st.Trouble != nil {
			break
		}
		_ = stores[1].Update(ctx, func(*kv.Tx) error { return nil })
	}
	// What reads all records waits until b is seen again.
	err := stores[1].Update(ctx, func(tx *kv.Tx) error {
		for range notes.All(tx, "") { // it only waits
		}
		return tx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(t, stores[1]); !maps.Equal(got, map[string]string{"x": "theirs", "a": full, "b": "2"}) || pendingNote(t, stores[1], "a") || !pendingNote(t, stores[1], "b") {
		t.Fatalf("it reads %d records", len(got))
	}
	mustAdd(t, stores[1], "c", "3")
	list := waiting(t, stores[1])
	if len(list) != 3 || list[0].Refused == nil || !slices.Equal(list[1].Keys, []string{"note/b"}) || !slices.Equal(list[2].Keys, []string{"note/c"}) {
		t.Fatalf("waiting: %+v", list)
	}
	machines[1].Slow(nil)
	machines[1].Cut(false)
	settled(t, stores...)
	if got := same(t, stores...); len(got) != 4 {
		t.Fatalf("they have %v", got)
	}
	for _, id := range []string{"x", "a", "b", "c"} {
		if !written(t, l, "note/"+id) {
			t.Errorf("the log lacks %s", id)
		}
	}
}

// written reports whether an entry of a log writes a key.
func written(t *testing.T, l *kvtest.Log, key string) bool {
	t.Helper()
	for _, raw := range l.Entries() {
		e, err := outbox.DecodeEntry(raw)
		if err != nil {
			t.Error(err)
			return false
		}
		for _, tr := range e.Transactions {
			if slices.ContainsFunc(tr.Writes, func(w outbox.LogWrite) bool { return w.Key == key }) {
				return true
			}
		}
	}
	return false
}

// A machine that was away for longer than the log reaches back accepts additions, and replays
// them when it has joined anew.
func TestSYNC7_WhoJoinsAnewBringsWhatWaits(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	folder := t.TempDir()
	first := openQueued(t, t.TempDir(), kv.Options{Log: l.Machine()})
	m := l.Machine()
	s := startQueued(t, folder, kv.Options{Log: m})
	put(t, first, "a", "1")
	catchUp(t, s)
	m.Cut(true)
	mustAdd(t, s, "b", "2")
	put(t, first, "c", "3")
	put(t, first, "d", "4")
	end, _ := l.End()
	l.Purge(end)
	m.Cut(false)
	var e *fault.Error
	if err := s.CatchUp(ctx); !errors.As(err, &e) || e.Retryable {
		t.Fatalf("behind the beginning of the log: %v", err)
	}
	mustAdd(t, s, "e", "5")
	if err := s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, "f", &record{Text: "6"}) }); !errors.As(err, &e) || e.Retryable {
		t.Fatalf("any other write: %v", err)
	}
	stop(t, s)
	state := folder + "-state.ctxdbackup"
	if _, err := first.Backup(ctx, state, kv.BackupOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	s = startQueued(t, folder, kv.Options{Replace: true})
	if _, err := s.Restore(ctx, state, kv.RestoreOptions{KeepLocal: true}); err != nil {
		t.Fatal(err)
	}
	s = startQueued(t, folder, kv.Options{Log: m})
	settled(t, s, first)
	got := same(t, s, first)
	if !maps.Equal(got, map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}) {
		t.Fatalf("they have %v, and %+v wait", got, waiting(t, s))
	}
	stop(t, s)
}

// Nobody can tell whether the state that a machine joins anew with holds what was sent to the log before. So it is
// not done again by itself, and ends where it is found behind that state. The additions are blind: done again they
// would be there twice.
func TestSYNC4_WhatTheLogMayHaveIsNotDoneAgainAfterAJoin(t *testing.T) {
	for name, behind := range map[string]bool{"the state holds it": false, "it is behind the state": true} {
		t.Run(name, func(t *testing.T) {
			l := kvtest.NewLog(kv.Position{})
			first := openQueued(t, kv.InMemory, kv.Options{Log: l.Machine()})
			m, folder := l.Machine(), t.TempDir()
			s := startQueued(t, folder, kv.Options{Log: m})
			put(t, first, "a", "0")
			catchUp(t, s, first)
			state := folder + "-state.ctxdbackup"
			backup := func() {
				if _, err := first.Backup(ctx, state, kv.BackupOptions{Shared: true}); err != nil {
					t.Fatal(err)
				}
			}
			if behind {
				backup()
			}
			cutAtAppend(m, kvtest.FaultLoseAnswer)
			if err := addNew(ctx, s, addition{ID: "b", Text: "1", Blind: true}); err != nil {
				t.Fatal(err)
			}
			mustAdd(t, s, "c", "2")
			stop(t, s)
			catchUp(t, first)
			if !behind {
				backup()
			}
			s = startQueued(t, folder, kv.Options{Replace: true})
			if _, err := s.Restore(ctx, state, kv.RestoreOptions{KeepLocal: true}); err != nil {
				t.Fatal(err)
			}
			stop(t, s)
			s = startQueued(t, folder, kv.Options{Log: l.Machine()})
			defer stop(t, s)
			settled(t, s, first)
			if got := same(t, s, first); !maps.Equal(got, map[string]string{"a": "0", "b": "1", "c": "2"}) || appends(t, l)["1"] != 1 {
				t.Errorf("they have %v, appended %v", got, appends(t, l))
			}
			list := waiting(t, s)
			st, _ := s.Replica()
			if behind && (len(list) != 0 || st.Refused != 0) {
				t.Errorf("it was found, and %+v is left, %+v", list, st)
			}
			if !behind && (len(list) != 1 || list[0].Refused == nil || list[0].Refused.Hint == "" || st.Refused != 1) {
				t.Fatalf("it may be there or not, and %+v is left, %+v", list, st)
			}
			if !behind {
				if err := s.Drop(ctx, list[0].Number); err != nil || len(waiting(t, s)) != 0 {
					t.Errorf("ended: %v, %+v", err, waiting(t, s))
				}
			}
		})
	}
}

// A state for another machine holds nothing that waits, and what is by the log.
func TestSYNC4_AStateForOthersHoldsNothingThatWaits(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	m := l.Machine()
	s := openQueued(t, t.TempDir(), kv.Options{Log: m})
	put(t, s, "a", "by the log")
	put(t, s, "b", "by the log")
	put(t, s, "gone", "by the log")
	at, sum, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	m.Cut(true)
	c := kv.Queueable(ctx, kv.Later{Kind: "?", Body: func() ([]byte, error) { return nil, nil }})
	err = s.Update(c, func(tx *kv.Tx) error {
		return errors.Join(notes.Put(tx, "a", &record{Text: "here"}), notes.Put(tx, "new", &record{Text: "here"}),
			notes.Delete(tx, "gone"), ours.Put(tx, "x", &record{Text: "here"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir() + "/state.ctxdbackup"
	if _, err := s.Backup(ctx, state, kv.BackupOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	other, err := kv.Open(folder, kv.Options{Format: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Restore(ctx, state, kv.RestoreOptions{KeepLocal: true}); err != nil {
		t.Fatal(err)
	}
	other = openQueued(t, folder, kv.Options{Log: l.Machine()})
	if got := dump(t, other); !maps.Equal(got, map[string]string{"a": "by the log", "b": "by the log", "gone": "by the log"}) || len(waiting(t, other)) != 0 {
		t.Errorf("the other has %v", got)
	}
	for _, s := range []*kv.Store{s, other} {
		if here, got, err := s.Digest(); err != nil || got != sum || here != at {
			t.Errorf("another digest at %v, %v", here, err)
		}
	}
}

// The records are of another format by the time that what waits is replayed.
func TestSYNC4_AnUpgradeTakesBackWhatWaits(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	m := l.Machine()
	d := newDisk()
	s, err := kv.Open(dir, kv.Options{FS: d, Log: m, Format: 1, Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", "1")
	m.Cut(true)
	mustAdd(t, s, "b", "2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	upgraded := func(tx *kv.Tx, _ int) error {
		for id, r := range notes.All(tx, "") {
			if err := notes.Put(tx, id, &record{Text: "new " + r.Text}); err != nil {
				return err
			}
		}
		return tx.Err()
	}
	s, err = kv.Open(dir, kv.Options{FS: d, Log: m, Format: 2, Queue: true, Upgrade: upgraded})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := dump(t, s); !maps.Equal(got, map[string]string{"a": "new 1"}) {
		t.Fatalf("after the upgrade: %v", got)
	}
	replaying(s)
	s.Follow()
	if err := s.Update(ctx, func(*kv.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, s); !maps.Equal(got, map[string]string{"a": "new 1", "b": "2"}) || !pendingNote(t, s, "b") {
		t.Fatalf("done once more here: %v", got)
	}
}

// Only the log decides: what is refused while it can't be read waits on.
func TestSYNC4_NothingIsRefusedWithoutTheLog(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	m := l.Machine()
	s, err := kv.Open(kv.InMemory, kv.Options{Log: m, Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var tries atomic.Int64
	s.Replay(func(ctx context.Context, w kv.Waiting) error {
		if !kv.Replaying(ctx) {
			t.Error("a replay does not know that it is one")
		}
		if tries.Add(1) == 1 {
			m.Cut(true)
		}
		return fault.New(fault.Invalid, "it can't be")
	})
	m.Cut(true)
	mustAdd(t, s, "a", "1")
	s.Follow()
	m.Cut(false)
	for st, _ := s.Replica(); tries.Load() < 2 && st.Refused == 0; st, _ = s.Replica() { // the second is the one that is to be seen here
		_ = s.Update(ctx, func(*kv.Tx) error { return nil })
		_ = s.CatchUp(ctx)
	}
	if list := waiting(t, s); len(list) != 1 || list[0].Refused != nil {
		t.Fatalf("without the log: %+v", list)
	}
	m.Cut(false)
	settled(t, s)
	if list := waiting(t, s); len(list) != 1 || list[0].Refused == nil || list[0].Refused.Kind != "invalid_params" {
		t.Fatalf("with it: %+v", list)
	}
}

// Who leaves the others before something could be seen again keeps it, and can do it alone.
func TestSYNC4_WhoLeavesLosesNothingThatCouldNotBeSeen(t *testing.T) {
	l := kvtest.NewLog(kv.Position{})
	m := l.Machine()
	d := newDisk()
	s, err := kv.Open(dir, kv.Options{FS: d, Log: m, Queue: true})
	if err != nil {
		t.Fatal(err)
	}
	var tries atomic.Int64
	s.Replay(func(context.Context, kv.Waiting) error {
		m.Cut(true)
		tries.Add(1)
		return fault.New(fault.Invalid, "it can't be")
	})
	m.Cut(true)
	mustAdd(t, s, "a", "1")
	s.Follow()
	m.Cut(false)
	for tries.Load() < 2 {
		_ = s.Update(ctx, func(*kv.Tx) error { return nil })
		_ = s.CatchUp(ctx)
	}
	mustAdd(t, s, "b", "2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = kv.Open(dir, kv.Options{FS: d, Leave: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	replaying(s)
	s.Follow()
	list := waiting(t, s)
	if got := dump(t, s); !maps.Equal(got, map[string]string{"b": "2"}) || len(list) != 1 || list[0].Refused == nil || len(list[0].Body) == 0 {
		t.Fatalf("who has left has %v, and %+v", got, list)
	}
	if err := s.Again(ctx, list[0].Number); err != nil {
		t.Fatal(err)
	}
	for tries := 0; len(waiting(t, s)) > 0; tries++ {
		if tries == 100_000 {
			t.Fatalf("it is not done: %+v", waiting(t, s))
		}
		runtime.Gosched()
	}
	if got := dump(t, s); !maps.Equal(got, map[string]string{"a": "1", "b": "2"}) {
		t.Fatalf("done alone: %v", got)
	}
}
