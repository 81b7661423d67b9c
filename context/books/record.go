package books

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Record is a book as it is stored.
type Record struct {
	record.Book
	Hash  string `json:"hash"`            // SHA-256 of the file, in hexadecimal
	Named bool   `json:"named,omitempty"` // the caller gave the title

	NoteID string `json:"noteId,omitempty"` // of the note that its file is of, if any: the book is private as soon as that is

	SaysPrivate bool `json:"saysPrivate,omitempty"` // of an attachment: its head says that it is private
}

// Passage is a passage as it is stored. Its number and its book are its key.
type Passage struct {
	CutPassage
}

// The collections that the records lie in.
var (
	Records  = kv.NewCollection[Record]("book")
	Passages = kv.NewCollection("book-passage", kv.Codec[Passage]{Encode: encode, Decode: decode})
)

// head is what a stored passage begins with, on one line; its text follows, so that the text of one that was
// read is part of what is stored.
type head struct {
	Section []string `json:"s,omitempty"`
	Page    int      `json:"p,omitempty"`
	Last    int      `json:"l,omitempty"`
	Label   string   `json:"pl,omitempty"`
	Until   string   `json:"ll,omitempty"`
	Row     int      `json:"r,omitempty"`
	Offset  int      `json:"o,omitempty"`
}

func encode(p *Passage) (string, error) {
	h, err := json.Marshal(head{p.Section, p.Page, p.Last, p.Label, p.Until, p.Row, p.Offset})
	return string(h) + "\n" + p.Text, err
}

func decode(stored string) (*Passage, error) {
	line, text, ok := strings.Cut(stored, "\n")
	if !ok {
		return nil, errors.New("malformed passage")
	}
	var h head
	if err := json.Unmarshal([]byte(line), &h); err != nil {
		return nil, err
	}
	return &Passage{CutPassage{
		Text: text, Section: h.Section, Page: h.Page, Last: h.Last, Label: h.Label, Until: h.Until, Row: h.Row, Offset: h.Offset,
	}}, nil
}

// separator stands between the id of a book and the number of a passage. No id has it.
const separator = "."

// Key is the id of a passage of a book, from 0 on.
func Key(book string, n int) string { return fmt.Sprintf("%s%s%06d", book, separator, n) }

// parseKey returns the id of the book of a passage and the number of it.
func parseKey(key string) (book string, n int) {
	at := strings.LastIndex(key, separator)
	if at < 0 {
		return "", 0
	}
	n, _ = strconv.Atoi(key[at+1:])
	return key[:at], n
}

// citePlace says where a passage stands, as people cite it: section, page or row. pages is how many the book has.
func citePlace(p *record.Passage, pages int) string {
	var list []string
	if len(p.Section) > 0 {
		list = append(list, strings.Join(p.Section, " > "))
	}
	switch {
	case p.Page > 0:
		list = append(list, citePages(p, pages))
	case p.Row > 0:
		list = append(list, fmt.Sprintf("row %d", p.Row))
	}
	return strings.Join(list, ", ")
}

// citePages names pages as they are printed, and beside that where they are found in the file: p. 85 (90 of 120).
func citePages(p *record.Passage, pages int) string {
	span := func(from, to string) string {
		if to == "" || from == to {
			return from
		}
		return from + "-" + to
	}
	first, last := strconv.Itoa(p.Page), ""
	if p.Last > p.Page {
		last = strconv.Itoa(p.Last)
	}
	at := span(first, last)
	if p.Label == "" && p.LastLabel == "" {
		return "p. " + at
	}
	if last != "" {
		last = cmp.Or(p.LastLabel, last)
	}
	printed := "p. " + span(cmp.Or(p.Label, first), last)
	if pages > 0 {
		return fmt.Sprintf("%s (%s of %d)", printed, at, pages)
	}
	return fmt.Sprintf("%s (%s)", printed, at)
}

// citePassage is how a passage is cited: [Book, section, p. N].
func citePassage(p *record.Passage, pages int) string {
	if place := citePlace(p, pages); place != "" {
		return "[" + p.Book + ", " + place + "]"
	}
	return "[" + p.Book + "]"
}

// renderPassage is a passage as a reader sees it.
func renderPassage(v *audience.View, b *Record, key string, p *Passage) *record.Passage {
	out := &record.Passage{
		ID: key, BookID: b.ID, Book: v.TextOf("", b.Title), Section: make([]string, len(p.Section)),
		Page: p.Page, Label: v.TextOf("", p.Label), Row: p.Row, Offset: p.Offset, Text: v.TextOf("", p.Text),
	}
	for i, h := range p.Section {
		out.Section[i] = v.TextOf("", h)
	}
	if p.Last != p.Page {
		out.Last, out.LastLabel = p.Last, v.TextOf("", p.Until)
	}
	if v.Hides() {
		out.Offset = 0 // it would tell how long the names before it are
	}
	out.Cite = citePassage(out, b.Pages)
	return out
}

// shown is a book as a reader sees it.
func (b *Record) shown(v *audience.View) *record.Book {
	out := b.Book
	out.Title, out.Author, out.File = v.TextOf("", b.Title), v.TextOf("", b.Author), v.TextOf("", b.File)
	out.Vault, out.Path = v.TextOf("", b.Vault), v.TextOf("", b.Path)
	if v.Hides() {
		out.Bytes = 0
	}
	return &out
}
