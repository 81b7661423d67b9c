package call

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what ctxd call runs with.
type Options struct {
	*term.Streams
	*connect.Link
}
