package doctor

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what the commands of ctxd doctor run with.
type Options struct {
	*term.Streams
	*connect.Link
}
