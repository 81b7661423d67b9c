package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	xterm "golang.org/x/term"

	"github.com/ctxd/ctxd/cmd/ctxd/shell/edit"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// lineSource is where the texts of a prompt come from: the line editor, or the
// plain lines of a terminal that can move no cursor.
type lineSource interface {
	// read returns the next text. The error is edit.ErrInterrupted when it was
	// given up, io.EOF when there are no more.
	read(prompt string) (string, error)
}

// prompt asks for statements and runs them, until the person leaves.
func (s *session) prompt() error {
	file := ""
	if conf, err := s.Load(nil); err == nil { // who dials says what can't be used
		file = conf.HistoryPath()
	}
	if err := s.welcome(); err != nil {
		return err
	}
	history, err := edit.OpenHistory(file)
	if err != nil {
		s.Fail(err) // the prompt works without
	}
	s.view.prompt, s.view.several = true, false
	source := s.source(history)
	for {
		text, err := s.nextText(source)
		switch {
		case errors.Is(err, edit.ErrInterrupted):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := history.Add(text); err != nil {
			s.Fail(err)
			history.Path = "" // it is said once
		}
		switch err := s.enter(text); {
		case errors.Is(err, errQuit):
			return nil
		case err != nil:
			return err
		}
	}
}

// welcome says what there is to query. It fails when no daemon answers.
func (s *session) welcome() error {
	var list protocol.TypeList
	if err := s.call(s.Ctx, "types.list", nil, &list); err != nil {
		return err
	}
	all := 0
	for _, t := range list.Types {
		all += t.Count
	}
	s.Out.Say(term.Styled(term.Strong, "ctxd wql"),
		term.Styled(term.Faint,
			fmt.Sprintf(`  %s of %s; \? helps, \q leaves`, term.Count(all, "entity"),
				term.Count(len(list.Types), "type"))))
	return nil
}

func (s *session) source(history *edit.History) lineSource {
	keyboard, _ := s.In.(*os.File)
	if os.Getenv("TERM") == "dumb" {
		return &plainLines{in: bufio.NewReader(s.In), session: s}
	}
	return &rawEditor{
		keyboard: int(keyboard.Fd()),
		Editor: &edit.Editor{
			In: bufio.NewReader(s.In), Out: os.Stdout, History: history,
			Complete: s.complete, Finished: s.finished, Size: s.terminalSize,
			Paint: func(prompt string) string { return s.Out.Render(term.Line{term.Styled(term.Accent, prompt)}) },
		},
	}
}

func (s *session) terminalSize() (width, height int) {
	width, height, err := xterm.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return s.Out.Columns(), 24
	}
	s.Out.Width = max(width, term.MinWidth) // it may have been resized
	return width, height
}

// rawEditor is the editor with the terminal in raw mode while a text is edited,
// and only then: Ctrl-C is a signal while a query runs.
type rawEditor struct {
	*edit.Editor
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

// plainLines reads statements of one line or several without any editing.
type plainLines struct {
	in      *bufio.Reader
	session *session
	givenUp atomic.Bool // by Ctrl-C, what was read of a statement
}

// giveUp has what was entered so far forgotten. The terminal has thrown away the
// line that was being typed.
func (p *plainLines) giveUp(prompt string) {
	p.givenUp.Store(true)
	fmt.Fprint(p.session.Err, "\n"+prompt)
}

func (p *plainLines) read(prompt string) (string, error) {
	var b strings.Builder
	for {
		fmt.Fprint(p.session.Out, prompt)
		if err := p.session.Out.Flush(); err != nil {
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
		if l == "" || p.session.finished(b.String()) {
			return b.String(), nil
		}
		b.WriteByte('\n')
		prompt = fmt.Sprintf("%*s", term.Columns(prompt), "...> ")
	}
}

// nextText has a text entered. It is given up when the command is ended from
// outside.
func (s *session) nextText(source lineSource) (string, error) {
	if err := s.Out.Flush(); err != nil {
		return "", err
	}
	prompt := "wql> "
	if s.this.id != "" {
		name, rest := term.CutColumns(term.Clean(s.this.name), longestThis)
		if rest != "" {
			name += "…"
		}
		prompt = "wql @" + name + "> "
	}
	type entered struct {
		text string
		err  error
	}
	result := make(chan entered, 1)
	var state *xterm.State
	if raw, ok := source.(*rawEditor); ok {
		state, _ = xterm.GetState(raw.keyboard) // for a terminal that is left from outside
	}
	go func() {
		text, err := source.read(prompt)
		result <- entered{text, err}
	}()
	restore := s.Interrupts.Divert(func() { // in raw mode Ctrl-C is a key
		if plain, ok := source.(*plainLines); ok {
			plain.giveUp(prompt)
		}
	})
	defer restore()
	select {
	case r := <-result:
		return r.text, r.err
	case <-s.Ctx.Done():
		if raw, ok := source.(*rawEditor); ok && state != nil {
			raw.Write(edit.UnmarkPaste)
			_ = xterm.Restore(raw.keyboard, state) // the process ends
		}
		s.Err.Say()
		return "", s.Ctx.Err()
	}
}

// longestThis is how much of the name of {this} stands in the prompt, in columns.
const longestThis = 24

// enter runs what was entered, and shows what goes wrong. The error ends the
// prompt.
func (s *session) enter(text string) error {
	list, rest, _ := syntax.Split(text)
	if rest.Text != "" {
		list = append(list, rest)
	}
	ctx, done := s.cancellable()
	defer done()
	for _, st := range list {
		err := s.run(ctx, st)
		if flushed := s.Out.Flush(); flushed != nil {
			return flushed
		}
		switch {
		case errors.Is(err, errQuit):
			return err
		case s.Ctx.Err() != nil:
			return s.Ctx.Err()
		case err != nil && ctx.Err() != nil:
			s.Err.Say() // the terminal has shown ^C
			s.Err.Say(term.Styled(term.Warn, "cancelled"))
			return nil
		case err != nil:
			s.Fail(err)
			return nil
		}
	}
	return nil
}

// finishTimeout bounds what Enter may wait for the daemon's opinion.
const finishTimeout = 5 * time.Second

// finished reports whether Enter ends a text: a command, queries that end with
// semicolons, or one line that is a whole query or is wrong in another way than
// that its end is missing.
func (s *session) finished(text string) bool {
	list, rest, open := syntax.Split(text)
	switch {
	case rest.Text == "":
		return len(list) > 0 || strings.TrimSpace(text) == ""
	case open, strings.Contains(text, "\n"):
		return false
	}
	ctx, cancel := context.WithTimeout(s.Ctx, finishTimeout)
	defer cancel()
	var res protocol.WQLChecked
	if err := s.call(ctx, "wql.check", protocol.WQLCheck{Query: rest.Text, Type: s.this.typ}, &res); err != nil {
		return fault.KindOf(err) != fault.Cancelled // what is wrong shows when it is run
	}
	return res.OK || !onlyUnfinished(res.Diagnostics, rest.Text)
}

// onlyUnfinished reports whether all that is wrong with a query of one line is
// that it has no end: the daemon has missed something behind its last character.
func onlyUnfinished(list []entities.Diagnostic, query string) bool {
	end := names.UTF16Len(query) + 1
	for _, d := range list {
		if d.Severity == record.SeverityError && d.Column < end {
			return false
		}
	}
	return true
}
