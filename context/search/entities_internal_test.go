package search

import (
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	decl "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

func TestWQL3_MatchesLooksAtNoteNameAndTexts(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	_, _, err := r.ents.PutType(ctx, entities.Type{Name: "Project", Fields: []entities.Field{
		{Name: "goal", Type: decl.Text}, {Name: "areas", Type: decl.TextList}, {Name: "lead", Type: decl.EntityRef},
	}}, nil, false)
	must(t, err)
	r.put(t, notes.Draft{ID: "n", Title: "Note", Body: "The road maps of spring"})
	_, err = r.ents.PutMany(ctx, []entities.Entity{
		{ID: "a", Type: "Project", Name: "Alpha", NoteID: "n", Fields: entities.Values{"goal": "Plans for cafés"}},
		{ID: "b", Type: "Project", Name: "Road works", Fields: entities.Values{"areas": []string{"map", "spring"}, "lead": "a"}},
	})
	must(t, err)
	for words, want := range map[string]string{
		"road map": "ab", "road": "ab", "alpha road": "a", "cafe plan spring": "a", "works": "b", `"road maps"`: "a", `"road works"`: "b",
		"road -cafe": "b", `road -"maps of"`: "b", "alpha works": "", "ro": "", "path:x road": "", "-tag:x road": "a", "roda": "", "a": "",
	} {
		test, err := r.EntityTest(ctx, r.ents, words, r.ents.Get, false)
		must(t, err)
		got := ""
		for _, id := range []string{"a", "b", "gone"} {
			if test(id) {
				got += id
			}
		}
		if got != want {
			t.Errorf("%q matches %q, want %q", words, got, want)
		}
	}
}
