package term

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// livePace is how often a live view is drawn.
const livePace = time.Second

// What a terminal is told: the other screen and back, no cursor and back.
const (
	enterLive = "\x1b[?1049h\x1b[?25l"
	leaveLive = "\x1b[?25h\x1b[?1049l"
	goHome    = "\x1b[H"
	clearLine = "\x1b[K"
	ClearRest = "\x1b[J"
)

// Live shows a view again and again, until the user presses q or Ctrl-C. look
// takes a look and returns what draws it. On anything but a terminal the views
// follow each other, an empty line between them; with --json one a line.
func (a *Streams) Live(ctx context.Context, look func(ctx context.Context) (func(*Screen), error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &liveView{Streams: a, full: a.Out.Terminal && !a.JSON}
	if l.full {
		restore, err := l.enter(cancel)
		if err != nil {
			return err
		}
		defer restore()
	}
	tick := time.NewTicker(livePace)
	defer tick.Stop()
	for {
		draw, err := look(ctx)
		if ctx.Err() != nil {
			return nil // the user has seen enough
		}
		if err == nil {
			err = l.show(draw)
		}
		if err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// liveView draws one view over the other.
type liveView struct {
	*Streams
	full  bool // it has the whole terminal
	shown bool // something was shown already
}

// enter takes the terminal, and returns what gives it back. Keys are read one by
// one where there is a keyboard.
func (l *liveView) enter(quit func()) (restore func(), err error) {
	keyboard := int(os.Stdin.Fd())
	back := func() {}
	if term.IsTerminal(keyboard) {
		before, err := term.MakeRaw(keyboard)
		if err != nil {
			return nil, err
		}
		back = func() { _ = term.Restore(keyboard, before) } // the shell does, too
		go QuitOnKey(l.In, quit)
	}
	_, _ = io.WriteString(l.Out, enterLive) // the next flush tells
	return func() {
		_, _ = io.WriteString(l.Out, leaveLive)
		_ = l.Out.Flush() // the terminal is gone: nothing is left to restore
		back()
	}, nil
}

// QuitOnKey reads keys until one that ends the view, or until there are none.
func QuitOnKey(keys io.Reader, quit func()) {
	const ctrlC, ctrlD, escape = 0x03, 0x04, 0x1b
	buf := make([]byte, 16)
	for {
		n, err := keys.Read(buf)
		for i, k := range buf[:n] {
			// An arrow key begins with an escape, too.
			if k == 'q' || k == 'Q' || k == ctrlC || k == ctrlD || k == escape && i == n-1 {
				quit()
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// show draws a view in the place of the one before.
func (l *liveView) show(draw func(*Screen)) error {
	if !l.full {
		if l.shown && !l.JSON {
			l.Out.Say()
		}
		l.shown = true
		draw(l.Out)
		return l.Out.Flush()
	}
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = l.Out.Columns(), 24
	}
	var frame bytes.Buffer
	draw(&Screen{Writer: &frame, Terminal: true, Width: max(width, MinWidth), Coloured: l.Out.Coloured})
	if _, err := io.WriteString(l.Out, LayFrame(frame.String(), height)); err != nil {
		return err
	}
	return l.Out.Flush()
}

// LayFrame returns what draws a text over the last one, from the upper left
// corner. What is higher than the terminal is cut, and the last line says how to
// leave. A raw terminal needs the carriage returns.
func LayFrame(view string, height int) string {
	lines := strings.Split(strings.TrimSuffix(view, "\n"), "\n")
	rows := max(1, height-2)
	foot := "q quits"
	if len(lines) > rows {
		lines = lines[:rows]
		foot = "more than fits here; q quits"
	}
	var b strings.Builder
	b.WriteString(goHome)
	for _, l := range append(lines, "") {
		b.WriteString(l + clearLine + "\r\n")
	}
	b.WriteString(foot + clearLine + ClearRest)
	return b.String()
}

// Overwritten draws a view in the place of the one before, among what the
// terminal shows already, and leaves the last one there.
type Overwritten struct {
	*Screen
	lines int // of the view before
}

// Draw draws a view over the one before.
func (o *Overwritten) Draw(view func(*Screen)) error {
	var frame bytes.Buffer
	view(&Screen{Writer: &frame, Terminal: o.Terminal, Width: o.Width, Coloured: o.Coloured})
	lines := strings.Split(strings.TrimSuffix(frame.String(), "\n"), "\n")
	if _, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && height > 1 && len(lines) >= height {
		lines = lines[:height-1] // what has scrolled away can't be drawn over
	}
	var b strings.Builder
	if o.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", o.lines)
	}
	for _, l := range lines {
		b.WriteString("\r" + l + clearLine + "\n")
	}
	b.WriteString(ClearRest)
	o.lines = len(lines)
	if _, err := io.WriteString(o.Screen, b.String()); err != nil {
		return err
	}
	return o.Flush()
}
