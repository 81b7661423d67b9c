package disk

import (
	"fmt"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
)

// MaxRecordID is the longest id of a record, in bytes.
const MaxRecordID = 4096

// TypedCollection is what a collection is, whatever store it is used with.
type TypedCollection[T any] struct {
	Name   string
	Prefix string // of the keys: Name + "/"
	Codec  Codec[T]
	Local  bool // its records stay on their machine
}

// AnyCollection is what a transaction needs to know of a record's collection to make a change of it.
type AnyCollection interface {
	Decode(raw string) (any, error)
	Carry(put, stored any)
	Split(key string) (name, id string)
	IsLocal() bool
}

// IsLocal reports whether its records stay on their machine.
func (k *TypedCollection[T]) IsLocal() bool { return k.Local }

// Decode returns a *T.
func (k *TypedCollection[T]) Decode(raw string) (any, error) {
	v, err := k.Codec.Decode(raw)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Carry hands over what is known of a record that was put, nil for nothing, to the one that was read back.
func (k *TypedCollection[T]) Carry(put, stored any) {
	if put, ok := put.(*T); ok && k.Codec.Carry != nil {
		k.Codec.Carry(put, stored.(*T))
	}
}

// Split returns the name of the collection and the id of a record.
func (k *TypedCollection[T]) Split(key string) (name, id string) {
	return k.Name, strings.TrimPrefix(key, k.Prefix)
}

// IsCollectionName reports whether a collection may have a name.
func IsCollectionName(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}

// declared are the collections by name: entries of others name them, and views get records
// decoded. Collections are package variables, so all are there before a store is opened.
var declared sync.Map // of Typed

// DeclareCollection notes a collection, the first of a name.
func DeclareCollection(name string, k AnyCollection) { declared.LoadOrStore(name, k) }

// FindCollection returns the collection that a key belongs to; nil: none that the program has.
func FindCollection(key string) AnyCollection {
	name, _, _ := strings.Cut(key, "/")
	if k, ok := declared.Load(name); ok {
		return k.(AnyCollection)
	}
	return nil
}

// SafeDecode decodes a record, and turns a panic of its codec into an error.
func SafeDecode(k AnyCollection, raw string) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("codec panicked: %T", r)
		}
	}()
	return k.Decode(raw)
}

// CheckForeignWrite refuses a write of another machine that a store would not have made.
func CheckForeignWrite(key, raw string, deleted bool) error {
	name, id, ok := strings.Cut(key, "/")
	of := FindCollection(key)
	if !ok || !IsCollectionName(name) || id == "" || len(id) > MaxRecordID || of != nil && of.IsLocal() {
		return fault.New(fault.Unavailable, "another machine wrote a record that this one can't have")
	}
	if of == nil || deleted {
		return nil
	}
	if _, err := SafeDecode(of, raw); err != nil {
		return fault.Wrap(fault.Unavailable, err, "a record of %s from another machine can't be read", name).WithRef(id)
	}
	return nil
}
