package names_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/names"
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
		{"I ❤️ Go", "T", "go_t_entity"},           // the selector behind the heart is no word
		{"\u0301\u0301 Ann", "T", "ann_t_entity"}, // nor are marks without a letter
		{"Re'\u0301sume", "T", "résume_t_entity"},
		{"ab々", "T", "ab_々_t_entity"}, // it could not be read otherwise
		{"x\u102by", "T", "x_y_t_entity"},
		{"カート", "T", "カート_t_entity"},
		{"Ann", "!!!", "ann_entity"},
		{"Ann", strings.Repeat("t", 128), "ann_" + strings.Repeat("t", 40) + "_entity"},
		{"Ann", strings.Repeat("type ", 20), "ann_type_type_type_type_type_type_type_type_entity"},
		{"Internationalisation Responsibilities Committee Members", "Person", "internationalisation_responsibilities_person_entity"},
	} {
		got := names.Handle(c.name, c.typ)
		if got != c.want || utf8.RuneCountInString(got) > 60 {
			t.Errorf("Handle(%q, %q) = %q, want %q", c.name, c.typ, got, c.want)
		}
		if at := names.HandleAt(got + "'s plan"); at != got {
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
		if got := names.HandleAt(text); got != want {
			t.Errorf("HandleAt(%q) = %q, want %q", text, got, want)
		}
	}
}

func BenchmarkHandle(b *testing.B) {
	for b.Loop() {
		names.Handle("Person Number 00010", "p")
	}
}
