package lsp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ctxd/ctxd/rpc/lsp"
)

var encodings = []lsp.Encoding{lsp.UTF8, lsp.UTF16, lsp.UTF32}

// positionsIn are all positions of a text, found character by character: the plain model.
func positionsIn(s string, e lsp.Encoding) (at []lsp.Position, offsets []int) {
	var p lsp.Position
	for i, r := range s {
		if !(i > 0 && s[i-1] == '\r' && r == '\n') {
			at, offsets = append(at, p), append(offsets, i)
		}
		switch {
		case r == '\n', r == '\r' && !strings.HasPrefix(s[i+1:], "\n"):
			p = lsp.Position{Line: p.Line + 1}
		case r == '\r':
		case e == lsp.UTF8:
			p.Character += uint32(utf8.RuneLen(r))
		case e == lsp.UTF16:
			p.Character += uint32(utf16.RuneLen(r))
		default:
			p.Character++
		}
	}
	return append(at, p), append(offsets, len(s))
}

func TestLSP2_PositionsInEveryEncoding(t *testing.T) {
	for _, s := range []string{
		"", "a", "\n", "\r", "\r\n", "a\r\nb\rc\nd", "é\n😀x\n", "\n\n", "\r\r\n\n", "日本語\r\n\r\nä", "x\n\r",
	} {
		for _, e := range encodings {
			d := lsp.NewDocument("file:///a.md", "markdown", s)
			at, offsets := positionsIn(s, e)
			for i, p := range at {
				if got := d.Offset(p, e); got != offsets[i] {
					t.Errorf("%q in %s: %v is byte %d, want %d", s, e, p, got, offsets[i])
				}
				if got := d.Position(offsets[i], e); got != p {
					t.Errorf("%q in %s: byte %d is %v, want %v", s, e, offsets[i], got, p)
				}
			}
			if want := 1 + int(at[len(at)-1].Line); d.Lines() != want {
				t.Errorf("%q has %d lines, want %d", s, d.Lines(), want)
			}
		}
	}
}

func TestLSP2_PositionsOutsideTheText(t *testing.T) {
	d := lsp.NewDocument("file:///a.md", "markdown", "a😀b\r\nc")
	for _, c := range []struct {
		p    lsp.Position
		e    lsp.Encoding
		want int
	}{
		{lsp.Position{Line: 0, Character: 2}, lsp.UTF16, 1}, // inside the character
		{lsp.Position{Line: 0, Character: 3}, lsp.UTF8, 1},
		{lsp.Position{Line: 0, Character: 99}, lsp.UTF16, 6},
		{lsp.Position{Line: 0, Character: 1 << 31}, lsp.UTF8, 6},
		{lsp.Position{Line: 1, Character: 99}, lsp.UTF32, 9},
		{lsp.Position{Line: 2}, lsp.UTF32, 9},
		{lsp.Position{Line: 1<<32 - 1, Character: 1<<32 - 1}, lsp.UTF16, 9},
	} {
		if got := d.Offset(c.p, c.e); got != c.want {
			t.Errorf("%v in %s is byte %d, want %d", c.p, c.e, got, c.want)
		}
	}
}

// checkState holds a buffer against a fresh document of the same text.
func checkState(b *lsp.Buffer, want string, e lsp.Encoding) error {
	d, fresh := b.Document(), lsp.NewDocument("file:///a.md", "markdown", want)
	if d.Text != want {
		return fmt.Errorf("the text is %q, want %q", d.Text, want)
	}
	if d.Lines() != fresh.Lines() {
		return fmt.Errorf("%q has %d lines, want %d", want, d.Lines(), fresh.Lines())
	}
	for i := range d.Lines() {
		start, end := d.LineSpan(i)
		wantStart, wantEnd := fresh.LineSpan(i)
		if start != wantStart || end != wantEnd {
			return fmt.Errorf("%q: line %d is %d to %d, want %d to %d", want, i, start, end, wantStart, wantEnd)
		}
	}
	for i := 0; i <= len(want); i++ {
		if d.Position(i, e) != fresh.Position(i, e) {
			return fmt.Errorf("%q: byte %d is %v, want %v", want, i, d.Position(i, e), fresh.Position(i, e))
		}
	}
	if !slices.Equal(d.Headings(), fresh.Headings()) || !slices.Equal(d.Links(), fresh.Links()) || !slices.Equal(d.Blocks(), fresh.Blocks()) {
		return fmt.Errorf("%q is parsed in another way after the edits", want)
	}
	return nil
}

