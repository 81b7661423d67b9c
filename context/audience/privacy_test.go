package audience_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV7_EveryPrivateRecordHasItsRule makes records private in each way.
func TestPRIV7_EveryPrivateRecordHasItsRule(t *testing.T) {
	w := openRooms(t, notes.Options{PrivateFolders: []string{"Closed"}})
	view, ents, ns := w.local, w.ents, w.notes
	ctx := t.Context()
	_, _, err := ents.PutType(ctx, entities.Type{Name: "P"}, nil, false)
	must(t, err)
	for _, d := range []notes.Draft{
		{ID: "folder", Path: "Closed/a.md", Body: "x"},
		{ID: "client", Title: "b", Private: true},
		{ID: "text", Body: "---\nprivate: true\n---\nx"},
		{ID: "doubt", Body: "---\nprivate: perhaps\n---\nx"},
		{ID: "gone", Title: "c", Private: true},
		{ID: "open", Title: "d"},
	} {
		_, err = ns.Put(ctx, d, nil)
		must(t, err)
	}
	for _, e := range []entities.Entity{
		{ID: "said", Type: "P", Name: "1", Private: true},
		{ID: "described", Type: "P", Name: "2", NoteID: "client", Private: true},
		{ID: "made", Type: "P", Name: "3", NoteID: "gone"},
		{ID: "seen", Type: "P", Name: "4", NoteID: "open"},
	} {
		_, err = ents.Put(ctx, e, nil)
		must(t, err)
	}
	_, err = ns.Delete(ctx, "gone", nil)
	must(t, err)

	want := map[string]string{
		"folder": "folder ", "client": "client ", "text": "text ", "doubt": "doubt  doubt",
		"said": "client ", "described": "note client", "made": "source gone",
	}
	got := map[string]string{}
	for _, r := range view.Explain(view.PrivateRecords()) {
		got[r.ID] = fmt.Sprint(r.Rule, " ", r.NoteID)
		if r.Doubt != "" {
			got[r.ID] += " doubt"
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nshould be\n%v", got, want)
	}
	for _, id := range []string{"open", "seen"} {
		if list := view.PrivacyOf(id); len(list) != 1 || list[0].Rule != record.PrivacyPublic {
			t.Errorf("%s: %+v", id, list)
		}
	}
	if list := view.PrivacyOf("nobody"); len(list) != 0 {
		t.Errorf("nobody: %+v", list)
	}
}

// TestPRIV7_ARemoteReaderIsToldNothing of what is private.
func TestPRIV7_ARemoteReaderIsToldNothing(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{ID: "tells", Title: "Tells", Body: "the canary plan"})
	if list := w.remote.PrivateRecords(); len(list) != 0 {
		t.Errorf("records %+v", list)
	}
	if list := w.remote.PrivacyOf("secret"); len(list) != 0 {
		t.Errorf("a record %+v", list)
	}
	list, next, err := w.remote.Prose(t.Context(), "", nil, 10)
	if len(list) != 0 || next != nil || err != nil {
		t.Errorf("places %+v, %v, %v", list, next, err)
	}
}

// placesIn returns the places of prose, each as line or field, words and private record.
func (w *masking) placesIn(t *testing.T, of string, limit int) (places string, more bool) {
	t.Helper()
	list, next, err := w.local.Prose(t.Context(), of, nil, limit)
	must(t, err)
	return describePlaces(list), next != nil
}

func describePlaces(list []record.PrivacyPlace) string {
	var all []string
	for _, p := range list {
		where := p.Field
		if where == "" {
			where = fmt.Sprint(p.Line)
		}
		all = append(all, fmt.Sprintf("%s:%s %s=%s", p.ID, where, p.Text, p.Names.ID))
	}
	return strings.Join(all, "; ")
}

