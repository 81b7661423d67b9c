package audience_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV8_PublicNotes: what is not changed is the note itself, and nothing in another
// one names what is private.
func TestPRIV8_PublicNotes(t *testing.T) {
	w := newMasking(t)
	public := w.rooms
	if public.Public(w.notes.Get("secret")) != nil {
		t.Error("a private note")
	}
	open := w.put(t, notes.Draft{ID: "open", Title: "Open", Body: "see [[Other]] and @Bob", Tags: []string{"t"}})
	if public.Public(open) != open {
		t.Error("a note in which nothing is hidden is another one")
	}
	hides := w.put(t, notes.Draft{
		ID: "hides", Body: "# On [[Canary Plan]]\nsee [canary](Private/Canary%20Plan.md), [[Other]] and @Canary Zoe", Tags: []string{"Canary"},
	})
	got := public.Public(hides)
	if got.Title != "On (private)" || got.Body != "# On (private)\nsee (private), [[Other]] and (private)" {
		t.Errorf("%+v", got)
	}
}

// changePrivacy makes a random change of what is private, or of how it is called.
func changePrivacy(t *testing.T, rt *rapid.T, ents *entities.Store, ns *notes.Store, name func(what string) string) {
	t.Helper()
	var err error
	id, private := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id"), rapid.Bool().Draw(rt, "private")
	switch rapid.IntRange(0, 5).Draw(rt, "what") {
	case 0:
		_, err = ents.Put(t.Context(), entities.Entity{ID: "e" + id, Type: "P", Name: name("name"), Private: private}, nil)
	case 1:
		_, _ = ns.Delete(t.Context(), "n"+id, nil)
	case 2:
		_, err = ns.Put(t.Context(), notes.Draft{ID: "n" + id, Title: name("title"), Private: private, Aliases: []string{name("alias")}}, nil)
	case 3:
		_, err = ns.Put(t.Context(), notes.Draft{ID: "n" + id, Body: "x", Path: "Private/" + id + "/" + name("file") + ".md", Private: private}, nil)
	case 4:
		_, _ = ents.Archive(t.Context(), "e"+id, nil)
	case 5:
		_, err = ns.Put(t.Context(), notes.Draft{ID: "n" + id, Body: "x", Path: name("file") + ".md", Private: private}, nil)
	}
	_ = err // a path that is taken: nothing has changed
}

// TestPRIV6_CompletionForgetsWhatDoesNotHold changes what is private, how it is called and
// what names are made from: completions are those of rooms that have kept nothing.
func TestPRIV6_CompletionForgetsWhatDoesNotHold(t *testing.T) {
	called := []string{"Ant", "Bee"}
	heads := []string{"# On [[%s]]", "# On %s", "# On @%s", "---\naliases: ['[[%s]]', On it]\n---\n", "---\naliases: [%s, On it]\n---\n"}
	rapid.Check(t, func(rt *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		defer db.Close()
		stores := openStores(t, db, notes.Options{})
		ents, ns := stores.Entities, stores.Notes
		_, _, err = ents.PutType(t.Context(), entities.Type{Name: "P", Fields: []entities.Field{{Name: "f", Type: record.Text}}}, nil, false)
		must(t, err)
		_, err = ents.Put(t.Context(), entities.Entity{ID: "ea", Type: "P", Name: "Ant", Private: true}, nil)
		must(t, err)
		kept := audience.Open(db, stores).View(audience.Remote)
		name := func(what string) string { return rapid.SampledFrom(called).Draw(rt, what) }
		for range rapid.IntRange(1, 25).Draw(rt, "commits") {
			switch rapid.IntRange(0, 5).Draw(rt, "of") {
			case 0:
				changePrivacy(t, rt, ents, ns, name)
			case 1:
				id := fmt.Sprint("e-text", rapid.IntRange(0, 1).Draw(rt, "entity"))
				_, err := ents.Put(t.Context(), entities.Entity{ID: id, Type: "P", Name: "On [[" + name("whom") + "]]", Aliases: []string{name("alias")}}, nil)
				must(t, err)
			default:
				id := fmt.Sprint("text", rapid.IntRange(0, 1).Draw(rt, "note"))
				body := fmt.Sprintf(rapid.SampledFrom(heads).Draw(rt, "head"), name("whom"))
				_, err := ns.Put(t.Context(), notes.Draft{ID: id, Body: body}, nil)
				must(t, err)
			}
			fresh := audience.Open(db, stores).View(audience.Remote)
			for _, typed := range []string{"", "on", "a", "bee"} {
				for _, limit := range []int{1, 3, 20} {
					if diff := gocmp.Diff(fresh.CompleteNotes(typed, limit), kept.CompleteNotes(typed, limit)); diff != "" {
						rt.Fatalf("%d notes for %q (+ kept):\n%s", limit, typed, diff)
					}
					if diff := gocmp.Diff(fresh.CompleteEntities(typed, nil, limit), kept.CompleteEntities(typed, nil, limit)); diff != "" {
						rt.Fatalf("%d entities for %q (+ kept):\n%s", limit, typed, diff)
					}
				}
			}
		}
	})
}

