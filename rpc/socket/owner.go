package socket

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Owner is the process that listens on an endpoint, as it wrote into the lock
// file.
type Owner struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// OwnedError says that another process serves the endpoint. Its fault is a
// Conflict, so errors.As finds either.
type OwnedError struct {
	Owner  Owner         // zero when the owner could not be told
	Uptime time.Duration // since the owner started, 0 when unknown
	fault  *fault.Error
}

// Error returns who owns the endpoint.
func (e *OwnedError) Error() string { return e.fault.Error() }

// Unwrap returns the *fault.Error of kind Conflict.
func (e *OwnedError) Unwrap() error { return e.fault }

func newOwnedError(path string, o Owner, now time.Time) *OwnedError {
	e := &OwnedError{Owner: o}
	who := "its process is unknown"
	if o.PID != 0 {
		e.Uptime = max(0, now.Sub(o.Started))
		who = fmt.Sprintf("pid %d, version %s, up %s", o.PID, o.Version, e.Uptime.Round(time.Second))
	}
	e.fault = fault.Clash(fault.Exists, "another ctxd already serves this socket (%s)", who).
		WithHint("use that one, or stop it with: ctxd stop%s", flagFor(path))
	return e
}

// flagFor returns the flag that names an endpoint on a command line, nothing for
// the one that is meant without.
func flagFor(path string) string {
	if loc, err := Resolve(""); err == nil && loc.Path == path {
		return ""
	}
	return " --socket '" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// readOwner returns the owner written in the lock file, the zero Owner when
// there is none that can be read.
func readOwner(lockPath string) (o Owner) {
	data, err := os.ReadFile(lockPath)
	if err != nil || json.Unmarshal(data, &o) != nil {
		return Owner{}
	}
	return o
}

// writeOwner puts o in the lock file. It writes in place: a rename would put
// the file under another inode than the one that is locked.
func writeOwner(lockPath string, o Owner) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return os.WriteFile(lockPath, append(data, '\n'), 0o600)
}
