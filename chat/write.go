package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Draft is a message to be added.
type Draft struct {
	Role            string
	Content         string
	Private         bool
	CreatedAt       time.Time // zero: now
	ClientMessageID string    // an id by which the client names it, to say it again; empty: none
	ID              string    // empty: a new one

	memories     []string         // that it stands on
	usedMemories []string         // those of them that it cites or has words of
	refs         ReferenceLists   // to notes
	stands       record.StandsOn  // on what else
	told         *ReferenceNotice // nil: no model was told of refs
	finish       string           // empty: complete
	details      details          // of an answer
	after        *int             // index of the message that it follows, in a branch of its own; nil: the last one
}

// AppendRequest are messages to be added to a conversation.
type AppendRequest struct {
	ConversationID string // empty: a new one, unless a message is a repeat
	Title          string // of a new one
	Private        bool   // of a new one
	NewID          string // of a new one; empty: it is made
	Messages       []Draft

	// MemoryIDs are what was shown to the model for the last answer of Messages. An answer that is
	// a repeat keeps what it has.
	MemoryIDs []string

	// Past tells that the messages were said elsewhere, each at its time: the conversation has
	// their times, and not those at which they are stored.
	Past      bool
	CreatedAt time.Time // of a new conversation that is Past; zero: now

	// ClientID names the conversation for the client: without ConversationID, one that the reader
	// sees and that was made with this id is meant, else a new one. Empty: none.
	ClientID string
}

// Added is what has become of messages, in their order.
type Added struct {
	ConversationID string
	Messages       []AddedMessage
}

// AddedMessage names a message. One that is private has neither index nor hash for a remote reader.
type AddedMessage struct {
	ID     string
	Index  int
	Hash   string
	Repeat bool // it was there
}

// Append adds messages in one transaction, all or none. A message with the client id of one that
// is there, and that the reader sees, is that one: nothing is stored for it. Without an id of a
// conversation such a message also says which one is meant.
//
// The errors are Invalid for what no message may be, NotFound for an unknown conversation or memory, and
// Limit for a size over its limit. Those of a message name it as "messages[i]".
func (s *Store) Append(ctx context.Context, v *audience.View, said AppendRequest) (*Added, error) {
	if n := len(said.Messages); n > MaxMany {
		return nil, fault.TooLarge("messages", n, MaxMany, "items").WithHint("give the others in another call")
	}
	if err := s.checkSaid(&said); err != nil {
		return nil, err
	}
	if err := s.standsOn(v, &said); err != nil {
		return nil, err
	}
	said.Messages = s.link(ctx, v, said.Messages)
	var out *Added
	err := s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		out, err = s.appendTx(tx, v, &said)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.tellSaid(out, &said)
	return out, nil
}

func (s *Store) checkSaid(said *AppendRequest) error {
	if len(said.Messages) == 0 {
		return fault.Field("messages", "messages is empty").WithHint("give at least one message")
	}
	if err := checkTitle(said.Title); err != nil {
		return err
	}
	if err := checkClientID("clientId", said.ClientID); err != nil {
		return err
	}
	now := s.opts.Now()
	if !said.CreatedAt.IsZero() {
		if err := checkTime(said.CreatedAt, now); err != nil {
			return err
		}
	}
	given := make(map[string]bool)
	for i := range said.Messages {
		d := &said.Messages[i]
		err := s.checkDraft(d, now)
		if err == nil && d.ClientMessageID != "" && given[d.ClientMessageID] {
			err = fault.Field("clientMessageId", "clientMessageId stands at two messages of the call").
				WithHint("give each message an id of its own")
		}
		if err != nil {
			return fault.Under(fmt.Sprintf("messages[%d]", i), err)
		}
		given[d.ClientMessageID] = true
	}
	return nil
}

func (s *Store) checkDraft(d *Draft, now time.Time) error {
	switch {
	case !slices.Contains(record.Roles, d.Role):
		return fault.Field("role", "role is none of its values").
			WithHint("give one of %s", strings.Join(record.Roles, ", "))
	case !utf8.ValidString(d.Content):
		return fault.Field("content", "content is not UTF-8").WithHint("give text in UTF-8")
	case strings.TrimSpace(d.Content) == "":
		return fault.Field("content", "content is empty").WithHint("leave the message out")
	case len(d.Content) > s.opts.Limits.Content:
		return fault.TooLarge("content", len(d.Content), s.opts.Limits.Content, "bytes").
			WithHint("give a shorter text, or several messages")
	case !d.CreatedAt.IsZero() && !plausibleTime(d.CreatedAt, now):
		return checkTime(d.CreatedAt, now)
	}
	return checkClientID("clientMessageId", d.ClientMessageID)
}

