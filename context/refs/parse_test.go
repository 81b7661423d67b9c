package refs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/steps"
)

// row is one case of fixtures/references.json.
type row struct {
	Row  int    `json:"row"`
	Text string `json:"text"`
	Refs []struct {
		refs.Ref

		Places map[refs.Unit][2]int `json:"places"`
	} `json:"refs"`
	CleanText *string `json:"cleanText"`
}

func rows(t testing.TB) (list []row) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "references.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestREF6_Cases(t *testing.T) {
	seen := make(map[int]bool)
	for i, c := range rows(t) {
		seen[c.Row] = true
		t.Run(fmt.Sprintf("REF-6 row %d, case %d", c.Row, i), func(t *testing.T) {
			for _, unit := range []refs.Unit{refs.UTF16, refs.Char, refs.Byte} {
				var want []refs.Ref
				for _, r := range c.Refs {
					if r.Places[refs.UTF16] != [2]int{r.Start, r.End} {
						t.Errorf("%q stands at %d to %d, or at %v", r.Raw, r.Start, r.End, r.Places)
					}
					r.Start, r.End = r.Places[unit][0], r.Places[unit][1]
					want = append(want, r.Ref)
				}
				got, err := refs.Parse(c.Text, unit)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.Refs, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%q in %s: %s", c.Text, unit, diff)
				}
				clean := c.Text
				if c.CleanText != nil {
					clean = *c.CleanText
				}
				if got.CleanText != clean {
					t.Errorf("%q without references is %q, want %q", c.Text, got.CleanText, clean)
				}
			}
		})
	}
	for n := 1; n <= 32; n++ {
		if !seen[n] {
			t.Errorf("there is no case of row %d", n)
		}
	}
}

func TestREF6_EachTargetOnce(t *testing.T) {
	got, err := refs.Parse("@abc [[Plan]] #42 @mem:u-1 @ABC @claim_42 [[plan]] @memory:u-1 @conv_h_msg_3 @straße @STRASSE", "")
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]string{got.Handles, got.MemoryIDs, got.Notes}
	want := [][]string{{"abc", "claim_42", "conv_h_msg_3", "straße"}, {"u-1"}, {"Plan"}}
	if diff := cmp.Diff(want, lists); diff != "" || len(got.Refs) != 11 {
		t.Errorf("%d references: %s", len(got.Refs), diff)
	}
}

// TestREF6_NoResultChangesLater: texts are read in memory that is used again, and nothing of it is in
// a result, whoever reads beside.
func TestREF6_NoResultChangesLater(t *testing.T) {
	texts := []string{message(), strings.Repeat("[[A]] @abc #1 ", 2000), ""}
	for _, r := range rows(t) {
		texts = append(texts, r.Text)
	}
	parse := func(text string) (*refs.Result, string) {
		res, err := refs.Parse(text, refs.Byte)
		if err != nil {
			t.Error(err)
			return nil, ""
		}
		written, err := json.Marshal(res)
		if err != nil {
			t.Error(err)
		}
		return res, string(written)
	}
	first := make([]*refs.Result, len(texts))
	want := make([]string, len(texts))
	for i, text := range texts {
		first[i], want[i] = parse(text)
	}
	var beside sync.WaitGroup
	for range 4 {
		beside.Go(func() {
			for i, text := range texts {
				if _, got := parse(text); got != want[i] {
					t.Errorf("%.60q: read again, %.200s; at first %.200s", text, got, want[i])
				}
			}
		})
	}
	beside.Wait()
	for i, res := range first {
		if got, err := json.Marshal(res); err != nil || string(got) != want[i] {
			t.Errorf("%.60q: the result is %.200s now, and was %.200s; %v", texts[i], got, want[i], err)
		}
	}
}

func TestREF6_NothingIsEmptyLists(t *testing.T) {
	got, err := refs.Parse("nothing", "")
	text, encodingErr := json.Marshal(got)
	want := `{"cleanText":"nothing","memoryIds":[],"handles":[],"notes":[],"refs":[]}`
	if err != nil || encodingErr != nil || string(text) != want {
		t.Errorf("%s: %v, %v", text, err, encodingErr)
	}
}

func TestREF6_WhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		size  int
		unit  refs.Unit
		kind  fault.Kind
		field string
	}{
		{refs.MaxText, refs.Byte, fault.Internal, ""},
		{refs.MaxText + 1, refs.Byte, fault.Limit, "text"},
		{1, "rune", fault.Invalid, "unit"},
	} {
		_, err := refs.Parse(strings.Repeat("x", c.size), c.unit)
		var e *fault.Error
		switch {
		case c.field == "":
			if err != nil {
				t.Error(err)
			}
		case !errors.As(err, &e) || e.Kind != c.kind || e.Field != c.field:
			t.Errorf("%d bytes in %s: %+v", c.size, c.unit, err)
		}
	}
}

// TestREF6_TheCallerSaysWhatStays: a resolver knows which handles are of entities, and
// which of nothing.
func TestREF6_TheCallerSaysWhatStays(t *testing.T) {
	const text = "What does @alice do about (@ssdva) and #336699?"
	got := refs.Clean(text, refs.Find(text), func(r refs.Ref) refs.Treatment {
		return map[string]refs.Treatment{"alice": refs.Named, "claim_336699": refs.Kept}[r.ID]
	})
	if want := "What does alice do about and #336699?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// pieces are what texts are drawn from.
var pieces = []string{
	"@", "#", "@abc", "@Alice", "#42", "@claim_7", "@mem:", "@memory:a-1", "[[N]]", "[[N|a]]", "[[", "]]", "![[", "[", "]", "](", ")", "(", "<", ">",
	"`", "```", "\n", "\n\n", "    ", "\t", " ", "- ", "> ", "\\", "https://", ".", ".c", ",", "_", "-", "a", "é", "e\u0301", "健", "は", "か\u3099", "🙂",
	"ท", "]:", "=\"", "\"", "<!--", "-->", "conv_h_msg_3", "@conv_h_message_3", "。", "\xff", "\x00", "İ", "K",
}

var texts = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
})

