package gather_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH35_UnresolvedIsNotDeleted has references that never led anywhere beside those to
// records that are gone. A name that a private record has is not shown to a remote model.
func TestSRCH35_UnresolvedIsNotDeleted(t *testing.T) {
	const gone, trashed = "0f0e57b5-8a31-4cf7-9f0e-9a4f7b0a1b11", "0f0e57b5-8a31-4cf7-9f0e-9a4f7b0a1b12"
	w := newWorld(t)
	w.mustType(t, entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "link", Type: record.EntityRef},
		{Name: "bare", Type: record.EntityRef},
		{Name: "list", Type: record.EntityRefList},
		{Name: "note", Type: record.NoteRef},
	}})
	w.mustPut(t, entities.Entity{ID: trashed, Type: "P", Name: "Old"})
	if _, err := w.ents.Archive(ctx, trashed, nil); err != nil {
		t.Fatal(err)
	}
	w.mustPut(t, entities.Entity{ID: "a", Type: "P", Name: "Ann", Fields: entities.Values{
		"link": "[[Jane Doe]]", "bare": "Core", "list": []string{gone, "[[Jim]]", trashed}, "note": "[[No, note]]",
	}})
	shows := func(reader gather.Params, want ...string) {
		t.Helper()
		reader.MentionedEntityIDs = []string{"a"}
		res := w.assemble(t, reader)
		for _, line := range want {
			if !strings.Contains(res.System, "  "+line+"\n") {
				t.Errorf("%s: no %q in\n%s", reader.Audience, line, res.System)
			}
		}
	}
	state := func(reader audience.Reader, field string) string {
		t.Helper()
		r, err := w.rooms.View(reader).ResolveEntity(ctx, "a", 1)
		if err != nil {
			t.Fatal(err)
		}
		return r.Fields[field].(*graph.Resolved).State
	}
	list := "list: (deleted), (unresolved) [[Jim]], (deleted)"
	for _, reader := range []string{gather.Local, gather.Remote} {
		shows(gather.Params{Audience: reader}, "link: (unresolved) [[Jane Doe]]", "bare: (unresolved) [[Core]]", list,
			"note: (unresolved) [[No, note]]")
	}
	for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
		if got := []string{state(reader, "link"), state(reader, "bare")}; !slices.Equal(got, []string{"unresolved", "unresolved"}) {
			t.Errorf("the states are %q", got)
		}
	}

	w.mustNote(t, notes.Draft{ID: "n1", Title: "Jane Doe", Private: true})
	w.mustNote(t, notes.Draft{ID: "n2", Title: "Core", Private: true})
	shows(gather.Params{Audience: gather.Local}, "link: (unresolved) [[Jane Doe]]", "bare: (unresolved) [[Core]]", list)
	shows(gather.Params{Audience: gather.Remote}, "link: (private)", "bare: (private)", list)
	if got := []string{state(audience.Remote, "link"), state(audience.Remote, "bare")}; !slices.Equal(got, []string{"private", "private"}) {
		t.Errorf("the states are %q", got)
	}

	w.mustPut(t, entities.Entity{ID: "core", Type: "P", Name: "Core", Private: true})
	shows(gather.Params{Audience: gather.Local}, "bare: @Core [id:core]")
	shows(gather.Params{Audience: gather.Remote}, "bare: (private)")
	if got := state(audience.Remote, "bare"); got != "private" {
		t.Errorf("the state is %q", got)
	}

	w.mustPut(t, entities.Entity{ID: "Core", Type: "P", Name: "Core team"})
	shows(gather.Params{Audience: gather.Local}, "bare: @Core team [id:Core]")
}
