package term_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// drawn returns what a text in pieces looks like on a terminal of so many columns, and after each piece.
func drawn(width int, pieces ...string) (all string, after []string) {
	var b bytes.Buffer
	w := term.NewMarkdownWriter(&term.Screen{Writer: &b, Terminal: true, Width: width, Coloured: true})
	for _, p := range pieces {
		w.Write(p)
		after = append(after, b.String())
	}
	w.Close()
	return b.String(), after
}

var sequence = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// marked shows the styles by words: <1>…<0>.
func marked(s string) string { return sequence.ReplaceAllString(s, "<$1>") }

func TestCHAT27_MarkdownIsDrawn(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":         {"one two", "one two\n"},
		"heading":       {"## A *b*", "<1>A<0> <1;3>b<0>\n"},
		"no heading":    {"#tag and 2 # 3", "#tag and 2 # 3\n"},
		"bold":          {"a **b c** d", "a <1>b<0> <1>c<0> d\n"},
		"both":          {"***b***", "<1;3>b<0>\n"},
		"nested":        {"**a *b* c**", "<1>a<0> <1;3>b<0> <1>c<0>\n"},
		"in a word":     {"snake_case_it 2*3*4", "snake_case_it 2<3>3<0>4\n"},
		"never closed":  {"a **b *args", "a **b *args\n"},
		"multiply":      {"2 * 3 * 4", "2 * 3 * 4\n"},
		"escaped":       {`\*a\* \x`, "*a* \\x\n"},
		"code":          {"`a*b*` and ``c`d``", "<36>a*b*<0> and <36>c`d<0>\n"},
		"open code":     {"a `b", "a `b\n"},
		"list":          {"- a\n  * b\n10. c", "• a\n  • b\n10. c\n"},
		"rule":          {"---", "<2>───────────────────<0>\n"},
		"quote":         {"> > a", "<2>│ │ <0>a\n"},
		"link":          {"[a **b**](https://x.example \"t\")", "<4>a<0> <4;1>b<0>\n<2>(https://x.example)<0>\n"},
		"wikilink":      {"see [[A note]]", "see <36>[[A<0> <36>note]]<0>\n"},
		"brackets":      {"a[0] and [x] and [", "a[0] and [x] and [\n"},
		"image":         {"![alt](a.png)", "<4>alt<0> <2>(a.png)<0>\n"},
		"block of code": {"```go\nx := **y\n\n    z\n```\n*b*", "    <2>x := **y<0>\n\n    <2>    z<0>\n<3>b<0>\n"},
		"tabs in code":  {"```\n\tif a\t{\n\t\n```", "    <2>    if a    {<0>\n    <2>    <0>\n"},
		"inner fence":   {"````\n```\n````", "    <2>```<0>\n"},
		"table":         {"| a | **b** |", "| a | **b** |\n"},
		"wrapped":       {"- aaaa bbbb cccc dddd eeee", "• aaaa bbbb cccc\n  dddd eeee\n"},
		"wide":          {"字字字字字字字字字字字字", "字字字字字字字字字字\n字字\n"},
		"hostile":       {"\x1b]0;x\x07 **\u202eb**", "␛]0;x␇ <1>\ufffdb<0>\n"},
		"breaks":        {"a\r\nb\n", "a\nb\n"},
		"nothing":       {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			whole, _ := drawn(20, c.in)
			if got := marked(whole); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			inRunes, _ := drawn(20, strings.Split(c.in, "")...)
			if inRunes = strings.ReplaceAll(inRunes, "\x1b[0m\x1b[2m", ""); inRunes != whole {
				t.Errorf("in pieces %q, at once %q", inRunes, whole)
			}
		})
	}
}