// TestPRIV10_ProseThatSpellsOutAPrivateName goes over what is such prose and what is not.
func TestPRIV10_ProseThatSpellsOutAPrivateName(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a title":                     {"x\n\nThe Canary Plan is late.", "open:3 Canary Plan=secret"},
		"in another case":             {"the canary PLAN's end", "open:1 canary PLAN=secret"},
		"an alias":                    {"by Canaryalias.", "open:1 Canaryalias=z"},
		"over a line end":             {"the Canary\nPlan", "open:1 Canary\nPlan=secret"},
		"in code and in a comment":    {"`Canary Plan`\n<!-- Canary Zoe -->", "open:1 Canary Plan=secret; open:2 Canary Zoe=z"},
		"twice in a line":             {"Canary Plan, Canary Zoe, Canary Plan", "open:1 Canary Plan=secret; open:1 Canary Zoe=z"},
		"in frontmatter":              {"---\nx: about Canary Plan\n---\n", "open:2 Canary Plan=secret"},
		"in a heading":                {"x\n# On Canary Plan", "open:2 Canary Plan=secret"},
		"beside a link":               {"[[Canary Plan]] and Canary Plan", "open:1 Canary Plan=secret"},
		"a part of a word":            {"Canary Plans and Canaryaliased", ""},
		"a part of a name":            {"the Canary, the Plan", ""},
		"a link":                      {"[[Canary Plan]] and [[Canary Plan|Canary Plan]] and [Canary Plan](<Private/Canary Plan.md>)", ""},
		"a mention":                   {"@Canary Zoe and @[Canary Zoe]", ""},
		"a value that is masked":      {"---\nx: Canary Plan\ny:\n  - Canary Zoe\n---\nz", ""},
		"what is public as well":      {"the Other", ""},
		"the longest of several":      {"Canary Plan Bee", "open:1 Canary Plan Bee=bee"},
		"behind what begins a name":   {"Canary Canary Plan", "open:1 Canary Plan=secret"},
		"decomposed":                  {"Cafe\u0301 Zoe", "open:1 Cafe\u0301 Zoe=cafe"},
		"without blanks between them": {"について若葉が", "open:1 若葉=leaf"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newMasking(t)
			for id, name := range map[string]string{
				"cafe": "Caf\u00e9 Zoe", "leaf": "若葉", "twin": "Other", "bee": "Canary Plan Bee",
			} {
				_, err := w.ents.Put(t.Context(), entities.Entity{ID: id, Type: "P", Name: name, Private: true}, nil)
				must(t, err)
			}
			w.put(t, notes.Draft{ID: "open", Title: "Open", Body: c.body})
			got, more := w.placesIn(t, "", 100)
			if got != c.want || more {
				t.Errorf("%q, more: %v; should be %q", got, more, c.want)
			}
		})
	}
}

// TestPRIV10_NamesAndFieldsAreReadToo where no text of a note has them.
func TestPRIV10_NamesAndFieldsAreReadToo(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{
		ID: "t", Title: "After the Canary Plan", Aliases: []string{"Canary Plan", "no canary zoe"}, Body: "nothing",
	})
	_, err := w.ents.Put(t.Context(), entities.Entity{ID: "e", Type: "P", Name: "Bob", Fields: entities.Values{
		"about": "met [[Canary Plan]] for Canary Zoe", "said": []string{"Canary Plan", "the canary plan"},
	}}, nil)
	must(t, err)
	got, _ := w.placesIn(t, "", 100)
	_, _, err = w.ents.PutType(t.Context(), entities.Type{
		Name: "R", Fields: []entities.Field{{Name: "boss", Type: record.EntityRef}},
	}, nil, false)
	must(t, err)
	_, err = w.ents.Put(t.Context(), entities.Entity{
		ID: "on-canary-plan", Type: "R", Name: "Dot", Fields: entities.Values{"boss": "on-canary-plan"},
	}, nil)
	must(t, err)
	want := "t:aliases canary zoe=z; t:title Canary Plan=secret; e:about Canary Zoe=z; e:said canary plan=secret"
	if got != want {
		t.Errorf("%s\nshould be\n%s", got, want)
	}
	got, _ = w.placesIn(t, "z", 100)
	if want = "t:aliases canary zoe=z; e:about Canary Zoe=z"; got != want {
		t.Errorf("of one: %s\nshould be\n%s", got, want)
	}
	got, more := w.placesIn(t, "", 1)
	if want = "t:aliases canary zoe=z"; got != want || !more {
		t.Errorf("the first: %s, more: %v", got, more)
	}
	got, more = w.placesIn(t, "", 4)
	if strings.Count(got, "=") != 4 || more {
		t.Errorf("all: %s, more: %v", got, more)
	}
}

