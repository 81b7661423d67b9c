package outbox

import (
	"github.com/ctxd/ctxd/entities/fault"
)

// StartOptions is how a store is opened, see the options of the same names in kv.Options.
type StartOptions struct {
	Log      bool // there is one
	LogStart *Position
	Leave    bool
	Replace  bool
	Empty    bool // the store has no records
}

// Role is what a store is from its start on.
type Role int

// The roles.
const (
	RoleAlone     Role = iota // a store of this machine
	RoleLeaves                // it was a replica, and is a store of this machine from now on
	RoleBegins                // a replica that has to note how far its log is applied
	RoleContinues             // a replica that has noted it
)

// FindRole finds out what a store is from its start on, and how far its log is applied. kept is what
// the store has noted of that, if it is known. It refuses a store that would lose records, or
// confuse others.
func FindRole(kept string, known bool, s StartOptions) (at Applied, role Role, err error) {
	if known {
		at, err = ParseApplied(kept)
	}
	switch {
	case err != nil:
		return at, RoleAlone, fault.Wrap(fault.Unavailable, err, "the store does not say where in its shared log it stands").
			WithHint("join the other machines anew: ctxd sync join --again")
	case known && s.Leave:
		return at, RoleLeaves, nil
	case known && s.Replace:
		return at, RoleAlone, nil
	case !s.Log && known:
		return at, RoleAlone, fault.New(fault.Unavailable, "the store is shared with other machines, and this start does not know their servers").
			WithHint("set store.sync.url to the address of their servers again")
	case !s.Log || s.Leave:
		return at, RoleAlone, nil
	case s.LogStart != nil: // it is known if a start was interrupted, or another log is begun
		return Applied{Position: *s.LogStart}, RoleBegins, nil
	case !known && !s.Empty:
		return at, RoleAlone, fault.New(fault.Unavailable, "the store has records that the shared log knows nothing of").
			WithHint("begin a shared store with them, ctxd sync init --again, or join one: ctxd sync join --again")
	case !known: // an empty store: note the beginning before there are records
		return at, RoleBegins, nil
	}
	return at, RoleContinues, nil
}

// MayBeStale reports whether a refusal may be wrong, since others have changed the records that it
// comes of.
func MayBeStale(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Conflict || kind == fault.NotFound
}

// OvertakenError is the error of a transaction that others were ahead of each time it ran.
func OvertakenError() error {
	e := fault.Clash(fault.Busy, "other machines were first each time that this was tried").WithHint("try it again")
	e.Retryable = true
	return e
}
