package gather

import (
	"context"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
)

// HandleKey names a record that has a handle.
type HandleKey struct {
	Kind refs.HandleKind
	ID   string
}

// HandleSource knows the records of some kinds. Load, Touched and Entry are called one at a time;
// Show is called concurrently.
type HandleSource interface {
	// Kinds are those of its records.
	Kinds() []refs.HandleKind
	// Load returns all records, as they are at some time while it runs.
	Load(ctx context.Context) ([]HandleKey, error)
	// Touched returns the records whose entries a commit has changed, and others where that is
	// simpler. It may be asked again about a commit that Load has seen.
	Touched(cs *kv.ChangeSet) []HandleKey
	// Entry returns the entry of a record as it is now; ok is false when it has none.
	Entry(k HandleKey) (e refs.Entry, ok bool)
	// Show returns what a remote reader is shown of an entry.
	Show(ctx context.Context, v *audience.View, e *refs.Entry) (EntryVisibility, error)
}

// EntryVisibility is what a reader is shown of an entry.
type EntryVisibility struct {
	Exists bool   // for the reader
	Handle bool   // whether the handle is shown
	Names  []bool // for each of Entry.Names, whether it is shown as it is
	Label  string
}

// finds reports whether a reader finds an entry by what was found of it; see refs.SkipEntry.
func (s *EntryVisibility) finds(name int) bool {
	switch {
	case !s.Exists:
		return false
	case name == refs.ByNumber:
		return true
	case name == refs.ByHandle:
		return s.Handle
	}
	return s.Handle && name < len(s.Names) && s.Names[name]
}
