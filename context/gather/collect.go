package gather

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// call is one assembly.
type call struct {
	*request
	g     *Gatherer
	ctx   context.Context
	found []search.Hit // by the search, best first
	at    uint64       // moment of the call, once it is asked for

	scratch *scratch

	renders    int  // blocks that it may still render
	incomplete bool // it would have had to render more

	mentions *mentions

	in      prompt.Input
	noted   map[string]bool // notes that are candidates or reported
	texts   []text
	queries []prompt.QueryError
}

// text is a note whose text a candidate shows, as the audience may read it.
type text struct {
	section *[]prompt.Note
	at      int // index there
	note    *notes.Note
	own     bool // note is made for this prompt
}

// collect finds the candidates of every section.
func (c *call) collect() error {
	m := c.mentions
	c.in.Format, c.in.Budgets, c.in.Explain = c.format, c.budgets, c.Explain
	c.in.Dropped = m.dropped
	c.pinned(m.notes)
	if c.walk(m.entities); c.incomplete {
		return nil
	}
	c.searched()
	c.in.Events, c.in.Actions = c.CalendarEvents, c.actions()
	return c.ctx.Err()
}

// actions returns the action items as the audience may see them: without the
// private entities that they are assigned to.
func (c *call) actions() []prompt.Action {
	if !c.remote {
		return c.ActionItems
	}
	private := func(id string) bool {
		e := c.g.entities.Get(id)
		return e != nil && e.Private
	}
	out := slices.Clone(c.ActionItems)
	for i := range out {
		for _, id := range out[i].EntityIDs {
			if private(id) {
				c.drop(prompt.KindEntity, id, "", prompt.Private)
			}
		}
		out[i].EntityIDs = slices.DeleteFunc(slices.Clone(out[i].EntityIDs), private)
	}
	return out
}

func (c *call) drop(kind, id, title string, reason prompt.Reason) {
	c.in.Dropped = append(c.in.Dropped, prompt.Dropped{Kind: kind, ID: id, Title: title, Reason: reason})
}

// usable returns the note of an id if it may be shown; otherwise it reports
// why not. A link that leads nowhere is reported under its text.
func (c *call) usable(id string) *notes.Note {
	n := c.g.notes.Get(id)
	switch {
	case n == nil && c.unnamed(id):
		c.drop(prompt.KindNote, "", "", prompt.Private)
	case n == nil:
		d := prompt.Dropped{Kind: prompt.KindNote, ID: id, Reason: prompt.Unknown}
		unresolved(&d)
		c.in.Dropped = append(c.in.Dropped, d)
	case c.remote && n.Private:
		c.drop(prompt.KindNote, id, "", prompt.Private)
	case !n.Live():
		c.drop(prompt.KindNote, id, c.title(nil, n), prompt.Archived)
	default:
		return n
	}
	return nil
}

// pinned takes the notes that the user attached. Which of them fit is for
// package prompt to say: it reports those over the limit.
func (c *call) pinned(ids []string) {
	for _, id := range ids {
		if n := c.usable(id); n != nil {
			c.in.Pinned = append(c.in.Pinned, prompt.Note{ID: id, Title: c.title(nil, n), Reason: "pinned by the user"})
			if i := len(c.in.Pinned) - 1; i < prompt.MaxPinned { // the others are only reported
				c.text(&c.in.Pinned, i, n)
			}
		}
	}
}

// text has the text of a note read for a candidate, when all candidates are
// known.
func (c *call) text(section *[]prompt.Note, at int, n *notes.Note) {
	shown := n
	if len(n.Body) > maxTextBytes {
		short := *n
		short.Body = strings.ToValidUTF8(n.Body[:maxTextBytes], "")
		shown = &short
	}
	switch {
	case !c.remote:
	case shown == n:
		shown = c.g.masked(n, c.g.texts.of(n).marks)
	default:
		shown = c.g.masked(shown, marksOf(shown.Body))
	}
	c.texts = append(c.texts, text{section, at, shown, shown != n})
}

// maxTextBytes is how much of a note is read: the longest frontmatter and much
// more than any section shows.
const maxTextBytes = markdown.MaxFrontmatter + 128<<10

// readTexts makes the texts of the candidates, which takes no store.
func (c *call) readTexts() {
	for _, t := range c.texts {
		if c.ctx.Err() != nil {
			return
		}
		if t.own {
			(*t.section)[t.at].Text = t.note.PlainText()
		} else {
			(*t.section)[t.at].Text = c.g.texts.plain(t.note)
		}
	}
}

