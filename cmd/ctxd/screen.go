package main

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

// screen is one of the streams that a command prints to.
type screen struct {
	io.Writer
	terminal bool
	width    int  // columns; 0 when it is no terminal: nothing is cut then
	colours  bool // it is a terminal that takes them
	coloured bool
}

// Widths of what is drawn where nothing says how wide it may be.
const (
	pipeWidth = 100
	minWidth  = 40
)

// newScreen returns the screen that prints to w, which ends in file.
func newScreen(file *os.File, w io.Writer) *screen {
	s := &screen{Writer: w, terminal: term.IsTerminal(int(file.Fd()))}
	if !s.terminal {
		return s
	}
	s.colours = understandsColour(file)
	s.width = 80
	if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
		s.width = n
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.width = n
	}
	s.width = max(s.width, minWidth)
	return s
}

// colour decides whether the screen is coloured: "always", "never" or "auto",
// which is on a terminal that can and unless NO_COLOR is set (no-color.org).
func (s *screen) colour(when string) {
	switch when {
	case "always":
		s.coloured = true
	case "never":
		s.coloured = false
	default:
		s.coloured = s.colours && os.Getenv("NO_COLOR") == ""
	}
}

// columns returns the width to draw for.
func (s *screen) columns() int {
	if s.width == 0 {
		return pipeWidth
	}
	return s.width
}

// say writes one line, cut to the width of the terminal.
func (s *screen) say(l ...span) {
	l = line(l).trimmed()
	if s.width > 0 {
		l = line(l).fit(s.width)
	}
	s.sayWhole(l...)
}

// sayWhole writes one line, which the terminal may break.
func (s *screen) sayWhole(l ...span) {
	fmt.Fprintln(s, s.render(l)) // an error shows when the buffer is flushed
}

// render returns a line with its colours.
func (s *screen) render(l line) string {
	var b strings.Builder
	for _, sp := range l {
		if s.coloured && sp.style != normal && sp.text != "" {
			b.WriteString("\x1b[" + string(sp.style) + "m" + sp.text + "\x1b[0m")
			continue
		}
		b.WriteString(sp.text)
	}
	return b.String()
}

// heading writes a heading with an empty line before it.
func (s *screen) heading(title string, more ...span) {
	s.say()
	s.say(append(line{styled(strong, title)}, more...)...)
}

// json writes a value as one JSON document.
func (s *screen) json(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return s.rawJSON(buf.Bytes())
}

// rawJSON writes a JSON document: indented on a terminal, else on one line.
func (s *screen) rawJSON(doc []byte) error {
	var buf bytes.Buffer
	layout := func() error { return json.Compact(&buf, doc) }
	if s.terminal {
		layout = func() error { return json.Indent(&buf, doc, "", "  ") }
	}
	if err := layout(); err != nil {
		return err
	}
	_, err := io.WriteString(s, escapeControls(strings.TrimSpace(buf.String()))+"\n")
	return err
}

// escapeControls writes the characters that could steer a terminal as JSON
// escapes. JSON has them nowhere but in texts, and the text stays the same.
func escapeControls(doc string) string {
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

// flush writes what is buffered.
func (s *screen) flush() error {
	if f, ok := s.Writer.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
