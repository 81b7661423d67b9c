package owner

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs/handle"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Owner is who has a handle.
type Owner struct {
	Kind string `json:"kind"` // Memory or Context
	ID   string `json:"id"`
}

// The kinds of owners.
const (
	Memory  = "memory"
	Context = "context"
)

// Handles are the owners by folded handle.
var Handles = kv.NewCollection("memory-handle", ownerCodec)

// The bytes that begin the record of an owner. The id follows. Up to format 9 of the store it was JSON.
const (
	memoryForm  = "\x01"
	contextForm = "\x02"
)

var (
	ownerCodec = kv.Codec[Owner]{Encode: encode, Decode: decode}
	ownerJSON  = kv.JSON[Owner]()
)

func encode(by *Owner) (string, error) {
	switch by.Kind {
	case Memory:
		return memoryForm + by.ID, nil
	case Context:
		return contextForm + by.ID, nil
	}
	return "", fmt.Errorf("an owner of the kind %q", by.Kind)
}

func decode(stored string) (*Owner, error) {
	if id, ok := strings.CutPrefix(stored, memoryForm); ok {
		return &Owner{Kind: Memory, ID: id}, nil
	}
	if id, ok := strings.CutPrefix(stored, contextForm); ok {
		return &Owner{Kind: Context, ID: id}, nil
	}
	return ownerJSON.Decode(stored)
}

// tries are how many handles are made until one is free. Behind handle.Tries come those of a
// random handle with the long ending.
const tries = handle.Tries + 4

// errRandom is what handles are made without.
var errRandom = errors.New("no random numbers for a handle")

// Folds returns the folds of all handles of a record.
func Folds(own string, former []string) []string {
	list := make([]string, 0, 1+len(former))
	for _, h := range append([]string{own}, former...) {
		list = append(list, handle.Fold(h))
	}
	return list
}

// MemoryHandled returns what a memory is called.
func MemoryHandled(m *record.MemoryRecord) audience.Handled {
	return audience.Handled{
		Kind: handle.Memory, ID: m.ID, Handles: append([]string{m.Handle}, m.Aliases...), Private: m.Private, NoteID: m.Source.NoteID,
	}
}

// ContextHandled returns what a context is called.
func ContextHandled(c *record.Context) audience.Handled {
	return audience.Handled{
		Kind: handle.Context, ID: c.ID, Handles: append([]string{c.Handle}, c.Aliases...), Name: c.Name, Private: c.Private,
	}
}

// Release takes the handles from a record that is deleted. What a private one was called stays private. note tells of a
// note, inside the transaction, whether it is private; nil: none is.
func Release(tx *kv.Tx, h audience.Handled, note func(tx *kv.Tx, id string) (private, found bool, err error)) error {
	for _, own := range h.Handles {
		if err := Handles.Delete(tx, handle.Fold(own)); err != nil {
			return err
		}
	}
	if !h.Private && h.NoteID != "" && note != nil {
		var err error
		if h.Private, _, err = note(tx, h.NoteID); err != nil {
			return err
		}
	}
	return audience.KeepHandledTx(tx, h)
}

// Has reports whether a record is found by its handles, also the former ones.
func Has(tx *kv.Tx, is Owner, own string, former []string) (bool, error) {
	for _, h := range Folds(own, former) {
		by, err := Handles.Get(tx, h)
		if err != nil || by == nil || *by != is {
			return false, err
		}
	}
	return true, nil
}

// Mend takes the handles of a record unless another has them. It returns whether the record has
// its own, and which of the former ones.
func Mend(tx *kv.Tx, by Owner, current string, aliases []string) (own bool, former []string, err error) {
	take := func(h string) (bool, error) {
		has, err := Handles.Get(tx, handle.Fold(h))
		if err != nil || has != nil {
			return has != nil && *has == by, err
		}
		return true, Handles.Put(tx, handle.Fold(h), &by)
	}
	if own, err = take(current); err != nil {
		return false, nil, err
	}
	former = []string{}
	for _, h := range aliases {
		has, err := take(h)
		if err != nil {
			return false, nil, err
		}
		if has {
			former = append(former, h)
		}
	}
	return own, former, nil
}

// Names give handles that nobody has.
type Names struct {
	// Elsewhere tells whether something else than a memory or a context has a handle,
	// inside a transaction. nil: nothing has.
	Elsewhere func(tx *kv.Tx, folded string) (bool, error)
}

// Claim takes a handle, or says that it is taken.
func (n Names) Claim(tx *kv.Tx, h string, by Owner) error {
	free, err := n.Free(tx, handle.Fold(h))
	if err != nil {
		return err
	}
	if !free {
		return (&fault.Error{
			Kind: fault.Conflict, Ref: h, Field: "handle", Msg: "the handle is taken",
		}).WithHint("choose another one")
	}
	return Handles.Put(tx, handle.Fold(h), &by)
}

// Choose takes the first handle that nobody has of those that candidate makes, which gets the number
// of the try, from 0.
func (n Names) Choose(tx *kv.Tx, by Owner, candidate func(try int) (string, error)) (h string, err error) {
	for try := range tries {
		h, err := candidate(try)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errRandom, err)
		}
		free, err := n.Free(tx, handle.Fold(h))
		if err != nil {
			return "", err
		}
		if free {
			return h, Handles.Put(tx, handle.Fold(h), &by)
		}
	}
	return "", fmt.Errorf("%w: all that were tried are taken", errRandom)
}

// Free reports whether nothing has a handle, of which it gets the fold.
func (n Names) Free(tx *kv.Tx, folded string) (bool, error) {
	taken, err := Handles.Has(tx, folded)
	if err != nil || taken || n.Elsewhere == nil {
		return !taken, err
	}
	taken, err = n.Elsewhere(tx, folded)
	return !taken, err
}
