package gather

import (
	"context"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// call is one assembly.
type call struct {
	*request
	g     *Gatherer
	ctx   context.Context
	found []*notes.Note // by the search, best first
	stamp stamp

	mentions *mentions

	in      prompt.Input
	noted   map[string]bool // notes that are candidates or reported
	queries []prompt.QueryError
}

// collect finds the candidates of every section.
func (c *call) collect(clock *stopwatch) prompt.Input {
	m := c.mentions
	c.in.Budgets, c.in.Explain = c.budgets, c.Explain
	c.in.Dropped = append(c.in.Dropped, m.dropped...)
	c.pinned(m.notes)
	clock.lap("pinned")
	c.walk(m.entities)
	clock.lap("entities")
	c.searched()
	c.in.Events, c.in.Actions = c.CalendarEvents, c.ActionItems
	return c.in
}

func (c *call) drop(kind, id, title string, reason prompt.Reason) {
	c.in.Dropped = append(c.in.Dropped, prompt.Dropped{Kind: kind, ID: id, Title: title, Reason: reason})
}

// usable returns the note of an id if it may be shown; otherwise it reports
// why not. A link that leads nowhere is reported under its text.
func (c *call) usable(id string) *notes.Note {
	n := c.g.notes.Get(id)
	switch {
	case n == nil:
		d := prompt.Dropped{Kind: prompt.KindNote, ID: id, Reason: prompt.Unknown}
		unresolved(&d)
		c.in.Dropped = append(c.in.Dropped, d)
	case c.remote && n.Private:
		c.drop(prompt.KindNote, id, "", prompt.Private)
	case !n.Live():
		c.drop(prompt.KindNote, id, n.Title, prompt.Archived)
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
			pin := prompt.Note{ID: id, Title: n.Title, Reason: "pinned by the user"}
			if len(c.in.Pinned) < prompt.MaxPinned { // the others are only reported
				pin.Text = c.text(n)
			}
			c.in.Pinned = append(c.in.Pinned, pin)
		}
	}
}

// text returns the plain text of a note as the audience may read it: a link to
// a private note shows neither its title nor what it is called here.
func (c *call) text(n *notes.Note) string {
	if len(n.Body) > maxTextBytes {
		short := *n
		short.Body = strings.ToValidUTF8(n.Body[:maxTextBytes], "")
		return c.maskedText(&short)
	}
	return c.maskedText(n)
}

// maxTextBytes is how much of a note is read: the longest frontmatter and much
// more than any section shows.
const maxTextBytes = markdown.MaxFrontmatter + 128<<10

func (c *call) maskedText(n *notes.Note) string {
	if !c.remote || n.Places == "" {
		return n.PlainText()
	}
	masked := *n
	var b strings.Builder
	copied := 0
	targets := c.g.notes.Targets(n.ID)
	for at := range n.Places.All() {
		if len(targets) == 0 {
			break // the note has another text by now
		}
		to := c.g.notes.Get(targets[0])
		targets = targets[1:]
		if to != nil && to.Private && at.Start >= copied && at.End <= len(n.Body) {
			b.WriteString(n.Body[copied:at.Start])
			b.WriteString("(private)")
			copied = at.End
		}
	}
	if copied > 0 {
		b.WriteString(n.Body[copied:])
		masked.Body = b.String()
	}
	return masked.PlainText()
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
			c.drop(prompt.KindEntity, id, e.Name, prompt.Deleted)
		default:
			roots = append(roots, c.g.graph.Number(graph.Key{Kind: graph.Entity, ID: id}))
		}
	}
	blocks := make([]*block, 0, 128)
	position := make(map[graph.Node]int32, 128)
	edges := 0
	c.in.Entities = make([]prompt.Entity, 0, 128)
	c.g.graph.Walk(roots, c.depth, func(step graph.Step) []graph.Node {
		b := c.block(step.Node)
		if b == nil {
			return nil
		}
		position[step.Node] = int32(len(blocks))
		blocks = append(blocks, b)
		edges += len(b.edges)
		c.enter(b, step.Depth)
		return b.edges
	})
	links := make([]prompt.Link, 0, edges) // one array for all candidates
	for i := range c.in.Entities {
		if !c.in.Entities[i].Expanded {
			continue
		}
		first := len(links)
		for edge, to := range blocks[i].edges {
			if at, ok := position[to]; ok {
				links = append(links, prompt.Link{To: at, Edge: int32(edge)})
			}
		}
		c.in.Entities[i].Links = links[first:len(links):len(links)]
	}
}

// enter takes one entity of the walk in.
func (c *call) enter(b *block, depth int) {
	cand := prompt.Entity{Card: b.card, Depth: depth, Expanded: depth == 0 || depth < c.depth}
	if cand.Expanded {
		c.in.Dropped = append(c.in.Dropped, b.dropped...)
		c.queries = append(c.queries, b.failed...)
	}
	c.in.Entities = append(c.in.Entities, cand)
	for _, ref := range b.notes {
		if c.noted[ref.id] {
			continue
		}
		c.noted[ref.id] = true
		if n := c.usable(ref.id); n != nil {
			reason := "linked from @" + b.card.Name + "." + ref.field
			if ref.field == graph.OwnNote {
				reason = "the note of @" + b.card.Name
			}
			c.in.Linked = append(c.in.Linked, prompt.Note{ID: n.ID, Title: n.Title, Reason: reason})
		}
	}
}

// searched takes the notes that the search found, as many as were asked for.
func (c *call) searched() {
	taken := make(map[string]bool)
	for i, n := range c.in.Pinned {
		taken[n.ID] = i < prompt.MaxPinned
	}
	pinned := make(map[string]string, len(c.in.Pinned))
	for _, n := range c.in.Pinned {
		pinned[n.ID] = n.Text
	}
	shown := 0
	for i := range c.in.Linked {
		n := &c.in.Linked[i]
		switch {
		case taken[n.ID]:
			n.Text = pinned[n.ID] // it is shown here when it found no room there
		case shown < prompt.MaxLinked:
			shown++
			taken[n.ID] = true
			n.Text = c.text(c.g.notes.Get(n.ID))
		}
	}
	withheld := 0 // that rank above what is shown
	for _, f := range c.found {
		if len(c.in.Found) == c.SearchNotes {
			return
		}
		n := c.g.notes.Get(f.ID) // it may have changed since the search
		if taken[f.ID] || !n.Live() {
			continue
		}
		if c.remote && n.Private {
			if withheld++; withheld <= prompt.MaxFound {
				c.drop(prompt.KindNote, n.ID, "", prompt.Private)
			}
			continue
		}
		c.in.Found = append(c.in.Found, prompt.Note{ID: n.ID, Title: n.Title, Text: c.text(n), Reason: "found by search"})
	}
}

// finish adds what package prompt can't know.
func (c *call) finish(res *prompt.Result) {
	if c.queries != nil {
		res.Report.QueryErrors = c.queries
	}
}
