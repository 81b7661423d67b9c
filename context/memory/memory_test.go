package memory_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM1_WhatAMemoryIs(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.add(memory.Draft{
		Statement: "  I prefer morning workouts ", Questions: []string{"When do I train?", " ", "when do I train"},
		Tags: []string{"#health/sport", "health/sport"}, Domains: []string{"health"},
	})
	if m.ID == "" || m.Number != 1 || m.Version != 1 || m.Statement != "I prefer morning workouts" {
		t.Errorf("%+v", m)
	}
	if !strings.HasPrefix(m.Handle, "prefer_morning_workouts_") {
		t.Errorf("handle %q", m.Handle)
	}
	if m.Tier != record.TierBank || m.Kind != record.MemoryFact || m.Status != record.MemoryActive || m.Source.Kind != "client" {
		t.Errorf("%s, %s, %s, %s", m.Tier, m.Kind, m.Status, m.Source.Kind)
	}
	if m.Importance != 0.7 || m.Confidence != 0.7 || m.Quality != 0.49 || m.Use.Wilson != 0.5 {
		t.Errorf("importance %v, confidence %v, quality %v, Wilson %v", m.Importance, m.Confidence, m.Quality, m.Use.Wilson)
	}
	if len(m.Questions) != 1 || !slices.Equal(m.Tags, []string{"health/sport"}) {
		t.Errorf("questions %q, tags %q", m.Questions, m.Tags)
	}
	w.sound()
}

func TestMEM1_WhatIsRefused(t *testing.T) {
	w := open(t, memory.Limits{})
	for _, c := range []struct {
		draft memory.Draft
		kind  fault.Kind
		field string
	}{
		{memory.Draft{}, fault.Invalid, "statement"},
		{memory.Draft{Statement: "\u00a0 \n"}, fault.Invalid, "statement"},
		{memory.Draft{Statement: "a\x00b"}, fault.Invalid, "statement"},
		{memory.Draft{Statement: "a\xff"}, fault.Invalid, "statement"},
		{memory.Draft{Statement: strings.Repeat("é", 8001), Summary: "s"}, fault.Limit, "statement"},
		{memory.Draft{Statement: "a", Summary: strings.Repeat("é", 201)}, fault.Limit, "summary"},
		{memory.Draft{Statement: "a", Questions: make([]string, 9)}, fault.Limit, "questions"},
		{memory.Draft{Statement: "a", Tier: "long"}, fault.Invalid, "tier"},
		{memory.Draft{Statement: "a", Kind: "idea"}, fault.Invalid, "kind"},
		{memory.Draft{Statement: "a", Source: record.MemorySource{Kind: "me"}}, fault.Invalid, "source.kind"},
		{memory.Draft{Statement: "a", Confidence: ptr(1.1)}, fault.Invalid, "confidence"},
		{memory.Draft{Statement: "a", Importance: ptr(-0.1)}, fault.Invalid, "importance"},
		{memory.Draft{Statement: "a", AlwaysInject: true}, fault.Invalid, "alwaysInject"},
		{memory.Draft{Statement: "a", Tags: []string{"a", "two words"}}, fault.Invalid, "tags[1]"},
		{memory.Draft{Statement: "a", Tags: []string{"a//b"}}, fault.Invalid, "tags[0]"},
		{memory.Draft{Statement: "a", ID: "no id"}, fault.Invalid, "id"},
		{memory.Draft{Statement: "a", EntityIDs: []string{"x"}}, fault.NotFound, "entityIds[0]"},
		{memory.Draft{Statement: "a", NoteIDs: []string{"x"}}, fault.NotFound, "noteIds[0]"},
		{memory.Draft{Statement: "a", Contexts: []string{"x"}}, fault.NotFound, "contexts[0]"},
		{memory.Draft{Statement: "a", Supersedes: []string{"x"}}, fault.NotFound, "supersedes[0]"},
		{memory.Draft{Statement: "a", Source: record.MemorySource{NoteID: "x"}}, fault.NotFound, "source.noteId"},
		{memory.Draft{Statement: "a", Handle: "ab"}, fault.Invalid, "handle"},
	} {
		_, err := w.mem.Add(t.Context(), w.local, []memory.Draft{c.draft})
		refused(t, err, c.kind, c.field)
	}
	_, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{Statement: "a"}, {Statement: ""}})
	refused(t, err, fault.Invalid, "memories[1].statement")
	if list, _, _, _ := w.mem.List(t.Context(), w.local, memory.Filter{}, nil, 1e6); len(list) > 0 {
		t.Errorf("%d memories of calls that failed", len(list))
	}
	if m := w.say("a"); m.Number != 1 {
		t.Errorf("number %d after calls that failed", m.Number)
	}
}

