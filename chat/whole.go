package chat

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

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
func (c *conversation) AppendJSON(b []byte) ([]byte, error) {
	return appendMembers(b, c, c.UnknownMembers)
}

// AppendJSON is that of a conversation.
func (m *message) AppendJSON(b []byte) ([]byte, error) { return appendMembers(b, m, m.UnknownMembers) }

// ParseRecord reads what AppendJSON has written of a conversation. The errors are Invalid.
func ParseRecord(data []byte) (*Record, error) {
	return parseMembers(data, func(c *conversation) *UnknownMembers { return &c.UnknownMembers })
}

// ParseMessage reads what AppendJSON has written of a message. The errors are Invalid.
func ParseMessage(data []byte) (*Message, error) {
	return parseMembers(data, func(m *message) *UnknownMembers { return &m.UnknownMembers })
}

// References returns the JSON of what a message stands on, as it is stored; nil for nothing.
func (m *message) References() json.RawMessage { return m.Members[ReferencesMember] }

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
		if !plausibleTime(*of[name], now) {
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
