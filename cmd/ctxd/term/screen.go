package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Screen is one of the streams that a command prints to.
type Screen struct {
	io.Writer
	Terminal bool
	Width    int  // columns; 0 when it is no terminal: nothing is cut then
	colours  bool // it is a terminal that takes them
	Coloured bool
}

// Widths of what is drawn where nothing says how wide it may be.
const (
	PipeWidth = 100
	MinWidth  = 40
)

// NewScreen returns the screen that prints to w, which ends in file.
func NewScreen(file *os.File, w io.Writer) *Screen {
	s := &Screen{Writer: w, Terminal: term.IsTerminal(int(file.Fd()))}
	if !s.Terminal {
		return s
	}
	s.colours = understandsColour(file)
	s.Width = 80
	if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
		s.Width = n
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	s.Width = max(s.Width, MinWidth)
	return s
}

// Colour decides whether the screen is coloured: "always", "never" or "auto",
// which is on a terminal that can and unless NO_COLOR is set (no-color.org).
func (s *Screen) Colour(when string) {
	switch when {
	case "always":
		s.Coloured = true
	case "never":
		s.Coloured = false
	default:
		s.Coloured = s.colours && os.Getenv("NO_COLOR") == ""
	}
}

// Columns returns the width to draw for.
func (s *Screen) Columns() int {
	if s.Width == 0 {
		return PipeWidth
	}
	return s.Width
}

// Say writes one line, cut to the width of the terminal.
func (s *Screen) Say(l ...Span) {
	l = Line(l).trimmed()
	if s.Width > 0 {
		l = Line(l).Fit(s.Width)
	}
	s.SayWhole(l...)
}

// SayWhole writes one line, which the terminal may break.
func (s *Screen) SayWhole(l ...Span) {
	fmt.Fprintln(s, s.Render(l)) // an error shows when the buffer is flushed
}

// Render returns a line with its colours.
func (s *Screen) Render(l Line) string {
	var b strings.Builder
	for _, sp := range l {
		if s.Coloured && sp.Style != Normal && sp.Text != "" {
			b.WriteString("\x1b[" + string(sp.Style) + "m" + sp.Text + "\x1b[0m")
			continue
		}
		b.WriteString(sp.Text)
	}
	return b.String()
}

// Heading writes a heading with an empty line before it.
func (s *Screen) Heading(title string, more ...Span) {
	s.Say()
	s.Say(append(Line{Styled(Strong, title)}, more...)...)
}

// JSON writes a value as one JSON document.
func (s *Screen) JSON(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return s.RawJSON(buf.Bytes())
}

// RawJSON writes a JSON document: indented on a terminal, else on one line.
func (s *Screen) RawJSON(doc []byte) error {
	var buf bytes.Buffer
	layout := func() error { return json.Compact(&buf, doc) }
	if s.Terminal {
		layout = func() error { return json.Indent(&buf, doc, "", "  ") }
	}
	if err := layout(); err != nil {
		return err
	}
	_, err := io.WriteString(s, EscapeControls(strings.TrimSpace(buf.String()))+"\n")
	return err
}

// EscapeControls writes the characters that could steer a terminal as JSON
// escapes. JSON has them nowhere but in texts, and the text stays the same.
func EscapeControls(doc string) string {
	var b strings.Builder
	at := 0
	for i, r := range doc {
		if r >= 0x7f && r < 0xa0 || turnsDirection(r) {
			b.WriteString(doc[at:i])
			fmt.Fprintf(&b, `\u%04x`, r)
			at = i + len(string(r))
		}
	}
	b.WriteString(doc[at:])
	return b.String()
}

// Flush writes what is buffered.
func (s *Screen) Flush() error {
	if f, ok := s.Writer.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
