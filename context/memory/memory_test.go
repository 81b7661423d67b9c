package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
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

func TestMEM2_Statuses(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	act := map[string]func(id string) error{
		"archive": func(id string) error { _, err := w.mem.Archive(ctx, w.local, id, nil); return err },
		"restore": func(id string) error { _, err := w.mem.Restore(ctx, w.local, id, 0, nil); return err },
		"retract": func(id string) error { _, err := w.mem.Retract(ctx, w.local, id, nil); return err },
		"contest": func(id string) error {
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Status: ptr(record.MemoryContested)}, nil)
			return err
		},
		"doubt": func(id string) error {
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Confidence: ptr(0.2)}, nil)
			return err
		},
		"trust": func(id string) error {
			_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: id, Confidence: ptr(0.9)}, nil)
			return err
		},
		"supersede": func(id string) error {
			_, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "what holds now, says " + w.newID(), Supersedes: []string{id}}})
			return err
		},
	}
	for _, c := range []struct {
		path string // what is done
		want string // the status, or "1002" and the field
	}{
		{"archive", record.MemoryArchived},
		{"archive restore", record.MemoryActive},
		{"contest", record.MemoryContested},
		{"contest archive restore", record.MemoryActive},
		{"contest contest", "1002 status"},
		{"doubt", record.MemoryDeprecated},
		{"doubt trust", record.MemoryActive},
		{"doubt archive restore", record.MemoryDeprecated},
		{"doubt contest", "1002 status"},
		{"doubt supersede", "1002 supersedes[0]"},
		{"supersede", record.MemorySuperseded},
		{"contest supersede", record.MemorySuperseded},
		{"supersede supersede", "1002 supersedes[0]"},
		{"supersede archive", "1002 "},
		{"retract", record.MemoryRetracted},
		{"archive retract", record.MemoryRetracted},
		{"supersede retract", record.MemoryRetracted},
		{"retract retract", "1002 "},
		{"retract restore", "1002 "},
		{"retract trust", "1002 "},
		{"restore", "1002 "},
		{"archive archive", "1002 "},
	} {
		id := w.say("fact about " + c.path).ID
		var err error
		for step := range strings.FieldsSeq(c.path) {
			if err = act[step](id); err != nil {
				break
			}
		}
		if field, refusal := strings.CutPrefix(c.want, "1002 "); refusal {
			refused(t, err, fault.Conflict, field)
			continue
		}
		must(t, err)
		if m := w.get(id); m.Status != c.want {
			t.Errorf("%s: %s, want %s", c.path, m.Status, c.want)
		}
	}
	w.sound()
}

func TestMEM2_WhatIsFound(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	for _, s := range []string{"active", "archived", "retracted", "superseded"} {
		w.add(memory.Draft{ID: s, Statement: "the " + s + " one", Handle: "my-" + s})
	}
	_, err := w.mem.Archive(ctx, w.local, "archived", nil)
	must(t, err)
	_, err = w.mem.Retract(ctx, w.local, "retracted", nil)
	must(t, err)
	now := w.add(memory.Draft{Statement: "newer", Supersedes: []string{"superseded"}})
	list, _, _, err := w.mem.List(ctx, w.local, memory.Filter{}, nil, 1e6)
	must(t, err)
	var found []string
	for _, m := range list {
		found = append(found, m.ID)
	}
	slices.Sort(found)
	if want := []string{"active", now.ID}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	for _, ref := range []string{"archived", "my-archived", "@my-archived", "2", "#2", "claim_2", "@claim_2", "retracted"} {
		w.get(ref)
	}
	for _, ref := range []string{"my-retracted", "3", "99", "", "unknown"} {
		_, err := w.mem.Get(w.local, ref)
		refused(t, err, fault.NotFound, "")
	}
	old := w.get("superseded")
	if old.SupersededBy != now.ID || old.ValidTo == nil || old.Status != record.MemorySuperseded {
		t.Errorf("%+v", old.MemoryRecord)
	}
}

