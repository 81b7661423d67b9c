package shell

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	xterm "golang.org/x/term"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Prompt has texts entered on a terminal: with the editor, or as plain lines
// where the terminal can move no cursor.
type Prompt struct {
	*term.Streams
	Ctx        context.Context // its end gives the terminal back
	Interrupts *term.Interrupts
	History    *History
	Complete   func(text string, at int) syntax.Completion
	Finished   func(text string) bool // Enter ends the text, and does not only its line
	Typed      string                 // stands there when the next text is entered

	source lineSource
}

// lineSource is where the texts of a prompt come from.
type lineSource interface {
	// read returns the next text. The error is ErrInterrupted when it was given
	// up, io.EOF when there are no more.
	read(prompt string) (string, error)
}

// AtTerminal reports whether there is somebody to prompt.
func AtTerminal(s *term.Streams) bool {
	in, ok := s.In.(*os.File)
	return ok && xterm.IsTerminal(int(in.Fd())) && s.Out.Terminal
}

// Read has a text entered. The error is ErrInterrupted when it was given up, with
// what was typed, io.EOF when there are no more, and that of Ctx.
func (p *Prompt) Read(prompt string) (string, error) {
	if err := p.Out.Flush(); err != nil {
		return "", err
	}
	if p.source == nil {
		p.source = p.open()
	}
	type entered struct {
		text string
		err  error
	}
	result := make(chan entered, 1)
	raw, isRaw := p.source.(*rawEditor)
	var state *xterm.State
	if isRaw {
		raw.Typed, p.Typed = p.Typed, ""
		state, _ = xterm.GetState(raw.keyboard) // for a terminal that is left from outside
	}
	go func() {
		text, err := p.source.read(prompt)
		result <- entered{text, err}
	}()
	restore := p.Interrupts.Divert(func() { // in raw mode Ctrl-C is a key
		if plain, ok := p.source.(*plainLines); ok {
			plain.giveUp(prompt)
		}
	})
	defer restore()
	select {
	case r := <-result:
		return r.text, r.err
	case <-p.Ctx.Done():
		if isRaw && state != nil {
			raw.Write(UnmarkPaste)
			_ = xterm.Restore(raw.keyboard, state) // the process ends
		}
		p.Err.Say()
		return "", p.Ctx.Err()
	}
}

func (p *Prompt) open() lineSource {
	keyboard, _ := p.In.(*os.File)
	if os.Getenv("TERM") == "dumb" {
		return &plainLines{in: bufio.NewReader(p.In), prompt: p}
	}
	return &rawEditor{
		keyboard: int(keyboard.Fd()),
		Editor: &Editor{
			In: bufio.NewReader(p.In), Out: os.Stdout, History: p.History,
			Complete: p.Complete, Finished: p.Finished, Size: p.size,
			Paint: func(prompt string) string { return p.Out.Render(term.Line{term.Styled(term.Accent, prompt)}) },
		},
	}
}

// size returns that of the terminal.
func (p *Prompt) size() (width, height int) {
	width, height, err := xterm.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return p.Out.Columns(), 24
	}
	p.Out.Width = max(width, term.MinWidth) // it may have been resized
	return width, height
}

// rawEditor is the editor with the terminal in raw mode while a text is edited,
// and only then: Ctrl-C is a signal while something runs.
type rawEditor struct {
	*Editor
	keyboard int
}

func (e *rawEditor) read(prompt string) (string, error) {
	before, err := xterm.MakeRaw(e.keyboard)
	if err != nil {
		return "", err
	}
	defer func() { _ = xterm.Restore(e.keyboard, before) }() // the shell does, too
	return e.Editor.Read(prompt)
}

// plainLines reads texts of one line or several without any editing.
type plainLines struct {
	in      *bufio.Reader
	prompt  *Prompt
	givenUp atomic.Bool // by Ctrl-C, what was read of a text
}

// giveUp has what was entered so far forgotten. The terminal has thrown away the
// line that was being typed.
func (p *plainLines) giveUp(prompt string) {
	p.givenUp.Store(true)
	fmt.Fprint(p.prompt.Err, "\n"+prompt)
}

func (p *plainLines) read(prompt string) (string, error) {
	var b strings.Builder
	for {
		fmt.Fprint(p.prompt.Out, prompt)
		if err := p.prompt.Out.Flush(); err != nil {
			return "", err
		}
		l, err := p.in.ReadString('\n')
		if err != nil && l == "" {
			return "", err
		}
		l = strings.TrimRight(l, "\r\n")
		if p.givenUp.Swap(false) {
			b.Reset()
		}
		b.WriteString(l)
		if l == "" || p.prompt.Finished(b.String()) {
			return b.String(), nil
		}
		b.WriteByte('\n')
		prompt = fmt.Sprintf("%*s", term.Columns(prompt), "...> ")
	}
}
