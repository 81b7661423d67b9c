package protocol

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Optional is a member that may be absent, null or a value. The zero value is
// an absent one; tag it omitzero.
type Optional[T any] struct {
	Value T
	Set   bool // the member was there
	Null  bool // and it was null; Value is the zero value then
}

// Some returns an Optional that holds v.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }

// Null returns an Optional that is null.
func Null[T any]() Optional[T] { return Optional[T]{Set: true, Null: true} }

// Inner is the type of the value, for the document of the protocol.
func (o Optional[T]) Inner() reflect.Type { return reflect.TypeFor[T]() }

// IsZero reports whether the member is absent; encoding/json asks it.
func (o Optional[T]) IsZero() bool { return !o.Set }

// Pointer returns nil for an absent member and a pointer to the value
// otherwise, which is the zero value for a null: what a null clears.
func (o Optional[T]) Pointer() *T {
	if !o.Set {
		return nil
	}
	v := o.Value
	return &v
}

// MarshalJSON encodes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

// UnmarshalJSON decodes a value or null.
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	*o = Optional[T]{Set: true}
	if bytes.Equal(data, []byte("null")) {
		o.Null = true
		return nil
	}
	return json.Unmarshal(data, &o.Value)
}

// Target marks the member as there and returns a pointer to its value, for a
// decoder that fills it in itself.
func (o *Optional[T]) Target(null bool) any {
	*o = Optional[T]{Set: true, Null: null}
	return &o.Value
}
