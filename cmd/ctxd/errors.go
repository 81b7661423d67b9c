package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/socket"
)

// The exit statuses.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitOwned       = 3
	exitNotFound    = 4
	exitUnreachable = 5
	exitInterrupted = 130 // 128 + SIGINT, as shells count
)

// exitTexts document the exit statuses in ctxd --help.
var exitTexts = []struct {
	code int
	text string
}{
	{exitOK, "done"},
	{exitError, "the command failed; Error: says why"},
	{exitUsage, "the command line makes no sense"},
	{exitOwned, "another daemon owns the socket or the data"},
	{exitNotFound, "there is no such note, entity or file"},
	{exitUnreachable, "no daemon answers on the socket, or it has gone"},
	{exitInterrupted, "interrupted by Ctrl-C"},
}

// exitNote stands under them.
const exitNote = "What only Ctrl-C ends, such as events, inspect rpc --watch and\ninspect log --follow, ends with 0 then."

// usageError is a command line that kong accepts and we don't.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

// unreachableError says that no daemon could be spoken to.
type unreachableError struct {
	socket string
	err    error
}

func (e *unreachableError) Error() string { return fault.Message(e.err) + " " + e.socket }

func (e *unreachableError) Unwrap() error { return e.err }

// failure is an error as it is shown.
type failure struct {
	Code       int               `json:"exitCode"`
	Message    string            `json:"message"`
	Kind       string            `json:"kind,omitempty"`
	Wire       int               `json:"code,omitempty"` // of the protocol
	Field      string            `json:"field,omitempty"`
	Ref        string            `json:"ref,omitempty"`
	File       string            `json:"file,omitempty"` // that line counts in; "": the query
	Line       int               `json:"line,omitempty"`
	Column     int               `json:"column,omitempty"`
	Hint       string            `json:"hint,omitempty"`
	Candidates []fault.Candidate `json:"candidates,omitempty"`
	Log        []string          `json:"log,omitempty"` // what a daemon said last

	Diagnostics []entities.Diagnostic `json:"diagnostics,omitempty"` // of a query: all that there is to say
}

// fail prints an error and returns the exit status.
func (a *app) fail(err error) int {
	if err == nil {
		return exitOK
	}
	f := explain(err)
	if a.ctx.Err() != nil && f.Kind == fault.Cancelled.String() {
		f.Code, f.Message, f.Hint = exitInterrupted, "interrupted", ""
	}
	if a.JSON {
		_ = a.err.json(map[string]failure{"error": f}) // there is nowhere else to say it
		return f.Code
	}
	if f.Code == exitInterrupted {
		return f.Code // who pressed Ctrl-C knows
	}
	if len(f.Diagnostics) > 0 {
		drawDiagnostics(a.err, f.Diagnostics, f.File)
		return f.Code
	}
	a.err.sayWhole(styled(bad, "Error: "), text(f.Message))
	if f.Line > 0 && f.File == "" {
		a.err.say(text(fmt.Sprintf("       at line %d, column %d of the query", f.Line, f.Column)))
	}
	for _, l := range f.Log {
		a.err.say(styled(faint, "  | "), text(l))
	}
	for _, c := range f.Candidates {
		a.err.say(text("  · "), styled(strong, firstOf(c.Title, c.Name, c.ID)), styled(faint, "  "+strings.TrimSpace(c.Type+"  "+firstOf(c.Path, c.ID))))
	}
	if f.Hint != "" {
		a.err.sayWhole(styled(good, "Try: "), text(f.Hint))
	}
	return f.Code
}

// explain finds out what to say of an error.
func explain(err error) failure {
	f := failure{Code: exitError, Message: err.Error()}
	var known *fault.Error
	if errors.As(err, &known) {
		f.Message, f.Hint, f.Candidates = known.Msg, known.Hint, known.Candidates
		f.Kind, f.Field, f.Ref, f.Line, f.Column = known.Kind.String(), known.Field, known.Ref, known.Line, known.Column
		if known.Kind == fault.NotFound {
			f.Code = exitNotFound
		}
		if known.Field != "" && !strings.Contains(known.Msg, lastPart(known.Field)) {
			f.Message = known.Field + ": " + known.Msg
		}
	}
	var (
		wire    *client.Error
		owned   *socket.OwnedError
		ownedBy *ownedError
		away    *unreachableError
		usage   *usageError
		parse   *kong.ParseError
		started *startError
		setting *configError
		query   *queryError
	)
	switch {
	case errors.As(err, &query):
		f.Diagnostics, f.File = query.diagnostics, query.file
	case errors.As(err, &setting):
		f.Message, f.Field, f.File, f.Line = setting.Error(), setting.key, setting.at.file, setting.at.line
		if setting.at.source == fromFlag {
			f.Code = exitUsage
		}
	case errors.As(err, &started):
		f = started.failure
	case errors.As(err, &owned), errors.As(err, &ownedBy):
		f.Code = exitOwned
	case errors.As(err, &away):
		f.Code, f.Message = exitUnreachable, away.Error()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			f.Hint = "ctxd serve --vault ~/Notes"
		}
	case errors.As(err, &usage):
		f.Code, f.Kind, f.Message, f.Hint = exitUsage, "usage", usage.msg, usage.hint
	case errors.As(err, &parse):
		f.Code, f.Kind, f.Hint = exitUsage, "usage", "ctxd --help"
		node := parse.Context.Selected()
		if node != nil {
			f.Hint = node.FullPath() + " --help"
		}
		if node == nil || !node.Leaf() {
			f.Message = unexpectedArgument.ReplaceAllString(f.Message, `there is no command "$1"$2`)
		}
	case errors.As(err, &wire):
		f.Wire = wire.Code
	case known == nil:
		f.Kind = fault.KindOf(err).String()
		if f.Kind == fault.Cancelled.String() || f.Kind == fault.Deadline.String() {
			f.Message = fault.Message(err)
		}
	}
	return f
}

// unexpectedArgument is what kong calls a word where a command is due.
var unexpectedArgument = regexp.MustCompile(`^unexpected argument (.*?)($|, did you mean )`)

func lastPart(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// notFound is the error for a name that leads nowhere.
func notFound(sort, name string) *fault.Error {
	return fault.New(fault.NotFound, "%s", fmt.Sprintf("there is no %s %q", sort, name)).WithRef(name)
}
