package store

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// Options are what ctxd backup and ctxd restore run with.
type Options struct {
	*term.Streams
	*connect.Link
}