func TestCHAT49_TablesAreDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		width    int
		in, want string
	}{
		"aligned": {40, "Of these:\n\n| Hut | Beds |\n|:---|---:|\n| **Alp** | 12 |\n| a `x\\|y` | 4 |\n\nAnd?", "Of these:\n\n" +
			"<1>Hut<0>  <2> │ <0><1>Beds<0>\n<2>──────┼─────<0>\n<1>Alp<0>  <2> │ <0>  12\na <36>x|y<0><2> │ <0>   4\n\nAnd?\n"},
		"wrapped": {24, "| Hut | What it has |\n|---|---|\n| Alp | twelve beds and a stove |", "<1>Hut<0><2> │ <0><1>What<0> <1>it<0> <1>has<0>\n<2>────┼───────────────────<0>\n" +
			"Alp<2> │ <0>twelve beds and a\n   <2> │ <0>stove\n"},
		"long words": {24, "| A | B |\n|---|---|\n| abcdefghijklmnopqrstuvwxyz | 字字字字字字字字字字字字字 |", "<1>A<0>         <2> │ <0><1>B<0>\n<2>───────────┼────────────<0>\n" +
			"abcdefghij<2> │ <0>字字字字字\nklmnopqrst<2> │ <0>字字字字字\nuvwxyz    <2> │ <0>字字字\n"},
		"short row":      {40, "| a | b |\n|---|---|\n| c |\n# H", "<1>a<0><2> │ <0><1>b<0>\n<2>──┼──<0>\nc<2> │<0>\n<1>H<0>\n"},
		"no delimiters":  {40, "| a |\n| b |\n", "| a |\n| b |\n"},
		"a row too long": {40, "| a |\n|---|\n| b | c |\n", "| a |\n|---|\n| b | c |\n"},
		"too many":       {24, "|a|b|c|d|e|f|g|h|i|j|\n|-|-|-|-|-|-|-|-|-|-|\n", "|a|b|c|d|e|f|g|h|i|j|\n|-|-|-|-|-|-|-|-|-|-|\n"},
		"then code":      {40, "| a |\n|---|\n```\n| x |\n```\n", "<1>a<0>\n<2>─<0>\n    <2>| x |<0>\n"},
		"hostile":        {40, "| a\x1b[31m |\n|---|\n", "<1>a␛[31m<0>\n<2>──────<0>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			whole, _ := drawn(c.width, c.in)
			if got := marked(whole); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			inRunes, _ := drawn(c.width, strings.Split(c.in, "")...)
			if inRunes = strings.ReplaceAll(inRunes, "\x1b[0m\x1b[2m", ""); sequence.ReplaceAllString(inRunes, "") != sequence.ReplaceAllString(whole, "") {
				t.Errorf("in pieces %q, at once %q", inRunes, whole)
			}
			for l := range strings.Lines(sequence.ReplaceAllString(whole, "")) {
				if n := term.Columns(strings.TrimSuffix(l, "\n")); n > c.width && !strings.HasPrefix(l, "|") {
					t.Errorf("%d columns of %d: %q", n, c.width, l)
				}
			}
		})
	}
}

// What comes is drawn word by word, and no sequence is begun that is not ended.
func TestCHAT27_MarkdownIsDrawnAsItComes(t *testing.T) {
	pieces := strings.SplitAfter("The **lower** paths are open, and `the hut` is too, says [Ann](https://ann.example) now", " ")
	_, after := drawn(40, pieces...)
	for i := range after {
		text := sequence.ReplaceAllString(after[i], "")
		if strings.Contains(text, "\x1b") || strings.Count(after[i], "\x1b[") != 2*strings.Count(after[i], "\x1b[0m") {
			t.Errorf("after %q: %q", pieces[i], after[i])
		}
	}
	if got := marked(after[3]); got != "The <1>lower<0> paths are" {
		t.Errorf("after four words %q is drawn", got)
	}
}

// A mark without an end is not waited for longer than a few words take.
func TestCHAT27_MarkdownWaitsForNoEnd(t *testing.T) {
	for _, mark := range []string{"**", "*", "`", "[", "[[", "[a]("} {
		_, after := drawn(80, mark+strings.Repeat("word ", 100))
		if n := len(after[0]); n < 400 {
			t.Errorf("of 500 bytes behind %q %d are drawn", mark, n)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n- **b** `c` [d](e)\n```\nx\n```\n> q", "***a** b*", "``a`", "\\", "[[", "![", "1. \x1b[2J", "字**字**"} {
		f.Add(s, uint8(3))
	}
	f.Add("```\n\t", uint8('\x18'))
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		if !utf8.ValidString(s) {
			return
		}
		var pieces []string
		piece := ""
		for _, r := range s {
			piece += string(r)
			if len(piece) > int(size)%9 {
				pieces, piece = append(pieces, piece), ""
			}
		}
		whole, _ := drawn(30, s)
		_, after := drawn(30, append(pieces, piece)...)
		for _, shown := range append(after, whole) {
			rest := sequence.ReplaceAllString(shown, "")
			if strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
				t.Fatalf("%q is drawn as %q", s, shown)
			}
			if strings.Count(shown, "\x1b[") != 2*strings.Count(shown, "\x1b[0m") {
				t.Fatalf("%q leaves a style: %q", s, shown)
			}
		}
	})
}
