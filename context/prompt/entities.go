package prompt

import "strings"

const entityHead = "## Entity context\n" +
	"Records that the user mentioned and what they refer to. Use the ids in [id:…] when you assign or refer to them.\n"

const notExpanded = "  (further references not expanded)\n"

// What stands behind the heading of an entity, after whyMark.
const (
	whyMark   = "  ← "
	mentioned = "directly mentioned"
	viaMark   = "referenced via "
)

var (
	entityHeadChars  = Chars(entityHead)
	notExpandedChars = Chars(notExpanded)
	whyChars         = Chars(whyMark)
)

// packing is the state of the entity section while it is filled: the longest
// prefix of the candidates that fits. What leads to an entity is part of its
// heading and counts, and only references of entities that are shown count.
type packing struct {
	list []Entity
	why  []why // by candidate
	via  []via // all references of the candidates that are in
	used int   // characters
	in   int   // candidates that are in
}

// why is what is known of the reasons of one candidate.
type why struct {
	chars int // of the labels that lead to it, with commas
	count int
	from  int    // the candidate that the last of them stands in, plus one, and
	field string // the field there
}

// via is a reference from one candidate to another.
type via struct{ from, to, edge int32 }

// shownEntity is a candidate that is in.
type shownEntity struct {
	lines []string
	chars int // of lines
	cut   bool
}

// entities renders the entity section.
func (b *builder) entities(limit int, list []Entity) {
	if len(list) == 0 {
		return
	}
	s := b.open(SectionEntities, entityHead, limit)
	p := &packing{list: list, why: make([]why, len(list))}
	room := s.room - entityHeadChars
	shown := make([]shownEntity, 0, min(len(list), MaxEntities))
	p.via = make([]via, 0, 2*len(list))
	reason := OverBudget
	mentions, reserved := p.reserve(room)
	for ; p.in < len(list); p.in++ {
		e := list[p.in]
		if e.Depth == 0 && p.in >= mentions {
			break
		}
		if e.Depth > 0 && p.in >= MaxEntities {
			reason = OverLimit
			break
		}
		if e.Depth == 0 {
			reserved -= p.headSize(p.in)
		}
		sh, ok := p.take(room - reserved)
		if !ok {
			break
		}
		shown = append(shown, sh)
	}
	b.writeEntities(s, p, shown)
	b.overflow, b.because = list[p.in:], reason
	b.close(s)
}

// reserve returns the room that the headings of the mentioned candidates need,
// which are never dropped whole, and their number: as many as have room at all.
func (p *packing) reserve(room int) (count, size int) {
	for i, e := range p.list {
		head := p.headSize(i)
		if e.Depth > 0 || size+head > room {
			break
		}
		size += head
		count++
	}
	return count, size
}

var unexpanded = []string{notExpanded}

// take puts the next candidate in if it fits room, a mentioned one with fewer
// lines if it must.
func (p *packing) take(room int) (shownEntity, bool) {
	e := p.list[p.in]
	sh := shownEntity{lines: unexpanded, chars: notExpandedChars}
	if e.Expanded {
		sh.lines, sh.chars = e.Card.Fields.Lines, e.Card.Fields.Chars
	}
	before := len(p.via)
	head := p.headSize(p.in)
	grown := p.grow(len(sh.lines))
	if p.used+head+sh.chars+grown <= room {
		p.used += head + sh.chars + grown
		return sh, true
	}
	p.shrink(before)
	if e.Depth > 0 || p.used+head > room {
		return sh, false
	}
	sh.lines, sh.chars = e.Card.Fields.fit(room - p.used - head)
	sh.cut = true
	// All that are in by now are mentioned ones, whose headings do not grow.
	p.grow(len(sh.lines))
	p.used += head + sh.chars
	return sh, true
}

// headSize is the length of a heading with what leads to it by now, and of the
// empty line before it.
func (p *packing) headSize(i int) int {
	n := 1 + p.list[i].Card.HeadChars + 1
	switch {
	case p.list[i].Depth == 0:
		return n + whyChars + len(mentioned)
	case p.why[i].count > 0:
		return n + whyChars + len(viaMark) + p.why[i].chars
	}
	return n
}

// grow adds the references that the first lines of the next candidate hold to
// what they lead to, and returns by how much the section grows because of the
// headings that are in, the candidate's own included.
func (p *packing) grow(lines int) (chars int) {
	from := p.in
	e := &p.list[from]
	for _, link := range e.Links {
		edge := &e.Card.Edges[link.Edge]
		if p.list[link.To].Depth == 0 || edge.Line >= lines {
			continue // a mentioned one says so and no more
		}
		w := &p.why[link.To]
		if w.from == from+1 && w.field == edge.Field {
			continue // listed twice in one field
		}
		before := p.headSize(int(link.To))
		if w.count > 0 {
			w.chars += len(", ")
		}
		w.chars += edge.LabelChars
		w.count++
		w.from, w.field = from+1, edge.Field
		p.via = append(p.via, via{int32(from), link.To, link.Edge})
		if int(link.To) <= from {
			chars += p.headSize(int(link.To)) - before
		}
	}
	return chars
}

// shrink takes back the references of the next candidate, which begin at keep.
func (p *packing) shrink(keep int) {
	for _, v := range p.via[keep:] {
		w := &p.why[v.to]
		w.chars -= p.edge(v).LabelChars
		if w.count--; w.count > 0 {
			w.chars -= len(", ")
		}
		w.from = 0
	}
	p.via = p.via[:keep]
}

func (p *packing) edge(v via) *CardEdge { return &p.list[v.from].Card.Edges[v.edge] }

// writeEntities adds the candidates that are in to the section.
func (b *builder) writeEntities(s *section, p *packing, shown []shownEntity) {
	if len(shown) == 0 {
		return
	}
	s.items = make([]Item, 0, len(shown))
	leads := p.leads()
	var edges []Edge // one array for all items
	if b.explain {
		edges = make([]Edge, 0, len(p.via))
	}
	for i, sh := range shown {
		e := p.list[i]
		item := Item{Kind: KindEntity, ID: e.Card.ID, Title: e.Card.Name, Cut: sh.cut, Depth: e.Depth, Reason: mentioned}
		if e.Depth > 0 {
			item.Reason = p.reason(leads[i])
			if b.explain {
				first := len(edges)
				for _, v := range leads[i] {
					edges = append(edges, Edge{From: p.list[v.from].Card.ID, Field: p.edge(v).Field})
				}
				item.Via = edges[first:len(edges):len(edges)]
			}
		}
		why := whyMark
		if item.Reason == "" {
			item.Reason, why = "referenced by a field that was cut", ""
		}
		s.add(item, p.headSize(i)+sh.chars, "\n", e.Card.Head, why)
		if why != "" {
			b.write(item.Reason)
		}
		b.write("\n")
		for _, line := range sh.lines {
			b.write(line)
		}
	}
}

// leads sorts the references by what they lead to, keeping their order.
func (p *packing) leads() [][]via {
	flat, out := make([]via, len(p.via)), make([][]via, p.in)
	at := 0
	for i := range out {
		out[i] = flat[at:at:len(flat)]
		at += p.why[i].count
	}
	for _, v := range p.via {
		if int(v.to) < p.in {
			out[v.to] = append(out[v.to], v)
		}
	}
	return out
}

func (p *packing) reason(leads []via) string {
	if len(leads) == 0 {
		return ""
	}
	size := len(viaMark)
	for _, v := range leads {
		size += len(", ") + len(p.edge(v).Label)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(viaMark)
	for i, v := range leads {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.edge(v).Label)
	}
	return b.String()
}
