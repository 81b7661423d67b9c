package record

// PrivacyRule says why a record is private.
type PrivacyRule string

// The rules. A note is private by the first of folder, client, text, doubt and kept that
// holds, an entity by the first of note, source and client.
const (
	PrivacyPublic  PrivacyRule = "public"  // it is not private
	PrivacyFolder  PrivacyRule = "folder"  // the note lies in a folder that the configuration calls private
	PrivacyClient  PrivacyRule = "client"  // a client has said so
	PrivacyText    PrivacyRule = "text"    // the frontmatter of the note says so
	PrivacyDoubt   PrivacyRule = "doubt"   // the frontmatter of the note may say so
	PrivacyKept    PrivacyRule = "kept"    // the note was private, and its file is not complete
	PrivacyEarlier PrivacyRule = "earlier" // the note was private when it was written last, by a rule that is no more
	PrivacyNote    PrivacyRule = "note"    // the note that describes the entity is private
	PrivacySource  PrivacyRule = "source"  // the entity was made from a private note that it has no more
)

// The kinds of the records that privacy is told of.
const (
	KindNote   = "note"
	KindEntity = "entity"
)

// PrivacyRecord is a record and the rule by which it is private.
type PrivacyRecord struct {
	Kind   string      `json:"kind" enum:"note,entity" jsonschema:"note or entity"`
	ID     string      `json:"id" jsonschema:"id of the record"`
	Title  string      `json:"title" jsonschema:"title of the note, name of the entity"`
	Type   string      `json:"type,omitempty" jsonschema:"type of the entity"`
	Path   string      `json:"path,omitempty" jsonschema:"path of the note within its vault"`
	Rule   PrivacyRule `json:"rule" enum:"public,folder,client,text,doubt,kept,earlier,note,source" jsonschema:"why it is private; public when it is not"`
	NoteID string      `json:"noteId,omitempty" jsonschema:"with the rules note and source: the private note; with source it may no longer exist"`
	Doubt  string      `json:"doubt,omitempty" jsonschema:"what in the text of a note cannot be read for certain"`
}

// PrivacyPlace is a place where the text of a public record spells out what a private
// record is called, without a mark of a link or mention.
type PrivacyPlace struct {
	Kind  string        `json:"kind" enum:"note,entity" jsonschema:"of the public record: note or entity"`
	ID    string        `json:"id" jsonschema:"id of the public record"`
	Title string        `json:"title" jsonschema:"its title or name"`
	Path  string        `json:"path,omitempty" jsonschema:"path of a note within its vault"`
	Line  int           `json:"line,omitempty" jsonschema:"line of the text of a note, from 1; absent elsewhere"`
	Field string        `json:"field,omitempty" jsonschema:"where it is if not in the text of a note: title, aliases, tags, name or a field of the entity"`
	Text  string        `json:"text" jsonschema:"the words as written there"`
	Names PrivacyNaming `json:"names" jsonschema:"the private record that has the name"`
}

// PrivacyNaming is the private record of a PrivacyPlace.
type PrivacyNaming struct {
	Kind  string `json:"kind" enum:"note,entity" jsonschema:"note or entity"`
	ID    string `json:"id" jsonschema:"id of the private record; one of them if several have that name"`
	Title string `json:"title" jsonschema:"its title or name"`
}