type fataler interface {
	Fatalf(format string, args ...any)
}

// checkAny checks what holds for the references of any text.
func checkAny(t fataler, text string) {
	by := make(map[refs.Unit][]refs.Ref)
	for _, unit := range []refs.Unit{refs.UTF16, refs.Char, refs.Byte} {
		got, err := refs.Parse(text, unit)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		by[unit] = got.Refs
	}
	end := 0
	for i, r := range by[refs.Byte] {
		if r.Start < end || r.End <= r.Start || text[r.Start:r.End] != r.Raw || r.ID == "" {
			t.Fatalf("%q: %+v behind %d", text, r, end)
		}
		end = r.End
		for at, place := range map[int][2]int{
			r.Start: {by[refs.Char][i].Start, by[refs.UTF16][i].Start}, r.End: {by[refs.Char][i].End, by[refs.UTF16][i].End},
		} {
			before := []rune(text[:at])
			if place != [2]int{len(before), len(utf16.Encode(before))} {
				t.Fatalf("%q: %d is %v", text, at, place)
			}
		}
	}
	kept := refs.Clean(text, by[refs.Byte], func(refs.Ref) refs.Treatment { return refs.Kept })
	if kept != text {
		t.Fatalf("%q, all kept, is %q", text, kept)
	}
	if got, _ := refs.Parse(text, ""); strings.Count(got.CleanText, "\n") != strings.Count(text, "\n") {
		t.Fatalf("%q has other lines: %q", text, got.CleanText)
	}
}

func TestREF6_AnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkAny(t, texts.Draw(t, "text")) })
}

// TestREF6_ComposedOrNotAlike: how a text is encoded changes no reference.
func TestREF6_ComposedOrNotAlike(t *testing.T) {
	ids := func(text string) (list []string) {
		for _, r := range refs.Find(text) {
			list = append(list, norm.NFC.String(r.ID))
		}
		return list
	}
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		if diff := cmp.Diff(ids(norm.NFC.String(text)), ids(norm.NFD.String(text))); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}

// TestREF6_NothingIsLeft of what is taken out of a text of words and references.
func TestREF6_NothingIsLeft(t *testing.T) {
	words := []string{"@abc", "#42", "@claim_7", "@memory:a-1", "@conv_h_msg_3", "what", "(@abd)", "[#7]", "@josé,", "健", "@abe.", "e@x.org"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "words"), " ")
		clean := refs.Clean(text, refs.Find(text), nil)
		if left := refs.Find(clean); len(left) > 0 {
			t.Fatalf("%q is %q, which has %+v", text, clean, left)
		}
	})
}

func FuzzREF6_AnyText(f *testing.F) {
	for _, c := range rows(f) {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= refs.MaxText {
			checkAny(t, text)
		}
	})
}

// functions are all that read a text, by their names.
var functions = map[string]func(text string){
	"Parse": func(text string) { _, _ = refs.Parse(text, refs.UTF16) },
	"Find":  func(text string) { refs.Find(text) },
	"At":    func(text string) { refs.At(text) },
	"Clean": func(text string) { refs.Clean(text, refs.Find(text), nil) },
}

var hostile = map[string]string{
	"ats": "@", "numbers": "#1 ", "ats and letters": "@ab", "handles": "@abc ", "underscores": "@a____", "marks": "@a\u0301\u0327", "marks before": "\u3099@",
	"links": "[x](", "urls": "a://", "definitions": "[r]:", "indented": "    @abc\n", "tabs": "\n\n\t", "brackets": "(@abc)", "open brackets": "((@abc",
	"wikilinks": "[[", "notes": "[[a]]", "backticks": "`", "messages": "@conv_a_msg_", "legacy": "@mem:a", "targets": "](<",
}

func TestREF6_EveryFunctionIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const room = "github.com/ctxd/ctxd/"
	if !steps.Counting(t, room+"context/refs", room+"entities/names", room+"entities/text", room+"notes/markdown") {
		return
	}
	measure := func(family string, text func(size int) string) {
		for name, call := range functions {
			steps.Linear(t, name, family, 4<<10, text, func(text string) func() { return func() { call(text) } })
		}
	}
	steps.Each([]steps.Place{{}}, func(family string, text func(size int) string, _ steps.Place) { measure(family, text) })
	for family, unit := range hostile {
		measure(family, func(size int) string { return strings.Repeat(unit, size/len(unit)) })
	}
	measure("nested brackets", func(size int) string {
		return strings.Repeat("(", size/2) + "@abc" + strings.Repeat(")", size/2)
	})
}

// TestEveryFunctionOfATextIsMeasured: one that is exported has its entry above.
func TestEveryFunctionOfATextIsMeasured(t *testing.T) {
	steps.Every(t, steps.Exported(t, "*.go !handle*.go !index*.go", "string"), slices.Collect(maps.Keys(functions)))
}

// TestREF6_HostileTexts of the largest size that is read.
func TestREF6_HostileTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	for name, unit := range hostile {
		t.Run(name, func(t *testing.T) {
			if _, err := refs.Parse(strings.Repeat(unit, refs.MaxText/len(unit)), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}
