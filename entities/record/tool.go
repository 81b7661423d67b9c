package record

import "encoding/json"

// Tool is what a model is told of a tool that it may call.
type Tool struct {
	Name        string          `json:"name" jsonschema:"its name"`
	Title       string          `json:"title" jsonschema:"what it is called for people"`
	Description string          `json:"description" jsonschema:"what it does, for the model"`
	Schema      json.RawMessage `json:"schema" jsonschema:"JSON schema of its arguments"`
	Proposes    bool            `json:"proposes" jsonschema:"whether it proposes a change to the user; it changes nothing either way"`
}

// ToolHow says how a record came into the result of a tool.
type ToolHow string

// How records come into results, from what shows least to what shows most.
const (
	ToolFound   ToolHow = "found"   // it was in a list of a search
	ToolShown   ToolHow = "shown"   // it was shown in part: a field, an edge, a row
	ToolRead    ToolHow = "read"    // its text was read
	ToolExcerpt ToolHow = "excerpt" // a passage of it was read
)

// ToolHows are all of them, in that order.
var ToolHows = []ToolHow{ToolFound, ToolShown, ToolRead, ToolExcerpt}

// ToolReadSnippet is the snippet of a note that read_note has read.
const ToolReadSnippet = "Retrieved via read_note"

// ToolReference is a record that the result of a tool shows: a note or a memory.
type ToolReference struct {
	NoteID  string   `json:"noteId,omitempty" jsonschema:"id of a note"`
	Path    string   `json:"path,omitempty" jsonschema:"its path"`
	Title   string   `json:"title,omitempty" jsonschema:"its title"`
	Heading string   `json:"heading,omitempty" jsonschema:"the part of it that was read"`
	Snippet string   `json:"snippet" jsonschema:"the beginning of what was read, or how it came into the result"`
	Ranges  [][2]int `json:"ranges,omitempty" jsonschema:"places of excerpts in the body of the note as the reader sees it: UTF-16 code units, half-open"`
	Hash    string   `json:"hash,omitempty" jsonschema:"SHA-256 of that body, with ranges"`

	MemoryID string `json:"memoryId,omitempty" jsonschema:"in the place of a note: id of a memory"`
	Ref      string `json:"ref,omitempty" jsonschema:"of a memory: what # names it by"`

	How   ToolHow  `json:"how" enum:"found,shown,read,excerpt" jsonschema:"how it came into the result"`
	Used  bool     `json:"used" jsonschema:"whether the model has read of it; a note that was only found it has not"`
	Tools []string `json:"tools" jsonschema:"the tools that showed it"`
}

// Types of proposals.
const (
	ProposeTask   = "createTask"
	ProposeAssign = "assignEntity"

	ProposeRemember = "remember"
	ProposeForget   = "forget"
	ProposePin      = "pin"
	ProposeSearch   = "search"
	ProposeBook     = "book"
)

// ToolProposal is a change that a model asks for, or a message orders. It waits for a person.
type ToolProposal struct {
	Type   string          `json:"type" enum:"createTask,assignEntity,remember,forget,pin,search,book" jsonschema:"what is to be done"`
	Args   json.RawMessage `json:"args" jsonschema:"what the change is made of, checked: for createTask title, details, due, entityIds and noteId; for assignEntity entityId, field and targetId; for remember statement, kind, summary, conversationId and messageId; for forget memoryId and statement; for pin conversationId, noteId, memoryId and label; for search query; for book path and conversationId"`
	Reason string          `json:"reason,omitempty" jsonschema:"why it is asked for"`
	// Edit is nil for a change that the daemon or the client makes.
	Edit *ToolEdit `json:"edit,omitempty" jsonschema:"the change of a file that the user makes: the record comes from it"`
	// Version tells whether the record has changed when the user confirms.
	Version int `json:"version,omitempty" jsonschema:"version of the entity that is to be changed"`
}

// ToolEdit is a line of the frontmatter of a file.
type ToolEdit struct {
	NoteID string `json:"noteId" jsonschema:"the note that is the file, or that a task was appended to"`
	Vault  string `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path   string `json:"path" jsonschema:"its path in the vault; the title of a note without one"`
	Field  string `json:"field" jsonschema:"key of the frontmatter; empty for a task"`
	Value  string `json:"value" jsonschema:"the link that it has then, or has beside others; empty for a task"`
	Line   string `json:"line,omitempty" jsonschema:"what stands there then, whole; absent where the reader does not see all of it"`
}

// ToolResult is what a call of a tool gives.
type ToolResult struct {
	Text       string          `json:"text" jsonschema:"the answer, for the model"`
	Error      bool            `json:"error" jsonschema:"whether the call was wrong or failed: the text says what would be right"`
	Private    bool            `json:"private" jsonschema:"whether something private went into it; never for a remote reader"`
	References []ToolReference `json:"references" jsonschema:"the notes and memories that it shows"`
	Proposal   *ToolProposal   `json:"proposal,omitempty" jsonschema:"the change that the model asks for; nothing has changed"`

	StandsOn StandsOn `json:"-"` // what it was made of beside References
}
