package learn_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/fixtures/facts"
	"github.com/ctxd/ctxd/fixtures/remembered"
)

// found gives the phrases of a text as they are written, those that are weak with a question mark.
func found(s string) string {
	var list []string
	learn.EachPhrase(s, func(p learn.Phrase) bool {
		if p.Weak {
			p.Shown += "?"
		}
		list = append(list, p.Shown)
		return true
	})
	return strings.Join(list, " · ")
}

func TestMEM62_PhrasesOfTexts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"I prefer morning workouts.", "morning workouts · workouts"},
		{"My doctor is Dr. Patel, at the clinic in Leeds.", "doctor · Patel? · clinic · Leeds"},
		{"Alice leads Project Alpha.", "Alice? · Project Alpha"},
		{"We met @Alice and [[Project Alpha Kickoff]].", "Alice · Project Alpha Kickoff"},
		{"I have 25 kilos of flour.", "flour"},
		{"It happened on Monday, two weeks ago.", ""},
		{"NHS letters are slow.", "NHS letters? · NHS? · letters? · slow?"},
		{"Ich mag den neuen Garten und die Bienen am Haus.", "Garten · Bienen · Haus"},
		{"Wir fahren mit Anna nach Bremen.", "Anna · Bremen"},
		{"Je bois du café avec mon voisin Paul.", "bois? · café · voisin Paul · voisin · Paul?"},
		{"我喜欢早上锻炼", ""},
		{"the way, a thing, this kind", ""},
	} {
		if got := found(c.text); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestMEM62_FormsOfAPhraseHaveOneKey(t *testing.T) {
	for _, pair := range [][2]string{{"Morning Workout", "morning workouts"}, {"Café", "cafe"}, {"the-roof", "the roof"}} {
		if a, b := learn.PhraseKey(pair[0]), learn.PhraseKey(pair[1]); a != b || a == "" {
			t.Errorf("the keys of %q and %q are %q and %q", pair[0], pair[1], a, b)
		}
	}
	for _, s := range []string{"", " ", "…", "€"} {
		if key := learn.PhraseKey(s); key != "" {
			t.Errorf("the key of %q is %q", s, key)
		}
	}
}

// TestMEM62_WhatTextsSpeakOfReadsWell pins the fifty most frequent phrases of what is bundled.
func TestMEM62_WhatTextsSpeakOfReadsWell(t *testing.T) {
	set, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	var ofFacts, ofSample []string
	for _, m := range set.Memories {
		ofFacts = append(ofFacts, m.Statement)
	}
	for _, m := range set.Messages {
		ofFacts = append(ofFacts, m.Text)
	}
	sample, err := remembered.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sample.Memories {
		ofSample = append(ofSample, m.Statement)
	}
	for _, m := range sample.Messages {
		ofSample = append(ofSample, m.Text)
	}
	got := "# The most frequent phrases, with how many texts have them. go test ./context/learn -update\n" +
		"facts: " + top(ofFacts) + "\nsample: " + top(ofSample) + "\n"
	golden := filepath.Join("testdata", "top.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("run with -update and look at the difference:\n%s", got)
	}
}

// top returns the fifty phrases that most texts have, as concepts would count them.
func top(texts []string) string {
	all, sure, shown := make(map[string]int), make(map[string]int), make(map[string]string)
	for _, s := range texts {
		here := make(map[string]bool)
		learn.EachPhrase(s, func(p learn.Phrase) bool {
			here[p.Key] = here[p.Key] || !p.Weak
			shown[p.Key] = cmp.Or(shown[p.Key], p.Shown)
			return true
		})
		for key, strong := range here {
			all[key]++
			if strong {
				sure[key]++
			}
		}
	}
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(key string) bool {
		return all[key] < 2 || !learn.CountsAsPhrase(sure[key], all[key])
	})
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(all[b]-all[a], cmp.Compare(a, b)) })
	var out []string
	for _, key := range keys[:50] {
		out = append(out, fmt.Sprintf("%s %d", shown[key], all[key]))
	}
	return strings.Join(out, ", ")
}

func FuzzIn(f *testing.F) {
	f.Add("My doctor is Dr. Patel. Ich mag den Garten. Je bois du café. @Alice [[x]] ``` 25 kg")
	f.Add("I'\u0301 A\u0301b ３ ½ 我喜欢")
	f.Fuzz(func(t *testing.T, s string) {
		learn.EachPhrase(s, func(p learn.Phrase) bool {
			if p.Key == "" || p.Shown == "" || !strings.Contains(s, p.Shown) {
				t.Errorf("%q has %+v", s, p)
			}
			return true
		})
	})
}

func BenchmarkIn(b *testing.B) {
	set, err := facts.Load()
	if err != nil {
		b.Fatal(err)
	}
	size, r := 0, new(learn.PhraseReader)
	for i := 0; b.Loop(); i++ {
		s := set.Messages[i%len(set.Messages)].Text
		size += len(s)
		r.In(s, func(learn.Phrase) bool { return true })
	}
	b.ReportMetric(float64(size)/float64(b.N), "bytes/op")
}
