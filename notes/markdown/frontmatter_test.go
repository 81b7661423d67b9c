package markdown_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/notes/markdown"
)

type (
	list   = []any
	object = map[string]any
)

func TestSRCH30_FrontmatterValues(t *testing.T) {
	for _, tc := range []struct {
		yaml string
		want any
		raw  string
	}{
		{"text", "text", "text"},
		{"  two words  ", "two words", "two words"},
		{"", nil, ""},
		{"~", nil, "~"},
		{"null", nil, "null"},
		{"true", true, "true"},
		{"False", false, "False"},
		{"yes", "yes", "yes"},
		{"42", 42.0, "42"},
		{"-1", -1.0, "-1"},
		{"+3", 3.0, "+3"},
		{"1.10", 1.1, "1.10"},
		{"1e3", 1000.0, "1e3"},
		{".5", 0.5, ".5"},
		{"0", 0.0, "0"},
		{"0.0", 0.0, "0.0"},
		{"0x1F", 31.0, "0x1F"},
		{"0o17", 15.0, "0o17"},
		{"007", "007", "007"},
		{"-007", "-007", "-007"},
		{"1_000", "1_000", "1_000"},
		{"9007199254740992", 9007199254740992.0, "9007199254740992"},
		{"9007199254740993", "9007199254740993", "9007199254740993"},
		{"123456789012345678901234567890", "123456789012345678901234567890", "123456789012345678901234567890"},
		{".inf", ".inf", ".inf"},
		{".nan", ".nan", ".nan"},
		{"1e999", "1e999", "1e999"},
		{"2026-03-04", "2026-03-04", "2026-03-04"},
		{"2026-03-04T10:00:00Z", "2026-03-04T10:00:00Z", "2026-03-04T10:00:00Z"},
		{"2026-03-04 10:00", "2026-03-04 10:00", "2026-03-04 10:00"},
		{"12:30", "12:30", "12:30"},
		{"1:2:3", "1:2:3", "1:2:3"},
		{"v1.2.3", "v1.2.3", "v1.2.3"},
		{"+49 30 123", "+49 30 123", "+49 30 123"},
		{"https://example.com/a#b?c=d", "https://example.com/a#b?c=d", "https://example.com/a#b?c=d"},
		{"alice@example.com", "alice@example.com", "alice@example.com"},
		{"a # comment", "a", "a"},
		{"# comment", nil, ""},
		{`"2026"`, "2026", "2026"},
		{`"a: b # c"`, "a: b # c", "a: b # c"},
		{`"tab\t\"q\" \u00e9"`, "tab\t\"q\" é", "tab\t\"q\" é"},
		{`'it''s'`, "it's", "it's"},
		{`'true' # comment`, "true", "true"},
		{"[]", list{}, ""},
		{"[a, 1, true, 007, 2026-03-04, '5', \"x, y\"]", list{"a", 1.0, true, "007", "2026-03-04", "5", "x, y"}, ""},
		{"[a: b]", list{object{"a": "b"}}, ""},
		{"{a: 1, b: [x]}", object{"a": 1.0, "b": list{"x"}}, ""},
		{"\n  - a\n  - 1.0\n  -\n  - '3'", list{"a", 1.0, nil, "3"}, ""},
		{"\n- a\n- b # c\n# d\n\n- e", list{"a", "b", "e"}, ""},
		{"\n  a: 1\n  b:\n    c: 2026-01-01", object{"a": 1.0, "b": object{"c": "2026-01-01"}}, ""},
		{"|\n  two\n  lines\n", "two\nlines\n", "two\nlines\n"},
		{">-\n  two\n  lines", "two lines", "two lines"},
		{"first\n  second", "first second", "first second"},
		{"!!str 12", "12", "12"},
		{"日本語 é", "日本語 é", "日本語 é"},
		{"[[A]]", "[[A]]", "[[A]]"},
		{"![[A]]", "![[A]]", "![[A]]"},
		{"[[A]] # comment", "[[A]]", "[[A]]"},
		{"[[A: b #c, d|e \"f\" \\]]", "[[A: b #c, d|e \"f\" \\]]", "[[A: b #c, d|e \"f\" \\]]"},
		{"[[A]], [[B|b]]", list{"[[A]]", "[[B|b]]"}, ""},
		{"[[A]],[[B]], # c", list{"[[A]]", "[[B]]"}, ""},
		{"[[A]],", "[[A]]", "[[A]]"},
		{"[[[A]], [[B]]]", list{"[[A]]", "[[B]]"}, ""},
		{"[ [[A, a]] , \"[[B]]\", c ]", list{"[[A, a]]", "[[B]]", "c"}, ""},
		{"\"[[A]]\"", "[[A]]", "[[A]]"},
		{"'[[A]], [[B]]'", "[[A]], [[B]]", "[[A]], [[B]]"},
		{"\n  - [[A]]\n  - \"[[B]]\"\n  - '![[C]]'\n  - d", list{"[[A]]", "[[B]]", "![[C]]", "d"}, ""},
		{"\n  - a: [[A]]\n    b: [[B]], [[C]]", list{object{"a": "[[A]]", "b": list{"[[B]]", "[[C]]"}}}, ""},
		{"[\n  [[A]],\n  [[B]]\n]", list{"[[A]]", "[[B]]"}, ""},
		{"{lead: [[A]], others: [[[B]], [[C]]]}", object{"lead": "[[A]]", "others": list{"[[B]]", "[[C]]"}}, ""},
		{"[[A]] and [[B]]", "[[A]] and [[B]]", "[[A]] and [[B]]"},
		{"see [[A: b]] here", "see [[A: b]] here", "see [[A: b]] here"},
		{"see [[A #b]] # c", "see [[A #b]]", "see [[A #b]]"},
		{"|-\n  [[A]], [[B]]\n  k: [[C]]", "[[A]], [[B]]\nk: [[C]]", "[[A]], [[B]]\nk: [[C]]"},
		{"[[1, 2], [3, 4]]", list{list{1.0, 2.0}, list{3.0, 4.0}}, ""},
	} {
		for _, around := range []struct{ name, before, after string }{
			{"alone", "", ""},
			{"beside plain fields", "first: 1\n", "\nlast: x"},
			{"beside fields that need the full reader", "first: {a: b}\n", "\nlast: \"\\x41\""},
		} {
			for _, nl := range []string{"\n", "\r\n"} {
				src := "---\n" + around.before + "key: " + tc.yaml + around.after + "\n---\nbody"
				src = strings.ReplaceAll(src, "\n", nl)
				t.Run(fmt.Sprintf("%s, %s, %q", tc.yaml, around.name, nl), func(t *testing.T) {
					doc := markdown.Parse(src)
					if doc.FrontmatterErr != nil {
						t.Fatalf("error: %v", doc.FrontmatterErr)
					}
					if doc.Body != "body" {
						t.Errorf("body %q", doc.Body)
					}
					f, ok := doc.Frontmatter.Get("KEY")
					if !ok || f.Key != "key" {
						t.Fatalf("no key in %+v", doc.Frontmatter)
					}
					if diff := cmp.Diff(tc.want, f.Value); diff != "" {
						t.Errorf("value (-want +got):\n%s", diff)
					}
					if f.Raw != tc.raw {
						t.Errorf("raw %q, want %q", f.Raw, tc.raw)
					}
					if wantLine := 2 + strings.Count(around.before, "\n"); f.Line != wantLine {
						t.Errorf("line %d, want %d", f.Line, wantLine)
					}
				})
			}
		}
	}
}

