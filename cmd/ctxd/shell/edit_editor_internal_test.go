package shell

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// glass is what a person sees of a terminal: rows of cells, and a cursor. It
// knows what the editor sends and fails on anything else.
type glass struct {
	t           interface{ Fatalf(string, ...any) }
	width       int
	rows        [][]string // a wide character takes its cell and an empty one
	row, column int
}

var controlSequence = regexp.MustCompile(`^\x1b\[(\??[0-9;]*)([A-Za-z])`)

func (g *glass) Write(p []byte) (int, error) {
	for s := string(p); s != ""; {
		if m := controlSequence.FindStringSubmatch(s); m != nil {
			g.control(m[1], m[2])
			s = s[len(m[0]):]
			continue
		}
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(s, -1)
		switch cluster {
		case "\r":
			g.column = 0
		case "\n", "\r\n":
			g.row++
			if cluster == "\r\n" {
				g.column = 0
			}
		default:
			g.put(cluster, width)
		}
		s = rest
	}
	return len(p), nil
}

func (g *glass) control(args, name string) {
	n, err := strconv.Atoi(args)
	if err != nil {
		n = 1
	}
	switch name {
	case "A":
		g.row = max(0, g.row-n)
	case "C":
		g.column += n
	case "H":
		g.row, g.column = 0, 0
	case "J":
		if args == "2" {
			g.rows = nil
			return
		}
		if g.row < len(g.rows) {
			g.rows = g.rows[:g.row+1]
			g.rows[g.row] = g.rows[g.row][:min(g.column, len(g.rows[g.row]))]
		}
	case "h", "l", "m":
	default:
		g.t.Fatalf("the terminal got ESC[%s%s", args, name)
	}
}

func (g *glass) put(cluster string, width int) {
	if g.column+width > g.width {
		g.t.Fatalf("%q is written beyond column %d", cluster, g.width)
	}
	for len(g.rows) <= g.row {
		g.rows = append(g.rows, nil)
	}
	for len(g.rows[g.row]) < g.column+width {
		g.rows[g.row] = append(g.rows[g.row], " ")
	}
	g.rows[g.row][g.column] = cluster
	for i := 1; i < width; i++ {
		g.rows[g.row][g.column+i] = ""
	}
	g.column += width
}

// shown returns the rows without the blanks at their ends.
func (g *glass) shown() (out []string) {
	for _, row := range g.rows {
		out = append(out, strings.TrimRight(strings.Join(row, ""), " "))
	}
	return out
}

// typed is an editor to which keys are typed, on a terminal.
func typed(t *testing.T, keys string, with func(e *Editor)) (*Editor, *glass, string, error) {
	t.Helper()
	g := &glass{t: t, width: 40}
	e := &Editor{
		In: bufio.NewReader(strings.NewReader(keys)), Out: g, History: &History{},
		Size:     func() (int, int) { return 40, 20 },
		Complete: func(string, int) syntax.Completion { return syntax.Completion{} },
		Finished: func(text string) bool { return strings.HasSuffix(text, ";") },
	}
	if with != nil {
		with(e)
	}
	text, err := e.Read("wql> ")
	return e, g, text, err
}

