package record

// RefKind says how a text refers to a record.
type RefKind string

// Ref is one place of a text that refers to a record. Places are half open.
type Ref struct {
	Kind RefKind `json:"kind" enum:"memoryId,number,handle,conversation,note" jsonschema:"what it refers by"`
	Raw  string  `json:"raw" jsonschema:"as it is written, marks included"`
	// ID is the same however it is written: a handle in NFC and lower case, claim_42 for a
	// number, the target of a wikilink.
	ID    string `json:"id" jsonschema:"what it refers to: id, claim_N, handle in lower case, or title of a note"`
	Start int    `json:"start" jsonschema:"where it begins, in the unit that was asked for"`
	End   int    `json:"end" jsonschema:"where it ends, exclusive"`
}

// Refs are what a message refers to. The lists hold each target once, in the order in
// which they are mentioned first; Refs holds every mention.
type Refs struct {
	CleanText string   `json:"cleanText" jsonschema:"the text without the references; notes by their names"`
	MemoryIDs []string `json:"memoryIds" jsonschema:"ids of memories"`
	Handles   []string `json:"handles" jsonschema:"handles, numbers of memories as claim_N, and messages"`
	Notes     []string `json:"notes" jsonschema:"titles or paths of notes"`
	Refs      []Ref    `json:"refs" jsonschema:"every reference, in the order of the text"`
}

// RefCompletion is a record that somebody may mean who has typed a part of its handle.
type RefCompletion struct {
	Kind   ResolvedType `json:"kind" enum:"memory,context,conversation,entity,tag,domain" jsonschema:"what it is"`
	Handle string       `json:"handle" jsonschema:"what @ names it by; claim_N of a memory whose handle is not shown"`
	Label  string       `json:"label" jsonschema:"what it is called, or the statement, on one line"`
	ID     string       `json:"id" jsonschema:"id of the record, or the tag or domain"`
	Number uint64       `json:"number,omitempty" jsonschema:"number of a memory, for #"`
}

// RefCompletions are what a prefix may mean.
type RefCompletions struct {
	Items []RefCompletion `json:"items" jsonschema:"the records, the best first"`
}
