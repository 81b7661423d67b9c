package connect

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

func TestReadInput(t *testing.T) {
	for _, c := range []struct{ in, want, msg string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{"\ufeff{}", `{}`, ""},
		{"", "", ""},
		{strings.Repeat(" ", 1<<10), strings.Repeat(" ", 1<<10), ""},
		{strings.Repeat(" ", 1<<10) + "{", "", "the file has more than 1KiB, the limit of a message"},
	} {
		got, err := readInput(t.Context(), strings.NewReader(c.in), "the file", 1<<10)
		var usage *term.UsageError
		if c.msg == "" && err != nil || c.msg != "" && (!errors.As(err, &usage) || usage.Msg != c.msg || usage.Hint == "") {
			t.Errorf("%.20q: %v, want %q", c.in, err, c.msg)
		}
		if string(got) != c.want {
			t.Errorf("%.20q: %q, want %q", c.in, got, c.want)
		}
	}
}

// Nobody writes and nobody ends the input: the first Ctrl-C ends the wait.
func TestReadInput_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	cancel()
	_, err := readInput(ctx, in, "standard input", 10)
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("%v", err)
	}
}
