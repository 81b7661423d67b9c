package socket

import (
	"os"

	"github.com/ctxd/ctxd/entities/fault"
)

// EnvPath is the environment variable that names the endpoint.
const EnvPath = "CTXD_SOCKET"

// MaxPath is the length in bytes that a socket path may have. Linux takes 107,
// macOS 103; the smaller one holds everywhere, so that a configuration can be
// carried from one machine to another.
const MaxPath = 103

// Source says where a path came from.
type Source string

// The sources, strongest first.
const (
	FromFlag    Source = "flag"        // --socket
	FromEnv     Source = "environment" // $CTXD_SOCKET
	FromRuntime Source = "runtime"     // $XDG_RUNTIME_DIR/ctxd/ctxd.sock
	FromTemp    Source = "temporary"   // $TMPDIR/ctxd-UID/ctxd.sock
	FromUser    Source = "user"        // \\.\pipe\ctxd-USER
)

// Location is the endpoint and where its path came from.
type Location struct {
	Path   string
	Source Source
}

// Resolve returns the endpoint for this user: flag when it is not empty, else
// $CTXD_SOCKET, else the default of the operating system. Nothing is created
// or dialled. A path over MaxPath bytes is a fault.Invalid.
func Resolve(flag string) (Location, error) {
	loc := Location{Path: flag, Source: FromFlag}
	if loc.Path == "" {
		loc = Location{Path: os.Getenv(EnvPath), Source: FromEnv}
	}
	if loc.Path == "" {
		loc = defaultLocation()
	}
	return loc, checkLength(loc.Path)
}

func checkLength(path string) error {
	if len(path) <= MaxPath {
		return nil
	}
	return fault.Field("socket", "the socket path has %d bytes, at most %d are allowed", len(path), MaxPath).
		WithHint("choose a shorter path with --socket or $%s", EnvPath)
}
