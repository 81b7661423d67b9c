package records

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// MemoryOptions are what the commands run with.
type MemoryOptions struct {
	*term.Streams
	*connect.Link
}
