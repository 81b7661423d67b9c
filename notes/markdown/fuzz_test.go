package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/notes/markdown"
)

func addSeeds(f *testing.F) {
	f.Add(typicalNote)
	for _, unit := range hostile {
		f.Add(strings.Repeat(unit, 8))
	}
	for _, s := range []string{
		"---\na: &b [*b, {c: d}]\ne: |\n  [[F]]\n---\n", "---\nx: [[A]], [[B]]\ny:\n- [[C]]\n- z: ![[D|e]]\n---\n",
		"\uFEFF---\r\ntags: [a]\r\n---\r\n> - `x\r\n> <!-- y\r\n```\r\n--> [[Z]]", "# [a]\n\n[a]: b\n[t](<x y.md> 'z')", "| [[a\\|b]] |\n|-|\n",
		"---\n? a\n: b\n<<: {c: !!str 1}\n---\n", "> [!note]- x\n\n***a** b*\\\n&#0;&notanentity;", "a <br> <T> <a b='>'> ^id\n===",
	} {
		f.Add(s)
	}
}

func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		doc := markdown.Parse(src)
		checkDocument(t, src, doc)
		for _, tag := range doc.Tags {
			if tag == "" || strings.HasPrefix(tag, "#") && !strings.Contains(tag, " ") {
				t.Errorf("tag %q", tag)
			}
		}
		if strings.Contains(doc.Title, "\n") {
			t.Errorf("title %q", doc.Title)
		}
		if doc.Frontmatter != nil {
			if doc.FrontmatterErr != nil {
				t.Errorf("frontmatter and an error: %v", doc.FrontmatterErr)
			}
			for _, fl := range doc.Frontmatter.Fields {
				if fl.Line < 2 || fl.Line > doc.BodyLine {
					t.Errorf("field %+v, body from line %d", fl, doc.BodyLine)
				}
				if l, ok := fl.Value.([]any); ok && fl.RawItems != nil && len(l) != len(fl.RawItems) {
					t.Errorf("field %+v", fl)
				}
			}
		}
		body := markdown.Links(doc.Body)
		n := 0
		for _, l := range doc.Links {
			if !l.InFrontmatter {
				n++
			}
		}
		if n != len(body) {
			t.Errorf("%d links in the body, alone %d", n, len(body))
		}
	})
}

func FuzzPlainText(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		markdown.PlainNote(src)
		plain := markdown.PlainText(src)
		// "* " becomes "- ", "*\t" too: never longer than the source, but for
		// the blank behind a bullet and around a table's bars.
		if grow := strings.Count(src, "|") + strings.Count(src, "\n") + 1; len(plain) > len(src)+2*grow {
			t.Errorf("%d bytes became %d", len(src), len(plain))
		}
		if utf8.ValidString(src) && !utf8.ValidString(plain) {
			t.Errorf("not UTF-8: %q", plain)
		}
		if plain != strings.TrimRight(plain, " \t\n") {
			t.Errorf("blanks at the end: %q", plain)
		}
		if again := markdown.PlainText(plain); len(again) > len(plain)+2*(strings.Count(plain, "|")+strings.Count(plain, "\n")+1) {
			t.Errorf("plain text of plain text grew: %q", again)
		}
	})
}
