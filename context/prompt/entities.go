package prompt

import "sync"

// What the heading of an entity says of why it is there.
const (
	mentioned = "directly mentioned"
	viaMark   = "referenced via "
	viaCut    = "referenced by a field that was cut" // in the report only
)

// packing is the state of the entity section while it is filled: the longest
// prefix of the candidates that fits. What leads to an entity is part of its
// heading and counts, and only references of entities that are shown count.
type packing struct {
	style *style
	all   bool // keep what leads to mentioned ones as well
	list  []Entity
	why   []why // by candidate
	via   []via // all references of the candidates that are in
	shown []shownEntity
	used  int // characters
	in    int // candidates that are in

	sorted []via // via by what they lead to
}

// packings are used again: nothing of them is in a Result.
var packings = sync.Pool{New: func() any { return new(packing) }}

func newPacking(b *builder, list []Entity) *packing {
	p := packings.Get().(*packing)
	if cap(p.why) < len(list) {
		p.why = make([]why, len(list), 2*len(list))
	}
	p.why = p.why[:len(list)]
	clear(p.why)
	p.style, p.all, p.list, p.via, p.shown, p.used, p.in = b.style, b.explain, list, p.via[:0], p.shown[:0], 0, 0
	return p
}

// free gives a packing back without what belongs to others.
func (p *packing) free() {
	p.list = nil
	clear(p.why)
	clear(p.shown)
	packings.Put(p)
}

// why is what is known of the reasons of one candidate.
type why struct {
	chars int // of the labels that lead to it, with commas
	count int
	first int   // place in packing.sorted
	from  int32 // the candidate that the last of them stands in, plus one, and
	line  int32 // the line there, which is that of a field
}

// via is a reference from one candidate to another.
type via struct{ from, to, label int32 }

// shownEntity is a candidate that is in.
type shownEntity struct {
	text  string // its lines
	chars int    // of text
	cut   *Extent
}

// entities renders the entity section.
func (b *builder) entities(limit, most int, list []Entity) {
	if len(list) == 0 {
		return
	}
	s := b.open(SectionEntities, limit)
	p := newPacking(b, list)
	defer p.free()
	reason := OverBudget
	mentions, reserved := p.reserve(s.room)
	room, before, follows := s.room, 0, false
	for ; p.in < len(list); p.in++ {
		e := &list[p.in]
		if e.isMentioned() && p.in >= mentions {
			break
		}
		if !e.isMentioned() && p.in >= most {
			reason = OverLimit
			break
		}
		if e.isMentioned() {
			reserved -= p.headSize(p.in)
		}
		if e.Follows && !follows {
			follows, before = true, p.used
			room = min(room, p.used+b.focusIn(s, p.in))
		}
		if !p.take(room - reserved) {
			break
		}
	}
	if follows && p.used > before {
		b.focus -= p.used - before
	}
	b.writeEntities(s, p)
	b.overflow, b.because, b.packed = list[p.in:], reason, p.in
	b.close(s)
}

// focusIn is the room that what is in the focus may take in a section with so many other items.
func (b *builder) focusIn(s *section, others int) int {
	if others == 0 {
		b.focus -= s.frame.chars + 1
	}
	return max(0, b.focus)
}

// isMentioned reports whether the message itself names the entity.
func (e *Entity) isMentioned() bool { return e.Depth == 0 && !e.Follows }

// why says of an entity at depth 0 why it is there.
func (e *Entity) why() string {
	if e.Focus != "" {
		return string(e.Focus)
	}
	return mentioned
}

// reserve returns the room that the headings of the mentioned candidates need,
// which are never dropped whole, and their number: as many as have room at all.
func (p *packing) reserve(room int) (count, size int) {
	for i := range p.list {
		if !p.list[i].isMentioned() {
			break
		}
		head := p.headSize(i)
		if size+head > room {
			break
		}
		size += head
		count++
	}
	return count, size
}

// take puts the next candidate in if it fits room, a mentioned one with fewer
// lines if it must.
func (p *packing) take(room int) bool {
	e := &p.list[p.in]
	sh := shownEntity{text: p.style.notExpanded, chars: p.style.notExpandedChars}
	lines := 0
	if e.Expanded {
		sh.text, sh.chars, lines = e.Card.Fields.Text, e.Card.Fields.Chars, len(e.Card.Fields.ends)
	}
	before := len(p.via)
	head := p.headSize(p.in)
	grown := p.grow(lines)
	if p.used+head+sh.chars+grown <= room {
		p.used += head + sh.chars + grown
		p.shown = append(p.shown, sh)
		return true
	}
	p.shrink(before)
	if !e.isMentioned() || p.used+head > room {
		return false
	}
	sh.text, sh.chars, lines = e.Card.Fields.fit(room - p.used - head)
	sh.cut = &Extent{Kept: lines, Of: len(e.Card.Fields.ends), Unit: Lines}
	// All that are in by now are mentioned ones, whose headings do not grow.
	p.grow(lines)
	p.used += head + sh.chars
	p.shown = append(p.shown, sh)
	return true
}

// headSize is the length of a heading with what leads to it by now, of the
// empty line before it and of what ends the entity.
func (p *packing) headSize(i int) int {
	e := &p.list[i]
	n := p.style.bareChars + int(e.Card.HeadChars)
	if e.Note != "" {
		n += Chars(p.style.own(e))
	}
	if e.Depth == 0 {
		return n + p.style.whyChars + len(e.why())
	}
	if w := &p.why[i]; w.count > 0 {
		return n + p.style.whyChars + len(viaMark) + w.chars
	}
	return n
}

