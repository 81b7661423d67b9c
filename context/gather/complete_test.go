package gather_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// want fails unless a reader is offered these handles for what is typed, in any order.
func (w *completerWorld) want(v *audience.View, text string, want ...string) {
	w.Helper()
	got := []string{}
	for _, item := range w.typed(v, text) {
		got = append(got, strings.SplitN(item, ":", 2)[0])
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.Errorf("%s is offered %q for %q, want %q", v.Reader(), got, text, want)
	}
}

func TestREF16_ACommitShowsAtOnce(t *testing.T) {
	w := open(t, t)
	ctx := t.Context()
	w.want(w.local, "")
	m := w.add(memory.Draft{Statement: "I prefer morning workouts", Handle: "morning_workouts", Tags: []string{"sport/run"}, Domains: []string{"Health"}})
	w.want(w.local, "morn", "morning_workouts")
	w.want(w.local, "#1", "morning_workouts")
	w.want(w.local, "sport", "sport_tag", "sport_run_tag")
	w.want(w.local, "health", "health_domain")
	_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: m.ID, Tags: &[]string{"yoga"}}, nil)
	w.must(err)
	w.want(w.local, "sport")
	w.want(w.local, "yoga", "yoga_tag")
	_, err = w.mem.Archive(ctx, w.local, m.ID, nil)
	w.must(err)
	w.want(w.local, "")
	_, err = w.mem.Restore(ctx, w.local, m.ID, 0, nil)
	w.must(err)
	w.want(w.local, "morn", "morning_workouts")
	w.must(w.mem.Delete(ctx, w.local, m.ID, true, nil))
	w.want(w.local, "")

	c := w.context(memory.ContextDraft{Name: "Health Goals"})
	w.want(w.local, "my health")
	w.context(memory.ContextDraft{ID: c.ID, Name: "My Health Goals"})
	w.want(w.local, "my health", "health_goals_context")

	e := w.entity(entities.Entity{Name: "John Smith", Aliases: []string{"Johnny"}})
	w.want(w.local, "johnn", "john_smith_person_entity")
	w.entity(entities.Entity{ID: e.ID, Name: "Jane Smith"})
	w.want(w.local, "john")
	w.want(w.local, "smith", "jane_smith_person_entity")
	_, err = w.ents.Archive(ctx, e.ID, nil)
	w.must(err)
	w.want(w.local, "smith")

	id := w.say("", "", "Fix the message bus")
	w.want(w.local, "fix the mes", w.handleOf(id))
	w.want(w.local, "fix", w.handleOf(id))
	_, err = w.chats.Update(ctx, w.local, id, chat.Change{Settings: chat.Settings{Title: ptr("Repairs")}})
	w.must(err)
	w.want(w.local, "repa", w.handleOf(id))
	w.want(w.local, "fix the mes")
	_, err = w.chats.Update(ctx, w.local, id, chat.Change{Archived: ptr(true)})
	w.must(err)
	w.want(w.local, "repa")
}

func (w *completerWorld) handleOf(id string) string {
	w.Helper()
	c, err := w.chats.Get(w.t.Context(), w.local, id)
	w.must(err)
	return c.Handle
}

