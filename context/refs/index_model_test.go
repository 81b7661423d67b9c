package refs_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// model is an index that looks at all of its entries each time.
type model map[string]refs.Entry

func idOf(kind refs.HandleKind, id string) string { return kind.String() + "/" + id }

func (m model) put(e refs.Entry) { m[idOf(e.Kind, e.ID)] = e }

// matched is an entry with how well it matches: the place of its tier.
type matched struct {
	refs.Entry
	tier int
}

func name(text string) string {
	return strings.Join(strings.FieldsFunc(refs.FoldHandle(text), joint), "_")
}

func joint(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) }

// tierOf returns how well an entry matches what is typed; ok is false when it does not.
func tierOf(e *refs.Entry, typed string, skip refs.SkipEntry) (tier int, ok bool) {
	skips := func(name int) bool { return skip != nil && skip(e, name) }
	typed = strings.TrimPrefix(strings.TrimLeftFunc(strings.ToValidUTF8(typed, "\uFFFD"), unicode.IsSpace), "@")
	want, own := refs.FoldHandle(typed), refs.FoldHandle(e.Handle)
	if want == "#" || want == "claim_" {
		if e.Number > 0 && !skips(refs.ByNumber) {
			return 1, true
		}
	}
	number, isNumber := refs.ParseMemoryNumber(want)
	if isNumber && (want[0] == '#' || want[0] == 'c') && e.Number > 0 && !skips(refs.ByNumber) {
		if number == e.Number {
			return 0, true
		}
		if strings.HasPrefix(strconv.FormatUint(e.Number, 10), strconv.FormatUint(number, 10)) {
			return 1, true
		}
	}
	if strings.HasPrefix(want, "#") {
		return 0, false
	}
	if own != "" && !skips(refs.ByHandle) {
		switch {
		case own == want:
			return 0, true
		case strings.HasPrefix(own, want):
			return 1, true
		}
		for i := 1; i < len(own); i++ {
			if strings.ContainsAny(own[i-1:i], "_-") && !strings.ContainsAny(own[i:i+1], "_-") && want != "" && strings.HasPrefix(own[i:], want) {
				return 2, true
			}
		}
	}
	wantName := name(typed)
	last, _ := utf8.DecodeLastRuneInString(typed)
	if wantName == "" {
		return 0, false
	}
	if joint(last) {
		wantName += "_"
	}
	for i, text := range e.Names {
		if strings.HasPrefix(name(text), wantName) && !skips(i) {
			return 3, true
		}
	}
	for _, former := range e.Former {
		if strings.HasPrefix(refs.FoldHandle(former), wantName) && !skips(refs.ByHandle) {
			return 3, true
		}
	}
	return 0, false
}

// order is that of two entries that match equally well.
func order(a, b *refs.Entry, public bool) int {
	used := func(e *refs.Entry) int64 {
		if public {
			return e.Public.UnixMicro()
		}
		return e.Used.UnixMicro()
	}
	return cmp.Or(
		cmp.Compare(used(b), used(a)),
		cmp.Compare(utf8.RuneCountInString(a.Handle), utf8.RuneCountInString(b.Handle)),
		strings.Compare(refs.FoldHandle(a.Handle), refs.FoldHandle(b.Handle)), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.ID, b.ID),
	)
}

func (m model) complete(q refs.IndexQuery) []string {
	var all []matched
	for _, e := range m {
		switch {
		case len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind), q.PublicOnly && e.Public.IsZero():
			continue
		}
		if tier, ok := tierOf(&e, q.Typed, q.Skip); ok {
			all = append(all, matched{e, tier})
		}
	}
	compare := func(a, b matched) int {
		return cmp.Or(a.tier-b.tier, order(&a.Entry, &b.Entry, q.PublicOnly))
	}
	slices.SortFunc(all, compare)
	if q.Limit >= refs.AllKindsLimit {
		first, seen := make([]matched, 0, len(all)), make(map[refs.HandleKind]bool)
		var others []matched
		for _, one := range all {
			if seen[one.Kind] {
				others = append(others, one)
				continue
			}
			seen[one.Kind] = true
			first = append(first, one)
		}
		all = append(first, others[:min(len(others), q.Limit-len(first))]...)
		slices.SortFunc(all, compare)
	}
	out := []string{}
	for _, one := range all[:min(len(all), q.Limit)] {
		out = append(out, idOf(one.Kind, one.ID))
	}
	return out
}

// levenshtein is the textbook's matrix.
func levenshtein(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		before := row[0]
		row[0]++
		for j := range t {
			d := before
			if s[i] != t[j] {
				d++
			}
			before = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(t)]
}

func withoutHex(text string) string {
	for _, size := range []int{refs.ShortHandleHex, refs.LongHandleHex} {
		if at := len(text) - size - 1; at > 0 && text[at] == '_' && strings.Trim(text[at+1:], "0123456789abcdef") == "" {
			return text[:at]
		}
	}
	return text
}

