package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// wholeOnly refuses readers who do not see everything.
func wholeOnly(v *audience.View) error {
	if v.Hides() {
		return fault.New(fault.Unavailable, "this is not for remote models").
			WithHint("connect as a local reader: what is private is among it")
	}
	return nil
}

// Whole gives a conversation as it is stored, and those of its messages that have the numbers from first to last,
// until yield says that it has enough. What is given must not be changed. The errors are NotFound, and
// Unavailable for a reader who does not see everything. O(messages that are given).
func (s *Store) Whole(ctx context.Context, v *audience.View, ref string, first, last int,
	yield func(m *Message) (more bool, err error),
) (whole *Record, err error) {
	if err := wholeOnly(v); err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := s.find(tx, v, ref)
		if err != nil {
			return err
		}
		whole = c
		for index := max(first, 1); index <= min(last, c.All.Messages); index++ {
			m, err := Messages.Get(tx, messageKey(c.ID, index))
			if err != nil {
				return err
			}
			if m == nil {
				continue
			}
			if more, err := yield(m); err != nil || !more {
				return err
			}
		}
		return nil
	})
	return whole, err
}

// AppendJSON appends the conversation as it is stored as a JSON object: the members that this program knows in their
// order, and then the others by their names. The same record gives the same bytes.
func (c *conversation) AppendJSON(b []byte) ([]byte, error) { return appendJSON(b, c, c.members) }

// AppendJSON is that of a conversation.
func (m *message) AppendJSON(b []byte) ([]byte, error) { return appendJSON(b, m, m.members) }

func appendJSON(b []byte, known any, others map[string]json.RawMessage) ([]byte, error) {
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
	for _, name := range slices.Sorted(maps.Keys(others)) {
		buf.Truncate(buf.Len() - len("}"))
		buf.WriteByte(',')
		if err := put(name); err != nil {
			return nil, err
		}
		buf.WriteByte(':')
		value, err := json.Marshal(others[name]) // in the form in which a record keeps it
		if err != nil {
			return nil, err
		}
		buf.Write(value)
		buf.WriteByte('}')
	}
	return buf.Bytes(), nil
}

// ParseRecord reads what AppendJSON has written of a conversation. The errors are Invalid.
func ParseRecord(data []byte) (*Record, error) {
	return parseJSON(data, func(c *conversation) *unknown { return &c.unknown })
}

// ParseMessage reads what AppendJSON has written of a message. The errors are Invalid.
func ParseMessage(data []byte) (*Message, error) {
	return parseJSON(data, func(m *message) *unknown { return &m.unknown })
}

// parseJSON reads a record with members that are not known. One that stands twice, or is a known one in another
// case, is refused: who reads it next might take the other value. The errors tell no word of the text.
func parseJSON[T any](data []byte, of func(*T) *unknown) (*T, error) {
	if !utf8.Valid(data) {
		return nil, fault.New(fault.Invalid, "it is not UTF-8")
	}
	all, err := membersOf(data)
	if err != nil {
		return nil, err
	}
	names := known[T]()
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
		of(v).members = all
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

// References returns the JSON of what a message stands on, as it is stored; nil for nothing.
func (m *message) References() json.RawMessage { return m.members[referencesMember] }

// plainTime is a time as records carry it.
func plainTime(t *time.Time) {
	if t != nil && !t.IsZero() {
		*t = t.UTC().Truncate(time.Millisecond)
	}
}

// checkTimes refuses times of a record that nothing can have been said at.
func (s *Store) checkTimes(of map[string]*time.Time) error {
	now := s.opts.Now()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		plainTime(of[name])
		if !mayBeSaidAt(*of[name], now) {
			return fault.Field(name, "%s is before 1960 or in the future", name)
		}
	}
	return nil
}

// times are those of a record, by the names of its members.
func (c *conversation) times() map[string]*time.Time {
	return map[string]*time.Time{"createdAt": &c.CreatedAt, "changedAt": &c.ChangedAt}
}

func (m *message) times() map[string]*time.Time {
	return map[string]*time.Time{"createdAt": &m.CreatedAt, "addedAt": &m.AddedAt}
}
