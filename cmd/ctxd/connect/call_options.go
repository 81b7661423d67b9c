package connect

import (
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// CallOptions are what ctxd call runs with.
type CallOptions struct {
	*term.Streams
	*Link
}