func TestWQL10_Editing(t *testing.T) {
	history := func(e *Editor) { e.History.entries = []string{"first;", "second\nof two;", "third;"} }
	for _, c := range []struct {
		name, keys, want string
		with             func(*Editor)
	}{
		{name: "typing", keys: "SELECT p;\r", want: "SELECT p;"},
		{name: "enter on what is not finished", keys: "a\rb;\r", want: "a\nb;"},
		{name: "an empty line ends it", keys: "a\rb\r\r", want: "a\nb\n"},
		{name: "a line break by hand", keys: "a\x1b\rb;\r", want: "a\nb;"},
		{name: "left and right", keys: "ac;\x1b[D\x1b[Db\x1b[C\x1b[C\r", want: "abc;"},
		{name: "left and right, controls", keys: "ac;\x02\x02b\x06\x06\r", want: "abc;"},
		{name: "home and end", keys: "bc\x1b[Ha\x1b[F;\r", want: "abc;"},
		{name: "home and end as tmux has them", keys: "bc\x1b[1~a\x1b[4~;\r", want: "abc;"},
		{name: "home and end in application mode", keys: "bc\x1bOHa\x1bOF;\r", want: "abc;"},
		{name: "home and end, controls", keys: "bc\x01a\x05;\r", want: "abc;"},
		{name: "home is of the line", keys: "x\rbc\x01a\x05;\r", want: "x\nabc;"},
		{name: "backspace", keys: "abx\x7fc\x08c;\r", want: "abc;"},
		{name: "backspace takes a whole character", keys: "ü\u0301x\x7f\x7fa👩‍👩‍👧\x7f;\r", want: "a;"},
		{name: "backspace joins lines", keys: "a\r\x7fb;\r", want: "ab;"},
		{name: "delete", keys: "xab;\x01\x1b[3~\r", want: "ab;"},
		{name: "Ctrl-D in a text", keys: "xab;\x01\x04\r", want: "ab;"},
		{name: "words", keys: "one two three;\x1bb\x1bb\x1b[1;5D>\x1bf<\x1b[1;5C\r", want: ">one< two three;"},
		{name: "kill a word", keys: "one two-x three \x17\x17;\r", want: "one ;"},
		{name: "kill a part of a word", keys: "one two.three\x1b\x7f;\r", want: "one two.;"},
		{name: "kill a word ahead", keys: "one two;\x01\x1bd\r", want: " two;"},
		{name: "kill and bring back", keys: "one two;\x1b[D\x15\x05\x19;\r", want: ";one two;"},
		{name: "kill to the end", keys: "one;two\x1bb\x0b\r", want: "one;"},
		{name: "unknown keys do nothing", keys: "a\x1b[15~\x1b[1;9Z\x1bx\x1bOQ\x00\x1f;\r", want: "a;"},
		{name: "wide characters", keys: "若葉\x1b[Dロ\x05;\r", want: "若ロ葉;"},
		{name: "paste", keys: "\x1b[200~a\tb\r\nc;\x03\x1b[A\x1b[201~\r", want: "a b\nc;"},
		{name: "the one before", keys: "\x1b[A\r", with: history, want: "third;"},
		{name: "the one before, over lines", keys: "\x1b[A\x1b[A\r", with: history, want: "second\nof two;"},
		{name: "further back than there is", keys: "\x10\x10\x10\x10\x10\r", with: history, want: "first;"},
		{name: "back and forth", keys: "x;\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B\r", with: history, want: "x;"},
		{name: "up in a text of two lines", keys: "ab\rcd;\x1b[Ax\x1b[B\r", with: history, want: "abx\ncd;"},
		{name: "search", keys: "\x12OF\r", with: history, want: "second\nof two;"},
		{name: "search further", keys: "\x12;\x12\x12\r", with: history, want: "first;"},
		{name: "search and edit", keys: "\x12thi\x05\x7f!;\r", with: history, want: "third!;"},
		{name: "search and come back", keys: "x\x12thi\x07;\r", with: history, want: "x;"},
		{name: "search for what there is not", keys: "x;\x12zzz\x7f\x7f\x7f\r", with: history, want: "third;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, got, err := typed(t, c.keys, c.with)
			if err != nil && !errors.Is(err, io.EOF) || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestWQL10_EditingEnds(t *testing.T) {
	if _, g, text, err := typed(t, "SELECT x\x03", nil); !errors.Is(err, ErrInterrupted) || text != "SELECT x" || !slices.Equal(g.shown(), []string{"wql> SELECT x^C"}) {
		t.Errorf("Ctrl-C gives %q, %v; the terminal shows %q", text, err, g.shown())
	}
	if _, _, _, err := typed(t, "\x04", nil); !errors.Is(err, io.EOF) {
		t.Errorf("Ctrl-D gives %v", err)
	}
	if _, _, _, err := typed(t, "abc", nil); !errors.Is(err, io.EOF) {
		t.Errorf("a terminal that is gone gives %v", err)
	}
	_, g, _, _ := typed(t, "a\r若葉;\r", nil)
	if want := []string{"wql> a", "...> 若葉;"}; !slices.Equal(g.shown(), want) || g.row != 2 || g.column != 0 {
		t.Errorf("the terminal shows %q, the cursor at %d, %d", g.shown(), g.row, g.column)
	}
}

func TestWQL10_Tab(t *testing.T) {
	words := func(list ...string) func(*Editor) {
		return func(e *Editor) {
			e.Complete = func(text string, at int) syntax.Completion {
				from := strings.LastIndexByte(text[:at], ' ') + 1
				return syntax.Completion{From: from, Choices: syntax.Suggest(list, text[from:at], nil)}
			}
		}
	}
	for _, c := range []struct {
		name, keys, want string
		words            []string
		shown            []string
	}{
		{"one", "x se\t;\r", "x SELECT ;", []string{"SELECT "}, []string{"wql> x SELECT ;"}},
		{"none", "x zz\t;\r", "x zz;", []string{"SELECT "}, []string{"wql> x zz;"}},
		{"in the middle", "x se y;\x1bb\x1b[D\t\r", "x SELECT  y;", []string{"SELECT "}, []string{"wql> x SELECT  y;"}},
		{"as far as they agree", "pr\t;\r", "Pro;", []string{"Project", "Product", "PROCESS"}, []string{"wql> Pro;"}},
		{"then a list", "pro\t;\r", "pro;", []string{"Project", "Product"}, []string{"wql> pro", "Project  Product", "wql> pro;"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, g, got, err := typed(t, c.keys, words(c.words...))
			if err != nil || got != c.want || !slices.Equal(g.shown(), c.shown) {
				t.Errorf("%q, %v, want %q; the terminal shows %q", got, err, c.want, g.shown())
			}
		})
	}
}

// Whatever is typed, the terminal shows the text and the cursor where they are.
func TestWQL10_TheTerminalShowsTheText(t *testing.T) {
	key := rapid.SampledFrom([]string{
		"a", "b", " ", "'", "若", "ü", "u\u0308", "👩‍👩‍👧", "\u0301", "é", "long word of some length ",
		"\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1b[H", "\x1b[F", "\x7f", "\x1b[3~", "\x17", "\x0b", "\x15", "\x19", "\x1bb", "\x1bf", "\x1bd", "\x1b\r",
		"\x1b[200~x\ny 葉\x1b[201~", "\x12", "\x07", "\x0c", "\x14",
	})
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(12, 40).Draw(t, "width")
		g := &glass{t: t, width: width}
		e := &Editor{
			Out: g, History: &History{entries: []string{"an old one", "an 葉\nof two lines"}}, prompt: "wql> ",
			Size:     func() (int, int) { return width, 1000 },
			Complete: func(string, int) syntax.Completion { return syntax.Completion{} },
			Finished: func(string) bool { return false },
		}
		e.draw()
		for range rapid.IntRange(1, 40).Draw(t, "keys") {
			e.In = bufio.NewReader(strings.NewReader(key.Draw(t, "key")))
			for {
				k, err := readKey(e.In)
				if err != nil {
					break
				}
				if _, err := e.press(k); err != nil {
					t.Fatalf("%v", err)
				}
			}
			e.draw()
			if e.at < 0 || e.at > len(e.text) {
				t.Fatalf("the cursor is at %d of %q", e.at, e.text)
			}
			if e.search != nil {
				continue // its prompt is another
			}
			rows, row, column := layText("wql> ", "...> ", e.text, e.at, width)
			for i := range rows {
				rows[i] = strings.TrimRight(rows[i], " ")
			}
			shown := g.shown()
			for len(shown) < len(rows) {
				shown = append(shown, "")
			}
			if !slices.Equal(shown, rows) || g.row != row || g.column != column {
				t.Fatalf("the terminal shows %q, its cursor at %d, %d; the text is %q, at %d, %d", shown, g.row, g.column, rows, row, column)
			}
		}
	})
}

// A text that is higher than the terminal is shown around the cursor.
func TestWQL10_ATextHigherThanTheTerminal(t *testing.T) {
	g := &glass{t: t, width: 20}
	e := &Editor{Out: g, prompt: "> ", History: &History{}, Size: func() (int, int) { return 20, 4 }}
	e.text = strings.Repeat("line\n", 30) + "last"
	for _, at := range []int{0, 3, len(e.text) / 2, len(e.text)} {
		e.at = at
		e.draw()
		if n := len(g.rows); n > 4 || g.row >= 4 {
			t.Errorf("%d rows are shown, the cursor in %d", n, g.row)
		}
	}
	if last := g.shown()[g.row]; !strings.HasSuffix(last, "last") {
		t.Errorf("the cursor is in %q", last)
	}
}