func TestREF16_TheLastUsedComesFirst(t *testing.T) {
	w := open(t, t)
	first := w.add(memory.Draft{Statement: "Coffee in the morning", Handle: "coffee_morning"})
	w.add(memory.Draft{Statement: "Coffee in the evening", Handle: "coffee_evening"})
	order := func() string { return strings.Join(w.typed(w.local, "coffee"), ", ") }
	if got, want := order(), "coffee_evening: Coffee in the evening, coffee_morning: Coffee in the morning"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	_, err := w.mem.Use(t.Context(), w.local, []string{first.ID})
	w.must(err)
	if got, want := order(), "coffee_morning: Coffee in the morning, coffee_evening: Coffee in the evening"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestREF16_ATagWasUsedWithItsMemories: the last one of those that have it.
func TestREF16_ATagWasUsedWithItsMemories(t *testing.T) {
	w := open(t, t)
	w.add(memory.Draft{Statement: "one", Tags: []string{"often"}})
	w.add(memory.Draft{Statement: "two", Tags: []string{"once"}})
	last := w.add(memory.Draft{Statement: "three", Tags: []string{"often"}})
	order := func() string { return strings.Join(w.typed(w.local, "", "tag"), ", ") }
	if got, want := order(), "often_tag: often, once_tag: once"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	w.must(w.mem.Delete(t.Context(), w.local, last.ID, true, nil))
	if got, want := order(), "once_tag: once, often_tag: often"; got != want {
		t.Errorf("when the last one is gone %q, want %q", got, want)
	}
}

// TestREF9_PrivateRecordsAreNotCompleted: nothing of what is private is offered to a remote reader.
func TestREF9_PrivateRecordsAreNotCompleted(t *testing.T) {
	w := open(t, t)
	w.add(memory.Draft{Statement: "zebra", Handle: "zebra_memory", Private: true, Tags: []string{"zebra"}, Domains: []string{"zebra"}})
	w.context(memory.ContextDraft{Name: "Zebra", Private: true})
	w.entity(entities.Entity{Name: "Zebra Smith", Private: true})
	n := w.note(notes.Draft{Title: "Zebra Note", Body: "x", Private: true})
	talk := w.say("", "Zebra talk", "!zebra")
	w.want(w.remote, "")
	w.want(w.remote, "zebra")
	w.want(w.remote, "#")
	w.want(w.local, "zebra", "zebra_memory", "zebra_tag", "zebra_domain", "zebra_context", "zebra_smith_person_entity", w.handleOf(talk))

	// What names it in public records is not shown, and is not what they are found by.
	w.add(memory.Draft{Statement: "see [[Zebra Note]]", Handle: "mule"})
	w.context(memory.ContextDraft{Name: "[[Zebra Note]]", Handle: "horse"})
	w.entity(entities.Entity{Name: "Okapi", Aliases: []string{"Zebra Note", "Giraffe"}})
	id := w.say("", "", "!Zebra first", "Then a donkey")
	w.want(w.remote, "zebra")
	w.want(w.remote, "mule")
	w.want(w.remote, "hors")
	w.want(w.remote, "oka", "okapi_person_entity")
	w.want(w.remote, "gir", "okapi_person_entity")
	w.want(w.local, "zebra f", w.handleOf(id))
	w.want(w.local, "zebra n", "okapi_person_entity")
	if got, want := w.typed(w.remote, "#"), []string{"claim_2: see (private)"}; !slices.Equal(got, want) {
		t.Errorf("by number %q, want %q", got, want)
	}
	for _, text := range []string{"okapi_persn_entity", "zebra_note", "zebra_memory", "mulf", "zebra_contxt"} {
		near, err := w.handles.Near(t.Context(), w.remote, text, 5)
		w.must(err)
		for _, item := range near {
			if item.Handle != "okapi_person_entity" || text != "okapi_persn_entity" {
				t.Errorf("%q is near to %+v", text, item)
			}
		}
	}

	// When the note becomes public, they are found by it at once, and no more when it is private again.
	w.note(notes.Draft{ID: n.ID, Title: "Zebra Note", Body: "x"})
	w.want(w.remote, "zebra n", "okapi_person_entity")
	w.want(w.remote, "mule", "mule")
	w.note(notes.Draft{ID: n.ID, Title: "Zebra Note", Body: "x", Private: true})
	w.want(w.remote, "zebra n")
	w.want(w.remote, "mule")
}

// TestREF9_AMemoryIsPrivateWhileItsNoteIs, and so are its tags.
func TestREF9_AMemoryIsPrivateWhileItsNoteIs(t *testing.T) {
	w := open(t, t)
	n := w.note(notes.Draft{Title: "Plan", Body: "x"})
	w.add(memory.Draft{Statement: "from a note", Handle: "from_note", Tags: []string{"plan"}, Source: record.MemorySource{Kind: "user", NoteID: n.ID}})
	w.want(w.remote, "", "from_note", "plan_tag")
	w.note(notes.Draft{ID: n.ID, Title: "Plan", Body: "x", Private: true})
	w.want(w.remote, "")
	w.note(notes.Draft{ID: n.ID, Title: "Plan", Body: "x"})
	w.want(w.remote, "", "from_note", "plan_tag")
}

func TestPRIV16_CompletionsKnowNoHiddenSuperseding(t *testing.T) {
	w := open(t, t)
	old := w.add(memory.Draft{Statement: "boat in Bremen", Handle: "old_boat", Tags: []string{"boat"}})
	secret := w.add(memory.Draft{Statement: "ship in Hamburg", Handle: "new_ship", Supersedes: []string{old.ID}, Private: true})
	w.want(w.remote, "", "old_boat", "boat_tag")
	w.want(w.local, "", "new_ship")
	w.handles = w.opened()
	w.want(w.remote, "", "old_boat", "boat_tag")
	w.want(w.local, "", "new_ship")
	_, err := w.mem.Update(t.Context(), w.local, memory.Patch{ID: secret.ID, Private: ptr(false)}, nil)
	w.must(err)
	public := w.typed(w.remote, "")
	if len(public) != 1 || !strings.Contains(public[0], "Hamburg") {
		t.Errorf("once that is public, %q is offered", public)
	}
	_, err = w.mem.Update(t.Context(), w.local, memory.Patch{ID: secret.ID, Private: ptr(true)}, nil)
	w.must(err)
	w.want(w.remote, "", "old_boat", "boat_tag")
}

// texts are what is typed where all that is offered is compared.
var texts = []string{"", "a", "b", "#", "claim_", "plan", "alpha", "beta_", "to_", "my", "priv", "person"}

// offers returns all that Handles offer a reader.
func (w *completerWorld) offers(complete func(text string) ([]record.RefCompletion, error)) []string {
	w.Helper()
	var all []string
	for _, text := range texts {
		items, err := complete(text)
		w.must(err)
		all = append(all, fmt.Sprint(text, ": ", shown(items)))
	}
	return all
}

// change does something to a world. What is private is left out of it if public is set.
func (w *completerWorld) change(t *rapid.T, public bool) {
	ctx := w.t.Context()
	words := rapid.SampledFrom([]string{"alpha", "beta", "plan", "to do", "private plan", "[[Private Plan]]"})
	private := rapid.IntRange(0, 2).Draw(t, "private") == 0
	text, other := words.Draw(t, "text"), words.Draw(t, "other")
	id := fmt.Sprintf("x%d", rapid.IntRange(1, 6).Draw(t, "id"))
	what := rapid.SampledFrom([]string{"memory", "context", "entity", "say", "update", "archive", "delete", "use", "note", "trash", "title"}).Draw(t, "what")
	if private {
		id = "p" + id
	}
	if private && public {
		return
	}
	var err error
	switch what {
	case "memory":
		_, err = w.mem.Add(ctx, w.local, []memory.Draft{{
			ID: id, Statement: text + " " + other, Tags: []string{strings.Trim(other, "[]")}, Private: private, Handle: "m_" + id,
		}})
	case "context":
		_, err = w.mem.PutContext(ctx, w.local, memory.ContextDraft{ID: "c" + id, Name: text, Handle: "c_" + id, Private: private}, nil)
	case "entity":
		_, err = w.ents.Put(ctx, entities.Entity{ID: "e" + id, Type: "person", Name: text + " " + id, Aliases: []string{other + " too " + id}, Private: private}, nil)
	case "say":
		w.say("", text+" "+id, other)
	case "update":
		_, err = w.mem.Update(ctx, w.local, memory.Patch{ID: id, Statement: &other, Tags: &[]string{strings.Trim(text, "[]")}}, nil)
	case "archive":
		_, err = w.mem.Archive(ctx, w.local, id, nil)
	case "delete":
		err = w.mem.Delete(ctx, w.local, id, true, nil)
	case "use":
		_, err = w.mem.Use(ctx, w.local, []string{id})
	case "note":
		_, err = w.notes.Put(ctx, notes.Draft{ID: "n" + id, Title: "Private Plan", Body: text, Private: private}, nil)
	case "trash":
		_, err = w.ents.Archive(ctx, "e"+id, nil)
	}
	_ = err // a change that is refused changes nothing
}

// TestREF3_TheIndexIsThatOfAFreshStart after any changes, for both readers.
func TestREF3_TheIndexIsThatOfAFreshStart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := open(t, r)
		for range rapid.IntRange(1, 25).Draw(r, "changes") {
			w.change(r, false)
			w.typed(w.remote, rapid.SampledFrom(texts).Draw(r, "typed meanwhile"))
		}
		fresh := w.opened()
		for _, v := range []*audience.View{w.local, w.remote} {
			got := w.offers(func(text string) ([]record.RefCompletion, error) {
				return w.handles.Complete(t.Context(), v, text, nil, 10)
			})
			want := w.offers(func(text string) ([]record.RefCompletion, error) {
				return fresh.Complete(t.Context(), v, text, nil, 10)
			})
			if !slices.Equal(got, want) {
				r.Fatalf("%s is offered\n%q, after a start\n%q", v.Reader(), got, want)
			}
		}
	})
}

