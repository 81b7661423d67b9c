package record

// ResolvedType says what a reference leads to.
type ResolvedType string

// What a reference may lead to.
const (
	ResolvedMemory       ResolvedType = "memory"
	ResolvedContext      ResolvedType = "context"
	ResolvedConversation ResolvedType = "conversation"
	ResolvedMessage      ResolvedType = "conversation_message"
	ResolvedEntity       ResolvedType = "entity"
	ResolvedTag          ResolvedType = "tag"
	ResolvedDomain       ResolvedType = "domain"
	ResolvedNote         ResolvedType = "note"
)

// ResolvedVia says by what a reference leads there.
type ResolvedVia string

// By what a reference may lead to a record, in the order in which they are tried.
const (
	ViaMessage  ResolvedVia = "message"  // the form of a message of a conversation
	ViaID       ResolvedVia = "id"       // the id of a record
	ViaNumber   ResolvedVia = "number"   // the number of a memory
	ViaHandle   ResolvedVia = "handle"   // a handle that is stored
	ViaAlias    ResolvedVia = "alias"    // a handle that the record had before
	ViaComputed ResolvedVia = "computed" // a handle that is made of a name
	ViaName     ResolvedVia = "name"     // a name or title
)

// Resolved is what a reference leads to.
type Resolved struct {
	Type      ResolvedType `json:"type" enum:"memory,context,conversation,conversation_message,entity,tag,domain,note" jsonschema:"what the reference leads to"`
	Via       ResolvedVia  `json:"via" enum:"message,id,number,handle,alias,computed,name" jsonschema:"by what it leads there"`
	SourceID  string       `json:"sourceId" jsonschema:"id of the record; of a tag or domain itself"`
	Memories  []*Memory    `json:"memories" jsonschema:"the memory, then what holds now when it is superseded; of all else the memories that belong to it, the last changed first"`
	Message   *ChatMessage `json:"message,omitempty" jsonschema:"of a message: itself, with at most 8000 characters of what it says"`
	Total     int          `json:"total" jsonschema:"how many memories there are"`
	Truncated bool         `json:"truncated" jsonschema:"whether there are more memories than are given, or contexts below the depth that is looked at"`
}

// Renamed is a record that has got another handle. One of its members beside Kind is set.
type Renamed struct {
	Kind         ResolvedType  `json:"kind" enum:"memory,context,conversation" jsonschema:"what it is"`
	Memory       *Memory       `json:"memory,omitempty" jsonschema:"the memory"`
	Context      *Context      `json:"context,omitempty" jsonschema:"the context"`
	Conversation *Conversation `json:"conversation,omitempty" jsonschema:"the conversation"`
}