// TestPRIV10_PagesOfProseAreTheWhole reads places in pages of several sizes, of which some
// end within a text, between its text and its names, and behind a record that goes
// meanwhile.
func TestPRIV10_PagesOfProseAreTheWhole(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{
		ID: "a", Title: "About Canary Zoe", Aliases: []string{"of Canary Plan"},
		Body: "Canary Plan, Canary Zoe\nCanary Zoe\n\nthe canary plan",
	})
	w.put(t, notes.Draft{ID: "b", Title: "Bare"})
	w.put(t, notes.Draft{ID: "c2", Title: "Cat", Body: "Canary Zoe"})
	w.put(t, notes.Draft{ID: "c1", Title: "Cat", Body: "Canary Zoe", Aliases: []string{"my Canary Plan"}})
	_, err := w.ents.Put(t.Context(), entities.Entity{
		ID: "e", Type: "P", Name: "Cat", Fields: entities.Values{"said": []string{"a canary plan"}},
	}, nil)
	must(t, err)
	whole, _ := w.placesIn(t, "", 100)
	if strings.Count(whole, "=") != 8 {
		t.Fatalf("%s", whole)
	}
	for size := 1; size <= 10; size++ {
		var list []record.PrivacyPlace
		for after, pages := (*audience.ProsePlace)(nil), 0; ; pages++ {
			page, next, err := w.local.Prose(t.Context(), "", after, size)
			must(t, err)
			list = append(list, page...)
			if next == nil {
				break
			}
			if len(page) != size || pages > 10 {
				t.Fatalf("page %d has %d places of %d", pages, len(page), size)
			}
			after = next
		}
		if got := describePlaces(list); got != whole {
			t.Errorf("in pages of %d: %s\nshould be\n%s", size, got, whole)
		}
	}
	_, next, err := w.local.Prose(t.Context(), "", nil, 6) // ends in c1
	must(t, err)
	_, err = w.notes.Delete(t.Context(), "c1", nil)
	must(t, err)
	rest, _, err := w.local.Prose(t.Context(), "", next, 100)
	must(t, err)
	if got, want := describePlaces(rest), "c2:1 Canary Zoe=z"; got != want {
		t.Errorf("behind a record that is gone: %s, want %s", got, want)
	}
}

// TestPRIV10_ProseIsLinear counts the looks at the context, of which there is one for so
// many words that are read or compared, for texts that begin a name at every word.
func TestPRIV10_ProseIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for family, piece := range map[string]string{
		"beginnings of one name":   "canary ",
		"names":                    "Canary Zoe ",
		"names in lines":           "Canary Zoe\n",
		"beginnings and a name":    "canary canary canary zoe ",
		"mentions":                 "@Canary Zoe ",
		"links":                    "[[Canary Plan]] ",
		"names with an apostrophe": "canary's ",
	} {
		t.Run(family, func(t *testing.T) {
			w := newMasking(t)
			name := strings.TrimSpace(strings.Repeat("canary ", 40))
			_, err := w.ents.Put(t.Context(), entities.Entity{ID: "long", Type: "P", Name: name, Private: true}, nil)
			must(t, err)
			looks := func(size int) int {
				w.put(t, notes.Draft{ID: "open", Title: "Open", Body: strings.Repeat(piece, size/len(piece))})
				ctx := &endsAfter{Context: t.Context(), left: math.MaxInt}
				_, _, err := w.local.Prose(ctx, "", nil, 1000)
				must(t, err)
				return math.MaxInt - ctx.left
			}
			const size = 40_000
			once, fourfold := looks(size), looks(4*size)
			if fourfold > 5*once+8 {
				t.Errorf("%d looks for %d bytes, %d for four times as many", once, size, fourfold)
			}
		})
	}
}

// TestPRIV10_ProseCanBeCancelled in the middle of a text.
func TestPRIV10_ProseCanBeCancelled(t *testing.T) {
	w := newMasking(t)
	w.put(t, notes.Draft{ID: "open", Title: "Open", Body: strings.Repeat("canary ", 10_000)})
	ctx := &endsAfter{Context: t.Context(), left: 2}
	_, _, err := w.local.Prose(ctx, "", nil, 10)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// endsAfter is a context that ends when it was asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	c.left--
	if c.left < 0 {
		return context.Canceled
	}
	return nil
}
