package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// prompt asks for statements and runs them, until the person leaves.
func (s *session) prompt() error {
	file := ""
	if conf, err := s.Load(nil); err == nil { // who dials says what can't be used
		file = conf.HistoryPath()
	}
	if err := s.welcome(); err != nil {
		return err
	}
	history, err := OpenHistory(file, "CTXD_WQL_HISTORY")
	if err != nil {
		s.Fail(err) // the prompt works without
	}
	s.view.prompt, s.view.several = true, false
	prompt := &Prompt{
		Streams: s.Streams, Ctx: s.Ctx, Interrupts: s.Interrupts, History: history,
		Complete: s.complete, Finished: s.finished,
	}
	for {
		text, err := prompt.Read(s.promptText())
		switch {
		case errors.Is(err, ErrInterrupted):
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

// promptText is what stands before a text: with {this}, when it is set.
func (s *session) promptText() string {
	if s.this.id == "" {
		return "wql> "
	}
	name, rest := term.CutColumns(term.Clean(s.this.name), longestThis)
	if rest != "" {
		name += "…"
	}
	return "wql @" + name + "> "
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
