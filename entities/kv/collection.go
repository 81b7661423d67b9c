package kv

import (
	"iter"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// Codec turns records of type T into the string that is stored and back, see disk.Codec.
type Codec[T any] = disk.Codec[T]

// JSON is the default codec.
func JSON[T any]() Codec[T] { return disk.JSONCodec[T]() }

// JSONText is JSON for texts that mostly are plain ASCII, see disk.JSONTextCodec.
func JSONText() Codec[string] { return disk.JSONTextCodec() }

// Collection is a named set of records of one type, each under its id. It is
// a small value without state: declare it once as a package variable and use
// it with any store.
type Collection[T any] struct{ c *disk.TypedCollection[T] }

// NewCollection returns the collection of that name, to be called once for each: a lower-case letter,
// then lower-case letters, digits and hyphens. It panics on any other name,
// which is a mistake in the program. Without a codec, records are JSON.
func NewCollection[T any](name string, codecs ...Codec[T]) Collection[T] {
	if !disk.IsCollectionName(name) {
		panic("kv: invalid collection name " + name)
	}
	c := &disk.TypedCollection[T]{Name: name, Prefix: name + "/", Codec: JSON[T]()}
	if len(codecs) > 0 {
		c.Codec = codecs[0]
	}
	disk.DeclareCollection(name, c)
	return Collection[T]{c}
}

// With returns the same collection, whose records are written and read with another codec.
// What other machines wrote is always read with the one of NewCollection.
func (c Collection[T]) With(codec Codec[T]) Collection[T] {
	other := *c.c
	other.Codec = codec
	return Collection[T]{&other}
}

// Local says that records of the collection belong to this machine: they stay in its
// journal when the store has a log. Where a transaction writes others as well, and the
// machine stops before its own journal has it, the others remain and these do not. It
// returns the collection; call it where that is declared.
func (c Collection[T]) Local() Collection[T] {
	c.c.Local = true
	return c
}

// Name returns the collection's name.
func (c Collection[T]) Name() string { return c.c.Name }

// Get returns the record with that id, decoded afresh: the caller may change
// it. It returns nil, nil when there is none. O(log n).
func (c Collection[T]) Get(tx *Tx, id string) (*T, error) {
	raw, ok, err := tx.get(c.c.Prefix + id)
	if err != nil || !ok {
		return nil, err
	}
	v, err := c.c.Codec.Decode(raw)
	if err != nil {
		return nil, c.unreadable(id, err)
	}
	return v, nil
}

// Shared is Get for a record that is read far more often than it changes: while
// it stays the same it is decoded once, for this transaction and all later ones.
// The caller must not change it. In a View it is Get.
func (c Collection[T]) Shared(tx *Tx, id string) (*T, error) {
	if !tx.writable {
		return c.Get(tx, id)
	}
	key := c.c.Prefix + id
	raw, ok, err := tx.get(key)
	if err != nil || !ok {
		return nil, err
	}
	if have, ok := tx.s.decoded[key]; ok && have.raw == raw {
		return have.record.(*T), nil
	}
	v, err := c.c.Codec.Decode(raw)
	if err != nil {
		return nil, c.unreadable(id, err)
	}
	if len(tx.s.decoded) >= maxDecoded {
		clear(tx.s.decoded)
	}
	tx.s.decoded[key] = decodedRecord{raw: raw, record: v}
	return v, nil
}

// maxDecoded is how many records Shared keeps.
const maxDecoded = 1024

// decodedRecord is what Shared keeps of a record.
type decodedRecord struct {
	raw    string
	record any
}

// Has reports whether there is a record with that id, without decoding it.
func (c Collection[T]) Has(tx *Tx, id string) (bool, error) {
	_, ok, err := tx.get(c.c.Prefix + id)
	return ok, err
}

// Put stores v under id, replacing what was there. It keeps no reference to
// v, but a copy for Codec.Carry.
func (c Collection[T]) Put(tx *Tx, id string, v *T) error {
	switch {
	case v == nil:
		return fault.New(fault.Internal, "a nil record was put into %s", c.c.Name).WithRef(id)
	case id == "":
		return fault.Field("id", "a record of %s needs an id", c.c.Name)
	case len(id) > disk.MaxRecordID:
		return fault.TooLarge("id", len(id), disk.MaxRecordID, "bytes")
	}
	raw, err := c.c.Codec.Encode(v)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "a record of %s can't be encoded", c.c.Name).WithRef(id)
	}
	var kept any
	if c.c.Codec.Carry != nil {
		as := *v
		kept = &as
	}
	return tx.write(c.c.Prefix+id, raw, false, c.c, kept)
}

// Delete removes the record with that id, if there is one.
func (c Collection[T]) Delete(tx *Tx, id string) error { return tx.delete(c.c.Prefix+id, c.c) }

// All yields the records whose id begins with prefix, in byte order of their
// ids, each decoded afresh. An empty prefix gives the whole collection.
//
// A record that can't be decoded ends the loop; the error is kept in Tx.Err,
// and View and Update return it when their function returns nil. In Update
// the loop body may write: a record written ahead of the loop is seen if its
// id lies in the part not yet fetched, at most 256 records ahead.
func (c Collection[T]) All(tx *Tx, prefix string) iter.Seq2[string, *T] {
	return func(yield func(string, *T) bool) {
		cut := len(c.c.Prefix)
		err := tx.scan(c.c.Prefix+prefix, func(key, raw string) (bool, error) {
			v, err := c.c.Codec.Decode(raw)
			if err != nil {
				return false, c.unreadable(key[cut:], err)
			}
			return yield(key[cut:], v), nil
		})
		if err != nil && tx.err == nil {
			tx.err = err
		}
	}
}

// Of returns the record of a change before and after it, nil where there was
// none. ok is false when the change is one of another collection.
func (c Collection[T]) Of(ch Change) (old, new *T, ok bool) {
	if ch.Collection != c.c.Name {
		return nil, nil, false
	}
	old, _ = ch.Old.(*T)
	new, _ = ch.New.(*T)
	return old, new, true
}

// Diff is one typed change of a collection.
type Diff[T any] struct {
	ID       string
	Old, New *T // nil when the record was absent before, or is after
}

// Each yields the changes of cs that concern the collection, each with its
// index in cs.Changes.
func (c Collection[T]) Each(cs *ChangeSet) iter.Seq2[int, Diff[T]] {
	return func(yield func(int, Diff[T]) bool) {
		for i := 0; i < len(cs.Changes); i++ {
			old, new, ok := c.Of(cs.Changes[i])
			if ok && !yield(i, Diff[T]{cs.Changes[i].ID, old, new}) {
				return
			}
		}
	}
}

func (c Collection[T]) unreadable(id string, err error) error {
	return fault.Wrap(fault.Internal, err, "a stored record of %s can't be read", c.c.Name).WithRef(id)
}