func (m model) near(text string, limit int, public bool) []string {
	type one struct {
		refs.Entry
		d int
	}
	var all []one
	for _, e := range m {
		if public && e.Public.IsZero() || refs.FoldHandle(text) == "" {
			continue
		}
		best := 1000
		look := func(typed, have string) {
			within := 2
			if utf8.RuneCountInString(typed) < 6 {
				within = 1
			}
			if d := levenshtein(typed, have); have != "" && d <= within {
				best = min(best, d)
			}
		}
		own := refs.FoldHandle(e.Handle)
		look(refs.FoldHandle(text), own)
		if e.Kind == refs.MemoryHandle {
			look(refs.FoldHandle(text), withoutHex(own))
		}
		for _, former := range e.Former {
			look(refs.FoldHandle(text), refs.FoldHandle(former))
		}
		for _, called := range e.Names {
			look(name(text), name(called))
		}
		if best < 1000 {
			all = append(all, one{e, best})
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(a.d-b.d, order(&a.Entry, &b.Entry, public)) })
	out := []string{}
	for _, e := range all[:min(len(all), limit)] {
		out = append(out, idOf(e.Kind, e.ID))
	}
	return out
}

func keys(hits []refs.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, idOf(h.Kind, h.ID))
	}
	return out
}

var (
	words   = []string{"a", "ab", "abc", "morning", "mo", "Work", "goal", "été", "ﬁx", "语言", "b2", "a3f2", "claim", "form"}
	joints  = []string{"_", "-", " ", "__"}
	moments = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

var phrases = rapid.Custom(func(t *rapid.T) string {
	text := rapid.SampledFrom(words).Draw(t, "word")
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		text += rapid.SampledFrom(joints).Draw(t, "joint") + rapid.SampledFrom(words).Draw(t, "word")
	}
	return text
})

var entries = rapid.Custom(func(t *rapid.T) refs.Entry {
	kind := rapid.SampledFrom(refs.HandleKinds()).Draw(t, "kind")
	e := refs.Entry{
		Kind: kind, ID: strconv.Itoa(rapid.IntRange(1, 40).Draw(t, "id")),
		Handle: refs.LowerHandle(strings.ReplaceAll(phrases.Draw(t, "handle"), " ", "_")),
		Used:   moments.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "used")) * time.Microsecond),
	}
	if kind == refs.MemoryHandle {
		e.Number, _ = strconv.ParseUint(e.ID, 10, 64)
	}
	if rapid.Bool().Draw(t, "public") {
		e.Public = e.Used.Add(-time.Duration(rapid.IntRange(0, 2).Draw(t, "private use")) * time.Microsecond)
	}
	e.Names = rapid.SliceOfN(phrases, 0, 2).Draw(t, "names")
	if rapid.IntRange(0, 4).Draw(t, "renamed") == 0 {
		e.Former = []string{refs.LowerHandle(strings.ReplaceAll(phrases.Draw(t, "former"), " ", "_"))}
	}
	return e
})

var typed = rapid.Custom(func(t *rapid.T) string {
	if rapid.IntRange(0, 3).Draw(t, "number") == 0 {
		return rapid.SampledFrom([]string{"", "@", "#", "#1", "claim_", "claim_2", "@claim_1", "#12", "claim_1a", "#a", "Claim_3", "#0", "4"}).Draw(t, "typed")
	}
	runes := []rune(phrases.Draw(t, "typed"))
	return string(runes[:rapid.IntRange(0, len(runes)).Draw(t, "length")])
})

// hidesSome is a Skip that some of the entries do not get past.
func hidesSome(e *refs.Entry, name int) bool { return (len(e.ID)+len(e.Handle)+name)%3 == 0 }

// TestREF16_CompletesAsAModelDoes after any Puts, Loads and Deletes.
func TestREF16_CompletesAsAModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, m := refs.NewIndex(), model{}
		first := rapid.SliceOfNDistinct(entries, 0, 60, func(e refs.Entry) string { return idOf(e.Kind, e.ID) }).Draw(t, "first")
		x.Load(slices.Values(first))
		for _, e := range first {
			m.put(e)
		}
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			e := entries.Draw(t, "entry")
			if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
				x.Delete(e.Kind, e.ID)
				delete(m, idOf(e.Kind, e.ID))
				continue
			}
			x.Put(e)
			m.put(e)
		}
		if x.Len() != len(m) {
			t.Fatalf("%d entries, want %d", x.Len(), len(m))
		}
		for range 8 {
			q := refs.IndexQuery{
				Typed: typed.Draw(t, "typed"), Limit: rapid.SampledFrom([]int{0, 1, 2, 5, 6, 7, 10, 50}).Draw(t, "limit"),
				PublicOnly: rapid.Bool().Draw(t, "public only"),
			}
			if rapid.Bool().Draw(t, "some kinds") {
				q.Kinds = rapid.SliceOfNDistinct(rapid.SampledFrom(refs.HandleKinds()), 1, 3, rapid.ID).Draw(t, "kinds")
			}
			if rapid.Bool().Draw(t, "skip") {
				q.Skip = hidesSome
			}
			if got, want := keys(x.Complete(q)), m.complete(q); !slices.Equal(got, want) {
				t.Fatalf("%+v\n got %v\nwant %v", q, got, want)
			}
			if got, want := keys(x.Near(q.Typed, q.Limit, q.PublicOnly, nil)), m.near(q.Typed, q.Limit, q.PublicOnly); !slices.Equal(got, want) {
				t.Fatalf("near %q\n got %v\nwant %v", q.Typed, got, want)
			}
		}
		for _, e := range m {
			for _, of := range append([]string{e.Handle}, e.Former...) {
				found := x.Lookup("@" + of)
				if len(found) > 0 {
					t.Fatalf("a mark is part of no handle")
				}
				found = x.Lookup(strings.ToUpper(of))
				if !slices.ContainsFunc(found, func(f refs.Entry) bool { return f.Kind == e.Kind && f.ID == e.ID }) {
					t.Fatalf("%q is not found by %q: %v", e.ID, of, found)
				}
			}
		}
	})
}

