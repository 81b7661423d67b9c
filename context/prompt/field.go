package prompt

import (
	"slices"
	"strings"
)

// State says how a reference may be shown.
type State uint8

// The states of a reference's target.
const (
	IsVisible    State = iota // by name and id
	IsDeleted                 // "(deleted)": archived or gone
	IsArchived                // "(archived)": an archived or unknown note
	IsPrivate                 // "(private)": withheld from this audience
	IsUnresolved              // "(unresolved)" with the name that leads nowhere
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
	Text  string  // the lines, each with its indent and line end
	Chars int     // of Text
	Refs  []Place // every reference of the fields, in order
	ends  []lineEnd
}

// lineEnd is where a line of a Block ends.
type lineEnd struct{ bytes, chars int }

// Place is where a reference stands in a Block.
type Place struct {
	Ref
	Field string
	Line  int  // its number, from 0
	Shown bool // false: beyond what the line has room for
}

// RenderFields renders fields in their order and leaves out empty ones. A
// value over FieldChars is cut: a list by whole items with the number of those
// left out, a text with an ellipsis.
func RenderFields(format Format, fields []Field) *Block {
	b, style := &Block{}, format.style()
	var text strings.Builder
	for _, f := range fields {
		value := f.render(style, b)
		if value == "" {
			continue
		}
		line := style.field(style.inline(f.Name), value)
		b.Chars += Chars(line)
		text.WriteString(line)
		b.ends = append(b.ends, lineEnd{text.Len(), b.Chars})
	}
	b.Text = text.String()
	return b
}

// render returns the value of a field and notes in b which references show.
func (f Field) render(style *style, b *Block) string {
	switch {
	case f.Refs != nil:
		items := make([]string, len(f.Refs))
		for i := range f.Refs {
			items[i] = style.reference(&f.Refs[i])
		}
		value, shown := style.join(items, "", "", f.More)
		for i, r := range f.Refs {
			b.Refs = append(b.Refs, Place{Ref: r, Field: f.Name, Line: len(b.ends), Shown: i < shown})
		}
		return value
	case f.Items != nil:
		items := make([]string, len(f.Items))
		for i, item := range f.Items {
			items[i] = style.inline(item)
		}
		value, _ := style.join(items, style.itemMark, style.itemEnd, 0)
		return value
	}
	value := style.cut(style.inline(f.Text), FieldChars)
	return value
}

// join joins as many items as fit FieldChars, at least one, cut if it must be,
// and says how many are left out, with more besides.
func (s *style) join(items []string, before, after string, more int) (value string, shown int) {
	if len(items) == 0 {
		return "", 0
	}
	around := len(before) + len(after)
	total := 0
	for i, item := range items {
		total += around + Chars(item)
		if i > 0 {
			total += len(s.separator)
		}
	}
	shown = len(items)
	for shown > 1 && total+len(s.more(len(items)-shown+more)) > FieldChars {
		shown--
		total -= around + Chars(items[shown]) + len(s.separator)
	}
	mark := s.more(len(items) - shown + more)
	if shown == 1 && total+len(mark) > FieldChars {
		item := s.cut(items[0], FieldChars-around-len(mark))
		return before + item + after + mark, shown
	}
	return before + strings.Join(items[:shown], after+s.separator+before) + after + mark, shown
}

// fit returns the lines that fit room, their length and their number.
func (b *Block) fit(room int) (text string, chars, lines int) {
	for i := len(b.ends); i > 0; i-- {
		if end := b.ends[i-1]; end.chars <= room {
			return b.Text[:end.bytes], end.chars, i
		}
	}
	return "", 0, 0
}

// Card is what one entity shows: its heading without what leads to it, and its
// fields. It can be kept and used for many prompts of its format.
//
// What a prompt reads of every card comes first: it lies in one or two lines of
// the processor's cache.
type Card struct {
	Head      string // ### @Alice (Person) [id:ID]
	HeadChars int32  // of Head
	beyond    bool   // something of it takes two UTF-16 code units
	ID, Name  string

	Fields Block
	labels []edgeLabel // one for each line with edges
	Edges  []CardEdge  // the references to entities that the fields show
	Type   string
}

// CardEdge is a reference of a Card to an entity.
type CardEdge struct {
	ID    string
	label int32 // of the line that it stands in
}

// edgeLabel says of the references of one field where they stand.
type edgeLabel struct {
	text  string // @Alice.team, as the heading of what it leads to names it
	chars int32  // of text
	line  int32  // of Card.Fields
	field string
	plain string // text without the marks of the format, when it has any
}

// NewCard renders an entity.
func NewCard(format Format, name, typeName, id string, fields []Field) *Card {
	style := format.style()
	c := &Card{ID: id, Name: name, Type: typeName, Fields: *RenderFields(format, fields)}
	c.Head = style.entity(c)
	c.HeadChars = int32(Chars(c.Head))
	edges := 0
	for i := range c.Fields.Refs {
		if c.Fields.Refs[i].leads() {
			edges++
		}
	}
	if edges > 0 {
		c.Edges = make([]CardEdge, 0, edges)
	}
	label := "@" + style.inline(name) + "."
	for _, p := range c.Fields.Refs {
		if !p.leads() {
			continue
		}
		if n := len(c.labels); n == 0 || int(c.labels[n-1].line) != p.Line {
			l := edgeLabel{field: p.Field, line: int32(p.Line), text: label + style.inline(p.Field)}
			l.chars = int32(Chars(l.text))
			if plain := "@" + name + "." + p.Field; plain != l.text {
				l.plain = plain
			}
			c.labels = append(c.labels, l)
		}
		c.Edges = append(c.Edges, CardEdge{p.ID, int32(len(c.labels) - 1)})
	}
	c.pack()
	return c
}

// leads reports a reference to an entity that shows.
func (p *Place) leads() bool { return p.Shown && p.State == IsVisible && p.Kind == KindEntity }

// pack puts all that is written of a card into one piece of memory: cards lie
// far from each other, and a prompt reads many.
func (c *Card) pack() {
	size := len(c.Head) + len(c.Fields.Text)
	for i := range c.labels {
		size += len(c.labels[i].text)
	}
	all := make([]byte, 0, size)
	all = append(append(all, c.Head...), c.Fields.Text...)
	for i := range c.labels {
		all = append(all, c.labels[i].text...)
	}
	c.beyond = beyondBMP(all) > 0
	rest := string(all)
	next := func(s *string) { *s, rest = rest[:len(*s)], rest[len(*s):] }
	next(&c.Head)
	next(&c.Fields.Text)
	for i := range c.labels {
		next(&c.labels[i].text)
	}
	within := func(s *string) { // the report names it: it is at hand then
		if at := strings.Index(c.Head, *s); at >= 0 {
			*s = c.Head[at : at+len(*s)]
		}
	}
	within(&c.ID)
	within(&c.Name)
	c.labels = slices.Clip(c.labels)
}

// Touch reads the first of everything that a prompt reads of a card. What it
// returns means nothing; to read many cards that lie anywhere in memory one after
// the other takes only the time of a few.
func (c *Card) Touch(fields bool) (n int) {
	n = int(c.Head[0]) + len(c.Name)
	if fields {
		if c.Fields.Text != "" {
			n += int(c.Fields.Text[len(c.Fields.Text)-1])
		}
		if len(c.Edges) > 0 {
			n += int(c.Edges[0].label) + int(c.labels[0].chars)
		}
	}
	return n
}
