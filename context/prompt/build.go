package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// Note is a candidate of a note section.
type Note struct {
	ID     string
	Title  string
	Body   NoteBody // whole or at least longer than the section shows
	Reason string   // why it is a candidate, for the report
	Vault  string   // the name of its vault, for the report
	// HeadVault is the name of its vault where its heading says it, "" elsewhere.
	HeadVault string
	// Focus says why the conversation is about it, "" for a note of this message. Those of the focus come last in their list.
	Focus Focus

	// EntityID is the candidate that is made from the note, "" for none. When its fields
	// are in the prompt, Bare is shown instead of Body: it is without them.
	EntityID string
	Bare     NoteBody
}

// Entity is a candidate of the entity section. Candidates come in the order of
// the walk that found them.
type Entity struct {
	Card     *Card
	Depth    int    // 0: mentioned
	Expanded bool   // its fields are shown
	Follows  bool   // the conversation is about it, or about what leads to it; those come last
	Focus    Focus  // of one that it is about itself
	Note     string // what leads to its note, where others have its name; "" elsewhere
	Links    []Link // the references that its shown fields hold, by line
}

// Link is a reference from a candidate to another.
type Link struct {
	To   int32 // index of the candidate
	Edge int32 // index into Card.Edges
}

// Event is a calendar event that the client sends.
type Event struct {
	Title     string   `json:"title" jsonschema:"what it is"`
	Start     string   `json:"start" jsonschema:"when it begins, as it is shown"`
	End       string   `json:"end,omitempty" jsonschema:"when it ends, as it is shown"`
	Location  string   `json:"location,omitempty" jsonschema:"where it is"`
	Attendees []string `json:"attendees,omitempty" jsonschema:"who takes part"`
}

// Action is an open action item that the client sends.
type Action struct {
	ID        string   `json:"id" jsonschema:"the client's id of it"`
	Text      string   `json:"text" jsonschema:"what is to be done"`
	Status    string   `json:"status,omitempty" jsonschema:"where it stands"`
	Due       string   `json:"due,omitempty" jsonschema:"when it is due, as it is shown"`
	EntityIDs []string `json:"entityIds,omitempty" jsonschema:"the entities that it is assigned to"`
}

// Input is everything that a prompt is made of, each list in order of rank.
type Input struct {
	Format      Format
	Secret      []byte // of the store, for the boundaries of XML
	Budgets     Budgets
	Personality *Personality // nil: none
	Now         *Now         // nil: the prompt does not say which day it is
	Pinned      []Note
	Entities    []Entity
	Linked      []Note
	Found       []Note
	Passages    []Passage
	Events      []Event
	Actions     []Action
	Referenced  []Memory  // in the order of the message
	Recalled    []Memory  // in the order of their parts
	Dropped     []Dropped // what was left out before rendering

	MaxEntities int  // entities at most, but for the mentioned ones; 0: MaxEntities
	Explain     bool // report what leads to each entity
}

// Names of the sections.
const (
	SectionPersonality = "personality"
	SectionNow         = "now"
	SectionPinned      = "pinned"
	SectionEntities    = "entities"
	SectionLinked      = "linked"
	SectionSearch      = "search"
	SectionPassages    = "passages"
	SectionCalendar    = "calendar"
	SectionActions     = "actions"
	SectionReferenced  = "referenced"
	SectionMemory      = "memory"
)

// builder puts a prompt together.
type builder struct {
	style    *style
	secret   []byte
	buf      []byte
	chars    int // of buf
	units    int // of buf, UTF-16
	total    int
	explain  bool
	reserved int            // of total, for the sections of memories
	memories []memoryChoice // chosen and not yet written
	all      []byte         // memories as they were rendered, and
	items    []memoryItem   // what is known of each
	sections []Section
	reports  []SectionReport
	dropped  []Dropped
	reasons  []reasonAt
	overflow []Entity              // entities that found no room: each is there once
	because  Reason                // why they did not
	state    map[itemKey]itemState // of notes, and of what was dropped
	focus    int                   // room that what is in the focus may take, of all sections
	list     []Entity              // the candidates of entities, of which
	packed   int                   // are in; -1: not known yet
}