// TestREF16_ManyHandlesAreCompletedAsAModelDoes: with so many that lists have many pieces, whose
// best change and go.
func TestREF16_ManyHandlesAreCompletedAsAModelDoes(t *testing.T) {
	campaign.Only(t)
	random := rand.New(rand.NewPCG(1, 2))
	x, m := refs.NewIndex(), model{}
	one := func() refs.Entry {
		kind := refs.HandleKinds()[random.IntN(6)]
		e := refs.Entry{Kind: kind, ID: strconv.Itoa(1 + random.IntN(900)), Used: moments.Add(time.Duration(random.IntN([]int{3, 300}[random.IntN(2)])) * time.Second)}
		e.Handle = fmt.Sprintf("%c%c_%s_%04x", 'a'+random.IntN(3), 'a'+random.IntN(26), words[random.IntN(5)], random.IntN(1<<16))
		e.Names = []string{fmt.Sprintf("The %s %d", words[random.IntN(6)], random.IntN(100))}
		if kind == refs.MemoryHandle {
			e.Number, _ = strconv.ParseUint(e.ID, 10, 64)
		}
		if random.IntN(10) > 0 {
			e.Public = e.Used
		}
		return e
	}
	load := make([]refs.Entry, 0, 4000)
	for range cap(load) {
		e := one()
		if _, twice := m[idOf(e.Kind, e.ID)]; !twice {
			load = append(load, e)
			m.put(e)
		}
	}
	x.Load(slices.Values(load))
	for round := range 6 {
		for range 800 {
			e := one()
			if random.IntN(3) == 0 {
				x.Delete(e.Kind, e.ID)
				delete(m, idOf(e.Kind, e.ID))
				continue
			}
			x.Put(e)
			m.put(e)
		}
		for _, text := range []string{"", "a", "b", "c", "ab", "mor", "a_", "#", "#1", "the", "the a", "ab_morning", "0", "the mo", "zz"} {
			for _, limit := range []int{1, 6, 10, 50} {
				q := refs.IndexQuery{Typed: text, Limit: limit, PublicOnly: round%2 == 1}
				if round%3 == 2 {
					q.Skip = hidesSome
				}
				if got, want := keys(x.Complete(q)), m.complete(q); !slices.Equal(got, want) {
					t.Fatalf("round %d, %q, %d\n got %v\nwant %v", round, text, limit, got, want)
				}
			}
		}
		for range 10 {
			e := one()
			if got, want := keys(x.Near(e.Handle, 5, false, nil)), m.near(e.Handle, 5, false); !slices.Equal(got, want) {
				t.Fatalf("near %q\n got %v\nwant %v", e.Handle, got, want)
			}
		}
	}
}

// TestREF16_EqualsAreInTheOrderOfTheAlphabet, although they lie in many pieces of a list.
func TestREF16_EqualsAreInTheOrderOfTheAlphabet(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	x, m := refs.NewIndex(), model{}
	for i := range 2000 {
		e := refs.Entry{
			Kind: refs.MemoryHandle, ID: strconv.Itoa(i), Used: moments, Number: uint64(i),
			Handle: fmt.Sprintf("%03d_w%03d_%04x", random.IntN(300), random.IntN(100), random.IntN(1<<16)),
		}
		x.Put(e)
		m.put(e)
	}
	for _, text := range []string{"", "0", "1", "00", "w", "w0", "w1", "#", "#1", "f"} {
		for _, limit := range []int{1, 3, 10, 50} {
			q := refs.IndexQuery{Typed: text, Limit: limit}
			if got, want := keys(x.Complete(q)), m.complete(q); !slices.Equal(got, want) {
				t.Errorf("%q, %d\n got %v\nwant %v", text, limit, got, want)
			}
		}
	}
}
