package document

import (
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/notes/markdown"
)

// The fields of a message, by their numbers.
const (
	Said = iota
	Code
)

// fields are the fields of messages. The weights are those of quality.golden.
var fields = []text.Field{
	Said: {Name: "said", Weight: 2, Counted: true},
	Code: {Name: "code", Weight: 1, Counted: true},
}

// chunksVersion says how messages are split; see notedoc.
const chunksVersion = "message 1"

// doc is a message as it is found.
type doc struct {
	m      *chat.Message
	key    string
	hidden bool // from remote readers
}

// Recalled returns the message that a Doc of a Source of messages is as a ranking sees it, for a public
// search numbered among those that are not private.
func Recalled(d text.Doc, public bool) *recall.Message {
	conversation, m := Message(d)
	out := &recall.Message{ID: m.ID, Conversation: conversation, Index: m.Index, Role: m.Role, CreatedAt: m.CreatedAt}
	if public {
		out.Index = m.PublicIndex
	}
	return out
}

func (d doc) ID() string           { return d.key }
func (d doc) Title() string        { return "" }
func (d doc) Version() uint64      { return 1 } // what was said does not change
func (d doc) UpdatedAt() time.Time { return d.m.CreatedAt }
func (d doc) Private() bool        { return d.hidden }
func (d doc) Size() int            { return len(d.m.Content) }

// Plain is what was said as it stands: a snippet shows where in the message it is.
func (d doc) Plain() string { return d.m.Content }

// Fields gives what was said and the code in it.
func (d doc) Fields(visit func(int, string) bool) {
	for part, isCode := range parts(d.m.Content) {
		field := Said
		if isCode {
			field = Code
		}
		if !visit(field, part) {
			return
		}
	}
}

// Stored gives the texts that Fields are made of.
func (d doc) Stored(visit func(string)) { visit(d.m.Content) }

// Chunks gives a vector to each part of what was said. Code has one only where nothing else was said.
// Who said it and on which day stand in no vector: with them fewer answers are found (README.md of
// package chat).
func (d doc) Chunks() (list []text.Chunk) {
	said := text.Parts(markdown.PlainText(prose(d.m.Content)))
	if len(said) == 0 {
		said = text.Parts(d.m.Content)
	}
	for _, part := range said {
		list = append(list, text.Chunk{Text: part})
	}
	return list
}

// ChunkedFrom returns the version of Chunks, and what they are made of.
func (d doc) ChunkedFrom() []string { return []string{chunksVersion, d.m.Content} }
