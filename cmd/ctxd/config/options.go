package config

import "github.com/ctxd/ctxd/cmd/ctxd/term"

// Options are what ctxd config runs with.
type Options struct {
	*term.Streams
	*Flags
}
