package notes

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Up to format 1 of the store a note was a line of JSON and the text behind it.
// Nothing writes that any more; Upgrade reads it.

// stored1 is the first line of such a record: all of the note but its text.
type stored1 struct {
	Note
	Body  *string  `json:"body,omitempty"` // hides Note.Body
	Vault string   `json:"vault,omitempty"`
	Links [][3]int `json:"links,omitempty"` // start, end, line of each
	Given given1   `json:"given"`
}

// given1 is Given as it was stored.
type given1 struct {
	Title    string     `json:"title,omitempty"`
	Tags     []string   `json:"tags,omitempty"`
	Aliases  []string   `json:"aliases,omitempty"`
	Private  bool       `json:"private,omitempty"`
	Archived *time.Time `json:"archived,omitempty"`
}

func decode1(s string) (*Note, error) {
	head, body, ok := strings.Cut(s, "\n")
	if !ok {
		return nil, errors.New("note record without a text")
	}
	var rec stored1
	if err := json.Unmarshal([]byte(head), &rec); err != nil {
		return nil, err
	}
	n := rec.Note
	n.Body, n.Vault, n.Given = body, rec.Vault, Given(rec.Given).orNil()
	links := make([]markdown.Link, 0, len(rec.Links))
	for _, at := range rec.Links {
		if at[0] < 0 || at[1] > len(body) || at[0] > at[1] {
			return nil, errors.New("note record with a link outside its text")
		}
		links = append(links, markdown.Link{Start: at[0], End: at[1], Line: at[2]})
	}
	n.Places = NewLinkPlaces(slices.Values(links))
	return &n, nil
}

// records1 is Records as it was. A record that is of today's format already is
// left as it is: what says of which format a store is may be lost.
var records1 = Records.With(kv.Codec[Note]{
	Encode: encode,
	Decode: func(s string) (*Note, error) {
		if strings.HasPrefix(s, "{") {
			return decode1(s)
		}
		return decode(s)
	},
})

// Upgrade rewrites the notes of a store whose records are of format 1 or older.
func Upgrade(tx *kv.Tx) error {
	for id, n := range records1.All(tx, "") {
		if err := Records.Put(tx, id, n); err != nil {
			return err
		}
	}
	return tx.Err()
}
