package turn

// ChatShownReference is a note or a memory that messages refer to, as it is now.
type ChatShownReference struct {
	Label     string   `json:"label" jsonschema:"what to show: the alias of the link, else the title of the note with the heading that is meant, else the title. A note that is gone is called as the link calls it, a memory by its summary or statement, an entity by its name, a passage by book, section and page"`
	Summary   string   `json:"summary,omitempty" jsonschema:"of a note: what it is about, in a line, when the message was said; absent where it has no text"`
	NoteID    string   `json:"noteId,omitempty" jsonschema:"id of the note; absent where the link leads to none, and for a memory"`
	EntityID  string   `json:"entityId,omitempty" jsonschema:"id of an entity that the user named; noteId is that of the note that it is made from, if it is"`
	PassageID string   `json:"passageId,omitempty" jsonschema:"in the place of a note: id of a passage of a book"`
	Kind      string   `json:"kind,omitempty" enum:"attachment" jsonschema:"attachment where the link leads to a file that is no note; else absent"`
	Path      string   `json:"relativePath,omitempty" jsonschema:"path of the note or the file in its vault now; of one that is gone, when the message was said"`
	URI       string   `json:"uri,omitempty" jsonschema:"where the note can be opened: ctxd://note/ID#Heading, or ctxd://entity/ID for an entity, see ctxd open; absent without noteId and entityId"`
	Status    string   `json:"status" enum:"ok,broken,ambiguous,deleted" jsonschema:"whether the note is there now: it is; no note is called so, or it is archived; several are called so; it is gone"`
	Reason    string   `json:"reason,omitempty" jsonschema:"what is to be said of it, for people: why it is not ok, or that it has no such heading"`
	Clickable bool     `json:"clickable" jsonschema:"whether uri leads to a note that is there"`
	Spans     [][2]int `json:"spans" jsonschema:"places of the links in the content of the message: UTF-16 code units, half-open; none for a whole conversation"`
	Used      bool     `json:"used" jsonschema:"whether the answer stands on it: a model has read of a note, the answer cites a memory or a passage, or has words of a memory that a tool gave"`
	Type      string   `json:"referenceType,omitempty" enum:"direct,search" jsonschema:"of a note: a link names it, or a tool or a search has found it"`
	Tools     []string `json:"tools,omitempty" jsonschema:"the tools that showed it, in order"`
	Wikilink  string   `json:"wikilink,omitempty" jsonschema:"of a note: the link as it was typed first, or one that led to it"`
	Snippet   string   `json:"contextSnippet,omitempty" jsonschema:"what of the note was shown, or how it was found"`
	Messages  []string `json:"messageIds" jsonschema:"ids of the messages that refer to it, in order"`
	MemoryID  string   `json:"memoryId,omitempty" jsonschema:"in the place of a note: id of a memory"`
	Ref       string   `json:"ref,omitempty" jsonschema:"of a memory what # names it by, of an entity what @ does"`
}
