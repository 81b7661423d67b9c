package record

// ProblemKind is what a problem of a vault, or of a place of a note, is about.
type ProblemKind string

// The kinds of problems, in the order in which vault.problems lists them. TypeInferred is a hint for an editor alone.
const (
	VaultFolder     ProblemKind = "vault.folder"
	FileSkipped     ProblemKind = "file.skipped"
	FileCopy        ProblemKind = "file.copy"
	TypeDeclaration ProblemKind = "type.declaration"
	Frontmatter     ProblemKind = "frontmatter"
	PrivateDoubt    ProblemKind = "private.doubt"
	TypeNames       ProblemKind = "type.names"
	FieldValue      ProblemKind = "field.value"
	FieldReference  ProblemKind = "field.reference"
	FieldAmbiguous  ProblemKind = "field.ambiguous"
	QueryError      ProblemKind = "query"
	LinkUnresolved  ProblemKind = "link.unresolved"
	LinkAmbiguous   ProblemKind = "link.ambiguous"
	LinkHeading     ProblemKind = "link.heading"
	LinkBlock       ProblemKind = "link.block"
	LinkChosen      ProblemKind = "link.chosen" // one of several notes, by the rules
	DuplicateTitle  ProblemKind = "duplicate.title"
	DuplicateAlias  ProblemKind = "duplicate.alias"
	DuplicatePath   ProblemKind = "duplicate.path"
	DuplicateBlock  ProblemKind = "duplicate.block"
	NoteEmpty       ProblemKind = "note.empty"
	FileExcluded    ProblemKind = "file.excluded"
	AttachmentText  ProblemKind = "attachment.text"
	TypeInferred    ProblemKind = "type.inferred"
)

// ProblemKinds are the kinds that vault.problems lists, in its order, with what they are called and what mends them where
// nothing more exact is known.
var ProblemKinds = []struct {
	Kind  ProblemKind
	Title string
	Fix   string
}{
	{VaultFolder, "The vault as a whole", "make its folder readable at its place, or remove the vault: ctxd vault forget"},
	{FileSkipped, "Files that were not read", "change the file so that it can be read, or exclude it in .ctxdignore"},
	{FileCopy, "Copies that a synchroniser left", "take over what is missing in the note, and delete the copy"},
	{TypeDeclaration, "Declarations of types that were left out", "correct the declaration"},
	{Frontmatter, "Frontmatter that cannot be read", "correct the YAML between the lines ---"},
	{PrivateDoubt, "Notes that are private because that is in doubt", "write private: true or private: false as a line of the frontmatter"},
	{TypeNames, "Types of notes that were not used", "name one type; write others as tags"},
	{FieldValue, "Values that do not fit their field", "correct the value, or the type of the field in .ctxd/types"},
	{FieldReference, "Names in fields that lead to no record", "correct the name, or write the note of it with the type that the field takes"},
	{FieldAmbiguous, "Names in fields that could mean several records", "write a link with the path of the one that is meant"},
	{QueryError, "Queries with errors", "correct the query"},
	{LinkUnresolved, "Links without a target", "correct the link, or write the note"},
	{LinkAmbiguous, "Links that could mean several notes", "name the path of the note that is meant"},
	{LinkHeading, "Links to headings that are not there", "name a heading that is there"},
	{LinkBlock, "Links to blocks that are not there", "name a block that is there"},
	{LinkChosen, "Links that mean one of several notes by the rules", "nothing need be done; a link with the path means that note alone"},
	{DuplicateTitle, "Titles that several notes have", "give one of the notes another title"},
	{DuplicateAlias, "Aliases that mean another note, too", "take the alias out of one of the notes"},
	{DuplicatePath, "Paths that differ in letter case or form only", "rename one of the files"},
	{DuplicateBlock, "Identifiers of blocks that are given twice", "give the block another identifier"},
	{NoteEmpty, "Notes without any text", "write something, or delete the file"},
	{AttachmentText, "Attachments whose text cannot be read", "replace the file by one that can be read, or exclude it in .ctxdignore; it is known by name as it is"},
	{FileExcluded, "Files that a pattern excludes", "nothing need be done; without the pattern they are read"},
}

// VaultProblem is something that is wrong in a vault.
type VaultProblem struct {
	Kind ProblemKind `json:"kind" enum:"vault.folder,file.skipped,file.copy,type.declaration,frontmatter,private.doubt,type.names,field.value,field.reference,field.ambiguous,query,link.unresolved,link.ambiguous,link.heading,link.block,link.chosen,duplicate.title,duplicate.alias,duplicate.path,duplicate.block,note.empty,attachment.text,file.excluded" jsonschema:"what it is about"`
	Path string      `json:"path" jsonschema:"the file, within the vault; . for the vault as a whole"`
	Line int         `json:"line,omitempty" jsonschema:"line of the file, from 1; absent where it is about the file as a whole"`
	What string      `json:"what" jsonschema:"what is wrong, for a person"`
	Fix  string      `json:"fix" jsonschema:"what mends it, for a person"`
	Diff string      `json:"diff,omitempty" jsonschema:"of a copy that a synchroniser left, the first 20 lines of the unified diff that makes it of its note"`
}