func TestMEM10_WhatIsNoStatement(t *testing.T) {
	w := open(t, memory.Limits{})
	for _, c := range []struct {
		draft memory.Draft
		field string
	}{
		{memory.Draft{Statement: "User: hello\nAssistant: hi"}, "statement"},
		{memory.Draft{Statement: "**Human**: hello\n\n**AI**: hi"}, "statement"},
		{memory.Draft{Statement: strings.Repeat("word ", 401)}, "summary"},
		{memory.Draft{Statement: "The build needs Go", Kind: record.MemoryTakeaway}, "kind"},
	} {
		_, err := w.mem.Add(t.Context(), w.local, []memory.Draft{c.draft})
		refused(t, err, fault.Invalid, c.field)
	}
	w.say("User: is how I call the role in my API")
	w.add(memory.Draft{Statement: strings.Repeat("word ", 401), Summary: "many words"})
	w.add(memory.Draft{Statement: "The build needs Go", Kind: record.MemoryTakeaway, Tier: record.TierHistory})
}

func TestREF2_NumbersAreUsedOnce(t *testing.T) {
	w := open(t, memory.Limits{Bank: 2000})
	const n = 1000
	var group sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		group.Go(func() {
			_, errs[i] = w.mem.Add(t.Context(), w.local, []memory.Draft{{Statement: fmt.Sprintf("fact %d of many", i)}})
		})
	}
	group.Wait()
	for _, err := range errs {
		must(t, err)
	}
	list, _, _, err := w.mem.List(t.Context(), w.local, memory.Filter{}, nil, 1e6)
	must(t, err)
	seen := make(map[int64]bool)
	for _, m := range list {
		seen[m.Number] = true
	}
	for i := range int64(n) {
		if !seen[i+1] {
			t.Fatalf("no memory has the number %d", i+1)
		}
	}
	last := w.get("1000")
	must(t, w.mem.Delete(t.Context(), w.local, last.ID, true, nil))
	if m := w.say("one more"); m.Number != 1001 {
		t.Errorf("number %d after one was deleted", m.Number)
	}
	w.sound()
}

// TestREF2_RefusedOnesTakeNoNumber: writers at the same time, of which some are refused and many say the same, leave
// neither a gap in the numbers nor two memories that say the same.
func TestREF2_RefusedOnesTakeNoNumber(t *testing.T) {
	w := open(t, memory.Limits{})
	w.add(memory.Draft{Statement: "the first", Handle: "first_a3f2"})
	var group sync.WaitGroup
	var written, same atomic.Int64
	for i := range 200 {
		group.Go(func() {
			d := memory.Draft{Statement: fmt.Sprintf("statement %d", i/4), Tier: record.TierPatterns}
			if i%4 == 3 {
				d.Statement, d.Handle = fmt.Sprintf("refused %d", i), "first_a3f2"
			}
			list, err := w.mem.Add(t.Context(), w.local, []memory.Draft{d})
			switch {
			case d.Handle != "":
				if fault.KindOf(err) != fault.Conflict {
					t.Errorf("error %v for a handle that is taken", err)
				}
			case err != nil:
				t.Error(err)
			case list[0].Duplicate:
				same.Add(1)
			default:
				written.Add(1)
			}
		})
	}
	group.Wait()
	if written.Load() != 50 || same.Load() != 100 {
		t.Errorf("%d memories of 50, and %d that said the same", written.Load(), same.Load())
	}
	if m := w.say("one more"); m.Number != 52 {
		t.Errorf("number %d after 51 memories", m.Number)
	}
	w.sound()
}

