package markdown_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
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
		for l := range doc.EachLink() {
			if !l.InFrontmatter {
				n++
			}
		}
		if n != len(body) {
			t.Errorf("%d links in the body, alone %d", n, len(body))
		}
	})
}

// FuzzReferences: the scanner finds all that Parse takes for a link, stays in the
// text and looks at few bytes.
func FuzzReferences(f *testing.F) {
	addSeeds(f)
	for _, unit := range hostileUnits {
		f.Add("a [[b]] " + strings.Repeat(unit, 4) + " [c](d.md)")
	}
	f.Fuzz(func(t *testing.T, src string) {
		var list []markdown.Reference
		for r := range markdown.References(src) {
			if r.Start < 0 || r.Start >= r.End || r.End > len(src) {
				t.Fatalf("%+v in %d bytes", r, len(src))
			}
			if r.Target == "" && r.Kind != markdown.MentionRef {
				t.Errorf("%+v refers to nothing", r)
			}
			list = append(list, r)
		}
		if len(list) > 0 && !markdown.MayRefer(src) {
			t.Errorf("%+v without a mark", list)
		}
		if work := markdown.ReferenceWork(src); work > 100*len(src)+1000 {
			t.Errorf("%d bytes looked at of %d", work, len(src))
		}
		// Backslashes at the end may belong to the target or escape what follows.
		plain := func(target string) string {
			end := func(r rune) bool { return r == '\\' || unicode.IsSpace(r) }
			return strings.Join(strings.Fields(strings.TrimRightFunc(target, end)), " ")
		}
		found := func(start, end int, target string) bool {
			target = plain(target)
			return target == "" || slices.ContainsFunc(list, func(r markdown.Reference) bool {
				return r.Start <= start && end <= r.End && plain(r.Target) == target
			})
		}
		doc := markdown.Parse(src)
		for l := range doc.EachLink() {
			if !found(l.Start, l.End, l.Target) {
				t.Errorf("no %+v in %+v", l, list)
			}
		}
		for l := range doc.EachFileLink() {
			if !strings.ContainsAny(l.Raw, `\&%?:[`) && !found(l.Start, l.End, l.Target) {
				t.Errorf("no %+v in %+v", l, list)
			}
		}
		checkEncoded(t, src, list)
		for _, source := range doc.Sources {
			if source.Text == "" || len(source.References) == 0 {
				t.Errorf("%+v is none", source)
			}
			for _, r := range source.References {
				if r.Start < 0 || r.Start >= r.End || r.End > len(source.Text) {
					t.Errorf("%+v in %q", r, source.Text)
				}
			}
		}
	})
}

// checkEncoded writes all letters and marks of a text as character references: what it
// refers to is the same.
func checkEncoded(t *testing.T, src string, list []markdown.Reference) {
	t.Helper()
	if strings.IndexByte(src, '&') >= 0 {
		return // has some already
	}
	var encoded strings.Builder
	for i := range len(src) {
		if ' ' < src[i] && src[i] < utf8.RuneSelf {
			fmt.Fprintf(&encoded, "&#%d;", src[i])
		} else {
			encoded.WriteByte(src[i])
		}
	}
	found := make(map[string]bool)
	open := 0
	for r := range markdown.References(encoded.String()) {
		found[r.Target] = true
		if r.Kind == markdown.DecodedMentionRef {
			open++
		}
	}
	for _, r := range list {
		switch {
		case r.Open() && r.End < len(src):
			open--
		case !r.Open() && !found[r.Target]:
			t.Errorf("%+v is not found in %q", r, encoded.String())
		}
	}
	if open != 0 {
		t.Errorf("%d more mentions in %q", open, encoded.String())
	}
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