// TestPERF22_APrivateNoteCostsTheSameInALargeStore compares the memory that a commit takes
// which makes a private note among few and among many public ones: it looks at those that
// name it, and at no others.
func TestPERF22_APrivateNoteCostsTheSameInALargeStore(t *testing.T) {
	cost := func(size int) uint64 {
		w := openRooms(t, notes.Options{})
		defer w.db.Close()
		ns, public := w.notes, w.rooms
		told := 0
		w.db.OnCommit(func(cs *kv.ChangeSet) {
			for range 2 { // the words and the vectors ask
				told = len(public.Revealed(cs))
			}
		})
		var drafts []notes.Draft
		for i := range size {
			drafts = append(drafts, notes.Draft{ID: fmt.Sprint(i), Title: fmt.Sprint("Title ", i), Body: fmt.Sprintf("see [[Title %d]]", i+1)})
		}
		for part := range slices.Chunk(drafts, 300) {
			_, err := ns.PutMany(t.Context(), part)
			must(t, err)
		}
		least := uint64(1 << 60)
		for i := range 12 {
			public.ReadReferences() // what is not read yet is told as well
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ns.Put(t.Context(), notes.Draft{ID: fmt.Sprint(i * 10), Title: fmt.Sprint("Title ", i*10), Private: true}, nil)
			must(t, err)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
			if i > 0 && told != 2 {
				t.Fatalf("%d notes are told to name it, want itself and one", told)
			}
		}
		return least
	}
	few, many := cost(300), cost(3000)
	if many > 2*few {
		t.Errorf("%d bytes among 3,000 notes, %d among 300", many, few)
	}
}

// called are names of records, ways the ways in which a text refers to one that is called %s.
var (
	called = []string{"Ant", "Bee", "Cat Dog", "the Éa", "O'Neil"}
	ways   = []string{
		"[[%s]]", "[x](%s.md)", "[x](<Private/%s.md>)", "@%s said", "@[%s]", "%s.md", "# On [[%s]]\n", "<a href='%s'>x</a>", "[x][r]\n\n[r]: <%s>",
		"---\nabout: %s\n---\n", "---\nabout: \"x [[%s]]\"\n---\n", "---\naliases: ['[[%s]]']\n---\n", "---\ntags: [%s]\n---\n", "[[Folder/%s]]", "@ant_p_entity %s",
		"@\"%s\" said", "@_%s_", "@[*%s*]", "@(%s)", "@“%s”", "@Private/a/%s said", "[[%s is here", "[[%s|x\ny", "![[Private/a/%s", "&#64;%s said",
		"x @&lpar;%s)", "[[&#32;%s]]", "[[%s^b]]", "[x](%s.md:3)", "[x](<%s>", "<img alt=x src=\"%s\">", "---\ntitle: '@%s'\n---\n",
	}
)

// TestPRIV8_WhatIsRevealedIsKnown changes what is private, and how it is called, in all
// ways: the notes of which the public text changes are told.
func TestPRIV8_WhatIsRevealedIsKnown(t *testing.T) {
	total := 0
	rapid.Check(t, func(rt *rapid.T) {
		w := openRooms(t, notes.Options{})
		defer w.db.Close()
		ents, ns, public := w.ents, w.notes, w.rooms
		var revealed, changed []string
		w.db.OnCommit(func(cs *kv.ChangeSet) {
			revealed = public.Revealed(cs)
			for _, ch := range cs.Changes {
				changed = append(changed, ch.ID)
			}
		})
		_, _, err := ents.PutType(t.Context(), entities.Type{Name: "P", Fields: []entities.Field{{Name: "f", Type: record.Text}}}, nil, false)
		must(t, err)
		name := func(what string) string { return rapid.SampledFrom(called).Draw(rt, what) }
		for i := range 6 {
			body := fmt.Sprintf(rapid.SampledFrom(ways).Draw(rt, "way"), name("whom"))
			_, err := ns.Put(t.Context(), notes.Draft{ID: fmt.Sprint("text", i), Title: "", Body: body}, nil)
			must(t, err)
		}
		texts := func() map[string]string {
			all := make(map[string]string)
			for n := range ns.All() {
				all[n.ID] = ""
			}
			for id := range all {
				if n := public.Public(ns.Get(id)); n != nil {
					all[id] = fmt.Sprintf("%q %q %q %q", n.Title, n.Aliases, n.Tags, n.Body)
				}
			}
			return all
		}
		for range rapid.IntRange(1, 12).Draw(rt, "commits") {
			before := texts()
			changed = nil
			changePrivacy(t, rt, ents, ns, name)
			for id, text := range texts() {
				was, known := before[id]
				if !known || was == text || slices.Contains(changed, id) {
					continue
				}
				total++
				if !slices.Contains(revealed, id) {
					rt.Fatalf("%s was %s and is %s, but %q are told", id, was, text, revealed)
				}
			}
		}
	})
	if total == 0 {
		t.Error("no text changed with others: the test proves nothing")
	}
}
