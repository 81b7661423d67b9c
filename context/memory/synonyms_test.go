package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
)

// same has words mean the same for the local reader.
func (w *world) same(private bool, words ...string) {
	w.Helper()
	_, err := w.mem.PutSynonyms(w.Context(), w.local, words, private)
	must(w, err)
}

// means is what words of a question also mean: word=other other …, by the words.
func (w *world) means(public bool, question string) string {
	var out []string
	for word, list := range w.mem.SynonymsOf(strings.Fields(question), public) {
		var others []string
		for _, s := range list {
			others = append(others, fmt.Sprintf("%s:%.2g", s.Word, s.Weight))
		}
		out = append(out, word+"="+strings.Join(others, " "))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// sets are those that a reader sees, a line each.
func (w *world) sets(v *audience.View) string {
	var out []string
	for _, set := range w.mem.Synonyms(v) {
		out = append(out, strings.Join(set.Words, "|"))
	}
	return strings.Join(out, "\n")
}

func TestMEM14_SynonymsInBothDirections(t *testing.T) {
	w := open(t, memory.Limits{})
	w.same(false, "UX", "user  experience")
	w.same(false, "Car", "automobile")
	w.same(true, "Zoé", "boss")
	for question, want := range map[string]string{
		"ux design":            "ux=experience:0.4 user:0.4",
		"experience of a user": "experience=ux:0.8, user=ux:0.8",
		"user":                 "", // the whole of it has to be there
		"users experiences":    "experiences=ux:0.8, users=ux:0.8",
		"cars":                 "cars=automobile:0.8",
		"automobile":           "automobile=car:0.8",
		"zoe":                  "zoe=boss:0.8",
		"nothing of that":      "",
	} {
		if got := w.means(false, question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
	if got := w.means(true, "zoe cars boss"); got != "cars=automobile:0.8" {
		t.Errorf("others: %q", got)
	}
	if got := w.sets(w.local); got != "Car|automobile\nUX|user experience\nZoé|boss" {
		t.Errorf("%s", got)
	}
	if got := w.sets(w.remote); got != "Car|automobile\nUX|user experience" {
		t.Errorf("others see %s", got)
	}
	w.sound()
}

func TestMEM14_SetsAreJoinedAndTakenApart(t *testing.T) {
	w := open(t, memory.Limits{})
	w.same(false, "car", "automobile")
	w.same(false, "bike", "bicycle")
	w.same(true, "car", "Herbie")
	w.same(false, "CAR", "auto", "bicycle")
	if got := w.sets(w.local); !strings.Contains(got, "car|Herbie") || strings.Count(got, "\n") != 1 || strings.Count(got, "|") != 5 {
		t.Errorf("%s", got)
	}
	remove := func(v *audience.View, want int, words ...string) {
		t.Helper()
		n, err := w.mem.DeleteSynonyms(t.Context(), v, words)
		must(t, err)
		if n != want {
			t.Errorf("%v: %d deleted, want %d", words, n, want)
		}
	}
	remove(w.remote, 0, "herbie")
	remove(w.remote, 2, "Car", "auto", "nothing")
	if got := w.means(false, "car"); got != "car=herbie:0.8" {
		t.Errorf("%s", got)
	}
	remove(w.local, 1, "herbie")
	remove(w.local, 2, "bike", "bicycle")
	if got := w.sets(w.local); got != "" { // one word means the same as nothing
		t.Errorf("%s", got)
	}
	w.sound()
}

func TestMEM14_WhatIsNoSynonym(t *testing.T) {
	w := open(t, memory.Limits{})
	many := make([]string, memory.MaxSynonyms+1)
	for i := range many {
		many[i] = fmt.Sprint("word", i)
	}
	put := func(v *audience.View, private bool, words ...string) error {
		_, err := w.mem.PutSynonyms(t.Context(), v, words, private)
		return err
	}
	refused(t, put(w.local, false), fault.Invalid, "words")
	refused(t, put(w.local, false, "one"), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", "ONE "), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", " "), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", "..."), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", "[[Note]]"), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", "@Anna"), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", "two\x00"), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", "\xff"), fault.Invalid, "words")
	refused(t, put(w.local, false, "one", strings.Repeat("x", memory.MaxSynonymChars+1)), fault.Limit, "words")
	refused(t, put(w.local, false, "one", "a b c d e f g h i"), fault.Limit, "words")
	refused(t, put(w.local, false, many...), fault.Limit, "words")
	refused(t, put(w.remote, true, "one", "two"), fault.Invalid, "private")
	must(t, put(w.local, false, many[:memory.MaxSynonyms]...))
	refused(t, put(w.local, false, "word1", "more"), fault.Limit, "words")
	if _, err := w.mem.DeleteSynonyms(t.Context(), w.local, nil); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
	if got := strings.Count(w.sets(w.local), "|"); got != memory.MaxSynonyms-1 {
		t.Errorf("%d", got)
	}
}

// The store against a plain model: sets of words, joined when they meet.
func TestMEM14_SynonymsAsInAModel(t *testing.T) {
	words := strings.Fields("one two three four five six seven")
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, memory.Limits{})
		model := map[bool][]map[string]bool{}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 2, 3, rapid.ID[string])
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			private, list := rapid.Bool().Draw(rt, "private"), some.Draw(rt, "words")
			if rapid.IntRange(0, 2).Draw(rt, "what") > 0 {
				w.same(private, list...)
				fresh := make(map[string]bool)
				for _, s := range list {
					fresh[s] = true
				}
				kept := []map[string]bool{fresh}
				for _, set := range model[private] {
					if slices.ContainsFunc(list, func(s string) bool { return set[s] }) {
						for s := range set {
							fresh[s] = true
						}
					} else {
						kept = append(kept, set)
					}
				}
				model[private] = kept
				continue
			}
			v := w.local
			if private {
				v = w.remote
			}
			_, err := w.mem.DeleteSynonyms(t.Context(), v, list)
			must(t, err)
			for _, class := range []bool{false, true} {
				for _, set := range model[class] {
					for _, s := range list {
						if !class || v == w.local {
							delete(set, s)
						}
					}
				}
				model[class] = slices.DeleteFunc(model[class], func(set map[string]bool) bool { return len(set) < 2 })
			}
		}
		for _, word := range words {
			for _, public := range []bool{false, true} {
				want := []string{}
				for _, class := range []bool{false, true} {
					for _, set := range model[class] {
						for s := range set {
							if set[word] && s != word && !(class && public) && !slices.Contains(want, s) {
								want = append(want, s)
							}
						}
					}
				}
				slices.Sort(want)
				got := []string{}
				for _, s := range w.mem.SynonymsOf([]string{word}, public)[word] {
					got = append(got, s.Word)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					rt.Fatalf("%s, public %v: %s", word, public, diff)
				}
			}
		}
		w.sound()
	})
}

func TestMEM14_SynonymsAreThereAfterAStart(t *testing.T) {
	dir := t.TempDir()
	w := openIn(t, dir, memory.Limits{})
	w.same(false, "car", "automobile")
	must(t, w.db.Close())
	again := openIn(t, dir, memory.Limits{})
	if got := again.means(true, "car"); got != "car=automobile:0.8" {
		t.Error(got)
	}
}
