package call

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/entities/fault"
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
		var usage *command.Usage
		if c.msg == "" && err != nil || c.msg != "" && (!errors.As(err, &usage) || usage.Msg != c.msg || usage.Hint == "") {
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
		_, err := (&Command{Params: c.args}).params(nil)
		if err == nil || err.Error() != c.msg || command.Explain(err).Code != command.ExitMisused {
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
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("%v", err)
	}
}
