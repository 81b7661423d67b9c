package notes

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Note is one note. Its JSON form is the record that clients see.
type Note struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	Body        string     `json:"body"`
	Path        string     `json:"path,omitempty"`   // with /, relative to its vault
	Folder      string     `json:"folder,omitempty"` // the folder of Path, or one given
	Tags        []string   `json:"tags"`
	Aliases     []string   `json:"aliases"`
	Private     bool       `json:"private"`
	VaultBacked bool       `json:"vaultBacked"`
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"`
	ArchivedAt  *time.Time `json:"archivedAt,omitempty"`
	Version     int        `json:"version"`
	EntityID    string     `json:"entityId,omitempty"` // the entity made from this note

	Vault string          `json:"-"` // the vault that Path lies in; "" for none
	Links []markdown.Link `json:"-"` // in the order of the text
	Given Given           `json:"-"`
}

// Given is what a client stated apart from the text. It is kept so that a
// change of the text alone changes what was read from the text and no more.
type Given struct {
	Title   string   `json:"title,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Aliases []string `json:"aliases,omitempty"`
	Private bool     `json:"private,omitempty"`
	// Archived is when a client archived the note; a text can also say that it
	// is archived.
	Archived *time.Time `json:"archived,omitempty"`
}

// Live reports whether the note exists and is not archived.
func (n *Note) Live() bool { return n != nil && n.ArchivedAt == nil }

// PlainText returns the text for a reader: without frontmatter and markup.
func (n *Note) PlainText() string { return markdown.PlainNote(n.Body) }

// Records is the collection that notes lie in.
var Records = kv.NewCollection("note", kv.Codec[Note]{Encode: encode, Decode: decode})

// paths maps the vault and path of a note to its id, so that no two notes of a
// vault have one path.
var paths = kv.NewCollection[string]("note-path")

func pathKey(vault, p string) string { return vault + "/" + p }

// stored is the first line of a record: all of the note but its text.
type stored struct {
	Note
	Body  *string  `json:"body,omitempty"` // hides Note.Body
	Vault string   `json:"vault,omitempty"`
	Links [][3]int `json:"links,omitempty"` // start, end, line of each
	Given Given    `json:"given"`
}

func encode(n *Note) (string, error) {
	rec := stored{Note: *n, Vault: n.Vault, Given: n.Given}
	for _, l := range n.Links {
		rec.Links = append(rec.Links, [3]int{l.Start, l.End, l.Line})
	}
	head, err := json.Marshal(rec)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(len(head) + 1 + len(n.Body))
	b.Write(head)
	b.WriteByte('\n')
	b.WriteString(n.Body)
	return b.String(), nil
}

func decode(s string) (*Note, error) {
	head, body, ok := strings.Cut(s, "\n")
	if !ok {
		return nil, errors.New("note record without a text")
	}
	var rec stored
	if err := json.Unmarshal([]byte(head), &rec); err != nil {
		return nil, err
	}
	n := rec.Note
	n.Body, n.Vault, n.Given = body, rec.Vault, rec.Given
	n.Links = make([]markdown.Link, 0, len(rec.Links))
	for _, at := range rec.Links {
		if at[0] < 0 || at[1] > len(body) || at[0] > at[1] {
			return nil, errors.New("note record with a link outside its text")
		}
		l, ok := markdown.ParseLink(body[at[0]:at[1]])
		if !ok {
			return nil, errors.New("note record with a link that is none")
		}
		l.Start, l.End, l.Line = at[0], at[1], at[2]
		n.Links = append(n.Links, l)
	}
	return &n, nil
}

// folderOf returns the folder of a path, "" for the root.
func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// baseOf returns the file name of a path without its Markdown ending.
func baseOf(p string) string { return trimExt(path.Base(p)) }

func trimExt(p string) string {
	for _, ext := range []string{".md", ".markdown"} {
		if len(p) > len(ext) && strings.EqualFold(p[len(p)-len(ext):], ext) {
			return p[:len(p)-len(ext)]
		}
	}
	return p
}