// now is the time of a transaction, as records carry it.
func (s *Store) now(tx *kv.Tx) time.Time { return tx.Now(s.opts.Now).UTC().Truncate(time.Millisecond) }

func (s *Store) appendTx(tx *kv.Tx, v *audience.View, said *AppendRequest) (*Added, error) {
	now := s.now(tx)
	for i := range said.Messages {
		d := &said.Messages[i]
		if len(d.memories) == 0 {
			continue
		}
		private, err := s.hides(tx, &Answer{Memories: d.memories}, d.Private) // one may have become private since standsOn
		if err != nil {
			return nil, err
		}
		d.Private = private
	}
	c, err := s.target(tx, v, said)
	if err != nil {
		return nil, err
	}
	fresh := c == nil
	if fresh {
		if c, err = s.create(tx, said, now); err != nil {
			return nil, err
		}
	}
	out := &Added{ConversationID: c.ID}
	stored := false
	for i := range said.Messages {
		d := &said.Messages[i]
		var m *message
		if !fresh {
			if m, err = repeated(tx, v, d.ClientMessageID, c.ID); err != nil {
				return nil, err
			}
		}
		repeat := m != nil
		if !repeat {
			if m, err = s.add(tx, c, d, said.Past, now); err != nil {
				return nil, fault.Under(fmt.Sprintf("messages[%d]", i), err)
			}
			stored = true
		}
		added := AddedMessage{ID: m.ID, Repeat: repeat}
		if visible := sees(v, c) && v.Sees(m.private()); visible {
			handleShown, err := showsHandle(tx, v, c)
			if err != nil {
				return nil, err
			}
			shown := s.shownMessage(v, c, handleShown, m)
			added.Index, added.Hash = shown.Index, shown.Hash
		}
		out.Messages = append(out.Messages, added)
	}
	if !stored {
		return out, nil
	}
	return out, Conversations.Put(tx, c.ID, c)
}

// target returns the conversation that messages are added to, nil for a new one.
func (s *Store) target(tx *kv.Tx, v *audience.View, said *AppendRequest) (*conversation, error) {
	if said.ConversationID != "" {
		c, err := s.find(tx, v, said.ConversationID)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.Under("conversationId", err)
		}
		return c, err
	}
	if said.ClientID != "" {
		return ofClient(tx, v, said.ClientID)
	}
	for i := range said.Messages {
		m, id, err := firstRepeated(tx, v, said.Messages[i].ClientMessageID, "")
		if err != nil {
			return nil, err
		}
		if m != nil {
			return Conversations.Get(tx, id)
		}
	}
	return nil, nil
}

// ofClient returns the conversation that a client made with an id, as far as a reader sees it; nil for
// none.
func ofClient(tx *kv.Tx, v *audience.View, clientID string) (*conversation, error) {
	for _, by := range named.All(tx, clientPrefix(clientID)) {
		c, err := Conversations.Get(tx, by.ID)
		if err != nil || sees(v, c) {
			return c, err
		}
	}
	return nil, tx.Err()
}

func repeated(tx *kv.Tx, v *audience.View, clientID, conversationID string) (*message, error) {
	m, _, err := firstRepeated(tx, v, clientID, conversationID+"/")
	return m, err
}

// firstRepeated returns the message to which a client gave an id, in a conversation or in any, as
// far as a reader sees it; nil for none.
func firstRepeated(tx *kv.Tx, v *audience.View, clientID, within string) (m *message, conversationID string, err error) {
	if clientID == "" {
		return nil, "", nil
	}
	prefix := clientPrefix(clientID)
	for key := range clients.All(tx, prefix+within) {
		key = strings.TrimPrefix(key, prefix)
		id, _, _ := strings.Cut(key, "/")
		c, err := Conversations.Get(tx, id)
		if err != nil {
			return nil, "", err
		}
		m, err := Messages.Get(tx, key)
		if err != nil {
			return nil, "", err
		}
		if m != nil && sees(v, c) && v.Sees(m.private()) {
			return m, id, nil
		}
	}
	return nil, "", tx.Err()
}

