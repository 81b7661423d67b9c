package learn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

var promoteNoon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// promoterWorld is a store with memories and their owner.
type promoterWorld struct {
	rapid.TB
	now           time.Time
	db            *kv.Store
	mem           *memory.Store
	owner         *learn.Promoter
	log           *learn.EventLog
	local, remote *audience.View
}

func openPromoter(t rapid.TB) *promoterWorld {
	w := &promoterWorld{TB: t, now: promoteNoon}
	var err error
	w.db, err = kv.Open(kv.InMemory, kv.Options{})
	w.must(err)
	ents, err := entities.Open(w.db, entities.Options{})
	w.must(err)
	ns, err := notes.Open(w.db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(w.db, audience.Stores{Entities: ents, Notes: ns})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	clock := func() time.Time { return w.now }
	w.mem, err = memory.Open(w.db, memory.Options{Now: clock, Deleted: learn.ForgetInEvents})
	w.must(err)
	w.owner, w.log = &learn.Promoter{Memories: w.mem, Now: clock}, &learn.EventLog{DB: w.db, Store: w.mem}
	return w
}

func (w *promoterWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *promoterWorld) add(d memory.Draft, u memory.Use) {
	w.Helper()
	if d.Statement == "" {
		d.Statement = "statement of " + d.ID
	}
	_, err := w.mem.Add(context.Background(), w.local, []memory.Draft{d})
	w.must(err)
	w.used(d.ID, u)
}

func (w *promoterWorld) used(id string, u memory.Use) {
	w.must(w.mem.Revise(context.Background(), func(tx *kv.Tx) ([]string, error) {
		return nil, w.mem.CountTx(tx, id, func(to *memory.Use) { *to = u })
	}))
}

func (w *promoterWorld) run(v *audience.View, dryRun bool) string {
	w.Helper()
	r, err := w.owner.Run(context.Background(), v, dryRun)
	w.must(err)
	return said(r)
}

func said(r *learn.PromotionReport) string {
	var list []string
	for _, m := range r.Moved {
		list = append(list, m.ID+" "+m.From+"→"+m.To)
	}
	for _, id := range r.Archived {
		list = append(list, id+" archived")
	}
	return strings.Join(list, ", ")
}

func TestMEM51_WhatProvesItselfMoves(t *testing.T) {
	w := openPromoter(t)
	for _, c := range []struct {
		id, tier string
		u        memory.Use
		pinned   bool
	}{
		{"a", record.TierWorking, memory.Use{Uses: 2, Score: 0.7}, false},
		{"b", record.TierWorking, memory.Use{Uses: 1, Score: 1}, false},
		{"c", record.TierWorking, memory.Use{Uses: 9, Score: 0.69}, false},
		{"d", record.TierWorking, memory.Use{Uses: 3, Score: 0.9}, false},
		{"e", record.TierHistory, memory.Use{Uses: 3, Score: 0.9}, false},
		{"f", record.TierHistory, memory.Use{Uses: 2, Score: 1}, false},
		{"g", record.TierHistory, memory.Use{Uses: 9, Score: 0.89}, false},
		{"h", record.TierBank, memory.Use{Uses: 9, Score: 0.9}, false},
		{"i", record.TierPatterns, memory.Use{Uses: 9, Score: 0.1, Failed: 4}, false},
		{"j", record.TierWorking, memory.Use{Failed: 2}, false},
		{"k", record.TierHistory, memory.Use{Score: 0.2, Failed: 1}, false},
		{"l", record.TierBank, memory.Use{Failed: 2}, false},
		{"m", record.TierHistory, memory.Use{Failed: 2}, true},
	} {
		w.add(memory.Draft{ID: c.id, Tier: c.tier, Pinned: c.pinned}, c.u)
	}
	const want = "a working→history, d working→history, d history→patterns, e history→patterns, i archived, j archived"
	seq := w.db.Seq()
	if got := w.run(w.local, true); got != want || w.db.Seq() != seq {
		t.Errorf("a dry run says %s and writes %d transactions, want %s", got, w.db.Seq()-seq, want)
	}
	w.now = promoteNoon.Add(time.Hour)
	if got := w.run(w.local, false); got != want {
		t.Errorf("a run says %s, want %s", got, want)
	}
	seq = w.db.Seq()
	for _, dry := range []bool{false, true} {
		if got := w.run(w.local, dry); got != "" || w.db.Seq() != seq {
			t.Errorf("a second run says %q and writes %d transactions", got, w.db.Seq()-seq)
		}
	}
	d, err := w.mem.Get(w.local, "d")
	w.must(err)
	if d.Tier != record.TierPatterns || !d.TierSince.Equal(w.now) || d.Version != 3 {
		t.Errorf("d is %+v", d.MemoryRecord)
	}
	i, err := w.mem.Get(w.local, "i")
	w.must(err)
	if i.Status != record.MemoryArchived || i.ArchivedAt == nil {
		t.Errorf("i is %s", i.Status)
	}
	list, _, err := w.log.List(t.Context(), w.local, learn.EventQuery{Limit: 99})
	w.must(err)
	var told []string
	for _, e := range slices.Backward(list) {
		switch e.Kind {
		case record.LearnedPromoted:
			told = append(told, e.IDs[0]+" "+*e.Before[0].Tier+"→"+*e.After[0].Tier)
		default:
			told = append(told, e.IDs[0]+" "+e.Kind+" "+*e.Before[0].Status)
		}
	}
	if got := strings.Join(told, ", "); got != "a working→history, d working→history, d history→patterns, e history→patterns, i archived active, j archived active" {
		t.Errorf("events %s", got)
	}
}

func TestMEM51_AnExchangeBecomesASolutionOrALesson(t *testing.T) {
	w := openPromoter(t)
	from := record.MemorySource{Kind: "client", MessageIDs: []string{"q", "a"}}
	w.add(memory.Draft{ID: "solved", Tier: record.TierHistory, Kind: record.MemoryTakeaway, Source: from}, memory.Use{Uses: 3, Score: 0.9, Worked: 2})
	w.add(memory.Draft{ID: "learned", Tier: record.TierHistory, Kind: record.MemoryTakeaway, Source: from}, memory.Use{Uses: 3, Score: 0.9, Worked: 4, Failed: 1})
	w.add(memory.Draft{ID: "fact", Tier: record.TierHistory, Source: from}, memory.Use{Uses: 3, Score: 0.9})
	w.run(w.local, false)
	for id, want := range map[string]string{"solved": "solution [q a] 2", "learned": "lesson [q a] 2", "fact": "fact [] 0"} {
		m, err := w.mem.Get(w.local, id)
		w.must(err)
		if got := fmt.Sprint(m.Kind, " ", m.Evidence, " ", m.EvidenceCount); got != want {
			t.Errorf("%s is a %s, want %s", id, got, want)
		}
	}
}

func TestMEM51_HistoryThatProvedItselfStays(t *testing.T) {
	w := openPromoter(t)
	w.add(memory.Draft{ID: "proven", Tier: record.TierHistory}, memory.Use{Uses: 2, Score: 0.7})
	w.add(memory.Draft{ID: "used", Tier: record.TierHistory}, memory.Use{Uses: 9, Score: 0.65})
	w.add(memory.Draft{ID: "working", Tier: record.TierWorking}, memory.Use{Uses: 1, Score: 0.9})
	w.now = promoteNoon.Add(31 * 24 * time.Hour)
	n, err := w.mem.Expire(t.Context())
	w.must(err)
	m, err := w.mem.Get(w.local, "proven")
	w.must(err)
	if n != 2 || m.Status != record.MemoryActive {
		t.Errorf("%d memories ended, and what proved itself is %s", n, m.Status)
	}
}

func TestPRIV1_ARemoteReaderIsToldOfWhatHeSees(t *testing.T) {
	w := openPromoter(t)
	for id, private := range map[string]bool{"secret": true, "open": false} {
		w.add(memory.Draft{ID: id, Tier: record.TierHistory, Private: private}, memory.Use{Failed: 2})
	}
	for _, dry := range []bool{true, false} {
		if got := w.run(w.remote, dry); got != "open archived" {
			t.Errorf("a remote reader is told %q", got)
		}
	}
	if m, err := w.mem.Get(w.local, "secret"); err != nil || m.Status != record.MemoryArchived {
		t.Errorf("a run moves all: %v, %v", m, err)
	}
}

func TestMEM53_WhenARunIsDue(t *testing.T) {
	var p learn.PromotionPace
	for i, c := range []struct {
		after time.Duration
		said  int
		want  bool
	}{
		{0, 0, true},
		{0, 0, false},
		{29 * time.Minute, 19, false},
		{30 * time.Minute, 0, true},
		{31 * time.Minute, 19, false},
		{32 * time.Minute, 1, true},
		{33 * time.Minute, 0, false},
		{20 * time.Minute, 0, true},
		{21 * time.Minute, 45, true},
		{22 * time.Minute, 0, false},
	} {
		p.Said(c.said)
		if got := p.Due(promoteNoon.Add(c.after)); got != c.want {
			t.Errorf("step %d: due %v, want %v", i, got, c.want)
		}
	}
}

// moved is what the rules make of a tier, a score and a number of uses: the plain model of a run.
func moved(tier string, score, uses int, pinned bool) (to string, archived bool) {
	if tier == record.TierBank {
		return tier, false
	}
	if score < 20 {
		return tier, !pinned
	}
	if tier == record.TierWorking && score >= 70 && uses >= 2 {
		tier = record.TierHistory
	}
	if tier == record.TierHistory && score >= 90 && uses >= 3 {
		tier = record.TierPatterns
	}
	return tier, false
}

// TestMEM53_InPiecesIsTheWhole has runs break off after some transactions, and be started again, until one ends: what
// they leave is what the rules say, with one event for each move.
func TestMEM53_InPiecesIsTheWhole(t *testing.T) {
	defer learn.InGroups(2)()
	rapid.Check(t, func(t *rapid.T) {
		w := openPromoter(t)
		defer func() { _ = w.db.Close() }()
		type state struct {
			tier        string
			score, uses int
			pinned      bool
		}
		all := make(map[string]state)
		for i := range rapid.IntRange(0, 12).Draw(t, "memories") {
			st := state{
				rapid.SampledFrom(record.Tiers).Draw(t, "tier"), rapid.SampledFrom([]int{0, 15, 20, 65, 70, 90, 100}).Draw(t, "score"),
				rapid.IntRange(0, 4).Draw(t, "uses"), rapid.IntRange(0, 4).Draw(t, "pinned") == 0,
			}
			id := fmt.Sprint("m", i)
			all[id] = st
			w.add(memory.Draft{ID: id, Tier: st.tier, Pinned: st.pinned}, memory.Use{Uses: st.uses, Score: float64(st.score) / 100, Failed: 1})
		}
		dry := w.run(w.local, true)
		left := 0
		var cancel context.CancelFunc
		w.db.OnCommit(func(*kv.ChangeSet) {
			if left--; left == 0 {
				cancel()
			}
		})
		whole := ""
		for tries := 0; ; tries++ {
			var ctx context.Context
			ctx, cancel = context.WithCancel(context.Background())
			left = rapid.IntRange(1, 4).Draw(t, "transactions")
			r, err := w.owner.Run(ctx, w.local, false)
			broke := ctx.Err() != nil
			cancel()
			if err == nil {
				if tries == 0 && !broke {
					whole = said(r)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if whole != "" && whole != dry {
			t.Fatalf("a run says %s, and a dry run %s", whole, dry)
		}
		events, moves := 0, 0
		for id, st := range all {
			m, err := w.mem.Get(w.local, id)
			w.must(err)
			tier, archived := moved(st.tier, st.score, st.uses, st.pinned)
			if m.Tier != tier || (m.Status == record.MemoryArchived) != archived {
				t.Fatalf("%+v became %s and %s", st, m.Tier, m.Status)
			}
			moves += slices.Index(record.Tiers, tier) - slices.Index(record.Tiers, st.tier)
			if archived {
				moves++
			}
			events += w.told(id)
		}
		if events != moves {
			t.Fatalf("%d events of %d moves", events, moves)
		}
		if again := w.run(w.local, false); again != "" {
			t.Fatalf("another run says %s", again)
		}
	})
}

func (w *promoterWorld) told(id string) int {
	list, _, err := w.log.List(context.Background(), w.local, learn.EventQuery{ID: id, Limit: 99})
	w.must(err)
	return len(list)
}

func BenchmarkMEM53_Promote10000(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := openPromoter(b)
		drafts := make([]memory.Draft, 1000)
		for i := range 10_000 {
			drafts[i%1000] = memory.Draft{ID: fmt.Sprint("m", i), Statement: fmt.Sprint("statement ", i), Tier: record.TierWorking}
			if i%1000 == 999 {
				_, err := w.mem.Add(b.Context(), w.local, drafts)
				w.must(err)
			}
		}
		w.must(w.mem.Revise(b.Context(), func(tx *kv.Tx) ([]string, error) {
			for i := range 10_000 {
				if err := w.mem.CountTx(tx, fmt.Sprint("m", i), func(u *memory.Use) { u.Uses, u.Score = 2, 0.7 }); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}))
		b.StartTimer()
		if r, err := w.owner.Run(b.Context(), w.local, false); err != nil || len(r.Moved) != 10_000 {
			b.Fatalf("%d moved, %v", len(r.Moved), err)
		}
		b.StopTimer()
		_ = w.db.Close()
		b.StartTimer()
	}
}
