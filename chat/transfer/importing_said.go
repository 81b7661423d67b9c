package transfer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat"
)

// keyOf names a conversation among all of a file.
func keyOf(c *ForeignConversation) string { return c.Source + "/" + c.ID }

// conversationID names a conversation among those of all exports.
func conversationID(c *ForeignConversation) string {
	if key := keyOf(c); len(key) <= chat.MaxClientID {
		return key
	}
	return hashIDs(c.Source, c.ID)
}

// clientID names a message among those of all exports.
func clientID(c *ForeignConversation, m *ForeignMessage) string {
	id := keyOf(c) + "/" + m.ID
	if len(id) <= chat.MaxClientID && !strings.Contains(c.ID, "/") {
		return id
	}
	return hashIDs(c.Source, c.ID, m.ID)
}

func hashIDs(source string, ids ...string) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", ids)))
	return source + "/sha256:" + hex.EncodeToString(sum[:])
}

// said returns a conversation as package chat takes it.
func (x *fileImporter) said(c *ForeignConversation) chat.AppendRequest {
	said := chat.AppendRequest{
		Title: titleOf(c.Title), Private: x.Private || x.hidden, Past: true, CreatedAt: x.begun(c), ClientID: conversationID(c),
		Messages: make([]chat.Draft, len(c.Messages)),
	}
	at := said.CreatedAt
	for i := range c.Messages {
		m := &c.Messages[i]
		if x.store.MayBeSaidAt(m.CreatedAt) {
			at = m.CreatedAt
		}
		said.Messages[i] = chat.Draft{Role: m.Role, Content: m.Text, CreatedAt: at, ClientMessageID: clientID(c, m)}
	}
	return said
}

// begun returns when a conversation began, zero when the export does not say. Messages without a time
// get that of the one before them, the first ones this.
func (x *fileImporter) begun(c *ForeignConversation) time.Time {
	if x.store.MayBeSaidAt(c.CreatedAt) {
		return c.CreatedAt
	}
	for i := range c.Messages {
		if at := c.Messages[i].CreatedAt; x.store.MayBeSaidAt(at) {
			return at
		}
	}
	if x.store.MayBeSaidAt(c.UpdatedAt) {
		return c.UpdatedAt
	}
	return time.Time{}
}

// titleOf makes a title fit, in one line.
func titleOf(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if utf8.RuneCountInString(title) <= chat.MaxTitle {
		return title
	}
	return strings.TrimRight(string([]rune(title)[:chat.MaxTitle-1]), " ") + "…"
}

// counted is what a dry run has counted of the file, as the store knows it in other runs.
type counted struct {
	seed     maphash.Seed
	messages map[uint64]struct{}
	grown    map[uint64]int // messages of conversations
}

func newCounted() *counted {
	return &counted{seed: maphash.MakeSeed(), messages: make(map[uint64]struct{}), grown: make(map[uint64]int)}
}

// look adds to what the store knows of a conversation what was counted of it.
func (d *counted) look(key string, messages []chat.Draft, k *chat.AppendPreview) {
	there := d.grown[maphash.String(d.seed, key)]
	if there == 0 {
		return
	}
	k.ConversationID = cmp.Or(k.ConversationID, key)
	k.Room -= there
	for i := range messages {
		if _, ok := d.messages[maphash.String(d.seed, messages[i].ClientMessageID)]; ok {
			k.Repeats[i] = true
		}
	}
}

// add counts messages of a conversation.
func (d *counted) add(key string, messages []chat.Draft) {
	d.grown[maphash.String(d.seed, key)] += len(messages)
	for i := range messages {
		d.messages[maphash.String(d.seed, messages[i].ClientMessageID)] = struct{}{}
	}
}
