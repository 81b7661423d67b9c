package refs

import (
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
)

// MaxFormerHandles is how many former handles a record has at most.
const MaxFormerHandles = 100

// HandleRename is what becomes of the handles of a record that gets another one.
type HandleRename struct {
	Handle string   // as it is stored
	Former []string // with the one that it had
	Same   bool     // it has the handle already: nothing changes
	Had    bool     // it had the handle before: it need not be claimed
}

// RenameHandle checks a handle that a person has chosen for a record with a handle and former ones.
// The errors are those of CheckCustom, and Limit for too many former handles.
func RenameHandle(kind HandleKind, own string, former []string, asked string) (r HandleRename, err error) {
	if r.Handle, err = CheckHandle(asked, kind); err != nil {
		return r, err
	}
	is := func(other string) bool { return FoldHandle(other) == FoldHandle(r.Handle) }
	r.Same, r.Had = is(own), slices.ContainsFunc(former, is)
	r.Former = append(slices.DeleteFunc(slices.Clone(former), is), own)
	if !r.Same && len(r.Former) > MaxFormerHandles {
		return r, fault.TooLarge(field, len(r.Former), MaxFormerHandles, "former handles")
	}
	return r, nil
}

// OpenHandles are the folds of those handles of a record that it got while it was public, from when it was private for
// the first time. Who sees no private records knows it by its own handle and by no other former one than these: the
// others were made of what was private then (PRIV-12). None: all of them are open, of a record that is public.
type OpenHandles []string

// Turned returns what becomes of them when a record with a handle and former ones becomes private, or public. anew tells
// that it needs another handle, since it got this one while it was private.
func (o OpenHandles) Turned(own string, former []string, private bool) (now OpenHandles, anew bool) {
	switch {
	case !private:
		return o, !slices.Contains(o, FoldHandle(own))
	case len(o) > 0:
		return o, false
	}
	for _, h := range append([]string{own}, former...) {
		now = append(now, FoldHandle(h))
	}
	return now, false
}

// Opened returns them with the handle that a public record has got.
func (o OpenHandles) Opened(handle string) OpenHandles {
	if fold := FoldHandle(handle); len(o) > 0 && !slices.Contains(o, fold) {
		return append(slices.Clip(o), fold)
	}
	return o
}

// Has reports whether a former handle of a public record is open.
func (o OpenHandles) Has(handle string) bool {
	return len(o) == 0 || slices.Contains(o, FoldHandle(handle))
}

// Part returns which former handles of a public record are open, and which are not.
func (o OpenHandles) Part(former []string) (open, closed []string) {
	open = []string{}
	for _, h := range former {
		if o.Has(h) {
			open = append(open, h)
		} else {
			closed = append(closed, h)
		}
	}
	return open, closed
}
