package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH2_OneCharacterFindsAllPairs has more pairs begin with a character than a
// beginning may mean.
func TestSRCH2_OneCharacterFindsAllPairs(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	var drafts []notes.Draft
	for i := range 120 {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("T ", i), Body: "日" + string(rune(0x4E00+i))})
	}
	drafts = append(drafts, notes.Draft{ID: "other", Title: "Other", Body: "nothing"})
	_, err := r.notes.PutMany(ctx, drafts)
	must(t, err)
	for query, want := range map[string]int{"日": 120, `"日"`: 120, "-日": 1} {
		res, err := r.Search(ctx, Request{Query: query, Limit: 200})
		must(t, err)
		if len(res.Hits) != want {
			t.Errorf("%s finds %d notes, want %d", query, len(res.Hits), want)
		}
	}
}

func TestSRCH2_BeginningsFindRareWords(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	var drafts []notes.Draft
	for i := range 80 {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Title: "T", Body: fmt.Sprintf("hi%c%cx", 'a'+i%26, 'a'+i/26)})
	}
	drafts[79].Tags = []string{"rare"}
	_, err := r.notes.PutMany(ctx, drafts)
	must(t, err)
	if got := r.ids(t, "tag:rare hi"); got != "n79" {
		t.Errorf("%q", got)
	}
}

// TestSRCH2_Composition has decomposed texts, as file names of macOS, found by composed
// queries and the other way round.
func TestSRCH2_Composition(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	for i, text := range []string{"한국어 검색", "ガラス プール", "Übergrößenträger", "Đặng Thị", "ﬁle Ⅷ ５", "καφές", "ёлка", "שָׁלוֹם", "مَكْتَبَة"} {
		for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
			id := fmt.Sprint("n", i)
			r.put(t, notes.Draft{ID: id, Body: form.String(text)})
			for _, asked := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
				for _, q := range []string{text, `"` + text + `"`, strings.Fields(text)[0] + " "} {
					if got := r.ids(t, asked.String(q)); got != id {
						t.Errorf("%+q in %+q finds %q", asked.String(q), form.String(text), got)
					}
				}
			}
		}
	}
}

// TestSRCH3_TitlesInAnyForm ranks equals whose titles begin with one letter in two forms.
func TestSRCH3_TitlesInAnyForm(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "1", Title: "a\u0301", Body: "word"},
		notes.Draft{ID: "2", Title: "b", Body: "word"},
		notes.Draft{ID: "3", Title: "\u00e0", Body: "word"})
	if got := r.ids(t, "word "); got != "2 3 1" {
		t.Errorf("%q", got)
	}
}

// TestSRCH1_WhatIsWrittenIsFound looks for words wherever Markdown hides them, and in a comment,
// which the prompt leaves out as well (CTX-2).
func TestSRCH1_WhatIsWrittenIsFound(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Title: "T", Body: "See <https://example.org/kljensen/snow> and [text](https://host.example/pathword \"hover\").\n" +
		"[[Targetnote|shown]] and [[Deep/Foldername#Headingword]]\n![pictured](img/filename.png)\n![[embedded.png]]\n`inlinecode`\n\n```go\nfencedcode()\n```\n" +
		"| cellone | celltwo |\n|---|---|\n| cellthree | x |\n\n<div title=\"attrib\">htmltext</div>\n\n- [ ] taskword #hashtag\n> [!note] calloutword\n\n[^1]: footnoteword\n$$mathword$$\n%%commentword%%\n~~struck~~ **bo**ld\n\nx ^blockid\n\n[ref]: https://refhost.example/refpath\n"})
	for _, q := range strings.Fields("kljensen snow text pathword hover Targetnote shown Foldername Headingword pictured filename embedded inlinecode fencedcode " +
		"cellone celltwo cellthree htmltext taskword hashtag calloutword footnoteword mathword struck bold refpath host.example") {
		if got := r.find(t, Request{Query: q, Plain: true, exact: true}); got != "a" {
			t.Errorf("%s finds %q", q, got)
		}
	}
	if got := r.find(t, Request{Query: "commentword", Plain: true, exact: true}); got != "" {
		t.Errorf("a word in a comment finds %q", got)
	}
}

// TestSRCH3_ASearchThatNobodyWaitsForEnds looks no words up for one that is cancelled.
func TestSRCH3_ASearchThatNobodyWaitsForEnds(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "alpha beta"})
	over, cancel := context.WithCancel(ctx)
	cancel()
	for _, q := range []string{"alpha", "alphx", `"alpha beta"`, "tag:x", "-alpha", ""} {
		if res, err := r.Search(over, Request{Query: q, Limit: 3, Snippets: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %+v %v", q, res, err)
		}
	}
}

// TestSRCH3_RangesOfAnyText has snippets show what they found, whatever folding does
// to the length of texts.
func TestSRCH3_RangesOfAnyText(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	for i, c := range []struct{ body, query, want string }{
		{"😀 Straße 😀 end", "strasse ", "Straße"},
		{"𝔘𝔫𝔦𝔠𝔬𝔡𝔢 😀", "unicode ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢"},
		{"İstanbul ﬃ", "istanbul ", "İstanbul"},
		{"😀 İ İ oﬃce", "office ", "oﬃce"},
		{"𠮷野家 😀", "𠮷野", "𠮷野"},
		{"e\u0301te\u0301 😀 ﬁn", "ete fin ", "e\u0301te\u0301|ﬁn"},
		{"ﬀ ΐ ŉ ǰ ᾳ Ὂ", "ff ", "ﬀ"},
		{strings.Repeat("😀 ", 300) + "Größe" + strings.Repeat(" 😀", 300), "grosse ", "Größe"},
		{strings.Repeat("漢字", 300) + "東京" + strings.Repeat("漢字", 300), "東京", "東京"},
	} {
		id := fmt.Sprint("n", i)
		r.put(t, notes.Draft{ID: id, Title: "T", Body: c.body})
		res, err := r.Search(ctx, Request{Query: c.query, Limit: 1, Snippets: true})
		must(t, err)
		if len(res.Hits) != 1 || res.Hits[0].Doc.ID() != id {
			t.Errorf("%q finds %+v", c.query, res.Hits)
			continue
		}
		units := utf16.Encode([]rune(res.Hits[0].Snippet))
		var got []string
		for _, at := range res.Hits[0].Ranges {
			got = append(got, string(utf16.Decode(units[at[0]:at[1]])))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q shows %q, want %q", c.query, got, c.want)
		}
	}
}
