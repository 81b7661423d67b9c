package syntax_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/wql/syntax"
)

func TestWQL10_Statements(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
		rest      string
		open      bool
	}{
		{name: "nothing", src: " \n\t"},
		{name: "only blanks, comments and semicolons", src: ";; -- SELECT;\n;\uFEFF"},
		{name: "one that has no end", src: "SELECT p ", rest: "SELECT p"},
		{name: "one", src: "SELECT p;", want: []string{"SELECT p"}},
		{name: "two on a line", src: "a; b ;", want: []string{"a", "b"}},
		{name: "over lines", src: "a\n b\n;c", want: []string{"a\n b"}, rest: "c"},
		{name: "in a text", src: `a = ';' ; b = ";"`, want: []string{"a = ';'"}, rest: `b = ";"`},
		{name: "a quote that is doubled", src: `a = 'it''s;' ; b`, want: []string{`a = 'it''s;'`}, rest: "b"},
		{name: "a quote behind a backslash", src: `a = 'it\';' ; b`, want: []string{`a = 'it\';'`}, rest: "b"},
		{name: "a backslash behind a backslash", src: `a = '\\'; b`, want: []string{`a = '\\'`}, rest: "b"},
		{name: "the other quote", src: `a = "'"; b = '"';`, want: []string{`a = "'"`, `b = '"'`}},
		{name: "a text over lines", src: "a = 'x;\ny'; b", want: []string{"a = 'x;\ny'"}, rest: "b"},
		{name: "a text that does not end", src: "a; b = 'x; c", want: []string{"a"}, rest: "b = 'x; c", open: true},
		{name: "a parenthesis that does not end", src: "a IN (1,", rest: "a IN (1,", open: true},
		{name: "names", src: "`a;``b;`; [c;'d];e", want: []string{"`a;``b;`", "[c;'d]"}, rest: "e"},
		{name: "a name ends with its line", src: "`a;\nb;c", want: []string{"`a;\nb"}, rest: "c"},
		{name: "comments", src: "-- a;\nb -- c; 'd\n;e--;", want: []string{"b -- c; 'd"}, rest: "e--;"},
		{name: "a minus is none", src: "a - 7d; b", want: []string{"a - 7d"}, rest: "b"},
		{name: "commands", src: "\\t\n \\this Al;ice \nSELECT p;\\q", want: []string{`\t`, `\this Al;ice`, "SELECT p", `\q`}},
		{name: "a backslash within a query", src: "a \\t; b", want: []string{"a \\t"}, rest: "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, rest, open := syntax.Split(c.src)
			if got := textsOf(list); !slices.Equal(got, c.want) || rest.Text != c.rest || open != c.open {
				t.Errorf("%q is %q and %q, open %v", c.src, got, rest.Text, open)
			}
		})
	}
}

func TestWQL10_StatementsKnowTheirPlaces(t *testing.T) {
	list, rest, _ := syntax.Split("a;\n\n  b;ü𝄞; c\n;-- x\n d")
	var got [][2]int
	for _, st := range append(list, rest) {
		got = append(got, [2]int{st.Line, st.Column})
	}
	if want := [][2]int{{1, 1}, {3, 3}, {3, 5}, {3, 10}, {5, 2}}; !slices.Equal(got, want) {
		t.Errorf("statements begin at %v, want %v", got, want)
	}
}

func textsOf(list []syntax.Statement) (out []string) {
	for _, st := range list {
		if st.Text != "" {
			out = append(out, st.Text)
		}
	}
	return out
}

// Queries that are joined come apart as they were, whatever stands in them and
// between them.
func TestWQL10_StatementsComeApartAsTheyWereJoined(t *testing.T) {
	literal := rapid.SampledFrom([]string{
		`';'`, `'it''s; "'`, `"a;'b"`, `'\';'`, `'\\'`, `""`, "'-- no comment;'", "'two\nlines;'", "3", "`odd;name`", "[also;odd]", "'若葉;'", `'['`, "'`'",
	})
	blank := rapid.SampledFrom([]string{"", " ", "\n", "\t", " -- a; comment with 'quotes\n", "--`\n", " \n\n"})
	between := rapid.SampledFrom([]string{";", " ;", ";;", "; -- next;\n", ";\n-- [\n", "-- end;\n;"})
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		var want []string
		for range rapid.IntRange(0, 6).Draw(t, "queries") {
			var q strings.Builder
			q.WriteString("SELECT p FROM Person WHERE name = " + literal.Draw(t, "value"))
			for range rapid.IntRange(0, 3).Draw(t, "conditions") {
				q.WriteString(" " + blank.Draw(t, "blank") + "AND role != " + literal.Draw(t, "value"))
			}
			want = append(want, q.String())
			src.WriteString(blank.Draw(t, "blank") + q.String() + between.Draw(t, "between"))
		}
		list, rest, open := syntax.Split(src.String())
		if rest.Text != "" || open || len(list) != len(want) {
			t.Fatalf("%q is %q and %q, open %v", src.String(), textsOf(list), rest.Text, open)
		}
		for i, st := range list {
			// A comment before the semicolon belongs to the query.
			if !strings.HasPrefix(st.Text, want[i]) {
				t.Fatalf("%q became %q", want[i], st.Text)
			}
			// The daemon reads it whole, too.
			q, _ := syntax.Parse(st.Text)
			alone, _ := syntax.Parse(want[i])
			if q == nil || q.String() != alone.String() {
				t.Fatalf("%q is not read as %q", st.Text, want[i])
			}
		}
	})
}

func FuzzWQL10_Statements(f *testing.F) {
	for _, s := range []string{"a; b", "'a;", "`a;\nb;", "[;];", "-- ;\n;", `'\';`, "\\t\n;x", "((;", "'';''", "\uFEFF;", "a\\", "--", "--a\na", "é😀;\U0001F41D b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		list, rest, _ := syntax.Split(src)
		if rest.Text != "" {
			list = append(list, rest)
		}
		at := 0
		for _, st := range list {
			// By its place: the same characters may stand in a comment before it.
			i := offsetOf(src, st.Line, st.Column)
			if i < at || st.Text == "" || !strings.HasPrefix(src[i:], st.Text) {
				t.Fatalf("%q is not at line %d, column %d of %q, behind %d", st.Text, st.Line, st.Column, src, at)
			}
			at = i
			at += len(st.Text)
			again, last, _ := syntax.Split(st.Text)
			if got := textsOf(append(again, last)); !slices.Equal(got, []string{st.Text}) {
				t.Fatalf("%q of %q comes apart as %q", st.Text, src, got)
			}
		}
	})
}

// offsetOf returns the byte at a line and a column in UTF-16 code units, from 1.
func offsetOf(src string, line, column int) (at int) {
	for ; line > 1; line-- {
		at += strings.IndexByte(src[at:], '\n') + 1
	}
	for column > 1 && at < len(src) {
		r, size := utf8.DecodeRuneInString(src[at:])
		at += size
		column -= max(1, utf16.RuneLen(r))
	}
	return at
}
