package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestCall_ParamsFromStandardInput(t *testing.T) {
	for _, c := range []struct{ in, want, msg string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{"\ufeff{}", `{}`, ""},
		{"", "", "standard input was empty"},
		{"\ufeff \n", "", "standard input was empty"},
		{strings.Repeat(" ", 1<<10) + "{", "", "the params are longer than 1KiB, the limit of a message"},
	} {
		got, err := readInput(t.Context(), strings.NewReader(c.in), 1<<10)
		var usage *usageError
		if c.msg == "" && err != nil || c.msg != "" && (!errors.As(err, &usage) || usage.msg != c.msg || usage.hint == "") {
			t.Errorf("%.20q: %v, want %q", c.in, err, c.msg)
		}
		if string(got) != c.want {
			t.Errorf("%.20q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCall_ArgumentsThatMakeNoParams(t *testing.T) {
	for _, c := range []struct {
		args []string
		msg  string
	}{
		{[]string{"query=x", "query=y"}, "query is given twice"},
		{[]string{"limit=1", "limit:=1"}, "limit is given twice"},
		{[]string{"query=\xff"}, `"query=\xff" is no UTF-8, which JSON must be`},
	} {
		_, err := (&callCmd{Params: c.args}).params(nil)
		if err == nil || err.Error() != c.msg || explain(err).Code != exitUsage {
			t.Errorf("%q: %v, want %s", c.args, err, c.msg)
		}
	}
}

// Nobody writes and nobody ends the input: the first Ctrl-C ends the wait.
func TestCall_InterruptedWhileItReads(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	cancel()
	_, err := readInput(ctx, in, 10)
	a := &app{globals: &globals{}, ctx: ctx, err: &screen{Writer: io.Discard}}
	if got := a.fail(err); got != exitInterrupted {
		t.Errorf("exit %d: %v", got, err)
	}
}

func TestCall_InterruptEndsTheProgram(t *testing.T) {
	p := newHome(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	cmd := p.command(t, "call", "notes.search", "-")
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = r, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// What is read shows that the program waits for more: a pipe says no more
	// of its reader than that it took something.
	if _, err := w.WriteString(strings.Repeat(" ", 256<<10)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || stderr.String() != "" {
		t.Errorf("%v, and %q", err, stderr.String())
	}
}