// TestREF9_PrivateRecordsChangeNoAnswer: a store that has private records, which nothing public
// refers to, answers a remote reader as one without them does.
func TestREF9_PrivateRecordsChangeNoAnswer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		with, without := open(t, r), open(t, r)
		for i := range rapid.IntRange(1, 20).Draw(r, "records") {
			kind := rapid.SampledFrom([]string{"memory", "context", "entity", "say"}).Draw(r, "kind")
			text := rapid.SampledFrom([]string{"alpha", "beta", "plan"}).Draw(r, "text") + fmt.Sprint(" ", i)
			private := rapid.Bool().Draw(r, "private")
			for _, w := range []*completerWorld{with, without} {
				w.clock()
				if private && w == without {
					continue
				}
				w.now = w.now.Truncate(time.Hour).Add(time.Duration(i) * time.Minute)
				w.ids = 100 * i
				w.write(kind, text, i, private)
			}
		}
		for _, limit := range []int{1, 3, 6, 50} {
			answer := func(w *completerWorld) []string {
				return w.offers(func(text string) ([]record.RefCompletion, error) {
					items, err := w.handles.Complete(t.Context(), w.remote, text, nil, limit)
					near, nearErr := w.handles.Near(t.Context(), w.remote, "m_alpha"+text, limit)
					return append(items, near...), cmp.Or(err, nearErr)
				})
			}
			if got, want := answer(with), answer(without); !slices.Equal(got, want) {
				r.Fatalf("with private records\n%q, without\n%q", got, want)
			}
		}
	})
}

