package replicate

import (
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/commitlog"
)

// Start is how a store is opened, see the options of the same names.
type Start struct {
	Log            bool // there is one
	LogStart       *commitlog.Position
	Leave, Replace bool
	Empty          bool // the store has no records
}

// How is what a store is from its start on.
type How int

// What a store may be.
const (
	Alone     How = iota // a store of this machine
	Leaving              // one from now on
	Begins               // a replica that is to note where it stands
	Continues            // a replica that continues
)

// Stands finds out where in its log a store stands, by what it has kept of that, and what is
// to be done about it. It refuses a store that would lose records, or confuse others.
func Stands(kept string, known bool, s Start) (at commitlog.Place, how How, err error) {
	if known {
		at, err = commitlog.ParsePlace(kept)
	}
	switch {
	case err != nil:
		return at, Alone, fault.Wrap(fault.Unavailable, err, "the store does not say where in its shared log it stands").
			WithHint("join the other machines anew: ctxd sync join --again")
	case known && s.Leave:
		return at, Leaving, nil
	case known && s.Replace:
		return at, Alone, nil
	case !s.Log && known:
		return at, Alone, fault.New(fault.Unavailable, "the store is shared with other machines, and this start does not know their servers").
			WithHint("set store.sync.url to the address of their servers again")
	case !s.Log || s.Leave:
		return at, Alone, nil
	case s.LogStart != nil: // known, where a start was interrupted or another log is begun
		return commitlog.Place{Position: *s.LogStart}, Begins, nil
	case !known && !s.Empty:
		return at, Alone, fault.New(fault.Unavailable, "the store has records that the shared log knows nothing of").
			WithHint("begin a shared store with them, ctxd sync init --again, or join one: ctxd sync join --again")
	case !known: // from now on records may come that are not of the log
		return at, Begins, nil
	}
	return at, Continues, nil
}

// Disputable reports whether a refusal may come of records that others have changed.
func Disputable(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Conflict || kind == fault.NotFound
}

// Overtaken is the error of a transaction that others were ahead of each time.
func Overtaken() error {
	e := fault.New(fault.Conflict, "other machines were first each time that this was tried").WithHint("try it again")
	e.Retryable = true
	return e
}