func TestSRCH30_FrontmatterItemsAsWritten(t *testing.T) {
	for _, yaml := range []string{"k: [1.10, 007, '2', [[A]]]", "k:\n- 1.10\n- 007\n- '2'\n- [[A]]", "x: {}\nk: [1.10, 007, '2', [[A]]]"} {
		f, _ := markdown.Parse("---\n" + yaml + "\n---\n").Frontmatter.Get("k")
		want := []string{"1.10", "007", "2", "[[A]]"}
		if diff := cmp.Diff(want, f.RawItems); diff != "" {
			t.Errorf("%s (-want +got):\n%s", yaml, diff)
		}
		if diff := cmp.Diff(want, f.Texts()); diff != "" {
			t.Errorf("%s: texts (-want +got):\n%s", yaml, diff)
		}
	}
}

func TestSRCH30_FrontmatterOrderAndLookUp(t *testing.T) {
	doc := markdown.Parse("---\nb: 1\n# comment\na: 2\n\nC d: 3\n---\n")
	var got []string
	for _, f := range doc.Frontmatter.Fields {
		got = append(got, fmt.Sprintf("%s=%v@%d", f.Key, f.Value, f.Line))
	}
	if diff := cmp.Diff([]string{"b=1@2", "a=2@4", "C d=3@6"}, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := doc.Frontmatter.Get("c D"); !ok {
		t.Error("keys are compared with case")
	}
	if _, ok := doc.Frontmatter.Get("e"); ok {
		t.Error("a field that is not there")
	}
	var none *markdown.Frontmatter
	if _, ok := none.Get("a"); ok {
		t.Error("a field of no frontmatter")
	}
}

func TestSRCH30_FrontmatterBounds(t *testing.T) {
	for _, tc := range []struct {
		src    string
		fields int // -1: no frontmatter
		body   string
	}{
		{"---\na: 1\n---\nbody", 1, "body"},
		{"---\na: 1\n...\nbody", 1, "body"},
		{"---  \na: 1\n--- \t\nbody", 1, "body"},
		{"\uFEFF---\r\na: 1\r\n---\r\nbody", 1, "body"},
		{"---\na: 1\n---", 1, ""},
		{"---\n---\nbody", 0, "body"},
		{"---\n# only a comment\n\n---\nbody", 0, "body"},
		{"", -1, ""},
		{"\uFEFFbody", -1, "body"},
		{"---", -1, "---"},
		{"---\n", -1, "---\n"},
		{"----\na: 1\n----\n", -1, "----\na: 1\n----\n"},
		{" ---\na: 1\n---\n", -1, " ---\na: 1\n---\n"},
		{"\n---\na: 1\n---\n", -1, "\n---\na: 1\n---\n"},
		{"---\nJust prose between rules.\n---\nmore", -1, "---\nJust prose between rules.\n---\nmore"},
		{"---\n\nProse\n", -1, "---\n\nProse\n"},
		{"---\na: 1\n ---\n---\nbody", -2, "body"},
	} {
		t.Run(tc.src, func(t *testing.T) {
			doc := markdown.Parse(tc.src)
			if doc.Body != tc.body {
				t.Errorf("body %q, want %q", doc.Body, tc.body)
			}
			switch {
			case tc.fields == -2:
			case doc.FrontmatterErr != nil:
				t.Errorf("error %v", doc.FrontmatterErr)
			case (doc.Frontmatter == nil) != (tc.fields < 0):
				t.Errorf("frontmatter %+v", doc.Frontmatter)
			case doc.Frontmatter != nil && len(doc.Frontmatter.Fields) != tc.fields:
				t.Errorf("fields %+v", doc.Frontmatter.Fields)
			}
			if got := markdown.PlainNote(tc.src); strings.Contains(got, "a: 1") && tc.fields >= 0 {
				t.Errorf("plain text shows frontmatter: %q", got)
			}
		})
	}
}

func TestSRCH30_BrokenFrontmatterKeepsTheBody(t *testing.T) {
	for _, tc := range []struct {
		yaml string
		line int
		msg  string
	}{
		{"a: 1\ntitle: Foo: Bar", 3, `": "`},
		{"a: [1, 2", 2, `"]"`},
		{"a: {b: 1", 2, `"}"`},
		{"a: \"open", 2, "double quote"},
		{"a: 'open", 2, "single quote"},
		{"a: 1\na: 2", 3, "twice"},
		{"a: 1\n'a': 2", 3, "twice"},
		{"a: 1\n\tb: 2", 3, ""},
		{"a: *nobody", 2, "alias"},
		{"a: &x [*x]", 2, "alias"},
		{"- a\n- b", 2, "keys"},
		{"b: 1\n<<: 2", 3, "<<"},
		{"\"prose: in quotes\"", 2, "keys"},
		{"a:\n  - b\n c: d", 4, ""},
		{"date: {{date}}", 2, ""},
		{"? [a, b]\n: c", 3, ""},
		{"a: " + strings.Repeat("[", 100), 2, "deep"},
		{"a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), 2, "deep"},
		{"a:\n" + strings.Repeat("- ", 100) + "x", 3, "deep"},
		{bomb(9), 0, "too many"},
		{"a: \"\\x\"\nb: " + strings.Repeat("x", markdown.MaxFrontmatter), 2, "256 KiB"},
	} {
		name := tc.yaml[:min(len(tc.yaml), 40)]
		t.Run(name, func(t *testing.T) {
			src := "---\n" + tc.yaml + "\n---\n# Title\n[[Link]] #tag"
			start := time.Now()
			doc := markdown.Parse(src)
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
			if doc.Frontmatter != nil {
				t.Errorf("fields %+v", doc.Frontmatter.Fields)
			}
			if doc.Title != "Title" || len(slices.Collect(doc.EachLink())) != 1 || len(doc.Tags) != 1 || !strings.HasPrefix(doc.Body, "# Title") {
				t.Errorf("the body was not read: %+v", doc)
			}
			err := doc.FrontmatterErr
			if err == nil {
				t.Fatal("no error")
			}
			if tc.line > 0 && err.Line != tc.line {
				t.Errorf("line %d, want %d (%s)", err.Line, tc.line, err.Msg)
			}
			if !strings.Contains(err.Msg, tc.msg) {
				t.Errorf("reason %q does not say %q", err.Msg, tc.msg)
			}
			for _, word := range []string{"Foo", "nobody", "{{", "open"} {
				if strings.Contains(err.Msg+err.Hint, word) && strings.Contains(tc.yaml, word) {
					t.Errorf("the error shows text of the note: %q", err.Msg)
				}
			}
		})
	}
	doc := markdown.Parse("---\ntitle: never closed\n\n[[Link]]\n")
	if doc.FrontmatterErr == nil || doc.FrontmatterErr.Line != 1 || !strings.HasPrefix(doc.Body, "---\n") || len(slices.Collect(doc.EachLink())) != 1 {
		t.Errorf("unclosed frontmatter: %+v, %v", doc, doc.FrontmatterErr)
	}
}

// TestFrontmatter_HostileYAMLIsBounded: no frontmatter costs more than a
// second or two even under the race detector; unguarded, some of these run for
// minutes.
func TestFrontmatter_HostileYAMLIsBounded(t *testing.T) {
	for name, tc := range map[string]struct{ before, unit, after string }{
		"keys":            {"a: {}\n", "KEY: {a: 1}\n", ""},
		"maps in a list":  {"a: [", "{a: b}, ", "]"},
		"blank block":     {"a: |", "\n", ""},
		"folded block":    {"a: >\n", "  x\n\n", ""},
		"blank lines":     {"a: {}", "   \n", ""},
		"quoted tabs":     {"a: \"", "\t", ""},
		"quoted lines":    {"a: \"", "x\n", "\""},
		"open quotes":     {"\":", "\t\t{a: b},", ""},
		"brackets":        {"a: ", "[", ""},
		"brackets closed": {"a: [", "[[[x,1]]],", "]"},
		"dashes":          {"a:\n", "- ", "x"},
		"questions":       {"", "? ", ""},
		"colons":          {"a: ", ": ", ""},
		"tags":            {"a: ", "!!a ", ""},
		"anchors":         {"a: ", "&a ", ""},
		"aliases":         {"a: &a [x,x,x,x,x,x,x,x]\nb: [", "*a,", "]"},
		"comments":        {"a: {}\n", "# c\n", ""},
		"links":           {"a: {}\nb:\n", "- [[A]]\n", ""},
		"documents":       {"", "a: {}\n%\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{30 << 10, 250 << 10} {
				var b strings.Builder
				b.WriteString(tc.before)
				for i := 0; b.Len() < size; i++ {
					b.WriteString(strings.Replace(tc.unit, "KEY", fmt.Sprint("k", i), 1))
				}
				src := "---\n" + b.String() + tc.after + "\n---\n[[Body]]"
				start := time.Now()
				markdown.Parse(src)
				if d := time.Since(start); d > 30*time.Second {
					t.Errorf("%d bytes took %v", len(src), d)
				}
			}
		})
	}
}

