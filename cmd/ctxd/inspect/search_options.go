package inspect

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// SearchOptions are what ctxd search runs with.
type SearchOptions struct {
	*term.Streams
	*connect.Link
}
