package term

// This file and command_*.go hold what all commands of ctxd share and what draws nothing: their errors with the exit
// statuses, their examples, the number flags, the version of the program, and the words of a hint (quoted for a shell,
// nearest to a misspelt name).
//
// A command returns an error and prints nothing of it. [ExplainError] makes a [Failure] of the error, which the main
// package prints: "Error: …", "Try: …", or JSON, and the exit status. An error that knows better how it is shown is an
// errorDescriber. Nothing is kept, so all of it may be called concurrently.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/socket"
)

// The exit statuses.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitMisused     = 2
	ExitOwned       = 3
	ExitMissing     = 4
	ExitNoDaemon    = 5
	ExitInterrupted = 130 // 128 + SIGINT, as shells count
)

// UsageError is a command line that kong accepts and we don't.
type UsageError struct{ Msg, Hint string }

// Misuse returns the error of a command line that makes no sense, and what to say
// instead.
func Misuse(msg, hint string) *UsageError { return &UsageError{Msg: msg, Hint: hint} }

// Error is the message.
func (e *UsageError) Error() string { return e.Msg }

// Unreachable says that no daemon could be spoken to.
type Unreachable struct {
	Socket string
	Err    error
}

// Error is the message.
func (e *Unreachable) Error() string { return fault.Message(e.Err) + " " + e.Socket }

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// Failure is an error as it is shown.
type Failure struct {
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

// errorDescriber is an error that knows how it is shown. What explain found out of
// it so far is in the failure.
type errorDescriber interface {
	error
	Describe(f *Failure)
}

// ExplainError finds out what to say of an error.
func ExplainError(err error) Failure {
	f := Failure{Code: ExitError, Message: err.Error()}
	var known *fault.Error
	if errors.As(err, &known) {
		f.Message, f.Hint, f.Candidates = known.Msg, known.Hint, known.Candidates
		f.Kind, f.Field, f.Ref, f.Line, f.Column = known.Kind.String(), known.Field, known.Ref, known.Line, known.Column
		if known.Kind == fault.NotFound {
			f.Code = ExitMissing
		}
		// A ref is what the command line names: nobody has to be told where it stood.
		if known.Field != "" && known.Field != "ref" && !strings.Contains(known.Msg, lastPart(known.Field)) {
			f.Message = known.Field + ": " + known.Msg
		}
	}
	var (
		wire  *client.Error
		owned *socket.OwnedError
		away  *Unreachable
		usage *UsageError
		parse *kong.ParseError
		own   errorDescriber
	)
	switch {
	case errors.As(err, &own):
		own.Describe(&f)
	case errors.As(err, &owned):
		f.Code = ExitOwned
	case errors.As(err, &away):
		f.Code, f.Message = ExitNoDaemon, away.Error()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			f.Hint = "ctxd serve --vault ~/Notes"
		}
	case errors.As(err, &usage):
		f.Code, f.Kind, f.Message, f.Hint = ExitMisused, "usage", usage.Msg, usage.Hint
	case errors.As(err, &parse):
		f.Code, f.Kind, f.Hint = ExitMisused, "usage", "ctxd --help"
		node := parse.Context.Selected()
		if node != nil {
			f.Hint = node.FullPath() + " --help"
		}
		switch {
		case node == nil || !node.Leaf():
			f.noCommand(parse.Context.Model.Node, node)
		case node.Parent != nil && node.Parent.DefaultCmd == node && len(node.Positional) == 0:
			f.noCommand(parse.Context.Model.Node, node.Parent) // the word stands where a command may
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
var unexpectedArgument = text.Pattern(`^unexpected argument (.*?)($|, did you mean )`)

// otherVerbs are what other programs call what commands do here.
// Of several the first that there is counts.
var otherVerbs = map[string][]string{
	"get": {"show"}, "cat": {"show"}, "view": {"show"}, "read": {"show"}, "print": {"show"},
	"ls": {"list"}, "all": {"list"},
	"put": {"set"}, "add": {"set", "put"}, "create": {"set", "add", "put"}, "new": {"set", "add", "put"},
	"edit": {"set", "update", "put"}, "update": {"set", "put"}, "set": {"update", "put"},
	"rm": {"delete", "forget"}, "remove": {"delete", "forget"}, "delete": {"forget"},
}

// moved are commands that have other names since protocol 2, by their former paths. They go with protocol 3.
var moved = map[string]string{
	"context": "prompt", "prompts": "templates",
	"memory update": "memory set", "memory response": "memory outcome", "memory concept": "memory concepts",
	"memory actions": "memory effectiveness", "memory synonyms put": "memory synonyms set",
	"books put": "books add", "books remove": "books delete", "contexts put": "contexts set", "contexts tree": "contexts list --tree",
	"chat update": "chat set", "chat unarchive": "chat restore", "chat for-note": "chat citations",
	"personality put": "personality set", "sync resolve": "sync settle",
}

// noCommand says of an unknown word in the place of a command what may have been meant: the
// word that ctxd uses for it, or a command of that name in another place. The place is nil
// for the program itself.
func (f *Failure) noCommand(program, place *kong.Node) {
	m := unexpectedArgument().FindStringSubmatch(f.Message)
	if m == nil {
		return
	}
	word := m[1]
	if place == nil {
		place = program
	}
	_, former, _ := strings.Cut(place.FullPath()+" "+word, " ")
	if now := moved[former]; now != "" {
		f.Message, f.Hint = fmt.Sprintf("ctxd %s is called ctxd %s now", former, now), "ctxd "+now
		return
	}
	for _, verb := range otherVerbs[word] {
		if slices.ContainsFunc(place.Children, func(n *kong.Node) bool { return n.Name == verb }) {
			f.Message = fmt.Sprintf("there is no command %q, did you mean %q?", word, verb)
			return
		}
	}
	f.Message = unexpectedArgument().ReplaceAllString(f.Message, `there is no command "$1"$2`)
	if m[2] == "" && place.DefaultCmd != nil {
		var names []string
		for _, n := range place.Children {
			names = append(names, n.Name)
		}
		if near := text.Nearest(word, names); len(near) > 0 {
			f.Message += fmt.Sprintf(", did you mean %q?", near[0])
		}
	}
	var named []string
	for _, leaf := range program.Leaves(true) {
		if leaf.Name == word {
			named = append(named, leaf.FullPath()+" --help")
		}
	}
	// Those of the program itself come first; of many others none is likelier than another.
	slices.SortStableFunc(named, func(a, b string) int { return cmp.Compare(strings.Count(a, " "), strings.Count(b, " ")) })
	switch {
	case len(named) == 0:
	case len(named) <= 3:
		f.Hint = strings.Join(named, ", or ")
	case strings.Count(named[0], " ") == 2 && strings.Count(named[1], " ") > 2:
		f.Hint = named[0]
	}
}

func lastPart(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// NotFound is the error for a name that leads nowhere.
func NotFound(sort, name string) *fault.Error {
	return fault.New(fault.NotFound, "%s", fmt.Sprintf("there is no %s %q", sort, name)).WithRef(name)
}
