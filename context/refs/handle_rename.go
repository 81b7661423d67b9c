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