func TestMEM3_VersionsAreKept(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	m := w.say("I live in Bonn")
	w.pass(time.Hour)
	_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Statement: ptr("I live in Graz")}, ptr(2))
	refused(t, err, fault.Conflict, "ifVersion")
	now, err := w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Statement: ptr("I live in Graz")}, ptr(1))
	must(t, err)
	if now.Version != 2 || now.Handle != m.Handle || now.Number != m.Number || !now.UpdatedAt.After(m.UpdatedAt) {
		t.Errorf("%+v", now)
	}
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Pinned: ptr(true)}, nil)
	must(t, err)
	list, err := w.mem.Versions(ctx, w.local, m.ID)
	must(t, err)
	if len(list) != 1 || list[0].Version != 1 || list[0].Statement != "I live in Bonn" || !list[0].UpdatedAt.Equal(m.UpdatedAt) {
		t.Errorf("versions %+v", list)
	}
	back, err := w.mem.Restore(ctx, w.local, m.ID, 1, nil)
	must(t, err)
	if back.Statement != "I live in Bonn" || back.Version != 4 || !back.Pinned {
		t.Errorf("%+v", back.MemoryRecord)
	}
	_, err = w.mem.Restore(ctx, w.local, m.ID, 7, nil)
	refused(t, err, fault.NotFound, "version")
	w.sound()
}

func TestMEM4_CountingChangesNoMemory(t *testing.T) {
	w := open(t, memory.Limits{})
	m := w.say("I like tea")
	seq := w.db.Seq()
	n, err := w.mem.RecordUse(t.Context(), w.local, []string{m.ID, "unknown", m.ID})
	must(t, err)
	if n != 1 || w.db.Seq() != seq+1 {
		t.Errorf("counted %d", n)
	}
	now := w.get(m.ID)
	if now.Version != m.Version || !now.UpdatedAt.Equal(m.UpdatedAt) || now.Use.Uses != 1 || now.Use.LastUsedAt == nil {
		t.Errorf("%+v", now)
	}
}

func TestMEM9_TheSameIsWrittenOnce(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	m := w.say("I don’t eat meat.")
	for _, same := range []string{"I don’t eat meat", "i DON’T  eat\nmeat!", "Ｉ don’t eat meat"} {
		list, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: same}})
		must(t, err)
		if !list[0].Duplicate || list[0].Memory.ID != m.ID {
			t.Errorf("%q is another memory", same)
		}
	}
	if now := w.get(m.ID); now.Use.Mentioned != 3 || now.Version != 1 {
		t.Errorf("mentioned %d, version %d", now.Use.Mentioned, now.Version)
	}
	w.say("I eat meat")
	w.add(memory.Draft{Statement: "I don’t eat meat.", Tier: record.TierHistory})
	_, err := w.mem.Retract(ctx, w.local, m.ID, nil)
	must(t, err)
	w.say("I don’t eat meat.")

	old := w.say("I eat fish")
	list, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "I eat meat", Supersedes: []string{old.ID}}})
	must(t, err)
	if now := w.get(old.ID); !list[0].Duplicate || now.SupersededBy != list[0].Memory.ID {
		t.Errorf("said again, and superseded by %q", now.SupersededBy)
	}
	_, err = w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "I eat meat", Supersedes: []string{list[0].Memory.ID}}})
	refused(t, err, fault.Invalid, "supersedes[0]")

	w.add(memory.Draft{Statement: "hidden one", Private: true})
	list, err = w.mem.Add(ctx, w.remote, []memory.Draft{{Statement: "hidden one"}})
	must(t, err)
	if list[0].Duplicate {
		t.Error("a remote reader learns of a private memory")
	}
	w.sound()
}

func TestMEM5_DeletingMeansGone(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	c, err := w.mem.PutContext(ctx, w.local, memory.ContextDraft{Name: "Home"}, nil)
	must(t, err)
	old := w.say("I rent")
	m := w.add(memory.Draft{Statement: "I own a house", Contexts: []string{c.ID}, Supersedes: []string{old.ID}})
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Statement: ptr("I own a flat")}, nil)
	must(t, err)
	_, err = w.mem.RecordUse(ctx, w.local, []string{m.ID})
	must(t, err)
	refused(t, w.mem.Delete(ctx, w.local, m.ID, false, nil), fault.Conflict, "force")
	must(t, w.mem.Delete(ctx, w.local, m.ID, true, nil))
	for _, ref := range []string{m.ID, m.Handle, "2"} {
		_, err := w.mem.Get(w.local, ref)
		refused(t, err, fault.NotFound, "")
	}
	if now := w.get(old.ID); now.SupersededBy != "" {
		t.Errorf("superseded by %s, which is gone", now.SupersededBy)
	}
	if _, _, n, err := w.mem.GetContext(w.local, c.ID); err != nil || n != 0 {
		t.Errorf("%d memories, %v", n, err)
	}
	w.sound()
}

