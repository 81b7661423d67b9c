package turn

import "time"

// ChatNoteUse counts the messages that refer to a note.
type ChatNoteUse struct {
	NoteID        string    `json:"noteId" jsonschema:"id of the note"`
	Title         string    `json:"title,omitempty" jsonschema:"its title; absent for a note that is gone"`
	Path          string    `json:"relativePath,omitempty" jsonschema:"its path in its vault; absent for a note that is gone, and for one without a file"`
	Direct        int       `json:"direct" jsonschema:"messages that name it with a link"`
	Search        int       `json:"search" jsonschema:"messages for which a tool or a search has found it"`
	Used          int       `json:"used" jsonschema:"messages for which the model has read of it"`
	Conversations int       `json:"conversations" jsonschema:"conversations with such messages"`
	Last          time.Time `json:"last" jsonschema:"when the newest of them was said"`
}

// ChatPeriod counts the references to notes in the messages of a month.
type ChatPeriod struct {
	Month         string `json:"month" jsonschema:"the month, as YYYY-MM, in the time zone of the daemon"`
	Notes         int    `json:"notes" jsonschema:"notes that messages of it refer to"`
	Direct        int    `json:"direct" jsonschema:"references by a link"`
	Search        int    `json:"search" jsonschema:"references by a tool or a search"`
	Used          int    `json:"used" jsonschema:"references to what the model has read"`
	Conversations int    `json:"conversations" jsonschema:"conversations with such messages"`
}

// ChatGraphNode is a note or a conversation of ChatGraph.
type ChatGraphNode struct {
	ID       string `json:"id" jsonschema:"id of the record"`
	Kind     string `json:"kind" enum:"conversation,note" jsonschema:"what it is"`
	Title    string `json:"title,omitempty" jsonschema:"its title; absent for a note that is gone"`
	Messages int    `json:"messages" jsonschema:"the sum of the weights of its edges, those that are left out included"`
}

// ChatGraphEdge leads from a conversation to a note that its messages stood on.
type ChatGraphEdge struct {
	From   string `json:"from" jsonschema:"id of the conversation"`
	To     string `json:"to" jsonschema:"id of the note"`
	Weight int    `json:"weight" jsonschema:"messages of the conversation that name the note, or for which the model has read of it"`
	Used   int    `json:"used" jsonschema:"of them, those for which the model has read of it"`
}

// Kinds of ChatGraphNode.
const (
	KindConversation = "conversation"
	KindNote         = "note"
)

// ChatHighlights are the excerpts of notes that an answer stood on.
type ChatHighlights struct {
	ConversationID string          `json:"conversationId" jsonschema:"id of the conversation"`
	MessageID      string          `json:"messageId" jsonschema:"id of the message"`
	Index          int             `json:"index" jsonschema:"its number in the conversation, from 1"`
	Items          []ChatHighlight `json:"items" jsonschema:"the notes, in the order of the references of the message"`
}

// ChatHighlight is a note with the excerpts of it that the model was shown.
type ChatHighlight struct {
	NoteID   string        `json:"noteId" jsonschema:"id of the note"`
	Title    string        `json:"title,omitempty" jsonschema:"its title; absent for a note that is gone"`
	Path     string        `json:"relativePath,omitempty" jsonschema:"its path in its vault; for a note that is gone, the one it had"`
	Wikilink string        `json:"wikilink,omitempty" jsonschema:"a link that led to the note when the message was said"`
	Ranges   [][2]int      `json:"ranges" jsonschema:"places of the excerpts in the body of the note as the reader sees it: UTF-16 code units, half-open; of a stale one, in the body that there was"`
	Excerpts []ChatExcerpt `json:"excerpts,omitempty" jsonschema:"what stands at each of the ranges, in their order; absent where why says so"`
	Stale    bool          `json:"stale,omitempty" jsonschema:"whether the ranges are not those of the note as it is now"`
	Why      string        `json:"why,omitempty" enum:"changed,gone,tooLong" jsonschema:"why there are no excerpts: the note has another text than the model was shown, or is gone, or the excerpts of it and of those before it are too long for one answer"`
}

// ChatExcerpt is a part of a note.
type ChatExcerpt struct {
	Line int    `json:"line" jsonschema:"line of the body in which it begins, from 1"`
	Text string `json:"text" jsonschema:"the text, whole"`
}

// Why a ChatHighlight has no excerpts.
const (
	HighlightChanged = "changed"
	HighlightGone    = "gone"
	HighlightTooLong = "tooLong"
)

// ChatSuggestions is the result of chat.suggest.
type ChatSuggestions struct {
	Items []ChatSuggestion `json:"items" jsonschema:"the notes, the best first"`
}

// ChatSuggestion is a note that is related to a conversation, which does not refer to it.
type ChatSuggestion struct {
	NoteID string `json:"noteId" jsonschema:"id of the note"`
	Title  string `json:"title" jsonschema:"its title"`
	Vault  string `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path   string `json:"relativePath,omitempty" jsonschema:"its path in its vault; absent for one without a file"`
	Reason string `json:"reason" enum:"link,together,search" jsonschema:"why it is suggested: it is linked with notes of the conversation, other conversations used it together with them, or it has words of what was said last; of several the one that says most for it"`
	Why    string `json:"why" jsonschema:"the reason in a sentence for people"`
}

// Why a ChatSuggestion is made.
const (
	SuggestLink     = "link"
	SuggestTogether = "together"
	SuggestSearch   = "search"
)
