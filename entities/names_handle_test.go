package entities_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

func TestREF4_HandlesOfEntities(t *testing.T) {
	for _, c := range []struct{ name, typ, want string }{
		{"John Smith", "Person", "john_smith_person_entity"},
		{"José García", "Person", "josé_garcía_person_entity"},
		{"Jose\u0301 Garci\u0301a", "Person", "josé_garcía_person_entity"},
		{"The Office of the President", "Team", "office_president_team_entity"},
		{"Never on Sundays", "Rule", "never_sundays_rule_entity"},
		{"Claim 42 was denied", "Case", "denied_case_entity"},
		{"José likes Go 语言", "Fact", "josé_likes_go_fact_entity"},
		{"Don't Look Up", "Film", "dont_look_film_entity"},
		{"O’Neil-Smith & Sons", "Customer", "oneil_smith_sons_customer_entity"},
		{"D-13 Answer fan mail", "Decision", "d_13_answer_decision_entity"},
		{"2025 Budget", "Plan", "budget_plan_entity"},
		{"若葉ロードセル工業株式会社", "Vendor", "若葉ロードセル工_vendor_entity"},
		{"Go语言 intro", "Field Test", "go_语言_intro_field_test_entity"},
		{"ＡＢＣ", "T", "abc_t_entity"},
		{"!!!", "T", "untitled_t_entity"},
		{"the of", "T", "untitled_t_entity"},
		{strings.Repeat("long", 30) + " x", "Person", strings.Repeat("long", 12)[:60-len("_person_entity")] + "_person_entity"},
		{"Internationalisation Responsibilities Committee Members", "Person", "internationalisation_responsibilities_person_entity"},
	} {
		got := entities.Handle(c.name, c.typ)
		if got != c.want || utf8.RuneCountInString(got) > 60 {
			t.Errorf("Handle(%q, %q) = %q, want %q", c.name, c.typ, got, c.want)
		}
		if at := entities.HandleAt(got + "'s plan"); at != got {
			t.Errorf("%q is read as %q", got, at)
		}
	}
}

func TestREF6_WhereAHandleEnds(t *testing.T) {
	for text, want := range map[string]string{
		"john_person_entity, and": "john_person_entity", "John_PERSON_Entity": "John_PERSON_Entity", "john_person_entity_-.": "john_person_entity",
		"john_person_entity-like": "", "john_person_entity2": "", "john_person": "", "_entity": "", "": "", "john_person_entityは何": "john_person_entity",
		"健康目标_p_entity": "健康目标_p_entity", "a_entity": "a_entity", strings.Repeat("x", 1000) + "_entity": "",
	} {
		if got := entities.HandleAt(text); got != want {
			t.Errorf("HandleAt(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestREF4_HandlesFollowTheNames compares the index with the handles of all
// entities while they change.
func TestREF4_HandlesFollowTheNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := open(t, kv.InMemory, entities.Options{})
		for _, typ := range []string{"P", "Q"} {
			if _, _, err := s.PutType(ctx, entities.Type{Name: typ}, nil, false); err != nil {
				rt.Fatal(err)
			}
		}
		name := rapid.SampledFrom([]string{"Ann", "ann", "Bob", "The Bob", "Bob Smith", "若葉"})
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
			switch rapid.IntRange(0, 4).Draw(rt, "op") {
			case 0:
				_, _ = s.Delete(ctx, id, nil)
			case 1:
				_, _ = s.Trash(ctx, id, nil)
			case 2:
				s.Handled("x_entity") // which makes the index, at any time
			default:
				e := entities.Entity{ID: id, Type: rapid.SampledFrom([]string{"P", "Q"}).Draw(rt, "type"), Name: name.Draw(rt, "name")}
				if old := s.Get(id); old != nil && old.Type != e.Type {
					continue
				}
				if _, err := s.Put(ctx, e, nil); err != nil {
					rt.Fatal(err)
				}
			}
		}
		want := make(map[string][]string)
		for _, live := range []bool{true, false} {
			for _, id := range []string{"a", "b", "c"} {
				e := s.Get(id)
				if e == nil || e.Live() != live {
					continue
				}
				handle := entities.Handle(e.Name, e.Type)
				if !live && len(want[handle]) > 0 && s.Get(want[handle][0]).Live() {
					continue
				}
				want[handle] = append(want[handle], id)
			}
		}
		for handle, ids := range want {
			var got []string
			for _, e := range s.Handled(strings.ToUpper(handle)) {
				got = append(got, e.ID)
			}
			if !slices.Equal(got, ids) {
				rt.Fatalf("%s means %v, want %v", handle, got, ids)
			}
		}
		if got := s.Handled("nobody_p_entity"); got != nil {
			rt.Fatalf("nobody is %v", got)
		}
	})
}

func BenchmarkHandle(b *testing.B) {
	for b.Loop() {
		entities.Handle("Person Number 00010", "p")
	}
}
