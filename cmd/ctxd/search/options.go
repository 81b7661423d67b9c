package search

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what ctxd search runs with.
type Options struct {
	*term.Streams
	*connect.Link
}