func TestMEM5_ForgettingWhatStemsFrom(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	note, err := w.notes.Put(ctx, notes.Draft{Title: "Diary", Body: "text"}, nil)
	must(t, err)
	for i := range 250 {
		w.add(memory.Draft{Statement: fmt.Sprintf("of the note %d", i), Source: record.MemorySource{Kind: "extraction", NoteID: note.ID}})
	}
	kept := w.say("of somebody else")
	_, err = w.mem.Forget(ctx, w.local, memory.Origin{}, nil)
	refused(t, err, fault.Invalid, "conversationId")
	var steps []int
	n, err := w.mem.Forget(ctx, w.local, memory.Origin{NoteID: note.ID}, func(done, total int) { steps = append(steps, done) })
	must(t, err)
	if n != 250 || !slices.Equal(steps, []int{100, 200, 250}) {
		t.Errorf("%d forgotten, steps %v", n, steps)
	}
	w.get(kept.ID)
	w.sound()
}

func TestMEM5_ForgettingAllIsAboutMemories(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	w.say("first")
	w.say("second")
	_, err := w.mem.PutSynonyms(ctx, w.local, []string{"ux", "user experience"}, false)
	must(t, err)
	_, err = w.mem.PutContext(ctx, w.local, memory.ContextDraft{Name: "Health Goals"}, nil)
	must(t, err)
	n, err := w.mem.Forget(ctx, w.local, memory.Origin{All: true}, nil)
	must(t, err)
	left, _ := w.mem.Count()
	sets, contexts := w.mem.Synonyms(w.local), w.mem.AllContexts(w.local)
	if n != 2 || left != 0 || len(sets) != 1 || len(contexts) != 1 {
		t.Errorf("%d forgotten; left are %d memories, %d sets of synonyms, %d contexts", n, left, len(sets), len(contexts))
	}
	w.sound()
}

func TestMEM6_TheCapArchivesWhatIsWorthLeast(t *testing.T) {
	w := open(t, memory.Limits{Bank: 3})
	ctx := t.Context()
	low := w.add(memory.Draft{Statement: "worth little", Importance: ptr(0.1)})
	pinned := w.add(memory.Draft{Statement: "worth less but pinned", Importance: ptr(0.0), Pinned: true})
	w.say("worth more")
	last := w.add(memory.Draft{Statement: "the last, worth least", Importance: ptr(0.05)})
	for id, want := range map[string]string{
		low.ID: record.MemoryArchived, pinned.ID: record.MemoryActive, last.ID: record.MemoryActive,
	} {
		if m := w.get(id); m.Status != want {
			t.Errorf("%q is %s", m.Statement, m.Status)
		}
	}
	w.add(memory.Draft{Statement: "pinned two", Pinned: true})
	w.add(memory.Draft{Statement: "pinned three", Pinned: true})
	_, err := w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "no room"}})
	refused(t, err, fault.Limit, "tier")
	w.add(memory.Draft{Statement: "room elsewhere", Tier: record.TierHistory})
}

func TestMEM6_TiersHaveTheirTime(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	working := w.add(memory.Draft{Statement: "of today", Tier: record.TierWorking})
	history := w.add(memory.Draft{Statement: "of the month", Tier: record.TierHistory})
	ever := w.add(memory.Draft{Statement: "for ever", Tier: record.TierPatterns})
	at := func(id string) string { return w.get(id).Status }
	expire := func(want int) {
		t.Helper()
		if n, err := w.mem.Expire(ctx); err != nil || n != want {
			t.Errorf("%d expired, %v; want %d", n, err, want)
		}
	}
	w.pass(24*time.Hour - time.Second)
	expire(0)
	w.pass(time.Second)
	expire(1)
	if at(working.ID) != record.MemoryArchived || at(history.ID) != record.MemoryActive {
		t.Errorf("working %s, history %s", at(working.ID), at(history.ID))
	}
	_, err := w.mem.Restore(ctx, w.local, working.ID, 0, nil)
	must(t, err)
	expire(0)
	w.pass(30 * 24 * time.Hour)
	expire(2)
	if at(ever.ID) != record.MemoryActive {
		t.Errorf("a pattern is %s", at(ever.ID))
	}
}