// bomb is a document of n levels, each ten times the one before.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	return b.String()
}

func TestSRCH30_AliasesAndMerges(t *testing.T) {
	doc := markdown.Parse("---\nbase: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\n---\n")
	if doc.FrontmatterErr != nil {
		t.Fatal(doc.FrontmatterErr)
	}
	use, _ := doc.Frontmatter.Get("use")
	more, _ := doc.Frontmatter.Get("more")
	both := markdown.Parse("---\na: &a {x: 1}\nb: &b {x: 2, y: 2}\nc:\n  <<: [*a, *b]\n---\n")
	c, _ := both.Frontmatter.Get("c")
	if diff := cmp.Diff(object{"x": 1.0, "y": 2.0}, c.Value); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(object{"x": 1.0, "y": 2.0}, use.Value); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(object{"x": 1.0, "y": 3.0}, more.Value); diff != "" {
		t.Error(diff)
	}
}

// emptyItem is where they may differ: goccy/go-yaml takes the key on the line
// after an empty "-" into the item, although it is indented less.
var emptyItem = regexp.MustCompile(`(?m)^ *- *(#.*)?$`)

// TestFrontmatter_BothReadersAgree: whatever the short way accepts, the YAML
// reader reads the same.
func TestFrontmatter_BothReadersAgree(t *testing.T) {
	// compare tells whether the short way accepts src.
	compare := func(t rapid.TB, src string) bool {
		t.Helper()
		got, ok := markdown.SimpleYAML(src, 1)
		if !ok || emptyItem.MatchString(src) {
			return false
		}
		want, err := markdown.FullYAML(src, 1)
		if err != nil {
			t.Fatalf("%q is accepted but not YAML: %v", src, err)
		}
		if len(got) == 0 && len(want) == 0 {
			return true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: (-full +simple):\n%s", src, diff)
		}
		return true
	}
	// Few of the random texts below are accepted, in a short run perhaps none.
	for _, src := range []string{
		"k1: a\n", "k1: b c # c\nk2: 1.5\n", "k1: \"a\"\nk2: 'é'\n", "k5: [a, 007]\n", "k3:\n- a\n- [[A]]\n", "k3:\n  - true\n  - x:y\n",
	} {
		if !compare(t, src) {
			t.Errorf("the short way does not accept %q", src)
		}
	}
	piece := rapid.SampledFrom([]string{
		"a", "b c", "007", "1.5", "-", "- ", ":", ": ", "#", " #", " ", "  ", "\"", "'", "[", "]", "[[A]]", "![[B|c]]", ", ", "{", "}",
		"2026-01-02", "true", "null", "~", "é", "&", "*", "!", "|", ">", "%", "@", "`", "\\", "?", "=", "<<", "x:y", "...", "---", "0x1", ".",
		"+", "1e3", "_", "/", "\t", "\u0085", "\u2028", "\uFEFF",
	})
	line := rapid.Custom(func(t *rapid.T) string {
		head := rapid.SampledFrom([]string{"k1: ", "k2: ", "k3:", "k4: ", "- ", "  - ", "", "k5: [", "k6: \"", "k7: '"}).Draw(t, "head")
		tail := rapid.SampledFrom([]string{"", "", "", "]", "\"", "'", " # c"}).Draw(t, "tail")
		return head + strings.Join(rapid.SliceOfN(piece, 0, 4).Draw(t, "value"), "") + tail
	})
	rapid.Check(t, func(t *rapid.T) {
		compare(t, strings.Join(rapid.SliceOfN(line, 1, 4).Draw(t, "lines"), "\n")+"\n")
	})
}

