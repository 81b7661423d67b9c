package record

import (
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Note is one note as clients see it. A store keeps more beside it (see notes.Note).
type Note struct {
	ID          string     `json:"id" jsonschema:"id of the note"`
	Title       string     `json:"title" jsonschema:"its title"`
	Body        string     `json:"body" jsonschema:"its text, Markdown"`
	Kind        string     `json:"kind,omitempty" jsonschema:"canvas or base for a note that is read from such a file: its body is the text of the cards, or the source; absent for Markdown"`
	Path        string     `json:"path,omitempty" jsonschema:"its path, with / between folders"`
	Folder      string     `json:"folder,omitempty" jsonschema:"its folder"`
	Tags        []string   `json:"tags" jsonschema:"its tags, those in the text included"`
	Aliases     []string   `json:"aliases" jsonschema:"its other titles"`
	Private     bool       `json:"private" jsonschema:"whether it is kept from remote models"`
	VaultBacked bool       `json:"vaultBacked" jsonschema:"whether it comes from a file; it then changes only with the file"`
	CreatedAt   time.Time  `json:"createdAt" jsonschema:"when it was made"`
	UpdatedAt   time.Time  `json:"updatedAt" jsonschema:"time of the last change; it never goes back, except for a note of a vault, where it is the time of the file"`
	ArchivedAt  *time.Time `json:"archivedAt,omitempty" jsonschema:"when it was archived; absent while it is not"`
	Version     int        `json:"version" jsonschema:"counts its changes, from 1"`
	EntityID    string     `json:"entityId,omitempty" jsonschema:"the entity made from it"`
}

// Live reports whether the note exists and is not archived.
func (n *Note) Live() bool { return n != nil && n.ArchivedAt == nil }

// Withheld stands in a text in the place of what names a private record, for a reader who
// may not know of it.
const Withheld = "(private)"

// NoteLink is one link of a note to another: a wikilink, or a Markdown link to a file.
type NoteLink struct {
	Target     string            `json:"target" jsonschema:"what the link says"`
	Heading    string            `json:"heading,omitempty" jsonschema:"the heading that it points to"`
	Block      string            `json:"block,omitempty" jsonschema:"the block that it points to"`
	Alias      string            `json:"alias,omitempty" jsonschema:"the text shown instead"`
	Embed      bool              `json:"embed" jsonschema:"whether it is an embed, ![[…]]"`
	Markdown   bool              `json:"markdown,omitempty" jsonschema:"whether it is a Markdown link, [text](file.md); absent for a wikilink"`
	Line       int               `json:"line" jsonschema:"line of the link, from 1"`
	Kind       string            `json:"kind,omitempty" jsonschema:"attachment for a file that is no note; absent for a note"`
	ID         string            `json:"id,omitempty" jsonschema:"the linked note; absent when there is none"`
	Title      string            `json:"title,omitempty" jsonschema:"title of that note"`
	Link       string            `json:"link,omitempty" jsonschema:"what stands between [[ and ]] in a link to that note from anywhere, where others are called so; absent: its title"`
	Vault      string            `json:"vault,omitempty" jsonschema:"vault of that note; absent when the reader sees one vault at most"`
	Path       string            `json:"path,omitempty" jsonschema:"path of that note or file"`
	Candidates []fault.Candidate `json:"candidates,omitempty" jsonschema:"the notes that an ambiguous link may mean"`
}

// NoteBacklink is a note that links to another, with the line of its first link.
type NoteBacklink struct {
	ID    string `json:"id" jsonschema:"the note that links here"`
	Title string `json:"title" jsonschema:"its title"`
	Link  string `json:"link,omitempty" jsonschema:"what stands between [[ and ]] in a link to it, where other notes are called so; absent: its title"`
	Vault string `json:"vault,omitempty" jsonschema:"its vault; absent when the reader sees one vault at most"`
	Path  string `json:"path,omitempty" jsonschema:"its path"`
	Line  int    `json:"line" jsonschema:"line of its first link, from 1"`
	Count int    `json:"count" jsonschema:"how many of its links lead here"`
}

// NoteUnresolved is a name that links have, and no note and no file.
type NoteUnresolved struct {
	Target string         `json:"target" jsonschema:"the name or path as first written"`
	Count  int            `json:"count" jsonschema:"links that have it, every occurrence"`
	From   []NoteBacklink `json:"from" jsonschema:"the notes that contain them, at most 20, by path; count is of these links"`
	// Candidates are the notes that an ambiguous link could mean.
	Candidates []fault.Candidate `json:"candidates,omitempty" jsonschema:"the notes that an ambiguous link may mean"`
}

// NoteTag is a tag and the number of live notes that have it.
type NoteTag struct {
	Name  string `json:"name" jsonschema:"the tag, without #"`
	Count int    `json:"count" jsonschema:"notes with it"`
}
