package memory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/fixtures/facts"
)

func TestMEM9_WhatStatementsDifferIn(t *testing.T) {
	const none = ""
	for _, c := range []struct{ a, b, want string }{
		{"I eat meat.", "I do not eat meat.", memory.DifferenceNegation},
		{"I eat meat.", "I don't eat meat.", memory.DifferenceNegation},
		{"I eat meat.", "I don’t eat meat.", memory.DifferenceNegation},
		{"Ich esse Fleisch.", "Ich esse kein Fleisch.", memory.DifferenceNegation},
		{"Je mange de la viande.", "Je ne mange jamais de viande.", memory.DifferenceNegation},
		{"I never eat meat.", "I do not eat meat.", none},
		{"I eat meat.", "I eat meat every day.", none},
		{"I have 25 days of leave.", "I have 28 days of leave.", memory.DifferenceNumber},
		{"I have 25 days of leave.", "I have days of leave.", none},
		{"I pay 1,000 a month.", "I pay 1000 a month.", none},
		{"I pay 2.50 a day.", "I pay 2,5 a day.", none},
		{"I run 2.5 km.", "I run 25 km.", memory.DifferenceNumber},
		{"I take two puffs.", "I take 2 puffs.", none},
		{"I take two puffs.", "I take three puffs.", memory.DifferenceNumber},
		{"I climb 6b.", "I climb 6c.", memory.DifferenceNumber},
		{"I run 5km.", "I run 5 km.", none},
		{"I take 1 or 2 puffs.", "I take 2 puffs.", none},
		{"The call is on Monday.", "The call is on Tuesday.", memory.DifferenceDate},
		{"The call is on Monday.", "The call is in June.", none},
		{"Der Anruf ist am Montag.", "The call is on Monday.", none},
		{"It opens on 2024-05-01.", "It opens on 1.5.2024.", none},
		{"It opens on 2024-05-01.", "It opens on May 1, 2024.", none},
		{"It opens on 2024-05-01.", "It opens on May 2nd, 2024.", memory.DifferenceDate},
		{"It opens in May.", "It opens in June.", memory.DifferenceDate},
		{"It opens in May.", "It opens in May 2025.", none},
		{"I may go.", "I went in June.", none},
		{"We moved in 2019.", "We moved in 2021.", memory.DifferenceDate},
		{"We meet at 9:30.", "We meet at 10:30.", memory.DifferenceDate},
		{"We meet at 9am.", "We meet at 10am.", memory.DifferenceDate},
		{"I live in Leeds.", "I live in York.", memory.DifferenceName},
		{"I live in Leeds.", "I live in Leeds with Anna.", none},
		{"My doctor is Dr. Patel.", "My doctor is Dr. Lee.", memory.DifferenceName},
		{"I use the NHS app.", "I use the BBC app.", memory.DifferenceName},
		{"I'm here.", "I've gone.", none},
		{"Anna's cat is old.", "The cat is Anna's.", none},
		{"I never pay 5 in York on Monday.", "I pay 6 in Leeds on Friday.", "negation number date name"},
		{"", "", none},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := strings.Join(memory.Differences(pair[0], pair[1]), " "); got != c.want {
				t.Errorf("%q and %q differ in %q, want %q", pair[0], pair[1], got, c.want)
			}
		}
	}
}

// TestMEM9_StaleFactsDiffer looks at the facts of the labelled set that no longer hold, beside those that
// replaced them.
func TestMEM9_StaleFactsDiffer(t *testing.T) {
	set, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]string)
	for _, m := range set.Memories {
		said[m.ID] = m.Statement
	}
	for _, m := range set.Messages {
		said[m.Ref()] = m.Text
	}
	seen := make(map[[2]string]bool)
	found, all := 0, 0
	for _, q := range set.Questions {
		for _, stale := range q.Stale {
			pair := [2]string{q.Relevant[0], stale}
			if seen[pair] {
				continue
			}
			seen[pair] = true
			all++
			if len(memory.Differences(said[pair[0]], said[pair[1]])) > 0 {
				found++
			}
		}
	}
	if found < 69 || all != 94 { // the others say it in other words, or name the old beside the new
		t.Errorf("%d of %d stale facts differ from those that replaced them", found, all)
	}
}

func FuzzIn(f *testing.F) {
	f.Add("I pay 1,000.5 on 2024-05-01.", "Dr. Lee isn’t here at 9:30, in May 2025")
	f.Add("٣ ３ ½ 1..2", "I'\u0301 A\u0301b 99999999999999999999")
	f.Fuzz(func(t *testing.T, a, b string) {
		ab, ba := memory.Differences(a, b), memory.Differences(b, a)
		if !slices.Equal(ab, ba) {
			t.Errorf("%q one way, %q the other", ab, ba)
		}
		if same := memory.Differences(a, a); len(same) > 0 {
			t.Errorf("it differs from itself in %q", same)
		}
		for _, what := range ab {
			if !slices.Contains(memory.DifferenceKinds, what) {
				t.Errorf("%q is none", what)
			}
		}
	})
}
