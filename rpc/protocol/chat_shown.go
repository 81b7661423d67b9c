package protocol

import "github.com/ctxd/ctxd/chat/turn"

// ChatReferences are the parameters of chat.references.
type ChatReferences struct {
	ConversationID string `json:"conversationId" jsonschema:"id or handle of the conversation"`
	MessageID      string `json:"messageId,omitempty" jsonschema:"id of a message; all messages of the newest branch when neither it nor index is given"`
	Index          int    `json:"index,omitempty" min:"1" jsonschema:"in the place of messageId: number of the message"`
	All            bool   `json:"all,omitempty" jsonschema:"also what was found and not used"`
	Cursor         string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before; absent for the first"`
	Limit          int    `json:"limit,omitempty" min:"1" max:"1000" default:"100" jsonschema:"references of a page"`
	Reads
}

// ChatReferenceList is the result of chat.references.
type ChatReferenceList struct {
	Items      []turn.ChatShownReference `json:"items" jsonschema:"each note and each memory once: those that were used, then those that are linked, then those that were only found, each in the order of the messages"`
	Total      int                       `json:"total" jsonschema:"how many there are, on all pages"`
	Unused     int                       `json:"unused" jsonschema:"how many were found and not used; they are among items and in total with all"`
	NextCursor string                    `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

var shownMethods = []Method{
	describe[ChatReferences, ChatReferenceList]("chat.references", Read,
		"List what a message or a conversation stood on, to show it: what each note is called, where it can be opened, and whether it is there now.",
		"A note that was renamed has its new path and title, one that is gone or archived can't be clicked, and a link that led nowhere leads to the note that has been made since. "+
			"What was said of a note, its summary and snippet, is that of then; chat.get gives all as it was. Of a conversation the newest branch counts.",
		Example{
			`{"conversationId":"weekend_trip_k3x9","index":2}`,
			`{"items":[{"label":"Huts in the Alps","summary":"Which huts are open in May.","noteId":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","relativePath":"Travel/Huts.md","uri":"ctxd://note/5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77",` +
				`"status":"ok","clickable":true,"spans":[[7,27]],"used":true,"referenceType":"direct","tools":["read_note"],"wikilink":"[[Huts in the Alps]]","contextSnippet":"Retrieved via read_note",` +
				`"messageIds":["26fd2706-8baf-433b-82eb-8c7fada847da"]}],"total":1,"unused":2}`,
		},
		CodeNotFound,
	),
}
