package inspect

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what the commands of ctxd inspect run with.
type Options struct {
	*term.Streams
	*connect.Link
}
