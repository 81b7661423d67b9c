package main

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

	"golang.org/x/term"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// lineSource is where the texts of a prompt come from: the line editor, or the
// plain lines of a terminal that can move no cursor.
type lineSource interface {
	// read returns the next text. The error is errInterrupted when it was
	// given up, io.EOF when there are no more.
	read(prompt string) (string, error)
}

// prompt asks for statements and runs them, until the person leaves.
func (s *wqlSession) prompt() error {
	conf, err := s.config(nil)
	if err != nil {
		return err
	}
	if err := s.welcome(); err != nil {
		return err
	}
	history, err := openHistory(conf.historyPath())
	if err != nil {
		s.fail(err) // the prompt works without
	}
	s.view.prompt, s.view.several = true, false
	source := s.source(history)
	for {
		text, err := s.nextText(source)
		switch {
		case errors.Is(err, errInterrupted):
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := history.add(text); err != nil {
			s.fail(err)
			history.path = "" // it is said once
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
func (s *wqlSession) welcome() error {
	var list protocol.TypeList
	if err := s.call(s.ctx, "types.list", protocol.Empty{}, &list); err != nil {
		return err
	}
	all := 0
	for _, t := range list.Types {
		all += t.Count
	}
	s.out.say(styled(strong, "ctxd wql"), styled(faint, fmt.Sprintf(`  %s of %s; \? helps, \q leaves`, count(all, "entity"), count(len(list.Types), "type"))))
	return nil
}

func (s *wqlSession) source(history *wqlHistory) lineSource {
	keyboard, _ := s.in.(*os.File)
	if os.Getenv("TERM") == "dumb" {
		return &plainLines{in: bufio.NewReader(s.in), session: s}
	}
	return &rawEditor{
		keyboard: int(keyboard.Fd()),
		lineEditor: &lineEditor{
			in: bufio.NewReader(s.in), out: os.Stdout, history: history,
			complete: s.complete, finished: s.finished, size: s.terminalSize,
			paint: func(prompt string) string { return s.out.render(line{styled(accent, prompt)}) },
		},
	}
}

func (s *wqlSession) terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return s.out.columns(), 24
	}
	s.out.width = max(width, minWidth) // it may have been resized
	return width, height
}

// rawEditor is the editor with the terminal in raw mode while a text is edited,
// and only then: Ctrl-C is a signal while a query runs.
type rawEditor struct {
	*lineEditor
	keyboard int
}

func (e *rawEditor) read(prompt string) (string, error) {
	before, err := term.MakeRaw(e.keyboard)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(e.keyboard, before) }() // the shell does, too
	return e.lineEditor.read(prompt)
}

// plainLines reads statements of one line or several without any editing.
type plainLines struct {
	in      *bufio.Reader
	session *wqlSession
	givenUp atomic.Bool // by Ctrl-C, what was read of a statement
}

// giveUp has what was entered so far forgotten. The terminal has thrown away the
// line that was being typed.
func (p *plainLines) giveUp(prompt string) {
	p.givenUp.Store(true)
	fmt.Fprint(p.session.err, "\n"+prompt)
}

func (p *plainLines) read(prompt string) (string, error) {
	var b strings.Builder
	for {
		fmt.Fprint(p.session.out, prompt)
		if err := p.session.out.flush(); err != nil {
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
		prompt = fmt.Sprintf("%*s", columns(prompt), "...> ")
	}
}

// nextText has a text entered. It is given up when the command is ended from
// outside.
func (s *wqlSession) nextText(source lineSource) (string, error) {
	if err := s.out.flush(); err != nil {
		return "", err
	}
	prompt := "wql> "
	if s.this.id != "" {
		name, rest := cutColumns(clean(s.this.name), longestThis)
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
	var state *term.State
	if raw, ok := source.(*rawEditor); ok {
		state, _ = term.GetState(raw.keyboard) // for a terminal that is left from outside
	}
	go func() {
		text, err := source.read(prompt)
		result <- entered{text, err}
	}()
	restore := s.interrupts.divert(func() { // in raw mode Ctrl-C is a key
		if plain, ok := source.(*plainLines); ok {
			plain.giveUp(prompt)
		}
	})
	defer restore()
	select {
	case r := <-result:
		return r.text, r.err
	case <-s.ctx.Done():
		if raw, ok := source.(*rawEditor); ok && state != nil {
			raw.write(unmarkPaste)
			_ = term.Restore(raw.keyboard, state) // the process ends
		}
		s.err.say()
		return "", s.ctx.Err()
	}
}

// longestThis is how much of the name of {this} stands in the prompt, in columns.
const longestThis = 24

// enter runs what was entered, and shows what goes wrong. The error ends the
// prompt.
func (s *wqlSession) enter(text string) error {
	list, rest, _ := splitStatements(text)
	if rest.text != "" {
		list = append(list, rest)
	}
	ctx, done := s.cancellable()
	defer done()
	for _, st := range list {
		err := s.run(ctx, st)
		if flushed := s.out.flush(); flushed != nil {
			return flushed
		}
		switch {
		case errors.Is(err, errQuit):
			return err
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case err != nil && ctx.Err() != nil:
			s.err.say() // the terminal has shown ^C
			s.err.say(styled(warn, "cancelled"))
			return nil
		case err != nil:
			s.fail(err)
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
func (s *wqlSession) finished(text string) bool {
	list, rest, open := splitStatements(text)
	switch {
	case rest.text == "":
		return len(list) > 0 || strings.TrimSpace(text) == ""
	case open, strings.Contains(text, "\n"):
		return false
	}
	ctx, cancel := context.WithTimeout(s.ctx, finishTimeout)
	defer cancel()
	var res protocol.WQLChecked
	if err := s.call(ctx, "wql.check", protocol.WQLCheck{Query: rest.text, Type: s.this.typ}, &res); err != nil {
		return fault.KindOf(err) != fault.Cancelled // what is wrong shows when it is run
	}
	return res.OK || !onlyUnfinished(res.Diagnostics, rest.text)
}

// onlyUnfinished reports whether all that is wrong with a query of one line is
// that it has no end: the daemon has missed something behind its last character.
func onlyUnfinished(list []entities.Diagnostic, query string) bool {
	end := entities.UTF16Len(query) + 1
	for _, d := range list {
		if d.Severity == entities.SeverityError && d.Column < end {
			return false
		}
	}
	return true
}
