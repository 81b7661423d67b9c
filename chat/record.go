package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
)

// conversation is a conversation as it is stored.
type conversation struct {
	ID         string     `json:"id"`
	Handle     string     `json:"handle"`
	Aliases    []string   `json:"aliases,omitempty"` // former handles
	Title      string     `json:"title,omitempty"`   // as it was set; empty: that of a message
	Private    bool       `json:"private,omitempty"`
	ArchivedAt *time.Time `json:"archivedAt,omitempty"`
	CreatedAt  time.Time  `json:"createdAt"`
	ChangedAt  time.Time  `json:"changedAt"` // of the conversation itself, without messages
	Version    int        `json:"version"`

	// The handle was made of a title, or of the message with an index.
	HandleTitle   string `json:"handleTitle,omitempty"`
	HandleMessage int    `json:"handleMessage,omitempty"`
	// OpenHandles are those that a remote reader may know it by, once it has been private.
	OpenHandles refs.OpenHandles `json:"openHandles,omitempty"`
	// ClosedHashes is the index of the last message whose hash was made of a handle that is not open.
	ClosedHashes int `json:"closedHashes,omitempty"`

	ClientID string `json:"clientId,omitempty"` // by which a client names it

	SystemPrompt   string   `json:"systemPrompt,omitempty"`
	Provider       string   `json:"provider,omitempty"`
	Model          string   `json:"model,omitempty"`
	MaxContext     int      `json:"maxContext,omitempty"` // tokens; 0: DefaultMaxContext
	Temperature    *float64 `json:"temperature,omitempty"`
	PinnedNotes    []string `json:"pinnedNotes,omitempty"` // ids; they may be of what is gone
	PinnedMemories []string `json:"pinnedMemories,omitempty"`

	// Changes by which nothing changed for remote readers are not counted for them.
	Unseen int       `json:"unseen,omitempty"` // how many of Version
	SeenAt time.Time `json:"seenAt,omitzero"`  // the last one that they saw; zero: as ChangedAt

	// How often it was decided about an action. It counts for nothing but that followers of changes are told.
	Decided       int `json:"decided,omitempty"`
	DecidedUnseen int `json:"decidedUnseen,omitempty"` // of them, in private messages

	Forks branchForks `json:"forks,omitempty"`      // where branches begin, by index
	Made  []madeTitle `json:"madeTitles,omitempty"` // see titleUnset

	All    counts `json:"all"`
	Public counts `json:"public"` // of messages that are not private

	UnknownMembers
}

// counts are what a conversation knows of its messages.
type counts struct {
	Messages int       `json:"messages,omitempty"` // numbers that were given
	Lost     int       `json:"lost,omitempty"`     // of them, whose messages damage to the store has taken
	User     int       `json:"user,omitempty"`     // index of the first message of a user; 0: none
	At       time.Time `json:"at,omitzero"`        // when the newest one was added
}

// lose counts a message that is not there.
func (c *counts) lose() {
	c.Messages++
	c.Lost++
}

func (c *counts) add(m *message) {
	c.Messages++
	c.keep(m)
}

// keep takes in what is known of a message that is counted.
func (c *counts) keep(m *message) {
	if m.AddedAt.After(c.At) { // one that was said elsewhere may be older than those before it
		c.At = m.AddedAt
	}
	if c.User == 0 && m.Role == roleOfTitles {
		c.User = m.Index
	}
}

// message is a message as it is stored.
type message struct {
	ID              string    `json:"id"`
	Index           int       `json:"index"`
	PublicIndex     int       `json:"publicIndex"` // among those that are not private; 0: it is private
	Hash            string    `json:"hash"`
	Role            string    `json:"role"`
	Content         string    `json:"content"`
	CreatedAt       time.Time `json:"createdAt"`
	AddedAt         time.Time `json:"addedAt"`
	Finish          string    `json:"finish"`
	ClientMessageID string    `json:"clientMessageId"`

	UnknownMembers
}

func (m *message) private() bool { return m.PublicIndex == 0 }

// place says which message has a hash, or a number among the public ones.
type place struct {
	Index   int  `json:"index"`
	Private bool `json:"private"`
}

// owner is which conversation has a handle.
type owner struct {
	ID string `json:"id"`
}

// The collections that the records lie in.
var (
	Conversations = kv.NewCollection("conversation", membersCodec(func(c *conversation) *UnknownMembers { return &c.UnknownMembers }))
	Messages      = kv.NewCollection("message", messageCodec)

	public  = kv.NewCollection("message-public", placeCodec)
	hashes  = kv.NewCollection("message-name", placeCodec)
	clients = kv.NewCollection("message-client", placeCodec)
	actions = kv.NewCollection[proposal]("message-action")
	parts   = kv.NewCollection[part]("message-part").Local() // the machine that asks the model also finishes
	handles = kv.NewCollection[owner]("conversation-handle")
	named   = kv.NewCollection[owner]("conversation-client")
)

// Ids hold no slash, so one parts them in keys. Numbers sort as they count.

func messageKey(id string, index int) string {
	digits := strconv.Itoa(index)
	return id + "/" + "00000000"[min(len(digits), 8):] + digits
}

// messagePrefix begins the keys of the messages of a conversation.
func messagePrefix(id string) string { return id + "/" }

func nameKey(id, hash string) string { return id + "/" + hash }

// clientPrefix begins the keys of the messages and conversations to which a client gave an id.
func clientPrefix(clientID string) string {
	sum := sha256.Sum256([]byte(clientID))
	return hex.EncodeToString(sum[:16]) + "/"
}

func namedKey(clientID, id string) string { return clientPrefix(clientID) + id }

func clientKey(clientID, id string, index int) string {
	return clientPrefix(clientID) + messageKey(id, index)
}