// own is what the heading of an entity says of its note, where others have its name.
func (s *style) own(e *Entity) string { return s.ownNote + s.inline(e.Note) + s.ownEnd }

// grow adds the references that the first lines of the next candidate hold to
// what they lead to, and returns by how much the section grows because of the
// headings that are in, the candidate's own included.
func (p *packing) grow(lines int) (chars int) {
	from := int32(p.in)
	e := &p.list[from]
	for _, link := range e.Links {
		at := e.Card.Edges[link.Edge].label
		label := &e.Card.labels[at]
		mention := p.list[link.To].Depth == 0 // says so, or why it is in the focus, and no more
		if mention && !p.all || int(label.line) >= lines {
			continue
		}
		w := &p.why[link.To]
		if w.from == from+1 && w.line == label.line {
			continue // listed twice in one field
		}
		before := 0
		if w.count > 0 {
			before = len(viaMark) + p.style.whyChars + w.chars
			w.chars += len(", ")
		}
		w.chars += int(label.chars)
		w.count++
		w.from, w.line = from+1, label.line
		p.via = append(p.via, via{from, link.To, at})
		if link.To <= from && !mention {
			chars += len(viaMark) + p.style.whyChars + w.chars - before
		}
	}
	return chars
}

// shrink takes back the references of the next candidate, which begin at keep.
func (p *packing) shrink(keep int) {
	for _, v := range p.via[keep:] {
		w := &p.why[v.to]
		w.chars -= int(p.label(v).chars)
		w.count--
		if w.count > 0 {
			w.chars -= len(", ")
		}
		w.from = 0
	}
	p.via = p.via[:keep]
}

func (p *packing) label(v via) *edgeLabel { return &p.list[v.from].Card.labels[v.label] }

// sort sorts the references by what they lead to, keeping their order.
func (p *packing) sort() {
	if cap(p.sorted) < len(p.via) {
		p.sorted = make([]via, len(p.via), 2*len(p.via))
	}
	p.sorted = p.sorted[:len(p.via)]
	at := 0
	for i := range p.why[:p.in] {
		w := &p.why[i]
		w.first, at, w.count = at, at+w.count, 0
	}
	for _, v := range p.via {
		if int(v.to) < p.in {
			w := &p.why[v.to]
			p.sorted[w.first+w.count] = v
			w.count++
		}
	}
}

// leads returns what leads to a candidate, once sort was called.
func (p *packing) leads(i int) []via { return p.sorted[p.why[i].first:][:p.why[i].count] }

// writeEntities adds the candidates that are in to the section.
func (b *builder) writeEntities(s *section, p *packing) {
	if p.in == 0 {
		return
	}
	s.items = make([]Item, 0, p.in) // and no more: reasons point into it
	p.sort()
	var edges []Edge // one array for all items
	if b.explain {
		edges = make([]Edge, 0, len(p.via))
	}
	for i := range p.in {
		e, sh, leads := &p.list[i], &p.shown[i], p.leads(i)
		item := s.begin(KindEntity, p.headSize(i)+sh.chars)
		item.ID, item.Title, item.Cut, item.Depth, item.Reason = e.Card.ID, e.Card.Name, sh.cut, e.Depth, mentioned
		if e.Focus != "" {
			item.Reason = e.Focus.Reason()
		}
		s.beyond = s.beyond || e.Card.beyond
		if b.explain && len(leads) > 0 {
			first := len(edges)
			for _, v := range leads {
				edges = append(edges, Edge{From: p.list[v.from].Card.ID, Field: p.label(v).field})
			}
			item.Via = edges[first:len(edges):len(edges)]
		}
		b.buf = append(b.buf, '\n')
		b.write(e.Card.Head)
		if e.Note != "" {
			own := p.style.own(e)
			b.write(own)
			s.beyond = s.beyond || beyondBMP([]byte(own)) > 0
		}
		switch {
		case e.Depth == 0:
			b.write(p.style.whyMark)
			b.write(e.why())
			b.write(p.style.whyEnd)
		case len(leads) > 0:
			b.write(p.style.whyMark)
			b.writeLeads(p, item, leads)
			b.write(p.style.whyEnd)
		default:
			item.Reason = viaCut
		}
		b.write(p.style.headEnd)
		b.write(sh.text)
		b.write(p.style.entityEnd)
	}
}

// reasonAt is a reason that stands in the prompt, between two byte offsets, as
// the report says it.
type reasonAt struct {
	of       *Item
	from, to int
}

// writeLeads writes what leads to an entity. The report says the same, but
// without the marks of the format. What leads there is in the section itself, so
// nothing new can take two UTF-16 code units.
func (b *builder) writeLeads(p *packing, item *Item, leads []via) {
	from, same := len(b.buf), true
	b.write(viaMark)
	for i, v := range leads {
		if i > 0 {
			b.write(", ")
		}
		label := p.label(v)
		b.write(label.text)
		same = same && label.plain == ""
	}
	if same {
		b.reasons = append(b.reasons, reasonAt{item, from, len(b.buf)})
		return
	}
	plain := viaMark
	for i, v := range leads {
		if i > 0 {
			plain += ", "
		}
		if label := p.label(v); label.plain != "" {
			plain += label.plain
		} else {
			plain += label.text
		}
	}
	item.Reason = plain
}