// create makes a conversation for messages, or for none. One that begins with private ones alone is private.
func (s *Store) create(tx *kv.Tx, said *AppendRequest, now time.Time) (*conversation, error) {
	if said.Past && !said.CreatedAt.IsZero() {
		now = said.CreatedAt.UTC().Truncate(time.Millisecond)
	}
	c := &conversation{
		ID: cmp.Or(said.NewID, s.opts.NewID()), Title: strings.TrimSpace(said.Title), CreatedAt: now, ChangedAt: now, Version: 1,
		ClientID: said.ClientID,
	}
	if c.ClientID != "" {
		if err := named.Put(tx, namedKey(c.ClientID, c.ID), &owner{c.ID}); err != nil {
			return nil, err
		}
	}
	c.Private = said.Private || len(said.Messages) > 0 && !slices.ContainsFunc(said.Messages, func(d Draft) bool { return !d.Private })
	title := c.Title
	c.HandleTitle = title
	if title == "" {
		for i, d := range said.Messages {
			if d.Role == roleOfTitles && (c.Private || !d.Private) {
				title, c.HandleMessage = TitleOf(d.Content), i+1
				break
			}
		}
	}
	return c, s.callNew(tx, c, title)
}

// add stores one message; the conversation is stored by the caller.
func (s *Store) add(tx *kv.Tx, c *conversation, d *Draft, past bool, now time.Time) (*message, error) {
	// Each sort has the limit for itself: else it would tell how many private ones there are.
	there := c.Public.Messages
	if d.Private {
		there = c.All.Messages - c.Public.Messages
	}
	if there >= s.opts.Limits.Messages {
		return nil, fullOf(s.opts.Limits.Messages)
	}
	m := &message{
		ID: cmp.Or(d.ID, s.opts.NewID()), Index: c.All.Messages + 1, Role: d.Role, Content: d.Content,
		CreatedAt: now, AddedAt: now, Finish: cmp.Or(d.finish, record.FinishComplete), ClientMessageID: d.ClientMessageID,
	}
	if !d.CreatedAt.IsZero() {
		m.CreatedAt = d.CreatedAt.UTC().Truncate(time.Millisecond)
	}
	if past {
		m.AddedAt = m.CreatedAt
	}
	if err := m.keepReferences(d); err != nil {
		return nil, err
	}
	if err := m.describe(d.details); err != nil {
		return nil, err
	}
	if err := m.follow(c, d.after); err != nil {
		return nil, err
	}
	c.All.add(m)
	if !d.Private {
		c.Public.add(m)
		m.PublicIndex = c.Public.Messages
	}
	if err := name(&s.counters, tx, c, m); err != nil {
		return nil, err
	}
	if err := m.lead(tx, c.ID); err != nil {
		return nil, err
	}
	return m, Messages.Put(tx, messageKey(c.ID, m.Index), m)
}

// Change says what becomes of a conversation; what is nil stays.
type Change struct {
	IfVersion *int
	Archived  *bool
	Settings
}

// Update changes a conversation. A change that changes nothing stores nothing. The errors are
// Invalid, NotFound, and Conflict when it has another version than IfVersion.
func (s *Store) Update(ctx context.Context, v *audience.View, ref string, ch Change) (*record.Conversation, error) {
	if err := ch.Settings.Check(v, s.rememberedBy(v)); err != nil {
		return nil, err
	}
	var out *record.Conversation
	err := s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		out, err = s.updateTx(tx, v, ref, &ch)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Store) updateTx(tx *kv.Tx, v *audience.View, ref string, ch *Change) (*record.Conversation, error) {
	c, err := s.find(tx, v, ref)
	if err != nil {
		return nil, err
	}
	if version := c.versionFor(v); ch.IfVersion != nil && *ch.IfVersion != version {
		return nil, fault.Stale("conversation", c.ID, version, *ch.IfVersion)
	}
	public, before := !c.Private, *c
	changed, seen := s.set(v, c, &ch.Settings)
	now := c.changeTime(s.now(tx))
	if ch.Archived != nil && *ch.Archived != (c.ArchivedAt != nil) {
		c.ArchivedAt, changed, seen = nil, true, true
		if *ch.Archived {
			c.ArchivedAt = &now
		}
	}
	if changed {
		if public && c.Private {
			if err := s.hide(tx, c); err != nil {
				return nil, err
			}
		}
		if public == c.Private {
			if err := s.turn(tx, c); err != nil {
				return nil, err
			}
		}
		c.changed(now, seen || s.pinsSeen(&before, c))
		if err := Conversations.Put(tx, c.ID, c); err != nil {
			return nil, err
		}
	}
	return s.shown(tx, v, c)
}

