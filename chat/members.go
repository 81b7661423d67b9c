package chat

// UnknownMembers hold the members of a stored record that this program does not know, as a later one may write them,
// when the record is written again, exported or imported (CHAT-4).
//
// The records of this package embed them. All functions are safe for concurrent use; a record belongs to the caller
// that has decoded it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// UnknownMembers holds the members of a record that this program does not know. A record embeds it.
type UnknownMembers struct {
	Members map[string]json.RawMessage `json:"-"`
}

// membersCodec is that of records as JSON. of returns the Unknown of a record.
func membersCodec[T any](of func(*T) *UnknownMembers) kv.Codec[T] {
	return kv.Codec[T]{
		Encode: func(v *T) (string, error) {
			data, err := json.Marshal(v)
			if err != nil || len(of(v).Members) == 0 {
				return string(data), err
			}
			all := make(map[string]json.RawMessage)
			if err := json.Unmarshal(data, &all); err != nil {
				return "", err
			}
			for name, value := range of(v).Members {
				if _, ours := all[name]; !ours {
					all[name] = value
				}
			}
			data, err = json.Marshal(all)
			return string(data), err
		},
		Decode: func(text string) (*T, error) {
			v := new(T)
			strict := json.NewDecoder(strings.NewReader(text))
			strict.DisallowUnknownFields()
			if strict.Decode(v) == nil && !strict.More() {
				return v, nil // as nearly all of them
			}
			v = new(T)
			if err := json.Unmarshal([]byte(text), v); err != nil {
				return nil, err
			}
			all := make(map[string]json.RawMessage)
			if err := json.Unmarshal([]byte(text), &all); err != nil {
				return nil, err
			}
			for name := range knownMembers[T]() {
				delete(all, name)
			}
			if len(all) > 0 {
				of(v).Members = all
			}
			return v, nil
		},
	}
}

// appendMembers appends a record as a JSON object: the members that this program knows in their order, and then the others
// by their names. The same record gives the same bytes.
func appendMembers(b []byte, known any, others UnknownMembers) ([]byte, error) {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	put := func(v any) error {
		err := enc.Encode(v)
		buf.Truncate(buf.Len() - len("\n"))
		return err
	}
	if err := put(known); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(others.Members)) {
		buf.Truncate(buf.Len() - len("}"))
		buf.WriteByte(',')
		if err := put(name); err != nil {
			return nil, err
		}
		buf.WriteByte(':')
		value, err := json.Marshal(others.Members[name]) // in the form in which a record keeps it
		if err != nil {
			return nil, err
		}
		buf.Write(value)
		buf.WriteByte('}')
	}
	return buf.Bytes(), nil
}

// parseMembers reads a record with members that are not known. One that stands twice, or is a known one in another
// case, is refused: who reads it next might take the other value. The errors are Invalid and tell no word of the text.
func parseMembers[T any](data []byte, of func(*T) *UnknownMembers) (*T, error) {
	if !utf8.Valid(data) {
		return nil, fault.New(fault.Invalid, "it is not UTF-8")
	}
	all, err := membersOf(data)
	if err != nil {
		return nil, err
	}
	names := knownMembers[T]()
	for name := range names {
		for other := range all {
			if other != name && strings.EqualFold(other, name) {
				return nil, fault.Field(name, "its member %s is not written like that", name)
			}
		}
	}
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		var typ *json.UnmarshalTypeError
		if errors.As(err, &typ) && typ.Field != "" {
			return nil, fault.Field(typ.Field, "its member %s has the wrong type", typ.Field)
		}
		return nil, fault.New(fault.Invalid, "a member of it has a wrong value")
	}
	for name := range names {
		delete(all, name)
	}
	if len(all) > 0 {
		of(v).Members = all
	}
	return v, nil
}

// membersOf returns the members of a JSON object.
func membersOf(data []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fault.New(fault.Invalid, "it is no JSON object")
	}
	all := make(map[string]json.RawMessage)
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err == nil && ok {
			err = dec.Decode(&value)
		}
		if err != nil || !ok {
			return nil, fault.New(fault.Invalid, "it is no JSON object")
		}
		if _, twice := all[name]; twice {
			return nil, fault.New(fault.Invalid, "a member of it stands there twice")
		}
		all[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fault.New(fault.Invalid, "it is no JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "something stands behind it")
	}
	return all, nil
}

// knownMembers are the names of the members of a record that this program knows.
func knownMembers[T any]() map[string]bool {
	names := make(map[string]bool)
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}
