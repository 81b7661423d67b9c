package gather_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

// failing is a test, or a check of package rapid.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// pinned returns a remote prompt with notes, by the gatherer of the world, which keeps what
// it has masked. One that has kept nothing must make the same prompt.
func (w *world) pinned(t failing, ids ...string) string {
	t.Helper()
	p := gather.Params{MentionedNoteIDs: ids, Audience: gather.Remote}
	kept, err := w.assembled(ctx, w.gather, p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	fresh, err := w.assembled(ctx, w.fresh(), p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if kept.System != fresh.System {
		t.Fatalf("the prompt is\n%s\nwhere a fresh one is\n%s", kept.System, fresh.System)
	}
	return kept.System
}

// TestPRIV8_NoStaleTextIsShown makes a record private, public or another between two prompts
// that show a text which names it: the second shows what a gatherer shows that has kept
// nothing.
func TestPRIV8_NoStaleTextIsShown(t *testing.T) {
	const link, name = "alpha [[Canary]] omega", "Canary"
	public, private := notes.Draft{ID: "n", Title: name, Body: "x"}, notes.Draft{ID: "n", Title: name, Body: "x", Private: true}
	otherwise := notes.Draft{ID: "n", Title: "Other", Body: "x", Private: true}
	for of, c := range map[string]struct {
		before      notes.Draft
		change      func(t *testing.T, w *world)
		tells, told bool // whether the first prompt names it, and the second
	}{
		"a note becomes private": {public, func(t *testing.T, w *world) { t.Helper(); w.mustNote(t, private) }, true, false},
		"a note becomes public":  {private, func(t *testing.T, w *world) { t.Helper(); w.mustNote(t, public) }, false, true},
		"a private note gets the name": {otherwise, func(t *testing.T, w *world) {
			t.Helper()
			w.mustNote(t, private)
		}, true, false},
		"a private note loses the name": {private, func(t *testing.T, w *world) { t.Helper(); w.mustNote(t, otherwise) }, false, false},
		"a private note is deleted": {private, func(t *testing.T, w *world) {
			t.Helper()
			if _, err := w.notes.Delete(ctx, "n", nil); err != nil {
				t.Fatal(err)
			}
		}, false, false},
		"a private entity comes": {otherwise, func(t *testing.T, w *world) {
			t.Helper()
			w.mustPut(t, entities.Entity{ID: "e", Type: "P", Name: name, Private: true})
		}, true, false},
		"the text is another": {otherwise, func(t *testing.T, w *world) {
			t.Helper()
			w.mustNote(t, notes.Draft{ID: "text", Title: "Text", Body: "alpha [[Canary]] and [[Other]] omega"})
		}, true, true},
	} {
		t.Run(of, func(t *testing.T) {
			w := newWorld(t)
			w.mustType(t, entities.Type{Name: "P"})
			w.mustNote(t, notes.Draft{ID: "text", Title: "Text", Body: link})
			w.mustNote(t, c.before)
			for range 2 { // the second shows what was kept
				got := w.pinned(t, "text")
				if !strings.Contains(got, "alpha") || strings.Contains(got, name) != c.tells {
					t.Fatalf("at first the prompt is\n%s", got)
				}
			}
			c.change(t, w)
			got := w.pinned(t, "text")
			if !strings.Contains(got, "alpha") || strings.Contains(got, name) != c.told || strings.Contains(got, "Other") {
				t.Errorf("then the prompt is\n%s", got)
			}
		})
	}
}

// TestPRIV8_KeptTextsAreThoseOfAFreshMask makes random changes between prompts.
func TestPRIV8_KeptTextsAreThoseOfAFreshMask(t *testing.T) {
	names := []string{"Ant", "Bee", "Cat Dog"}
	ways := []string{"[[%s]] x", "@%s said", "[x](Private/%s.md)", "---\nabout: %s\n---\nx", "# On [[%s]]\nx", "plain %s"}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		defer w.db.Close()
		w.mustType(t, entities.Type{Name: "P"})
		name := func(what string) string { return rapid.SampledFrom(names).Draw(rt, what) }
		write := func(d notes.Draft) {
			_, err := w.notes.Put(ctx, d, nil)
			if err != nil && fault.KindOf(err) != fault.Conflict { // a path that is taken
				rt.Fatal(err)
			}
		}
		text := func(id string) {
			way := rapid.SampledFrom(ways).Draw(rt, "way")
			write(notes.Draft{ID: id, Title: id, Body: fmt.Sprintf(way, name("whom")) + fmt.Sprintf(way, name("whom"))})
		}
		text("text0")
		text("text1")
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			id, private := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id"), rapid.Bool().Draw(rt, "private")
			switch rapid.IntRange(0, 6).Draw(rt, "op") {
			case 0:
				text(fmt.Sprint("text", rapid.IntRange(0, 1).Draw(rt, "which")))
			case 1:
				err := second(w.notes.Delete(ctx, "n"+id, nil))
				if err != nil && fault.KindOf(err) != fault.NotFound {
					rt.Fatal(err)
				}
			case 2:
				write(notes.Draft{ID: "n" + id, Body: "x", Path: "Private/" + name("file") + ".md", Private: private})
			case 3:
				err := second(w.ents.Put(ctx, entities.Entity{ID: "e" + id, Type: "P", Name: name("name"), Private: private}, nil))
				if err != nil {
					rt.Fatal(err)
				}
			case 4:
				err := second(w.ents.Archive(ctx, "e"+id, nil))
				if err != nil && fault.KindOf(err) != fault.NotFound {
					rt.Fatal(err)
				}
			default:
				write(notes.Draft{ID: "n" + id, Title: name("title"), Body: "x", Private: private})
			}
			w.pinned(rt, "text0", "text1")
		}
	})
}

// TestPERF22_MaskedTextsAreKept counts the looks at the context, of which masking a text
// takes many: the second prompt masks none.
func TestPERF22_MaskedTextsAreKept(t *testing.T) {
	w := newWorld(t)
	p := w.texts(t, "[[a]] ", 64<<10)
	p.MentionedEntityIDs, p.Audience = nil, gather.Remote
	looks := func() int {
		t.Helper()
		e := &ending{Context: ctx, end: 1 << 30}
		_, err := w.assembled(e, w.gather, p)
		if err != nil {
			t.Fatal(err)
		}
		return e.looks
	}
	first, second := looks(), looks()
	if first < second+20 {
		t.Errorf("the first prompt looks at its context %d times, the second %d times", first, second)
	}
	w.mustNote(t, notes.Draft{ID: "more", Title: "More", Private: true})
	if again := looks(); again < second+20 {
		t.Errorf("after what is private has changed, a prompt looks at its context %d times", again)
	}
}
