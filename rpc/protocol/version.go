package protocol

import (
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
)

// Fit says how a client and a daemon go together, by the versions of the protocol that
// they were written for.
type Fit int

// How two versions go together. A minor version adds to the one before it; a major
// version changes what was there.
const (
	Fits        Fit = iota // the daemon has all that the client may ask for
	DaemonLacks            // of one major version, but the daemon is older: it may lack a method or a parameter
	DaemonOld              // the daemon's major version is older: they can't be used together
	ClientOld              // the client's major version is older: they can't be used together
)

// Together reports whether the client can use the daemon.
func (f Fit) Together() bool { return f <= DaemonLacks }

// FitOf compares the version of a client with that of a daemon. The error is a
// fault.Invalid that says which of the two has not the form MAJOR.MINOR.
func FitOf(client, daemon string) (Fit, error) {
	c, err := parseVersion(client)
	if err != nil {
		return 0, err
	}
	d, err := parseVersion(daemon)
	switch {
	case err != nil:
		return 0, err
	case c.major < d.major:
		return ClientOld, nil
	case c.major > d.major:
		return DaemonOld, nil
	case c.minor > d.minor:
		return DaemonLacks, nil
	}
	return Fits, nil
}

type version struct{ major, minor uint64 }

// parseVersion reads MAJOR.MINOR, or MAJOR for MAJOR.0.
func parseVersion(text string) (v version, err error) {
	major, minor, hasMinor := strings.Cut(text, ".")
	v.major, err = strconv.ParseUint(major, 10, 32)
	if hasMinor && err == nil {
		v.minor, err = strconv.ParseUint(minor, 10, 32)
	}
	if err != nil {
		return version{}, fault.New(fault.Invalid, "a protocol version has the form MAJOR.MINOR, not %q", text)
	}
	return v, nil
}