// hideMade makes private what was made from a conversation, in the transaction that makes that private.
func (s *Store) hideMade(tx *kv.Tx, id string) error {
	if s.opts.Memories != nil {
		if err := s.opts.Memories.HideConversation(tx, id); err != nil {
			return err
		}
	}
	if s.opts.Books == nil {
		return nil
	}
	return s.opts.Books.HideConversation(tx, id)
}

// hide makes private what was made from a conversation, in which messages may become private by that.
func (s *Store) hide(tx *kv.Tx, c *conversation) error {
	if err := s.hideMade(tx, c.ID); err != nil {
		return err
	}
	if err := s.hideElsewhere(tx, c); err != nil {
		return err
	}
	now, err := Conversations.Get(tx, c.ID)
	if err == nil && now != nil {
		c.Public = now.Public
	}
	return err
}

// hideElsewhere makes the messages of other conversations private that were made of those of one, and what was made of them.
// O(all messages).
func (s *Store) hideElsewhere(tx *kv.Tx, c *conversation) error {
	made, err := MadeOf(tx)
	if err != nil {
		return err
	}
	var of []Source
	for _, m := range Messages.All(tx, messagePrefix(c.ID)) {
		source := Source{MessageSource, m.ID}
		delete(made[source], c.ID) // what is private with it becomes public with it
		if len(made[source]) > 0 {
			of = append(of, source)
		}
	}
	if err := tx.Err(); err != nil || len(of) == 0 {
		return err
	}
	hidden, err := made.Hide(tx, of)
	if err != nil || s.opts.Memories == nil {
		return err
	}
	return s.opts.Memories.HideSaid(tx, hidden)
}

// changeTime is the time of a change now, which is not before that of another change or of a message, by whatever clock.
// Private messages count for nothing, since every reader is told of changes.
func (c *conversation) changeTime(now time.Time) time.Time {
	for _, before := range []time.Time{c.ChangedAt, c.Public.At} {
		if now.Before(before) {
			now = before
		}
	}
	return now
}

// Delete deletes a conversation with all its messages, also those that the reader does not see.
// The error is NotFound.
func (s *Store) Delete(ctx context.Context, v *audience.View, ref string) (id string, err error) {
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		c, err := s.find(tx, v, ref)
		if err != nil {
			return err
		}
		id = c.ID
		return deleteTx(tx, c)
	})
	return id, err
}

func deleteTx(tx *kv.Tx, c *conversation) error {
	for index := 1; index <= c.All.Messages; index++ {
		m, err := Messages.Get(tx, messageKey(c.ID, index))
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := deleteMessage(tx, c, m); err != nil {
			return err
		}
	}
	if c.ClientID != "" {
		if err := named.Delete(tx, namedKey(c.ClientID, c.ID)); err != nil {
			return err
		}
	}
	if err := deleteParts(tx, messagePrefix(c.ID)); err != nil {
		return err
	}
	if err := DeleteTrace(tx, c.ID, ""); err != nil {
		return err
	}
	for _, h := range c.handlesOf() {
		if err := handles.Delete(tx, h); err != nil {
			return err
		}
	}
	if err := audience.KeepHandledTx(tx, c.Handled()); err != nil {
		return err
	}
	return Conversations.Delete(tx, c.ID)
}

// deleteMessage deletes a message with what leads to it.
func deleteMessage(tx *kv.Tx, c *conversation, m *message) error {
	if m.ClientMessageID != "" {
		if err := clients.Delete(tx, clientKey(m.ClientMessageID, c.ID, m.Index)); err != nil {
			return err
		}
	}
	if !m.private() {
		if err := public.Delete(tx, messageKey(c.ID, m.PublicIndex)); err != nil {
			return err
		}
	}
	for key := range m.proposals(c.ID) {
		if err := actions.Delete(tx, key); err != nil {
			return err
		}
	}
	if err := hashes.Delete(tx, nameKey(c.ID, m.Hash)); err != nil {
		return err
	}
	return Messages.Delete(tx, messageKey(c.ID, m.Index))
}