// walk goes breadth first from the mentioned entities and takes in what it
// reaches, and the notes that fields refer to in the order of encounter.
func (c *call) walk(ids []string) {
	roots := make([]graph.Node, 0, len(ids))
	for _, id := range ids {
		e := c.g.entities.Get(id)
		switch {
		case e == nil:
			c.drop(prompt.KindEntity, id, "", prompt.Unknown)
		case c.remote && e.Private:
			c.drop(prompt.KindEntity, id, "", prompt.Private)
		case !e.Live():
			c.drop(prompt.KindEntity, id, c.name(nil, e), prompt.Deleted)
		default:
			roots = append(roots, c.g.graph.Number(graph.Key{Kind: graph.Entity, ID: id}))
		}
	}
	s := c.scratch
	c.g.graph.Walk(roots, c.depth, func(step graph.Step) []graph.Node {
		if len(s.nodes)%32 == 0 && c.ctx.Err() != nil {
			return nil
		}
		b, ready := c.block(step.Node, c.expands(step.Depth))
		if !ready {
			c.incomplete = true
		}
		if b == nil {
			return nil
		}
		s.enter(step.Node, b)
		c.enter(b, step.Depth)
		if step.Depth < c.depth {
			c.preload(b.edges, c.expands(step.Depth+1))
		}
		return b.edges
	})
	for i := range c.in.Entities {
		if !c.in.Entities[i].Expanded {
			continue
		}
		first := len(s.links)
		for edge, to := range s.blocks[i].edges {
			if at := s.place(to); at >= 0 {
				s.links = append(s.links, prompt.Link{To: at, Edge: int32(edge)})
			}
		}
		// A list that grows leaves the older links where they are.
		c.in.Entities[i].Links = s.links[first:len(s.links):len(s.links)]
	}
	s.entities = c.in.Entities
}

// preload touches the blocks that the walk comes to next. They lie anywhere in
// memory: asked for all at once they come in the time of a few.
func (c *call) preload(nodes []graph.Node, full bool) {
	list := c.g.blocks.list[c.variant].Load()
	if list == nil {
		return
	}
	touched := 0
	for _, n := range nodes {
		if int(n) < len(*list) {
			if b := (*list)[n].Load(); b != nil {
				touched += b.card.Touch(full)
				if full && len(b.edges) > 0 {
					touched += int(b.edges[0])
				}
			}
		}
	}
	c.scratch.touched = touched
}

// scratch is memory for a walk that is used again when its prompt is made: no
// part of it is in a result.
type scratch struct {
	nodes    []graph.Node // that were entered, and
	blocks   []*block     // their blocks
	places   []int32      // by number: the place in nodes, plus one
	links    []prompt.Link
	entities []prompt.Entity
	touched  int // means nothing, but that what was read for it is near
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) enter(n graph.Node, b *block) {
	s.nodes, s.blocks = append(s.nodes, n), append(s.blocks, b)
	s.places = reaching(s.places, n)
	s.places[n] = int32(len(s.nodes))
}

// place returns where a node was entered, -1 for nowhere.
func (s *scratch) place(n graph.Node) int32 {
	if int(n) >= len(s.places) {
		return -1
	}
	return s.places[n] - 1
}

// free gives the memory back, without what it points to. O(nodes entered).
func (s *scratch) free() {
	for _, n := range s.nodes {
		s.places[n] = 0
	}
	clear(s.blocks)
	clear(s.entities)
	s.nodes, s.blocks, s.links, s.entities = s.nodes[:0], s.blocks[:0], s.links[:0], s.entities[:0]
	scratches.Put(s)
}

// expands reports whether entities at a depth show their fields.
func (c *call) expands(depth int) bool { return depth == 0 || depth < c.depth }

// enter takes one entity of the walk in.
func (c *call) enter(b *block, depth int) {
	cand := prompt.Entity{Card: &b.card, Depth: depth, Expanded: c.expands(depth)}
	if cand.Expanded {
		c.in.Dropped = append(c.in.Dropped, b.dropped...)
		c.queries = append(c.queries, b.failed...)
	}
	c.in.Entities = append(c.in.Entities, cand)
	for _, ref := range b.notes {
		if c.noted[ref.id] {
			continue
		}
		if c.noted == nil {
			c.noted = make(map[string]bool)
		}
		c.noted[ref.id] = true
		if n := c.usable(ref.id); n != nil {
			reason := "linked from @" + b.card.Name + "." + ref.field
			if ref.field == graph.OwnNote {
				reason = "the note of @" + b.card.Name
			}
			c.in.Linked = append(c.in.Linked, prompt.Note{ID: n.ID, Title: c.title(nil, n), Reason: reason})
		}
	}
}

// searched takes the notes that the search found, as many as were asked for.
func (c *call) searched() {
	if len(c.in.Linked)+len(c.found) == 0 {
		return
	}
	pinned := make(map[string]text, len(c.texts)) // and shown, or at least first in line
	for _, t := range c.texts {
		pinned[t.note.ID] = t
	}
	taken := make(map[string]bool)
	for id := range pinned {
		taken[id] = true
	}
	shown := 0
	for i, n := range c.in.Linked {
		t, isPinned := pinned[n.ID]
		switch {
		case isPinned: // it is shown here when it found no room there
			t.section, t.at = &c.in.Linked, i
			c.texts = append(c.texts, t)
		case shown < prompt.MaxLinked:
			shown++
			taken[n.ID] = true
			c.text(&c.in.Linked, i, c.g.notes.Get(n.ID))
		}
	}
	withheld := 0 // that rank above what is shown
	for _, f := range c.found {
		if len(c.in.Found) == c.SearchNotes {
			return
		}
		n := c.g.notes.Get(f.Note.ID) // it may have changed since the search
		if taken[f.Note.ID] || !n.Live() {
			continue
		}
		if c.remote && n.Private {
			if withheld++; withheld <= prompt.MaxFound {
				c.drop(prompt.KindNote, n.ID, "", prompt.Private)
			}
			continue
		}
		c.in.Found = append(c.in.Found, prompt.Note{ID: n.ID, Title: c.title(nil, n), Reason: foundBy(f)})
		c.text(&c.in.Found, len(c.in.Found)-1, n)
	}
}