func TestMEM7_WhatIsPrivate(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	secret, err := w.notes.Put(ctx, notes.Draft{Title: "Secret Plan", Body: "text", Private: true}, nil)
	must(t, err)
	open, err := w.notes.Put(ctx, notes.Draft{Title: "Open Plan", Body: "text"}, nil)
	must(t, err)
	from := w.add(memory.Draft{Statement: "we begin in May", Source: record.MemorySource{NoteID: secret.ID}})
	if !from.Private {
		t.Error("a memory of a private note is public")
	}
	later := w.add(memory.Draft{Statement: "we end in June", Source: record.MemorySource{NoteID: open.ID}})
	about := w.add(memory.Draft{Statement: "I wrote [[Secret Plan]] with care", NoteIDs: []string{secret.ID, open.ID}})
	next := w.add(memory.Draft{Statement: "we begin in July", Supersedes: []string{from.ID}})
	if !next.Private {
		t.Error("what supersedes a private memory is public")
	}
	for _, id := range []string{from.ID, next.ID, from.Handle, "1"} {
		_, err := w.mem.Get(w.remote, id)
		refused(t, err, fault.NotFound, "")
	}
	seen, err := w.mem.Get(w.remote, about.ID)
	must(t, err)
	if strings.Contains(seen.Statement, "Secret") || seen.Handle != "" || !slices.Equal(seen.NoteIDs, []string{open.ID}) {
		t.Errorf("a remote reader sees %+v", seen.MemoryRecord)
	}
	_, err = w.mem.Get(w.remote, about.Handle)
	refused(t, err, fault.NotFound, "")
	_, err = w.mem.Update(ctx, w.remote, memory.Patch{ID: about.ID, NoteIDs: &[]string{}}, nil)
	must(t, err)
	if now := w.get(about.ID); !slices.Equal(now.NoteIDs, []string{secret.ID}) {
		t.Errorf("a remote reader took away what it does not see: %q", now.NoteIDs)
	}
	if _, err := w.mem.Get(w.remote, later.ID); err != nil {
		t.Error(err)
	}
	_, err = w.notes.Patch(ctx, notes.Patch{ID: open.ID, Private: ptr(true)}, nil)
	must(t, err)
	_, err = w.mem.Get(w.remote, later.ID)
	refused(t, err, fault.NotFound, "")
	_, err = w.notes.Delete(ctx, open.ID, nil)
	must(t, err)
	_, err = w.mem.Get(w.remote, later.ID)
	refused(t, err, fault.NotFound, "")
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: from.ID, Private: ptr(false)}, nil)
	refused(t, err, fault.Conflict, "private")
	w.add(memory.Draft{Statement: "hidden by its handle", Handle: "my-secret", Private: true})
	_, err = w.mem.Add(ctx, w.local, []memory.Draft{{Statement: "another", Handle: "My-Secret"}})
	refused(t, err, fault.Conflict, "handle")
	list, err := w.mem.Add(ctx, w.remote, []memory.Draft{{Statement: "seen by all", Handle: "my-secret"}})
	must(t, err)
	if h := list[0].Memory.Handle; h == "my-secret" || !strings.HasPrefix(h, "secret_") {
		t.Errorf("handle %q", h)
	}
	if got := w.mem.Stats(w.remote); got.Total != 2 {
		t.Errorf("a remote reader counts %d", got.Total)
	}
}

