package protocol

import (
	"time"

	"github.com/ctxd/ctxd/chat/turn"
)

// ChatNoteStats are the parameters of chat.stats.
type ChatNoteStats struct {
	Since string `json:"since,omitempty" jsonschema:"messages said on or after this date: today, yesterday, 7d, 2w, 2026-01 or 2026-01-31, or a time (RFC 3339); all when absent"`
	Limit int    `json:"limit,omitempty" min:"1" max:"1000" default:"100" jsonschema:"notes at most"`
	Reads
}

// ChatNoteStatistics is the result of chat.stats.
type ChatNoteStatistics struct {
	Notes    []turn.ChatNoteUse `json:"notes" jsonschema:"the notes that messages refer to, those that were read most often first"`
	Total    int                `json:"total" jsonschema:"how many there are, those behind the limit included"`
	Months   []turn.ChatPeriod  `json:"months" jsonschema:"the same by months, the newest first"`
	Spending *ChatSpending      `json:"spending,omitempty" jsonschema:"what was spent on language models, whatever since says; absent for a remote reader"`
}

// ChatCitationFilter are the parameters of chat.citations.
type ChatCitationFilter struct {
	NoteID string `json:"noteId" jsonschema:"id of the note"`
	All    bool   `json:"all,omitempty" jsonschema:"also messages for which the note was only found"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before; absent for the first"`
	Limit  int    `json:"limit,omitempty" min:"1" max:"1000" default:"50" jsonschema:"messages of a page"`
	Reads
}