// itemState is what became of a candidate.
type itemState uint8

const (
	isShown itemState = iota + 1
	isReported
)

type itemKey struct{ kind, id string }

// buffer is what a prompt is put together in and copied out of. It is used again.
type buffer struct {
	text, all []byte
	items     []memoryItem
	reasons   []reasonAt
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxEntities is how many entities are shown at most.
func (in *Input) maxEntities() int {
	if in.MaxEntities == 0 {
		return MaxEntities
	}
	return in.MaxEntities
}

// Build renders the candidates within their budgets. The prompt never exceeds
// Budgets.Total; room is given to the sections in the order of shares. What is in the
// focus of a conversation gets what the rest leaves. Stages and
// QueryErrors of the report are left to the caller. O(size of what is shown +
// candidates).
func Build(in Input) *Result {
	if rest, any := in.withoutFocus(); any {
		return build(in, max(0, in.Budgets.Total-build(rest, 0).Report.Chars))
	}
	return build(in, 0)
}

// withoutFocus returns the input without what is in the focus, and whether there is anything.
func (in *Input) withoutFocus() (rest Input, any bool) {
	rest = *in
	for _, list := range [...]*[]Note{&rest.Pinned, &rest.Linked, &rest.Found} {
		if i := slices.IndexFunc(*list, func(n Note) bool { return n.Focus != "" }); i >= 0 {
			*list, any = (*list)[:i:i], true
		}
	}
	if i := slices.IndexFunc(rest.Entities, func(e Entity) bool { return e.Follows }); i >= 0 {
		any = true
		rest.Entities = slices.Clone(rest.Entities[:i])
		for at := range rest.Entities {
			e := &rest.Entities[at]
			e.Links = slices.DeleteFunc(slices.Clone(e.Links), func(l Link) bool { return int(l.To) >= i })
		}
	}
	return rest, any
}

// build is Build with the room that what is in the focus may take.
func build(in Input, focus int) *Result {
	buf := buffers.Get().(*buffer)
	b := &builder{
		style: in.Format.style(), secret: in.Secret, total: in.Budgets.Total, explain: in.Explain,
		buf: buf.text[:0], all: buf.all[:0], items: buf.items[:0], reasons: buf.reasons[:0], list: in.Entities, packed: -1, focus: focus,
	}
	defer func() {
		clear(b.reasons)
		clear(b.items)
		buf.text, buf.all, buf.items, buf.reasons = b.buf, b.all, b.items, b.reasons
		buffers.Put(buf)
	}()
	for i := range shares {
		limit := *shares[i].budget(&in.Budgets)
		shares[i].write(b, limit, &in)
	}
	b.writeMemories()
	return b.finish(in)
}

func (b *builder) finish(in Input) *Result {
	system := string(b.buf)
	for _, r := range b.reasons {
		r.of.Reason = system[r.from:r.to]
	}
	hash := sha256.Sum256(b.buf)
	return &Result{
		System: system, Sections: nonNil(b.sections),
		Report: Report{
			Chars: b.chars, Budget: in.Budgets.Total, Sections: nonNil(b.reports), Dropped: b.leftOut(in.Dropped),
			QueryErrors: []QueryError{}, Stages: []Stage{}, Hash: hex.EncodeToString(hash[:]),
		},
	}
}

// leftOut joins what was dropped before and while rendering. An item that some
// section shows was not dropped, and one that several sections dropped is
// named once. What the client sent is never the same thing twice: a meeting
// comes every week under one title.
func (b *builder) leftOut(before []Dropped) []Dropped {
	out := make([]Dropped, 0, len(before)+len(b.dropped)+len(b.overflow))
	for _, list := range [][]Dropped{before, b.dropped} {
		for _, d := range list {
			key := itemKey{d.Kind, d.ID}
			if d.ID == "" {
				key.id = "[[" + d.Title // no id, and not to be taken for one
			}
			if d.Reason != Duplicate && d.Kind != KindEvent && d.Kind != KindAction {
				if b.state[key] != 0 {
					continue
				}
				b.became(key, isReported)
			}
			out = append(out, d)
		}
	}
	for _, e := range b.overflow {
		out = append(out, Dropped{Kind: KindEntity, ID: e.Card.ID, Title: e.Card.Name, Reason: b.because})
	}
	return out
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// room returns what a section of the given cap may take: sections after the
// first begin with an empty line.
func (b *builder) room(limit int) int {
	return max(0, min(limit, b.total-b.chars-b.gap()-b.reserved))
}

func (b *builder) gap() int {
	if b.chars > 0 {
		return 1
	}
	return 0
}

// section is one section while it is filled.
type section struct {
	b     *builder
	name  string
	frame frame // its head is put in before the first item
	cap   int
	room  int // left
	chars int // of what is in, the frame included
	items []Item

	beyond bool // an item may hold what takes two UTF-16 code units
}

// open begins a section of at most limit characters.
func (b *builder) open(name string, limit int) *section {
	s := &section{b: b, name: name, frame: b.style.frames[name], cap: limit}
	s.room = b.room(limit) - s.frame.chars
	return s
}

// begin puts an item in whose parts the caller then writes, and returns it, to be
// completed until the next one. chars is the length of the parts.
func (s *section) begin(kind string, chars int) *Item {
	b := s.b
	if len(s.items) == 0 {
		if b.gap() > 0 {
			b.write("\n")
			b.chars++
			b.units++
		}
		b.write(s.frame.head)
		s.chars = s.frame.chars
	}
	s.room -= chars
	s.chars += chars
	s.items = append(s.items, Item{})
	item := &s.items[len(s.items)-1]
	item.Kind, item.Chars = kind, chars
	item.Start = len(b.buf) // a byte offset until close
	return item
}

// add puts an item in, and its parts. chars is the length of these.
func (s *section) add(item Item, chars int, parts ...string) {
	in := s.begin(item.Kind, chars)
	item.Chars, item.Start = in.Chars, in.Start
	*in = item
	size := 0
	for _, p := range parts {
		s.b.write(p)
		size += len(p)
	}
	s.beyond = s.beyond || size > chars // a byte a character is ASCII
}

func (b *builder) write(s string) { b.buf = append(b.buf, s...) }

// close ends a section and returns its length, 0 when it has no item.
func (b *builder) close(s *section) int {
	if len(s.items) == 0 {
		return 0
	}
	from := b.units
	b.chars += s.chars
	b.units += Chars(s.frame.head)
	for i := range s.items {
		item, end := &s.items[i], len(b.buf)
		if i+1 < len(s.items) {
			end = s.items[i+1].Start
		}
		from := item.Start
		item.Start = b.units
		b.units += item.Chars
		if s.beyond {
			b.units += beyondBMP(b.buf[from:end])
		}
		item.End = b.units
		if item.Kind == KindNote {
			b.became(itemKey{item.Kind, item.ID}, isShown)
		}
	}
	b.write(s.frame.tail)
	b.units += Chars(s.frame.tail)
	b.sections = append(b.sections, Section{Name: s.name, Start: from, End: b.units})
	b.reports = append(b.reports, SectionReport{Name: s.name, Chars: s.chars, Budget: s.cap, Items: s.items})
	return s.chars
}

func (b *builder) became(key itemKey, state itemState) {
	if b.state == nil {
		b.state = make(map[itemKey]itemState)
	}
	b.state[key] = state
}

func (b *builder) drop(kind, id, title string, reason Reason) {
	b.dropped = append(b.dropped, Dropped{Kind: kind, ID: id, Title: title, Reason: reason})
}
