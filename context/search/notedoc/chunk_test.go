package notedoc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

func TestSRCH10_ChunksFollowHeadings(t *testing.T) {
	for _, c := range []struct {
		name, title, body string
		want              []text.Chunk
	}{
		{"nothing", "Empty", "", []text.Chunk{{Prefix: "Empty"}}},
		{"only properties", "Empty", "---\na: b\n---\n", []text.Chunk{{Prefix: "Empty"}}},
		{"only a heading", "A", "# B\n", []text.Chunk{{Prefix: "A"}}},
		{"no heading", "Bees", "They *fly*.", []text.Chunk{{Prefix: "Bees", Text: "They fly."}}},
		{
			"path of headings", "Handbook",
			"---\ntags: [x]\n---\nIntro.\n\n# Handbook\n\nAll.\n\n## Returns\n\nBack.\n\n### Ants\n\nBrush.\n\n## Price\n\n189.\n",
			[]text.Chunk{
				{Prefix: "Handbook", Text: "Intro."},
				{Prefix: "Handbook", Text: "All."},
				{Prefix: "Handbook > Returns", Text: "Back."},
				{Prefix: "Handbook > Returns > Ants", Text: "Brush."},
				{Prefix: "Handbook > Price", Text: "189."},
			},
		},
		{"setext", "T", "One\n===\n\na\n\nTwo\n---\n\nb", []text.Chunk{{Prefix: "T > One", Text: "a"}, {Prefix: "T > One > Two", Text: "b"}}},
		{"heading in code is none", "T", "```\n# no\n```\n", []text.Chunk{{Prefix: "T", Text: "# no"}}},
		{"levels left out", "T", "### deep\na\n# top\nb", []text.Chunk{{Prefix: "T > deep", Text: "a"}, {Prefix: "T > top", Text: "b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, notedoc.Chunks(c.title, c.body)); diff != "" {
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
	chunks := notedoc.Chunks("Log", strings.Join(all, " "))
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
	for i, c := range notedoc.Chunks("Log", strings.Join(paragraphs, "\n\n")) {
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
		chunks := notedoc.Chunks("Title", body)
		var all strings.Builder
		for _, c := range chunks {
			if n := text.CountTokens(c.Embedded()); n > 260 {
				t.Fatalf("chunk of %d tokens", n)
			}
			all.WriteString(c.Text + "\n")
		}
		doc, have := markdown.Parse(body), strings.Join(strings.Fields(all.String()), "")
		at := doc.BodyStart
		var headings []markdown.Heading
		markdown.Headings(body, func(h markdown.Heading) { headings = append(headings, h) })
		for _, h := range append(headings, markdown.Heading{Start: len(body)}) {
			for _, w := range strings.Fields(markdown.PlainText(body[at:h.Start])) {
				if len(w) < 200 && !strings.Contains(have, w) {
					t.Fatalf("%q is in no chunk", w)
				}
			}
			at = h.End
		}
	})
}