// TestFrontmatter_VaultsTakeTheShortWay guards the speed of an import.
func TestFrontmatter_VaultsTakeTheShortWay(t *testing.T) {
	short, all := 0, 0
	for path, src := range readVaultNotes(t, "vault-silverbullet") {
		doc := markdown.Parse(src)
		if doc.Frontmatter == nil {
			continue
		}
		all++
		yaml := src[strings.Index(src, "\n")+1 : doc.BodyStart]
		yaml = yaml[:strings.LastIndex(yaml, "---")]
		got, ok := markdown.SimpleYAML(yaml, 2)
		if ok {
			short++
		}
		full, err := markdown.FullYAML(yaml, 2)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if diff := cmp.Diff(full, got); ok && diff != "" {
			t.Errorf("%s (-full +simple):\n%s", path, diff)
		}
	}
	if short*10 < all*9 {
		t.Errorf("only %d of %d took the short way", short, all)
	}
	t.Logf("%d of %d took the short way", short, all)
}

// readVaultNotes reads the notes of a real vault, by path relative to it.
func readVaultNotes(t *testing.T, name string) map[string]string {
	t.Helper()
	root := os.Getenv("CTXD_TESTDATA")
	if root == "" {
		t.Skip("CTXD_TESTDATA is not set: the real vaults are not part of the repository")
	}
	vault := os.DirFS(filepath.Join(root, name, "vault"))
	paths, err := markdownFiles(vault)
	if err != nil || len(paths) == 0 {
		t.Skipf("no %s in $CTXD_TESTDATA", name)
	}
	notes := make(map[string]string, len(paths))
	for _, p := range paths {
		text, err := fs.ReadFile(vault, p)
		if err != nil {
			t.Fatal(err)
		}
		notes[p] = string(text)
	}
	return notes
}

// markdownFiles returns the paths of the Markdown files of a vault.
func markdownFiles(vault fs.FS) (paths []string, err error) {
	err = fs.WalkDir(vault, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".md") {
			paths = append(paths, p)
		}
		return err
	})
	return paths, err
}
