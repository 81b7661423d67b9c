package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestExitStatus_AndWhatIsSaid(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"nothing", nil, 0, ""},
		{"any error", errors.New("disk full"), 1, "Error: disk full\n"},
		{
			"fault without its cause", fault.Wrap(fault.Unavailable, errors.New("secret"), "the store is closed").WithHint("start again"), 1,
			"Error: the store is closed\nTry: start again\n",
		},
		{"field that the message leaves out", fault.Field("budgets.total", "must be a number"), 1, "Error: budgets.total: must be a number\n"},
		{"field that the message has", fault.Field("budgets.total", "total must be a number"), 1, "Error: total must be a number\n"},
		{"query", &fault.Error{Kind: fault.Query, Msg: "no type X", Line: 2, Column: 7}, 1, "Error: no type X\n       at line 2, column 7 of the query\n"},
		{"not found", term.NotFound("note", "N"), 4, "Error: there is no note \"N\"\n"},
		{
			"candidates", fault.New(fault.Conflict, "two").WithCandidates([]fault.Candidate{{ID: "a", Name: "A", Type: "T"}, {ID: "n", Title: "N", Path: "p/N.md"}}), 1,
			"Error: two\n  · A  T  a\n  · N  p/N.md\n",
		},
		{"usage", term.Misuse("what?", "ctxd --help"), 2, "Error: what?\nTry: ctxd --help\n"},
		{"owned data", &daemon.OwnedError{Fault: fault.New(fault.Conflict, "owned")}, 3, "Error: owned\n"},
		{
			"no daemon", &term.Unreachable{Socket: "/s", Err: fault.Wrap(fault.Unavailable, fs.ErrNotExist, "no daemon listens on the socket")}, 5,
			"Error: no daemon listens on the socket /s\nTry: ctxd serve --vault ~/Notes\n",
		},
		{"daemon that refuses", &term.Unreachable{Socket: "/s", Err: fault.New(fault.Unavailable, "not yours").WithHint("another")}, 5, "Error: not yours /s\nTry: another\n"},
		{"control characters", errors.New("a\x1b[2Jb"), 1, "Error: a␛[2Jb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{Streams: &term.Streams{Err: &term.Screen{Writer: &out}}, Link: &connect.Link{Ctx: t.Context()}}
			if got := a.fail(c.err); got != c.code || out.String() != c.want {
				t.Errorf("exit %d, want %d, and\n%swant\n%s", got, c.code, out.String(), c.want)
			}
		})
	}
}

func TestExitStatus_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{context.Canceled, fault.Wrap(fault.Cancelled, context.Canceled, "the call was cancelled")} {
		var out bytes.Buffer
		a := &app{Streams: &term.Streams{Err: &term.Screen{Writer: &out}}, Link: &connect.Link{Ctx: ctx}}
		if got := a.fail(err); got != term.ExitInterrupted || out.String() != "" {
			t.Errorf("%v: exit %d, %q", err, got, out.String())
		}
	}
}
