package gather_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// named makes a world with entities of the given names, whose ids are e0, e1…
func named(t testing.TB, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	if _, _, err := w.ents.PutType(ctx, entities.Type{Name: "P"}, nil, false); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		e := entities.Entity{ID: "e" + string(rune('0'+i)), Type: "P", Name: name}
		if name == "Alice Novak" {
			e.Aliases = []string{"Alice"}
		}
		if _, err := w.ents.Put(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestMentionsInText(t *testing.T) {
	w := named(t, "Alice Novak", "Alice Nova", "Bob", "Bob Smith", "山田", "naïve café", "C++", "Bob", "O'Neil", "C_P_entity is")
	if _, err := w.notes.Put(ctx, notes.Draft{ID: "n", Title: "Plan"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text    string
		want    []string // what is shown, in order
		unclear []string
	}{
		{"@Alice", []string{"e0"}, nil},
		{"ask @alice novak now", []string{"e0"}, nil},
		{"@Alice Novacek", []string{"e0"}, nil},
		{"@Alice's plan", []string{"e0"}, nil},
		{"(@Alice)", []string{"e0"}, nil},
		{"@Alice.Then", []string{"e0"}, nil},
		{"@Alicea", nil, []string{"Alicea"}},
		{"@Bob Smith", []string{"e3"}, nil},
		{"@Bob", nil, []string{"Bob"}},
		{"@[Bob Smith] x", []string{"e3"}, nil},
		{"@[Nobody]", nil, []string{"Nobody"}},
		{"bob@example.org", nil, nil},
		{"é@Alice", nil, nil},
		{"`@Alice`", nil, nil},
		{"```\n@Alice\n```", nil, nil},
		{`\@Alice`, nil, nil},
		{"@山田さん", []string{"e4"}, nil},
		{"@NAI\u0308VE CAFE\u0301!", []string{"e5"}, nil},
		{"@C++ code", []string{"e6"}, nil},
		{"@O'Neil's", []string{"e8"}, nil},
		{"@Alice @ALICE @Alice Novak", []string{"e0"}, nil},
		{"@Bob Smith, @Alice", []string{"e3", "e0"}, nil},
		{"@", nil, nil},
		{"@ Alice", nil, nil},
		{"@@Alice", []string{"e0"}, nil},
		{"[[Plan @Alice]]", nil, []string{"Plan @Alice"}},
		{"[[plan|@Alice]]", []string{"n"}, nil},
		{"@[Bob\nSmith]", nil, nil},
		{"@[[Plan]]", []string{"n"}, nil},
		{"@Alice\nNovak", []string{"e0"}, nil},
		{"@alice_novak_p_entity", []string{"e0"}, nil},
		{"see (@ALICE_Novak_P_Entity).", []string{"e0"}, nil},
		{"@alice_novak_p_entity's and @bob_smith_p_entity-", []string{"e0", "e3"}, nil},
		{"@bob_p_entity", nil, []string{"bob_p_entity"}}, // two of that name
		{"@alice_p_entity", nil, []string{"alice_p_entity"}},
		{"x@alice_novak_p_entity, `@alice_novak_p_entity`", nil, nil},
		{"@nai\u0308ve_cafe\u0301_p_entity", []string{"e5"}, nil},
		{"@山田_p_entityさん", []string{"e4"}, nil},
		{"@c_p_entity is a longer name", []string{"e9"}, nil}, // than the handle of C++
	} {
		zero := 0
		res := w.assemble(t, gather.Params{Text: c.text, MaxDepth: &zero})
		var got, unclear []string
		for _, s := range res.Report.Sections {
			for _, item := range s.Items {
				got = append(got, item.ID)
			}
		}
		for _, d := range res.Report.Dropped {
			unclear = append(unclear, d.Title)
			if (d.Reason == prompt.Ambiguous) != (len(d.Candidates) == 2) {
				t.Errorf("%q: %+v", c.text, d)
			}
		}
		if !slices.Equal(got, c.want) || !slices.Equal(unclear, c.unclear) {
			t.Errorf("%q: %s", c.text, cmp.Diff([][]string{c.want, c.unclear}, [][]string{got, unclear}))
		}
	}
}

func TestExplicitIDsComeFirst(t *testing.T) {
	w := named(t, "A", "B", "C")
	res := w.assemble(t, gather.Params{Text: "@A @B", MentionedEntityIDs: []string{"e2", "e1", "e2", "nope"}})
	var got []string
	for _, item := range res.Report.Sections[0].Items {
		got = append(got, item.ID)
	}
	if !slices.Equal(got, []string{"e2", "e1", "e0"}) {
		t.Errorf("order %v", got)
	}
	want := []prompt.Dropped{{Kind: "entity", ID: "e2", Reason: prompt.Duplicate}, {Kind: "entity", ID: "nope", Reason: prompt.Unknown}}
	if diff := cmp.Diff(want, res.Report.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestCTX32_ExplainNamesTheEdges(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.ents.PutType(ctx, entities.Type{Name: "P", Fields: []entities.Field{{Name: "boss", Type: record.EntityRef}}}, nil, false); err != nil {
		t.Fatal(err)
	}
	for id, boss := range map[string]string{"a": "b", "b": "b"} {
		if _, err := w.ents.Put(ctx, entities.Entity{ID: id, Type: "P", Name: id, Fields: entities.Values{"boss": boss}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, explain := range []bool{false, true} {
		res := w.assemble(t, gather.Params{MentionedEntityIDs: []string{"a"}, Explain: explain})
		b := res.Report.Sections[0].Items[1]
		var want []prompt.Edge
		if explain {
			want = []prompt.Edge{{From: "a", Field: "boss"}, {From: "b", Field: "boss"}}
		}
		if !slices.Equal(b.Via, want) || b.Depth != 1 || b.Reason != "referenced via @a.boss, @b.boss" {
			t.Errorf("%+v", b)
		}
	}
}

// FuzzMentions gives messages of any kind to an assembly.
func FuzzMentions(f *testing.F) {
	w := named(f, "Alice Novak", "Bob", "山田", "a")
	for _, s := range []string{"@Alice", "@[Bob] [[x]]", "`@a` \\@a", "@@a@a", "@山", "```\n@a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		res, err := w.assembled(ctx, w.gather, gather.Params{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if res.Report.Chars > res.Report.Budget {
			t.Fatal("over budget")
		}
	})
}

// The first letter of a name is looked at before the name is: as it folds with
// what belongs to it, however it is written.
func TestMentionsThatBeginWithSeveralCodePoints(t *testing.T) {
	w := named(t, "Émile", "가나", "🐝 Bees", "각", "ßanta")
	for text, want := range map[string]string{
		"@E\u0301mile": "e0", "@émile": "e0", "@\u1100\u1161\u1102\u1161": "e1", "@가나": "e1",
		"@🐝 bees": "e2", "@\u1100\u1161\u11a8": "e3", "@SSanta": "e4", "@ßanta": "e4",
	} {
		res := w.assemble(t, gather.Params{Text: text})
		if len(res.Report.Sections) != 1 || res.Report.Sections[0].Items[0].ID != want {
			t.Errorf("%q: %+v", text, res.Report)
		}
	}
}
