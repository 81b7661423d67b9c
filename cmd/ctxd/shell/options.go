package shell

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what ctxd wql and ctxd inspect wql run with.
type Options struct {
	*term.Streams
	*connect.Link
	Interrupts *term.Interrupts
	Fail       func(error) int // prints an error after which the command goes on
}
