package connect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	xterm "golang.org/x/term"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
)

// byteOrderMark begins a UTF-8 text that some editors of Windows wrote.
var byteOrderMark = []byte("\ufeff")

// Input reads a file, or standard input where it is "-", for a message to the
// daemon: up to limits.messageBytes, without a byte order mark. Somebody at a
// terminal is told that the program waits for what is named.
func (l *Link) Input(streams *term.Streams, file, what string) ([]byte, error) {
	conf, err := l.Load(nil)
	if err != nil {
		conf = config.Default() // who dials says what of the configuration can't be used
	}
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, term.NotFound("file", file)
		}
		defer f.Close()
		return readInput(l.Ctx, f, file, conf.Limits.MessageBytes)
	}
	if f, ok := streams.In.(*os.File); ok && streams.Err.Terminal && xterm.IsTerminal(int(f.Fd())) {
		streams.Err.Say(term.Styled(term.Faint, "waiting for "+what+"; Ctrl-D on a line of its own ends it"))
	}
	return readInput(l.Ctx, streams.In, "standard input", conf.Limits.MessageBytes)
}

// readInput reads up to limit bytes, until the context ends. Nothing can end a
// read of a terminal or a pipe: the goroutine that waits in one ends with the
// process.
func readInput(ctx context.Context, in io.Reader, name string, limit int) ([]byte, error) {
	type input struct {
		doc []byte
		err error
	}
	done := make(chan input, 1)
	go func() {
		doc, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
		done <- input{doc, err}
	}()
	var got input
	select {
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, ctx.Err(), "interrupted")
	case got = <-done:
	}
	doc := bytes.TrimPrefix(got.doc, byteOrderMark)
	switch {
	case got.err != nil:
		return nil, fault.Wrap(fault.Unavailable, got.err, "%s can't be read: %s", name, config.Reason(got.err))
	case len(got.doc) > limit:
		return nil, term.Misuse(fmt.Sprintf("%s has more than %s, the limit of a message", name, config.ShowSize(int64(limit))),
			"send it in several parts; ctxd config limits.messageBytes shows the limit")
	}
	return doc, nil
}
