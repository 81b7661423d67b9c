package refs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/refs"
)

// sample has an entry of each kind, the last one used last.
func sample() []refs.Entry {
	list := []refs.Entry{
		{Kind: refs.MemoryHandle, ID: "workouts", Handle: "prefer_morning_workouts_a3f2", Number: 4},
		{Kind: refs.MemoryHandle, ID: "coffee", Handle: "morning_coffee_00ff", Number: 41},
		{Kind: refs.MemoryHandle, ID: "form", Handle: "claim_form", Number: 140, Former: []string{"old_paper"}},
		{Kind: refs.ContextHandle, ID: "goals", Handle: "ssdva", Names: []string{"My Health Goals"}},
		{Kind: refs.ConversationHandle, ID: "bus", Handle: "fix_bus_1a2b", Names: []string{"Fix the bus"}},
		{Kind: refs.EntityHandle, ID: "john", Handle: "john_smith_person_entity", Names: []string{"John Smith", "Johnny"}},
		{Kind: refs.TagHandle, ID: "fitness", Handle: "fitness_tag", Names: []string{"fitness"}},
		{Kind: refs.DomainHandle, ID: "health", Handle: "health_domain", Names: []string{"health"}},
	}
	for i := range list {
		list[i].Used = moments.Add(time.Duration(i) * time.Second)
		list[i].Public = list[i].Used
	}
	return list
}

func ids(hits []refs.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func TestREF16_WhatIsTyped(t *testing.T) {
	x := refs.NewIndex()
	x.Load(slices.Values(sample()))
	for typed, want := range map[string]string{
		"":                             "health fitness john bus goals form coffee workouts", // the last used first
		"@":                            "health fitness john bus goals form coffee workouts",
		"ssdva":                        "goals",
		"SSD":                          "goals",
		"morning":                      "coffee workouts", // a handle's beginning before a later word
		"mor":                          "coffee workouts",
		"workouts_a3":                  "workouts",
		"fi":                           "fitness bus",
		"h":                            "health",
		"health":                       "health",
		"my health":                    "goals", // a name
		"my_health_g":                  "goals",
		"My-Health  ":                  "goals",
		"john":                         "john",
		"johnn":                        "john",
		"smith":                        "john",
		"old_p":                        "form",
		"claim_":                       "form coffee workouts",
		"claim_4":                      "workouts coffee", // the number before those that begin with it
		"claim_f":                      "form",
		"#":                            "form coffee workouts",
		"#4":                           "workouts coffee",
		"#14":                          "form",
		"#04":                          "",
		"4":                            "",
		"#claim":                       "",
		"nobody":                       "",
		"prefer_morning_workouts_a3f2": "workouts",
	} {
		if got := ids(x.Complete(refs.IndexQuery{Typed: typed, Limit: 10})); got != want {
			t.Errorf("%q is completed to %q, want %q", typed, got, want)
		}
	}
}

func TestREF16_EachKindThatMatchesAppears(t *testing.T) {
	list := sample()
	for i := range 100 {
		list = append(list, refs.Entry{
			Kind: refs.MemoryHandle, ID: strings.Repeat("x", i+1), Handle: "h" + strings.Repeat("e", i%40+2), Used: moments.Add(time.Hour),
		})
	}
	x := refs.NewIndex()
	x.Load(slices.Values(list))
	for _, typed := range []string{"", "h"} {
		want := 1 + len(refs.HandleKinds()) - 1
		if typed == "h" {
			want = 2 // memories and a domain
		}
		for _, limit := range []int{6, 10, 50} {
			hits := x.Complete(refs.IndexQuery{Typed: typed, Limit: limit})
			seen := make(map[refs.HandleKind]bool)
			for _, h := range hits {
				seen[h.Kind] = true
			}
			if len(hits) != limit || len(seen) != want {
				t.Errorf("%q, %d: %d completions of %d kinds, want %d kinds", typed, limit, len(hits), len(seen), want)
			}
		}
	}
	if hits := x.Complete(refs.IndexQuery{Typed: "", Limit: 5}); len(hits) != 5 || hits[4].Kind != refs.MemoryHandle {
		t.Errorf("below the limit of all kinds the last used come: %v", ids(hits))
	}
}

func TestREF16_Suggestions(t *testing.T) {
	x := refs.NewIndex()
	x.Load(slices.Values(sample()))
	for typed, want := range map[string]string{
		"prefer_morning_workout":       "workouts", // without its random end
		"prefer_morning_workouts_a3f3": "workouts",
		"prefer_mornign_workouts_a3f2": "workouts",
		"ssdvb":                        "goals",
		"ssdbb":                        "", // two, and it is short
		"My Health Goal":               "goals",
		"jonny":                        "john",
		"":                             "",
	} {
		if got := ids(x.Near(typed, 5, false, nil)); got != want {
			t.Errorf("%q is near to %q, want %q", typed, got, want)
		}
	}
}

func TestREF3_WhoHasAHandle(t *testing.T) {
	x := refs.NewIndex()
	for _, e := range sample() {
		x.Put(e)
	}
	x.Put(refs.Entry{Kind: refs.ContextHandle, ID: "paper", Handle: "Old_Paper", Used: moments})
	var got []string
	for _, e := range x.Lookup("OLD_paper") {
		got = append(got, e.ID)
	}
	if want := []string{"paper", "form"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q: who has a handle before who had it", got, want)
	}
	if e, ok := x.Get(refs.TagHandle, "fitness"); !ok || e.Handle != "fitness_tag" {
		t.Errorf("%+v %v", e, ok)
	}
	x.Delete(refs.TagHandle, "fitness")
	if _, ok := x.Get(refs.TagHandle, "fitness"); ok || len(x.Lookup("fitness_tag")) > 0 {
		t.Error("it was deleted")
	}
}

// FuzzREF16_AnyText: whatever is typed, the index answers as the model does.
func FuzzREF16_AnyText(f *testing.F) {
	for _, text := range []string{"", "@", "#", "#4", "claim_4", "claim_99999999999", "mor", "My Health", "\xff", "é", "e\u0301", "语言", "ﬁ", "_", "--", " a"} {
		f.Add(text, uint8(10))
	}
	x, m := refs.NewIndex(), model{}
	for _, e := range sample() {
		x.Put(e)
		m.put(e)
	}
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		q := refs.IndexQuery{Typed: text, Limit: int(limit)}
		if got, want := keys(x.Complete(q)), m.complete(q); !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", text, got, want)
		}
		if len(text) > 1000 {
			return // the model takes long
		}
		if got, want := keys(x.Near(text, 5, false, nil)), m.near(text, 5, false); !slices.Equal(got, want) {
			t.Fatalf("near %q: got %v, want %v", text, got, want)
		}
	})
}