// TestREF2_NumbersOutliveAStart: the number of a deleted memory is not given again, also not by a store that is opened
// when no memory has a higher one.
func TestREF2_NumbersOutliveAStart(t *testing.T) {
	dir := t.TempDir()
	w := openIn(t, dir, memory.Limits{})
	for i := range 3 {
		w.say(fmt.Sprintf("statement %d", i))
	}
	for _, number := range []string{"3", "2"} {
		must(t, w.mem.Delete(t.Context(), w.local, w.get(number).ID, true, nil))
	}
	must(t, w.db.Close())
	w = openIn(t, dir, memory.Limits{})
	if m := w.add(memory.Draft{ID: "new", Statement: "one more"}); m.Number != 4 {
		t.Errorf("number %d after 3", m.Number)
	}
	if list, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{Statement: "Statement 0."}}); err != nil || !list[0].Duplicate {
		t.Errorf("what was said before the start is said twice: %v", err)
	}
	w.sound()
}

func TestMEM1_EntitiesThatAStatementNames(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	_, _, err := w.ents.PutType(ctx, entities.Type{Name: "Person"}, nil, false)
	must(t, err)
	for id, name := range map[string]string{
		"alice": "Alice Novak", "may": "May", "core": "Core", "city": "New York", "paper": "New York Times Company",
	} {
		_, err := w.ents.Put(ctx, entities.Entity{ID: id, Type: "Person", Name: name, Aliases: []string{name + " X"}}, nil)
		must(t, err)
	}
	for statement, want := range map[string][]string{
		"I met alice novak and May in the core of town.": {"alice", "may"},
		"Core's plan is Core":                            {"core"},
		"it may rain":                                    {},
		"The new york times says so":                     {"city"},
		"A New York Times company":                       {"paper"},
		"New York Times Company, New York":               {"paper", "city"},
		"Alice Novak X likes tea":                        {"alice"},
	} {
		if m := w.say(statement); !slices.Equal(m.EntityIDs, want) {
			t.Errorf("%q names %q, want %q", statement, m.EntityIDs, want)
		}
	}
	if m := w.add(memory.Draft{Statement: "Alice Novak again", EntityIDs: []string{}}); len(m.EntityIDs) != 0 {
		t.Errorf("%q beside those that were given", m.EntityIDs)
	}
}

func TestMEM41_Profile(t *testing.T) {
	w := open(t, memory.Limits{})
	w.say("a fact")
	w.add(memory.Draft{Statement: "best goal", Kind: record.MemoryGoal, Importance: ptr(1.0)})
	w.add(memory.Draft{Statement: "small goal", Kind: record.MemoryGoal, Importance: ptr(0.1)})
	w.add(memory.Draft{Statement: "my name", Kind: record.MemoryIdentity, AlwaysInject: true, Importance: ptr(0.2)})
	var got []string
	for _, m := range w.mem.Profile(w.local, 2) {
		got = append(got, m.Statement)
	}
	if want := []string{"my name", "best goal"}; !slices.Equal(got, want) {
		t.Errorf("profile %q, want %q", got, want)
	}
}

func TestMEM1_AClockThatJumpsBack(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("first")
	w.pass(-48 * time.Hour)
	now, err := w.mem.Update(t.Context(), w.local, memory.Patch{ID: m.ID, Statement: ptr("second")}, nil)
	must(t, err)
	if now.UpdatedAt.Before(m.UpdatedAt) {
		t.Errorf("changed at %v, before %v", now.UpdatedAt, m.UpdatedAt)
	}
}

func TestREL_MemoriesOfAStoreThatIsOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	w := openIn(t, dir, memory.Limits{})
	c, err := w.mem.PutContext(t.Context(), w.local, memory.ContextDraft{Name: "Work"}, nil)
	must(t, err)
	m := w.add(memory.Draft{Statement: "I write Go", Contexts: []string{c.ID}})
	_, err = w.mem.Update(t.Context(), w.local, memory.Patch{ID: m.ID, Summary: ptr("Go")}, nil)
	must(t, err)
	_, err = w.mem.Use(t.Context(), w.local, []string{m.ID})
	must(t, err)
	before := w.get(m.Handle)
	must(t, w.db.Close())
	again := openIn(t, dir, memory.Limits{})
	after := again.get(m.Handle)
	if fmt.Sprintf("%+v", before) != fmt.Sprintf("%+v", after) {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	again.ids = 100
	if n := again.say("another").Number; n != 2 {
		t.Errorf("number %d", n)
	}
	again.sound()
}