func TestMEM1_EntitiesThatAStatementNames(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	_, _, err := w.ents.PutType(ctx, entities.Type{Name: "Person"}, nil, false)
	must(t, err)
	for id, name := range map[string]string{"alice": "Alice Novak", "may": "May", "core": "Core"} {
		_, err := w.ents.Put(ctx, entities.Entity{ID: id, Type: "Person", Name: name, Aliases: []string{name + " X"}}, nil)
		must(t, err)
	}
	for statement, want := range map[string][]string{
		"I met alice novak and May in the core of town.": {"alice", "may"},
		"Core's plan is Core":                            {"core"},
		"it may rain":                                    {},
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

func TestREF1_ContextsAreATree(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	put := func(d memory.ContextDraft) (*memory.Context, error) { return w.mem.PutContext(ctx, w.local, d, nil) }
	a, err := put(memory.ContextDraft{ID: "a", Name: "Health Goals"})
	must(t, err)
	if a.Handle != "health_goals_context" {
		t.Errorf("handle %q", a.Handle)
	}
	_, err = put(memory.ContextDraft{ID: "b", Name: "Sport", ParentID: "a"})
	must(t, err)
	_, err = put(memory.ContextDraft{ID: "c", Name: "Running", ParentID: "b"})
	must(t, err)
	_, err = put(memory.ContextDraft{ID: "a", Name: "Health Goals", ParentID: "c"})
	refused(t, err, fault.Conflict, "parentId")
	_, err = put(memory.ContextDraft{ID: "a", Name: "Health Goals", ParentID: "a"})
	refused(t, err, fault.Conflict, "parentId")
	_, err = put(memory.ContextDraft{Name: "x", ParentID: "none"})
	refused(t, err, fault.NotFound, "parentId")
	twin, err := put(memory.ContextDraft{Name: "Health goals"})
	must(t, err)
	if twin.Handle == a.Handle {
		t.Errorf("two contexts have the handle %q", a.Handle)
	}
	m := w.add(memory.Draft{Statement: "I run on Mondays", Contexts: []string{"b", "c"}})
	if n, err := w.mem.Link(ctx, w.local, "b", []string{m.ID}, true); err != nil || n != 0 {
		t.Errorf("linked %d, %v", n, err)
	}
	moved, unlinked, err := w.mem.DeleteContext(ctx, w.local, "b", false)
	must(t, err)
	if moved != 1 || unlinked != 1 {
		t.Errorf("moved %d, unlinked %d", moved, unlinked)
	}
	_, below, _, err := w.mem.GetContext(w.local, "a")
	must(t, err)
	if len(below) != 1 || below[0].ID != "c" {
		t.Errorf("below it %v", below)
	}
	moved, unlinked, err = w.mem.DeleteContext(ctx, w.local, "a", true)
	must(t, err)
	if moved != 1 || unlinked != 1 || len(w.get(m.ID).Contexts) != 0 {
		t.Errorf("moved %d, unlinked %d, contexts %v", moved, unlinked, w.get(m.ID).Contexts)
	}
	w.sound()
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

// What was written before a clock is set back stays, and its times are in their order.
func TestMEM6_AClockThatJumpsBackArchivesNothing(t *testing.T) {
	w := open(t, memory.Limits{})
	ctx := t.Context()
	today := w.add(memory.Draft{Statement: "of today", Tier: record.TierWorking})
	held := w.add(memory.Draft{Statement: "it holds from now on", ValidFrom: ptr(w.clock())})
	ended := w.add(memory.Draft{Statement: "of this month", Tier: record.TierHistory})
	for _, back := range []time.Duration{time.Second, 48 * time.Hour, 50 * 365 * 24 * time.Hour} {
		w.pass(-back)
		added := w.add(memory.Draft{Statement: fmt.Sprint("written ", back, " earlier"), Tier: record.TierWorking})
		if n, err := w.mem.Expire(ctx); err != nil || n != 0 {
			t.Errorf("%v back: %d are archived, %v", back, n, err)
		}
		if got := w.get(added.ID); got.Status != record.MemoryActive || got.Version != 1 {
			t.Errorf("%v back: what was just written is %s", back, got.Status)
		}
	}
	gone, err := w.mem.Archive(ctx, w.local, ended.ID, nil)
	must(t, err)
	if gone.ArchivedAt.Before(ended.UpdatedAt) || gone.UpdatedAt.Before(ended.UpdatedAt) {
		t.Errorf("archived at %v, changed at %v, before that at %v", gone.ArchivedAt, gone.UpdatedAt, ended.UpdatedAt)
	}
	w.add(memory.Draft{Statement: "it holds no more", Supersedes: []string{held.ID}})
	was := w.get(held.ID)
	if was.Status != record.MemorySuperseded || was.ValidTo.Before(*was.ValidFrom) {
		t.Errorf("%s, held from %v to %v", was.Status, was.ValidFrom, was.ValidTo)
	}
	_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: held.ID, Tags: &[]string{"past"}}, nil)
	must(t, err) // valid from and to are still in their order
	if got := w.get(today.ID); got.Status != record.MemoryActive {
		t.Errorf("the first is %s", got.Status)
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
	_, err = w.mem.RecordUse(t.Context(), w.local, []string{m.ID})
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
			_, err := w.mem.RecordUse(ctx, w.local, []string{m.ID})
			must(t, err)
		}
	}
	for _, by := range []string{memory.ByUpdated, memory.ByCreated, memory.ByQuality, memory.ByUse} {
		f := memory.Filter{SortBy: by}
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

func TestMEM9_AnAddThatIsRepeated(t *testing.T) {
	w := open(t, memory.Limits{})
	w.add(memory.Draft{ID: "mine", Statement: "I own a boat"})
	list, err := w.mem.Add(t.Context(), w.local, []memory.Draft{{ID: "mine", Statement: "I own a boat"}})
	must(t, err)
	if !list[0].Duplicate || list[0].Memory.ID != "mine" {
		t.Errorf("said again, it is %+v", list[0])
	}
	_, err = w.mem.Add(t.Context(), w.local, []memory.Draft{{ID: "mine", Statement: "I own a ship"}})
	refused(t, err, fault.Conflict, "id")
}