var pieces = []string{
	"", "a", "\n", "\r\n", "\r", "é", "😀", "# h\n", "[[A#b|c]]", "^x\n", "---\ntitle: t\n---\n", "日本", " ", "```\n", "text of some length ",
}

// edit makes a change of two numbers and a piece, and applies it to the model too.
func edit(model string, from, to, piece int, e lsp.Encoding) (lsp.TextDocumentContentChangeEvent, string) {
	at, offsets := positionsIn(model, e)
	from, to = from%len(at), to%len(at)
	low, high := min(from, to), max(from, to)
	s := pieces[piece%len(pieces)]
	return lsp.TextDocumentContentChangeEvent{Range: &lsp.Range{Start: at[from], End: at[to]}, Text: s},
		model[:offsets[low]] + s + model[offsets[high]:]
}

// FuzzLSP8_EditsAgainstAFreshParse: after any edits a buffer is what a document of the
// resulting text is.
func FuzzLSP8_EditsAgainstAFreshParse(f *testing.F) {
	f.Add("# A\r\n[[B]]\n", []byte{0, 3, 2, 1, 1, 3, 9, 0, 4}, uint8(1))
	f.Add("\r\n", []byte{1, 0, 4, 1, 1, 2, 0, 1, 0}, uint8(0))
	f.Add("é😀\n", []byte{1, 2, 6, 0, 9, 5}, uint8(2))
	f.Fuzz(func(t *testing.T, s string, ops []byte, which uint8) {
		if len(s) > 300 || len(ops) > 90 || !utf8.ValidString(s) {
			t.Skip()
		}
		e := encodings[int(which)%len(encodings)]
		b := lsp.NewBuffer(lsp.TextDocumentItem{URI: "file:///a.md", LanguageID: "markdown", Text: s}, e)
		for i := 0; i+2 < len(ops); i += 3 {
			var c lsp.TextDocumentContentChangeEvent
			c, s = edit(s, int(ops[i]), int(ops[i+1]), int(ops[i+2]), e)
			b.Change([]lsp.TextDocumentContentChangeEvent{c}, int32(i))
		}
		if err := checkState(b, s, e); err != nil {
			t.Error(err)
		}
	})
}

func TestLSP8_RandomEditsInEveryEncoding(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := encodings[seed%3]
		model := strings.Repeat(pieces[r.IntN(len(pieces))], 3)
		b := lsp.NewBuffer(lsp.TextDocumentItem{URI: "file:///a.md", LanguageID: "markdown", Text: model}, e)
		for step := range 40 {
			var changes []lsp.TextDocumentContentChangeEvent
			for range 1 + r.IntN(3) {
				var c lsp.TextDocumentContentChangeEvent
				c, model = edit(model, r.IntN(1<<16), r.IntN(1<<16), r.IntN(1<<16), e)
				changes = append(changes, c)
			}
			b.Change(changes, int32(step))
			if err := checkState(b, model, e); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
		}
	}
}

func TestLSP2_Choose(t *testing.T) {
	for offered, want := range map[string]lsp.Encoding{
		"": lsp.UTF16, "utf-16": lsp.UTF16, "utf-32 utf-16": lsp.UTF32, "utf-16 utf-8": lsp.UTF8, "ebcdic": lsp.UTF16,
	} {
		if got := lsp.ChooseEncoding(strings.Fields(offered)); got != want {
			t.Errorf("of %q: %s, want %s", offered, got, want)
		}
	}
}

// BenchmarkLSP8_Edits: a document of 10 MB, edits at random places of it.
func BenchmarkLSP8_Edits(b *testing.B) {
	line := "A line of a note that is about as long as lines are, with [[A link]] in it.\n"
	buf := lsp.NewBuffer(lsp.TextDocumentItem{Text: strings.Repeat(line, 10<<20/len(line))}, lsp.UTF16)
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		at := lsp.Position{Line: r.Uint32N(130_000), Character: 3}
		buf.Change([]lsp.TextDocumentContentChangeEvent{{Range: &lsp.Range{Start: at, End: at}, Text: "x\n"}}, 1)
	}
}