// ChatCitations is the result of chat.citations.
type ChatCitations struct {
	Messages      []ChatCitation `json:"messages" jsonschema:"the messages, newest first"`
	Total         int            `json:"total" jsonschema:"how many there are, on all pages"`
	Conversations int            `json:"conversations" jsonschema:"of how many conversations"`
	NextCursor    string         `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// ChatCitation is a message that refers to a note.
type ChatCitation struct {
	ConversationID string    `json:"conversationId" jsonschema:"id of its conversation"`
	Handle         string    `json:"handle,omitempty" jsonschema:"handle of its conversation; absent where it would tell something private"`
	Title          string    `json:"title" jsonschema:"title of its conversation"`
	ID             string    `json:"id" jsonschema:"id of the message"`
	Index          int       `json:"index" jsonschema:"its number in the conversation, from 1"`
	Hash           string    `json:"hash,omitempty" jsonschema:"its name in the conversation; absent where it would tell something private"`
	Role           string    `json:"role" jsonschema:"user, assistant or system"`
	Private        bool      `json:"private" jsonschema:"whether it is private"`
	CreatedAt      time.Time `json:"createdAt" jsonschema:"when it was said"`
	Preview        string    `json:"preview" jsonschema:"the beginning of what it says, in one line"`
	Direct         bool      `json:"direct" jsonschema:"whether it names the note with a link"`
	Search         bool      `json:"search" jsonschema:"whether a tool or a search has found the note for it"`
	Used           bool      `json:"used" jsonschema:"whether the model has read of the note for it"`
}

// ChatGraphParams are the parameters of chat.graph.
type ChatGraphParams struct {
	Format string `json:"format,omitempty" enum:"json,dot,svg" default:"json" jsonschema:"json: the graph alone; dot, svg: also a drawing of it, for Graphviz or as SVG"`
	Nodes  int    `json:"nodes,omitempty" min:"2" max:"400" default:"100" jsonschema:"nodes at most: those with the heaviest edges"`
	Reads
}

// ChatGraph is the result of chat.graph.
type ChatGraph struct {
	Nodes     []turn.ChatGraphNode `json:"nodes" jsonschema:"the notes and conversations, the heaviest first"`
	Edges     []turn.ChatGraphEdge `json:"edges" jsonschema:"which conversation stood on which note, the heaviest first"`
	Truncated bool                 `json:"truncated,omitempty" jsonschema:"whether there is more"`
	Text      string               `json:"text,omitempty" jsonschema:"the drawing; absent with json"`
}

// ChatHighlightsParams are the parameters of chat.highlights.
type ChatHighlightsParams struct {
	MessageID      string `json:"messageId" jsonschema:"id of the message"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"id of its conversation; absent: whichever has such a message"`
	Reads
}

// ChatSuggest are the parameters of chat.suggest.
type ChatSuggest struct {
	ConversationID string `json:"conversationId" jsonschema:"id or handle of the conversation"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"50" default:"5" jsonschema:"notes at most"`
	Reads
}

var citedMethods = []Method{
	describe[ChatNoteStats, ChatNoteStatistics]("chat.stats", Read,
		"Tell how often conversations referred to each note, in all and by months, and what language models cost.",
		"A message counts once for a note. A note that was found and not read counts as found alone. One that is gone is still counted, by its id, as long as messages refer to it.",
		Example{
			`{"since":"30d","limit":1}`,
			`{"notes":[{"noteId":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","title":"Huts in the Alps","relativePath":"Travel/Huts.md","direct":2,"search":3,"used":4,"conversations":2,"last":"2026-03-04T09:00:02Z"}],"total":7,` +
				`"months":[{"month":"2026-03","notes":7,"direct":5,"search":9,"used":8,"conversations":3}],"spending":{"today":[],"total":[]}}`,
		},
	),
	describe[ChatCitationFilter, ChatCitations]("chat.citations", Read,
		"List every message that used a note, with its conversation, newest first.",
		"A message used a note when it names it with a link, or when the model has read of it for the answer. Archived conversations are looked at, too. A note that is gone is not found once no message refers to it.",
		Example{
			`{"noteId":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","limit":1}`,
			`{"messages":[{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","handle":"weekend_trip_k3x9","title":"Weekend trip","id":"26fd2706-8baf-433b-82eb-8c7fada847da","index":2,"hash":"b7k2m1",` +
				`"role":"assistant","private":false,"createdAt":"2026-03-04T09:00:02Z","preview":"In the Alps the lower paths are open.","direct":false,"search":true,"used":true}],"total":4,"conversations":2,"nextCursor":"NmZhNDU5ZWEAMjAyNg"}`,
		},
		CodeNotFound,
	),
	describe[ChatGraphParams, ChatGraph]("chat.graph", Read,
		"Show which conversations stood on which notes, as a graph or a drawing of it.",
		"The weight of an edge is the number of messages of the conversation that used the note; see chat.citations. Of a large graph the heaviest edges are given.",
		Example{
			`{"nodes":2}`,
			`{"nodes":[{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","kind":"conversation","title":"Weekend trip","messages":3},{"id":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","kind":"note","title":"Huts in the Alps","messages":2}],` +
				`"edges":[{"from":"6fa459ea-ee8a-3ca4-894e-db77e160355e","to":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","weight":2,"used":2}],"truncated":true}`,
		},
	),
	describe[ChatHighlightsParams, turn.ChatHighlights]("chat.highlights", Read,
		"Show the excerpts of notes that an answer stood on, where they stand in the notes.",
		"Excerpts are the passages that tools gave to the model. A note whose text is another one by now is stale: it has ranges, and no excerpts.",
		Example{
			`{"messageId":"26fd2706-8baf-433b-82eb-8c7fada847da"}`,
			`{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","messageId":"26fd2706-8baf-433b-82eb-8c7fada847da","index":2,"items":[` +
				`{"noteId":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","title":"Huts in the Alps","relativePath":"Travel/Huts.md","wikilink":"[[Huts in the Alps]]","ranges":[[8,36]],"excerpts":[{"line":3,"text":"The upper hut opens in June."}]},` +
				`{"noteId":"6a0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","title":"Paths","relativePath":"Travel/Paths.md","wikilink":"[[Paths]]","ranges":[[0,20]],"stale":true,"why":"changed"}]}`,
		},
		CodeNotFound,
	),
	describe[ChatSuggest, turn.ChatSuggestions]("chat.suggest", Read,
		"Suggest notes that are related to a conversation and that it does not refer to yet.",
		"Three lists are joined: notes that are linked with those of the conversation, notes that other conversations used together with them, and notes with words of what the user said last. A note gets 1/(60 + place) of each list that it is in. Archived notes are not suggested.",
		Example{
			`{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","limit":1}`,
			`{"items":[{"noteId":"6a0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","title":"Paths","relativePath":"Travel/Paths.md","reason":"link","why":"Huts in the Alps links to it"}]}`,
		},
		CodeNotFound,
	),
}
