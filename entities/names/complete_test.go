package names_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// plainNames does what a Index does by looking at every name each time.
type plainNames map[string]plainRecord

type plainRecord struct {
	names.Record
	names []string
}

type plainHit struct {
	plainRecord
	id         string
	tier, name int
	alias      bool
	key        string
	word       int
}

// complete is what Index.Complete promises, word for word.
func (m plainNames) complete(typed string, kinds []string, limit int, publicOnly bool) []plainHit {
	key := text.Fold(strings.TrimLeftFunc(typed, unicode.IsSpace))
	var hits []plainHit
	for id, r := range m {
		if r.Hidden || publicOnly && r.Private || len(kinds) > 0 && !slices.Contains(kinds, r.Kind) {
			continue
		}
		var best *plainHit
		for i, name := range r.names {
			for _, h := range plainMatches(text.Fold(name), key) {
				h.plainRecord, h.id, h.name, h.alias = r, id, i, i > 0
				if best == nil || comparePlain(h, *best) < 0 {
					best = &h
				}
			}
		}
		if best != nil {
			hits = append(hits, *best)
		}
	}
	slices.SortFunc(hits, comparePlain)
	return hits[:min(limit, len(hits))]
}

func comparePlain(a, b plainHit) int {
	return cmp.Or(cmp.Compare(a.tier, b.tier), flag(a.alias)-flag(b.alias), b.Changed.Compare(a.Changed),
		strings.Compare(a.key, b.key), strings.Compare(text.Fold(a.written()), text.Fold(b.written())),
		strings.Compare(a.written(), b.written()), strings.Compare(a.Kind, b.Kind), strings.Compare(a.id, b.id), cmp.Compare(a.name, b.name), cmp.Compare(a.word, b.word))
}

// written is the name that matches.
func (h plainHit) written() string { return h.names[h.name] }

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// plainMatches returns the ways in which a folded name matches.
func plainMatches(name, fold string) (hits []plainHit) {
	if strings.HasPrefix(name, fold) {
		hits = append(hits, plainHit{tier: 0, key: name})
	}
	letters := []rune(name)
	word := func(i int) bool {
		return i >= 0 && (unicode.IsLetter(letters[i]) || unicode.IsDigit(letters[i]) || unicode.IsMark(letters[i]))
	}
	at := 0
	for i, r := range letters {
		alone := unicode.In(r, unicode.Han, unicode.Hiragana)
		if i > 0 && word(i) && !unicode.IsMark(r) && (alone || !word(i-1)) && strings.HasPrefix(name[at:], fold) {
			hits = append(hits, plainHit{tier: 1, key: name[at:], word: at})
		}
		at += len(string(r))
	}
	if strings.Contains(name, fold) {
		hits = append(hits, plainHit{tier: 2, key: name})
	}
	typed := []rune(fold)
	if len(typed) < 3 {
		return hits
	}
	for _, r := range letters {
		if len(typed) > 0 && r == typed[0] {
			typed = typed[1:]
		}
	}
	if len(typed) == 0 {
		hits = append(hits, plainHit{tier: 3, key: name})
	}
	return hits
}

// TestPERF5_CompletionAgainstAPlainModel changes an index at random and compares
// what it finds with a look at every name.
func TestPERF5_CompletionAgainstAPlainModel(t *testing.T) {
	words := []string{"alpha", "Alp", "be ta", "Ünï", "日本", "al-pha", "a", "", "alphabetical", "Straße", "bb", "lp ha", "本", "x1", "e\u0301t"}
	word := rapid.SampledFrom(words)
	rapid.Check(t, func(t *rapid.T) {
		x, model := names.New(), make(plainNames)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint(rapid.IntRange(1, 30).Draw(t, "id"))
			if rapid.IntRange(0, 4).Draw(t, "op") == 0 {
				x.Delete(id)
				delete(model, id)
				continue
			}
			r := names.Record{
				ID: id, Kind: rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "kind"),
				Changed: time.Unix(int64(rapid.IntRange(0, 3).Draw(t, "time")), 0), Hidden: rapid.IntRange(0, 5).Draw(t, "hidden") == 0,
				Private: rapid.IntRange(0, 3).Draw(t, "private") == 0,
			}
			names := model[id].names
			if names == nil || rapid.Bool().Draw(t, "renamed") {
				names = nil
				for range rapid.IntRange(1, 3).Draw(t, "names") {
					names = append(names, strings.TrimSpace(word.Draw(t, "a")+" "+word.Draw(t, "b"))+".")
				}
			}
			x.Put(r, names...)
			model[id] = plainRecord{r, names}
		}
		for range 5 {
			typed := word.Draw(t, "typed") + rapid.SampledFrom([]string{"", "a", " a", "h", "t", "."}).Draw(t, "more")
			kinds := rapid.SampledFrom([][]string{nil, {"p"}, {"q", "none"}, {"none"}}).Draw(t, "kinds")
			limit := rapid.SampledFrom([]int{0, 1, 2, 8, 100}).Draw(t, "limit")
			for _, publicOnly := range []bool{false, true} {
				want, got := []string{}, []string{}
				for _, h := range model.complete(typed, kinds, limit, publicOnly) {
					want = append(want, h.id+" "+h.names[h.name])
				}
				for _, h := range x.Complete(typed, kinds, limit, publicOnly) {
					got = append(got, h.ID+" "+h.Name)
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("%q (%d of %v, public only: %t) finds differently (+ is found) of %v:\n%s", typed, limit, kinds, publicOnly, model, diff)
				}
			}
		}
		for id, r := range model {
			for _, name := range r.names {
				key := text.Fold(name)
				if !slices.Contains(x.Exact(key, nil), id) || !begins(x, key[:len(key)/2]) && key[:len(key)/2] != "" {
					t.Fatalf("%q is not found exactly", name)
				}
			}
		}
	})
}

