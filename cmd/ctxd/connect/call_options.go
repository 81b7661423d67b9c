package connect

import (
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what ctxd call runs with.
type CallOptions struct {
	*term.Streams
	*Link
}
