package memory

// Handle owners are kept here: memories and contexts share one namespace, and keep in it the handles that they had
// before. What becomes of a handle is decided inside a transaction, where two that are under way must not choose the
// same.
//
// The parts that write memories and contexts call this one, since each has to see what the other has taken. It knows
// neither, only their kinds and ids. Callers bring the transaction, and nothing here is kept between two calls.
//
// The records are of the collection memory-handle: an owner by the fold of a handle, former ones too.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// handleOwner is who has a handle.
type handleOwner struct {
	Kind string `json:"kind"` // KindMemory or KindContext
	ID   string `json:"id"`
}

// What a handle or an id leads to.
const (
	KindMemory  = "memory"
	KindContext = "context"
)

// handleOwners are the owners by folded handle.
var handleOwners = kv.NewCollection("memory-handle", ownerCodec)

// The bytes that begin the record of an owner. The id follows. Up to format 9 of the store it was JSON.
const (
	memoryForm  = "\x01"
	contextForm = "\x02"
)

var (
	ownerCodec = kv.Codec[handleOwner]{Encode: encode, Decode: decode}
	ownerJSON  = kv.JSON[handleOwner]()
)

func encode(by *handleOwner) (string, error) {
	switch by.Kind {
	case KindMemory:
		return memoryForm + by.ID, nil
	case KindContext:
		return contextForm + by.ID, nil
	}
	return "", fmt.Errorf("an owner of the kind %q", by.Kind)
}

func decode(stored string) (*handleOwner, error) {
	if id, ok := strings.CutPrefix(stored, memoryForm); ok {
		return &handleOwner{Kind: KindMemory, ID: id}, nil
	}
	if id, ok := strings.CutPrefix(stored, contextForm); ok {
		return &handleOwner{Kind: KindContext, ID: id}, nil
	}
	return ownerJSON.Decode(stored)
}

// tries are how many handles are made until one is free. Behind refs.MaxHandleTries come those of a
// random handle with the long ending.
const tries = refs.MaxHandleTries + 4

// errRandom is what handles are made without.
var errRandom = errors.New("no random numbers for a handle")

// handleFolds returns the folds of all handles of a record.
func handleFolds(own string, former []string) []string {
	list := make([]string, 0, 1+len(former))
	for _, h := range append([]string{own}, former...) {
		list = append(list, refs.FoldHandle(h))
	}
	return list
}

// HandledMemory returns what a memory is called.
func HandledMemory(m *Record) audience.Handled {
	return audience.Handled{
		Kind: refs.MemoryHandle, ID: m.ID, Handles: audience.CalledBy(m.Private, m.Handle, m.Aliases, m.OpenHandles),
		Private: m.Private, NoteID: m.Source.NoteID,
		Labels: append(labels(m.Tags, refs.NewTagHandle), labels(m.Domains, refs.NewDomainHandle)...),
	}
}

// labels returns the handles of labels and of those that they lie below, each once.
func labels(list []string, handle func(string) string) (out []string) {
	for _, label := range list {
		for fold := audience.FoldStatement(label); fold != ""; fold = fold[:max(strings.LastIndexByte(fold, '/'), 0)] {
			if h := handle(fold); !slices.Contains(out, h) {
				out = append(out, h)
			}
		}
	}
	return out
}

// HandledContext returns what a context is called.
func HandledContext(c *StoredContext) audience.Handled {
	return audience.Handled{
		Kind: refs.ContextHandle, ID: c.ID, Handles: audience.CalledBy(c.Private, c.Handle, c.Aliases, c.OpenHandles),
		Name: c.Name, Private: c.Private,
	}
}

// releaseHandles takes its handles, of which it gets the folds, from a record that is deleted. What a private one was
// called stays private. note tells of a note, inside the transaction, whether it is private; nil: none is.
func releaseHandles(tx *kv.Tx, h audience.Handled, folds []string,
	note func(tx *kv.Tx, id string) (private, found bool, err error),
) error {
	for _, fold := range folds {
		if err := handleOwners.Delete(tx, fold); err != nil {
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

// keepFormer returns the former handles of a record with one more. Where there are too many, that leads to nothing.
func keepFormer(tx *kv.Tx, former []string, own string) ([]string, error) {
	if len(former) >= refs.MaxFormerHandles {
		return former, handleOwners.Delete(tx, refs.FoldHandle(own))
	}
	return append(slices.Clip(former), own), nil
}

// ownsHandles reports whether a record is found by its handles, also the former ones.
func ownsHandles(tx *kv.Tx, is handleOwner, own string, former []string) (bool, error) {
	for _, h := range handleFolds(own, former) {
		by, err := handleOwners.Get(tx, h)
		if err != nil || by == nil || *by != is {
			return false, err
		}
	}
	return true, nil
}

// mendHandles takes the handles of a record unless another has them. It returns whether the record has
// its own, and which of the former ones.
func mendHandles(tx *kv.Tx, by handleOwner, current string, aliases []string) (own bool, former []string, err error) {
	take := func(h string) (bool, error) {
		has, err := handleOwners.Get(tx, refs.FoldHandle(h))
		if err != nil || has != nil {
			return has != nil && *has == by, err
		}
		return true, handleOwners.Put(tx, refs.FoldHandle(h), &by)
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

// handleClaims give handles that nobody has.
type handleClaims struct {
	// Elsewhere tells whether something else than a memory or a context has a handle,
	// inside a transaction. nil: nothing has.
	Elsewhere func(tx *kv.Tx, folded string) (bool, error)
}

// Claim takes a handle, or says that it is taken.
func (n handleClaims) Claim(tx *kv.Tx, h string, by handleOwner) error {
	free, err := n.Free(tx, refs.FoldHandle(h))
	if err != nil {
		return err
	}
	if !free {
		return (&fault.Error{
			Kind: fault.Conflict, Reason: fault.Exists, Ref: h, Field: "handle", Msg: "the handle is taken",
		}).WithHint("choose another one")
	}
	return handleOwners.Put(tx, refs.FoldHandle(h), &by)
}

// Choose takes the first handle that nobody has of those that candidate makes, which gets the number
// of the try, from 0.
func (n handleClaims) Choose(tx *kv.Tx, by handleOwner, candidate func(try int) (string, error)) (h string, err error) {
	for try := range tries {
		h, err := candidate(try)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errRandom, err)
		}
		free, err := n.Free(tx, refs.FoldHandle(h))
		if err != nil {
			return "", err
		}
		if free {
			return h, handleOwners.Put(tx, refs.FoldHandle(h), &by)
		}
	}
	return "", fmt.Errorf("%w: all that were tried are taken", errRandom)
}

// Free reports whether nothing has a handle, of which it gets the fold.
func (n handleClaims) Free(tx *kv.Tx, folded string) (bool, error) {
	taken, err := handleOwners.Has(tx, folded)
	if err != nil || taken || n.Elsewhere == nil {
		return !taken, err
	}
	taken, err = n.Elsewhere(tx, folded)
	return !taken, err
}