// TestPERF5_CompletionInManyPieces is the same for an index of many pieces, whose
// best ones have to be chosen, before and after most records have changed.
func TestPERF5_CompletionInManyPieces(t *testing.T) {
	campaign.Only(t)
	const n = 3000
	x, model := names.New(), make(plainNames)
	put := func(i, changed int) {
		r := names.Record{ID: fmt.Sprint("id-", i), Kind: []string{"p", "q", "r"}[i%7%3], Changed: time.Unix(int64(changed), 0), Hidden: i%17 == 5, Private: i*31%n%6 == 1}
		begin := []string{"Meeting", "Meeting", "Premeeting", "The meeting"}[i%11%4]
		names := []string{fmt.Sprintf("%s notes %c%d of team %d", begin, 'a'+i%26, i*7919%n, i%40), fmt.Sprintf("n%d", i)}[:1+i%2]
		x.Put(r, names...)
		model[r.ID] = plainRecord{r, names}
	}
	compare := func() {
		t.Helper()
		for _, typed := range []string{"", "m", "n", "meeting notes ", "meeting notes k", "team 3", "eam 7", "mtg", "nts9", "tem", "q1", "zzz", strings.Repeat("meeting ", 64)} {
			for _, limit := range []int{1, 8, 300} {
				kinds := [][]string{nil, {"r"}}[(len(typed)+limit)%2]
				for _, publicOnly := range []bool{false, true} {
					want, got := []string{}, []string{}
					for _, h := range model.complete(typed, kinds, limit, publicOnly) {
						want = append(want, h.id)
					}
					for _, h := range x.Complete(typed, kinds, limit, publicOnly) {
						got = append(got, h.ID)
					}
					if diff := gocmp.Diff(want, got); diff != "" {
						t.Fatalf("%q (%d of %v, public only: %t) finds differently (+ is found):\n%s", typed, limit, kinds, publicOnly, diff)
					}
				}
			}
		}
	}
	for i := range n {
		put(i, i*104729%n/3)
	}
	compare()
	for i := range n {
		switch i % 4 {
		case 0:
			put(i, 7) // all at once, as an import has them
		case 1:
			x.Delete(fmt.Sprint("id-", i))
			delete(model, fmt.Sprint("id-", i))
		case 2:
			put(i, n+i)
		}
	}
	compare()
	for i := range n / 2 {
		put(i*2, 2*n) // of those that changed last there are more than a page shows
	}
	compare()
	for i := 0; i < n; i += 97 {
		put(i, 3*n+i)
		put(i, 5*n-i) // the best of its piece is better still
	}
	compare()
}

// BenchmarkPERF5_Complete asks for what is typed of 100,000 titles, and for 10,000
// beside it (PERF-16).
func BenchmarkPERF5_Complete(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		x := standardNames(n)
		for _, c := range []struct{ name, typed string }{
			{"nothing", ""},
			{"letter", "k"},
			{"prefix", "ka"},
			{"word", "9"},
			{"no-letter", "q"},
			{"substring", "ou 1"},
			{"pair", "aa"},
			{"fuzzy", "kro7"},
			{"no-match", "xqxq"},
			{"turned", "73 aek"},
			{"cjk", "日本語"},
			{"long", strings.Repeat("kra ", 128)},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				hits := 0
				for b.Loop() {
					hits = len(x.Complete(c.typed, nil, 8, false))
				}
				b.ReportMetric(float64(hits), "hits")
			})
		}
	}
}

// BenchmarkPERF5_Put is what a commit of one changed note, or one with another
// title, costs the index.
func BenchmarkPERF5_Put(b *testing.B) {
	x := standardNames(100_000)
	i := 0
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			i++
			x.Put(names.Record{ID: "id-777", Changed: time.Unix(1e9, int64(i))}, "The same title each time")
		}
	})
	b.Run("renamed", func(b *testing.B) {
		for b.Loop() {
			i++
			x.Put(names.Record{ID: "id-777", Changed: time.Unix(1e9, int64(i))}, fmt.Sprint("Another title each time ", i))
		}
	})
}

// standardNames is an index of the titles of standard notes, each changed at a time
// of its own.
func standardNames(n int) *names.Index {
	x := names.New()
	i := 0
	for title := range fixtures.StandardTitles(n) {
		x.Put(names.Record{ID: fmt.Sprint("id-", i), Changed: time.Unix(int64(i*7919%n), 0)}, title)
		i++
	}
	return x
}
