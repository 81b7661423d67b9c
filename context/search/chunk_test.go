package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/notes/markdown"
)

func TestSRCH10_ChunksFollowHeadings(t *testing.T) {
	for _, c := range []struct {
		name, title, body string
		want              []search.Chunk
	}{
		{"nothing", "Empty", "", []search.Chunk{{Prefix: "Empty"}}},
		{"only properties", "Empty", "---\na: b\n---\n", []search.Chunk{{Prefix: "Empty"}}},
		{"only a heading", "A", "# B\n", []search.Chunk{{Prefix: "A"}}},
		{"no heading", "Bees", "They *fly*.", []search.Chunk{{"Bees", "They fly."}}},
		{
			"path of headings", "Handbook",
			"---\ntags: [x]\n---\nIntro.\n\n# Handbook\n\nAll.\n\n## Returns\n\nBack.\n\n### Ants\n\nBrush.\n\n## Price\n\n189.\n",
			[]search.Chunk{
				{"Handbook", "Intro."},
				{"Handbook", "All."},
				{"Handbook > Returns", "Back."},
				{"Handbook > Returns > Ants", "Brush."},
				{"Handbook > Price", "189."},
			},
		},
		{"setext", "T", "One\n===\n\na\n\nTwo\n---\n\nb", []search.Chunk{{"T > One", "a"}, {"T > One > Two", "b"}}},
		{"heading in code is none", "T", "```\n# no\n```\n", []search.Chunk{{"T", "# no"}}},
		{"levels left out", "T", "### deep\na\n# top\nb", []search.Chunk{{"T > deep", "a"}, {"T > top", "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, search.Chunks(c.title, c.body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sentence is one of about twelve tokens, unlike all others.
func sentence(i int) string {
	return fmt.Sprintf("The hive number %d was weighed in the evening of that day.", i)
}

func TestSRCH10_LongSections(t *testing.T) {
	var all []string
	for i := range 100 {
		all = append(all, sentence(i))
	}
	chunks := search.Chunks("Log", strings.Join(all, " "))
	if len(chunks) < 5 || len(chunks) > 12 {
		t.Fatalf("%d chunks of 100 sentences", len(chunks))
	}
	next := 0
	for i, c := range chunks {
		said := strings.SplitAfter(c.Text, ". ")
		if i > 0 {
			if got := strings.TrimSpace(said[0]); got != all[next-1] {
				t.Errorf("chunk %d begins with %q, want the last sentence of the one before, %q", i, got, all[next-1])
			}
			said = said[1:]
		}
		for _, s := range said {
			if strings.TrimSpace(s) != all[next] {
				t.Fatalf("chunk %d has %q, want %q", i, s, all[next])
			}
			next++
		}
	}
	if next != len(all) {
		t.Errorf("%d sentences in the chunks, want %d", next, len(all))
	}
}

func TestSRCH10_ParagraphsStayWholeWhereTheyCan(t *testing.T) {
	var paragraphs []string
	for i := range 8 {
		paragraphs = append(paragraphs, strings.Repeat(sentence(i)+" ", 12))
	}
	for i, c := range search.Chunks("Log", strings.Join(paragraphs, "\n\n")) {
		if want := strings.TrimSpace(paragraphs[i]); !strings.HasSuffix(c.Text, want) {
			t.Errorf("chunk %d does not end with its paragraph: %q", i, c.Text)
		}
	}
}

func TestSRCH10_EveryWordIsInAChunkAndNoChunkIsLong(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"bee", "hive.", "Weight!", "\n\n", "\n", "# Head\n", "- item", "| a | b |", "漢字です。", "supercalifragilistic", "\u0301", "\x00", "é", "`x`",
		strings.Repeat("x", 3000), strings.Repeat("蜂", 500), strings.Repeat("word ", 400),
	})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(word, 0, 80).Draw(t, "words"), " ")
		chunks := search.Chunks("Title", body)
		var text strings.Builder
		for _, c := range chunks {
			if n := search.CountTokens(c.Embedded()); n > 260 {
				t.Fatalf("chunk of %d tokens", n)
			}
			text.WriteString(c.Text + "\n")
		}
		doc, have := markdown.Parse(body), strings.Join(strings.Fields(text.String()), "")
		at := doc.BodyStart
		for _, h := range append(slices.Clone(doc.Headings), markdown.Heading{Start: len(body)}) {
			for _, w := range strings.Fields(markdown.PlainText(body[at:h.Start])) {
				if len(w) < 200 && !strings.Contains(have, w) {
					t.Fatalf("%q is in no chunk", w)
				}
			}
			at = h.End
		}
	})
}
