package chat

import (
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// Record is a conversation as it is stored: for who follows changes.
type Record = conversation

// Live reports whether a conversation is not archived.
func (c *conversation) Live() bool { return c.ArchivedAt == nil }

// VisibleChange reads a change of a conversation as a reader is told of it. ok is false for any other change, and
// for one by which nothing changes for the reader: a private message that was added.
func VisibleChange(ch kv.Change, v *audience.View) (old, now *Record, ok bool) {
	old, now, ok = Conversations.Of(ch)
	if !ok || !v.Hides() {
		return old, now, ok
	}
	if !sees(v, old) {
		old = nil
	}
	if !sees(v, now) {
		now = nil
	}
	if old == nil || now == nil {
		return old, now, old != now
	}
	same := old.Public == now.Public && old.Version-old.Unseen == now.Version-now.Unseen &&
		old.Decided-old.DecidedUnseen == now.Decided-now.DecidedUnseen
	return old, now, !same
}