// What is listed in pages is what is listed at once, in each order.
func TestMEM1_ListsComeInPages(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	for i := range 23 {
		if i%3 == 0 {
			w.pass(time.Minute)
		}
		m := w.add(memory.Draft{Statement: fmt.Sprintf("fact %d", i), Importance: ptr(float64(i%4) / 4), Private: i%5 == 0})
		if i%2 == 0 {
			_, err := w.mem.Use(ctx, w.local, []string{m.ID})
			must(t, err)
		}
	}
	for _, by := range []string{memory.ByUpdated, memory.ByCreated, memory.ByQuality, memory.ByUse} {
		f := memory.Filter{Sort: by}
		all, total, more, err := w.mem.List(ctx, w.remote, f, nil, 100)
		must(t, err)
		if total != 18 || len(all) != total || more {
			t.Errorf("%s: %d of %d, more %v", by, len(all), total, more)
		}
		var paged []*record.Memory
		for after := (*memory.Place)(nil); ; {
			page, n, more, err := w.mem.List(ctx, w.remote, f, after, 5)
			must(t, err)
			if n != total {
				t.Errorf("%s: %d in all", by, n)
			}
			paged = append(paged, page...)
			if !more {
				break
			}
			last := page[len(page)-1]
			after = &memory.Place{
				Updated: last.UpdatedAt, Created: last.CreatedAt, Quality: last.Quality, Uses: last.Use.Uses, Number: last.Number,
			}
		}
		if !slices.EqualFunc(all, paged, func(a, b *record.Memory) bool { return a.ID == b.ID }) {
			t.Errorf("%s: pages have another order", by)
		}
	}
}

// TestMEM1_PagesAreTheWholeList, whatever it is sorted by and however long the pages are.
func TestMEM1_PagesAreTheWholeList(t *testing.T) {
	w := open(t, memory.Limits{})
	var used []string
	for i := range 120 {
		if i%7 != 0 { // several of one time
			w.pass(time.Duration(i*i%11) * time.Second)
		}
		worth := float64(i%5) / 10
		m := w.add(memory.Draft{Statement: fmt.Sprint("statement ", i), Importance: ptr(worth)})
		if i%3 == 0 {
			used = append(used, m.ID)
		}
	}
	_, err := w.mem.Use(t.Context(), w.local, used)
	must(t, err)
	numbers := func(page []*record.Memory) (list []int64) {
		for _, m := range page {
			list = append(list, m.Number)
		}
		return list
	}
	for _, by := range []string{memory.ByUpdated, memory.ByCreated, memory.ByQuality, memory.ByUse} {
		f := memory.Filter{Sort: by}
		all, total, more, err := w.mem.List(t.Context(), w.local, f, nil, math.MaxInt)
		must(t, err)
		if total != 120 || len(all) != 120 || more {
			t.Fatalf("by %s %d of %d, more: %t", by, len(all), total, more)
		}
		for _, limit := range []int{1, 7, 50, 119, 120} {
			var got []int64
			var after *memory.Place
			for more := true; more; {
				var page []*record.Memory
				page, total, more, err = w.mem.List(t.Context(), w.local, f, after, limit)
				must(t, err)
				if total != 120 || len(page) == 0 {
					t.Fatalf("by %s, %d a page: a page of %d, %d in all", by, limit, len(page), total)
				}
				got = append(got, numbers(page)...)
				last := page[len(page)-1]
				after = &memory.Place{
					Updated: last.UpdatedAt, Created: last.CreatedAt, Quality: last.Quality, Uses: last.Use.Uses, Number: last.Number,
				}
			}
			if want := numbers(all); !slices.Equal(got, want) {
				t.Errorf("by %s, %d a page: %v, want %v", by, limit, got, want)
			}
		}
	}
}