func (w *completerWorld) write(kind, text string, i int, private bool) {
	var err error
	switch kind {
	case "memory":
		_, err = w.mem.Add(w.t.Context(), w.local, []memory.Draft{{Statement: text, Tags: strings.Fields(text), Private: private, Handle: fmt.Sprint("m_alpha_", i)}})
	case "context":
		_, err = w.mem.PutContext(w.t.Context(), w.local, memory.ContextDraft{Name: text, Handle: fmt.Sprint("c_alpha_", i), Private: private}, nil)
	case "entity":
		_, err = w.ents.Put(w.t.Context(), entities.Entity{Type: "person", Name: text, Private: private}, nil)
	case "say":
		_, err = w.chats.Append(w.t.Context(), w.local, chat.AppendRequest{
			Title: text, Private: private, Messages: []chat.Draft{{Role: record.RoleUser, Content: text}},
		})
	}
	w.must(err)
}

// TestREF16_CommitsWhileTheIndexIsMade are in it.
func TestREF16_CommitsWhileTheIndexIsMade(t *testing.T) {
	w := open(t, t)
	var writers, readers sync.WaitGroup
	writers.Go(func() {
		for i := range 300 {
			w.entity(entities.Entity{Name: fmt.Sprintf("Number %d", i), ID: fmt.Sprintf("n%d", i%200)})
		}
	})
	for range 4 {
		readers.Go(func() {
			for range 50 {
				w.typed(w.remote, "num")
			}
		})
	}
	writers.Wait()
	readers.Wait()
	fresh := w.opened()
	for _, text := range []string{"num", "number_1", "29", "person"} {
		got, err := w.handles.Complete(t.Context(), w.local, text, nil, refs.MaxCompletions)
		w.must(err)
		want, err := fresh.Complete(t.Context(), w.local, text, []string{"entity"}, refs.MaxCompletions)
		w.must(err)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, shown(got), shown(want))
		}
	}
}

// slow is a Source during whose Load something happens.
type slow struct {
	*gather.EntitySource
	during func()
}

func (s slow) Load(ctx context.Context) ([]gather.HandleKey, error) {
	keys, err := s.EntitySource.Load(ctx)
	s.during()
	return keys, err
}

func TestREF16_WhatIsWrittenWhileTheIndexIsMade(t *testing.T) {
	w := open(t, t)
	w.entity(entities.Entity{ID: "old", Name: "Old Name"})
	w.entity(entities.Entity{ID: "gone", Name: "Gone Soon"})
	w.handles = gather.OpenCompleter(w.db, slow{gather.NewEntitySource(w.ents), func() {
		w.entity(entities.Entity{ID: "old", Name: "New Name"})
		w.entity(entities.Entity{Name: "Added Late"})
		_, err := w.ents.Archive(t.Context(), "gone", nil)
		w.must(err)
	}})
	w.want(w.local, "", "new_name_person_entity", "added_late_person_entity")
}
