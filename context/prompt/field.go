package prompt

import (
	"strconv"
	"strings"
)

// State says how a reference may be shown.
type State uint8

// The states of a reference's target.
const (
	Shown      State = iota // by name and id
	IsDeleted               // "(deleted)": in the trash or unknown
	IsArchived              // "(archived)": an archived or unknown note
	IsPrivate               // "(private)": withheld from this audience
)

// Ref is one reference in a field.
type Ref struct {
	Kind  string // KindEntity or KindNote
	ID    string
	Name  string
	State State
}

// Field is one field of an entity as it is to be shown: a text, or references.
type Field struct {
	Name  string
	Text  string   // of a single value
	Items []string // of a list of texts
	Refs  []Ref
	More  int // rows of a computed field beyond Refs
}

// Block is the rendered fields of one entity, without its heading. It can be
// kept and used for many prompts.
type Block struct {
	Lines []string // each with its indent and line end
	Chars int      // of all lines
	Refs  []Place  // every reference of the fields, in order
	ends  []int    // characters up to the end of each line
}

// Place is where a reference stands in a Block.
type Place struct {
	Ref
	Field string
	Line  int  // index into Block.Lines
	Shown bool // false: beyond what the line has room for
}

// RenderFields renders fields in their order and leaves out empty ones. A
// value over FieldChars is cut: a list by whole items with the number of those
// left out, a text with an ellipsis.
func RenderFields(fields []Field) *Block {
	b := &Block{}
	for _, f := range fields {
		value := f.render(b)
		if value == "" {
			continue
		}
		line := "  " + EscapeInline(f.Name) + ": " + value + "\n"
		b.Chars += Chars(line)
		b.Lines = append(b.Lines, line)
		b.ends = append(b.ends, b.Chars)
	}
	return b
}

// render returns the value of a field and notes in b which references show.
func (f Field) render(b *Block) string {
	switch {
	case f.Refs != nil:
		items := make([]string, len(f.Refs))
		for i, r := range f.Refs {
			items[i] = r.render()
		}
		value, shown := joinItems(items, f.More)
		for i, r := range f.Refs {
			b.Refs = append(b.Refs, Place{Ref: r, Field: f.Name, Line: len(b.Lines), Shown: i < shown})
		}
		return value
	case f.Items != nil:
		items := make([]string, len(f.Items))
		for i, item := range f.Items {
			items[i] = EscapeInline(item)
		}
		value, _ := joinItems(items, 0)
		return value
	}
	value, _ := Cut(EscapeInline(f.Text), FieldChars)
	return value
}

func (r Ref) render() string {
	switch r.State {
	case IsDeleted:
		return "(deleted)"
	case IsArchived:
		return "(archived)"
	case IsPrivate:
		return "(private)"
	}
	// A reference is whole or not there, so its name may not fill the field.
	name, _ := Cut(EscapeInline(r.Name), FieldChars*3/4)
	if r.Kind == KindNote {
		return "[[" + name + "]] [id:" + r.ID + "]"
	}
	return "@" + name + " [id:" + r.ID + "]"
}

// joinItems joins as many items as fit FieldChars, at least one, cut if it
// must be, and says how many are left out, with more besides.
func joinItems(items []string, more int) (value string, shown int) {
	if len(items) == 0 {
		return "", 0
	}
	total := 0
	for i, item := range items {
		total += Chars(item)
		if i > 0 {
			total += len(", ")
		}
	}
	shown = len(items)
	for shown > 1 && total+Chars(moreMark(len(items)-shown+more)) > FieldChars {
		shown--
		total -= Chars(items[shown]) + len(", ")
	}
	value = strings.Join(items[:shown], ", ")
	if mark := moreMark(len(items) - shown + more); shown == 1 && total+Chars(mark) > FieldChars {
		value, _ = Cut(value, FieldChars-Chars(mark))
		return value + mark, shown
	}
	return value + moreMark(len(items)-shown+more), shown
}

func moreMark(n int) string {
	if n == 0 {
		return ""
	}
	return " (+" + strconv.Itoa(n) + " more)"
}

// fit returns the lines that fit room and their length.
func (b *Block) fit(room int) (lines []string, chars int) {
	for i := len(b.ends); i > 0; i-- {
		if b.ends[i-1] <= room {
			return b.Lines[:i], b.ends[i-1]
		}
	}
	return nil, 0
}

// Card is what one entity shows: its heading without what leads to it, and its
// fields. It can be kept and used for many prompts.
type Card struct {
	ID, Name, Type string
	Head           string // ### @Alice (Person) [id:ID]
	Label          string // @Alice
	HeadChars      int    // of Head
	Fields         *Block
	Edges          []CardEdge // the references to entities that the fields show
}

// CardEdge is a reference of a Card to an entity.
type CardEdge struct {
	Field      string
	Label      string // @Alice.team, as the heading of what it leads to names it
	LabelChars int
	Line       int // of Card.Fields that it stands in
	ID         string
}

// NewCard renders an entity.
func NewCard(name, typeName, id string, fields []Field) *Card {
	c := &Card{ID: id, Name: name, Type: typeName, Label: "@" + EscapeInline(name), Fields: RenderFields(fields)}
	c.Head = "### " + c.Label + " (" + EscapeInline(typeName) + ") [id:" + id + "]"
	c.HeadChars = Chars(c.Head)
	for _, p := range c.Fields.Refs {
		if p.Shown && p.State == Shown && p.Kind == KindEntity {
			label := c.Label + "." + EscapeInline(p.Field)
			c.Edges = append(c.Edges, CardEdge{Field: p.Field, Label: label, LabelChars: Chars(label), Line: p.Line, ID: p.ID})
		}
	}
	return c
}
