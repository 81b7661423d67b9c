package gather

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
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

	room       room     // for blocks that it may still render
	made       rendered // blocks that were rendered for this assembly
	incomplete bool     // it would have had to render more

	mentions *mentions
	privacy  uint64 // of the View, when the candidates were found

	in      prompt.Input
	plain   *prompt.Input   // what in was before a Distiller changed it; nil when none did
	records records         // of the candidates
	noted   map[string]bool // notes that are candidates or reported
	texts   []candidateText
	queries []prompt.QueryError
	stood   record.StandsOn // what fields were made of, in any order

	warnings []prompt.Warning
	files    []mentionedFile
}

// candidateText is a note whose text a candidate shows.
type candidateText struct {
	section *[]prompt.Note
	at      int // index there
	note    *notes.Note
	parts   []markdown.Part // of the note that are shown; none for all of it
	found   bool            // by the search, and
	near    string          // the passage by which it was
}

// collect finds the candidates of every section.
func (c *call) collect() error {
	m := c.mentions
	c.privacy = c.view.Privacy()
	c.in.Format, c.in.Budgets, c.in.Explain = c.format, c.budgets, c.Explain
	c.in.Dropped, c.warnings, c.files = m.dropped, m.warnings, m.files
	c.in.Personality = c.personality()
	if c.Now {
		now := c.g.opts.Now()
		c.in.Now = &prompt.Now{Time: now, Zone: text.ZoneName(now)}
	}
	c.pinned(m)
	c.pinnedInFocus()
	c.walkAll()
	if c.incomplete {
		return nil
	}
	c.ofDay()
	c.searched()
	c.in.Events, c.in.Actions = c.events(), c.actions()
	return c.ctx.Err()
}

// events returns the calendar events as the audience may see them.
func (c *call) events() []prompt.Event {
	if !c.remote {
		return c.CalendarEvents
	}
	out := slices.Clone(c.CalendarEvents)
	for i := range out {
		e := &out[i]
		for _, text := range [...]*string{&e.Title, &e.Start, &e.End, &e.Location} {
			*text = c.view.TextOf("", *text)
		}
		e.Attendees = c.masked(e.Attendees)
	}
	return out
}

// actions returns the action items as the audience may see them: for a remote one
// without what it does not see of the entities that they are assigned to.
func (c *call) actions() []prompt.Action {
	if !c.remote {
		return c.ActionItems
	}
	unseen := func(id string) bool { return c.view.Entity(id) == nil }
	out := slices.Clone(c.ActionItems)
	for i := range out {
		a := &out[i]
		for _, id := range a.EntityIDs {
			if unseen(id) {
				c.unseenEntity(id)
			}
		}
		a.EntityIDs = slices.DeleteFunc(slices.Clone(a.EntityIDs), unseen)
		for _, text := range [...]*string{&a.ID, &a.Text, &a.Status, &a.Due} {
			*text = c.view.TextOf("", *text)
		}
	}
	return out
}

func (c *call) drop(kind, id, title string, reason prompt.Reason) {
	c.in.Dropped = append(c.in.Dropped, prompt.Dropped{Kind: kind, ID: id, Title: title, Reason: reason})
}

// withheld reports a private record that something led to: only a reader who may know
// of it is told which one.
func (c *call) withheld(d prompt.Dropped) {
	if c.told.Hides() {
		d.ID, d.Reason = "", prompt.Unknown
	}
	c.in.Dropped = append(c.in.Dropped, d)
}

// unseenEntity reports an entity that the caller named and that is not there for the
// reader of the prompt.
func (c *call) unseenEntity(id string) {
	reason := prompt.Unknown
	if c.told.Entity(id) != nil {
		reason = prompt.Private
	}
	c.drop(prompt.KindEntity, id, "", reason)
}

// usable returns the note of an id if it may be shown; otherwise it reports
// why not. A link that leads nowhere is reported under its text. named tells that the
// caller gave the id.
func (c *call) usable(id string, named bool) *notes.Note {
	n := c.view.Note(id)
	hidden := n == nil && c.view.HidesNote(id)
	switch {
	case n == nil && c.view.Withheld(id), n == nil && !hidden && !named && record.NeverLed(id) && c.view.TextOf("", id) != id:
		c.withheld(prompt.Dropped{Kind: prompt.KindNote, Reason: prompt.Private})
	case hidden && (!named || !c.told.Hides()):
		c.withheld(prompt.Dropped{Kind: prompt.KindNote, ID: id, Reason: prompt.Private})
	case n == nil:
		d := prompt.Dropped{Kind: prompt.KindNote, ID: id, Reason: prompt.Unknown}
		unresolved(&d)
		c.in.Dropped = append(c.in.Dropped, d)
	case !n.Live():
		c.drop(prompt.KindNote, id, c.title(nil, n), prompt.Archived)
	default:
		return n
	}
	return nil
}

// pinned takes the notes that the user attached, then those of the conversation. Which of them fit is for
// package prompt to say: it reports those over the limit.
func (c *call) pinned(m *mentions) {
	for i, id := range m.notes {
		if n := c.usable(id, true); n != nil {
			reason := prompt.PinnedByUser
			if i >= m.own {
				reason = prompt.PinnedInConversation
			}
			c.in.Pinned = append(c.in.Pinned, prompt.Note{ID: id, Title: c.title(nil, n), Reason: reason})
			if i := len(c.in.Pinned) - 1; i < prompt.MaxPinned { // the others are only reported
				c.text(&c.in.Pinned, i, n)
				c.texts[len(c.texts)-1].parts = m.parts[id]
			}
		}
	}
}

// text has the text of a note read for a candidate, when all candidates are known and
// no commit waits.
func (c *call) text(section *[]prompt.Note, at int, n *notes.Note) {
	c.texts = append(c.texts, candidateText{section: section, at: at, note: n})
}

// readTexts makes the texts of the candidates, as the audience may read them.
func (c *call) readTexts() error {
	for _, t := range c.texts {
		err := c.ctx.Err()
		if err != nil {
			return err
		}
		n := &(*t.section)[t.at]
		shown, err := c.shown(t, n)
		if err != nil {
			return err
		}
		n.Body = shown.body
		if e := c.fieldsOf(t.note); e != nil {
			n.EntityID, n.Bare = e.ID, shown.without(e)
		}
	}
	return nil
}

// shown returns the text of a candidate: its parts, or all of it; of one that is longer than its section shows what answers the
// message. Where a part is missing the whole note is shown, with a warning.
func (c *call) shown(t candidateText, n *prompt.Note) (*shownText, error) {
	if len(t.parts) == 0 {
		return c.wholeOrPassages(t)
	}
	shown, missing, err := c.g.texts.parts(c.ctx, c.view, t.note, t.parts)
	if err != nil {
		return nil, err
	}
	for _, p := range missing {
		what := "heading " + strconv.Quote(p.Heading)
		if p.Block != "" {
			what = "block ^" + p.Block
		}
		warning := prompt.Warning{
			Ref: "[[" + n.Title + "#" + p.String() + "]]", Message: "the note has no " + what + ", so all of it is pinned",
		}
		if !slices.Contains(c.warnings, warning) { // a pinned note may be a linked one too
			c.warnings = append(c.warnings, warning)
		}
	}
	if len(missing) > 0 {
		return c.g.texts.shown(c.ctx, c.view, t.note)
	}
	if len(t.parts) == 1 {
		n.Title += "#" + t.parts[0].String()
	}
	switch {
	case n.Focus != "":
	case len(t.parts) == 1:
		n.Reason = "a part pinned by the user"
	default:
		n.Reason = "parts pinned by the user"
	}
	return shown, nil
}

// aroundPinned is what the headings before a pinned note take.
const aroundPinned = 250

func (c *call) wholeOrPassages(t candidateText) (*shownText, error) {
	most := prompt.FoundChars
	pinned := t.section == &c.in.Pinned
	if pinned {
		most = min(prompt.PinnedChars, c.budgets.Pinned-aroundPinned)
	}
	shown, err := c.g.texts.shown(c.ctx, c.view, t.note)
	if err != nil || !t.found && !pinned || prompt.Chars(shown.body.String()) <= most || pinned && search.AsksNothing(c.mentions.query) {
		return shown, err
	}
	passages, matched, err := c.g.texts.passages(c.ctx, c.view, t.note, c.mentions.query, t.near, most, pinned)
	if err != nil || pinned && !matched {
		return shown, err
	}
	return passages.partOf(shown), nil
}

// fieldsOf returns the entity that a note describes when its fields may be in the prompt.
func (c *call) fieldsOf(n *notes.Note) *entities.Entity {
	if n.EntityID == "" || !slices.ContainsFunc(c.in.Entities, func(e prompt.Entity) bool { return e.Card.ID == n.EntityID }) {
		return nil
	}
	return c.view.Entity(n.EntityID)
}

// toldBefore reports whether the texts may tell what a private record was called
// before it was called otherwise, while they were read.
func (c *call) toldBefore(ctx context.Context) (told bool, err error) {
	if !c.remote || len(c.texts)+len(c.in.Referenced)+len(c.in.Recalled)+len(c.in.Passages) == 0 {
		return false, nil
	}
	err = c.g.store.View(ctx, func(*kv.Tx) error { // so that no commit is half seen
		told = c.view.Privacy() != c.privacy
		return nil
	})
	return told, err
}

// withoutTexts takes the texts out again.
func (c *call) withoutTexts() {
	c.withoutMemories()
	for _, p := range c.in.Passages {
		c.drop(prompt.KindPassage, p.ID, "", prompt.Unknown)
	}
	c.in.Passages = nil
	for _, t := range c.texts {
		n := &(*t.section)[t.at]
		n.Body, n.Bare = prompt.NoteBody{}, prompt.NoteBody{}
	}
}

// walksUnasked is how many blocks a walk takes in between two looks at whether it is
// to go on. Where they have to be rendered, it is asked before each.
const walksUnasked = 32

// walkAll goes breadth first from the mentioned entities and takes in what it
// reaches, and the notes that fields refer to in the order of encounter; then from those that the conversation is about.
func (c *call) walkAll() {
	roots := make([]graph.Node, 0, len(c.mentions.entities))
	for _, id := range c.mentions.entities {
		e := c.view.Entity(id)
		switch {
		case e == nil:
			c.unseenEntity(id)
		case !e.Live():
			c.drop(prompt.KindEntity, id, c.name(nil, e), prompt.Deleted)
		default:
			roots = append(roots, c.view.Number(graph.Key{Kind: graph.Entity, ID: id}))
		}
	}
	c.walkFrom(roots, nil)
	c.walkFocus()
	c.link()
}

// walkFrom takes in what roots lead to that is not in yet. focus says of roots that the conversation is about why; nil: the
// message names them.
func (c *call) walkFrom(roots []graph.Node, focus map[graph.Node]prompt.Focus) {
	s := c.scratch
	c.view.Walk(roots, c.depth, func(step graph.Step) []graph.Node {
		if len(s.nodes)%walksUnasked == 0 && c.ctx.Err() != nil {
			return nil
		}
		at := int32(-1)
		if focus != nil {
			at = s.place(step.Node)
		}
		if at >= 0 && (c.in.Entities[at].Expanded || !c.expands(step.Depth)) {
			return nil
		}
		b, ready := c.block(step.Node, c.expands(step.Depth))
		if !ready {
			c.incomplete = true
		}
		if b == nil {
			return nil
		}
		if at >= 0 { // the message leads to it, and does not show its fields
			s.blocks[at] = b
			c.in.Entities[at].Card, c.in.Entities[at].Expanded = &b.card, true
			c.fieldsIn(b)
		} else {
			s.enter(step.Node, b)
			e := prompt.Entity{Card: &b.card, Depth: step.Depth, Expanded: c.expands(step.Depth), Follows: focus != nil}
			if step.Depth == 0 {
				e.Focus = focus[step.Node]
			}
			c.enter(b, e)
		}
		if step.Depth < c.depth {
			c.preload(b.edges, c.expands(step.Depth+1))
		}
		return b.edges
	})
}

// link notes which references of entities lead to others that are in.
func (c *call) link() {
	s := c.scratch
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

// scratch is memory for the candidates that is used again when their prompt is made: no
// part of it is in a result.
type scratch struct {
	nodes    []graph.Node // that were entered, and
	blocks   []*block     // their blocks
	places   []int32      // by number: the place in nodes, plus one
	links    []prompt.Link
	entities []prompt.Entity

	referenced, recalled []prompt.Memory
	taken                map[string]bool // ids of memories

	touched int // means nothing, but that what was read for it is near
}

var scratches = sync.Pool{New: func() any { return &scratch{taken: make(map[string]bool)} }}

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
	clear(s.referenced)
	clear(s.recalled)
	clear(s.taken)
	s.nodes, s.blocks, s.links, s.entities = s.nodes[:0], s.blocks[:0], s.links[:0], s.entities[:0]
	s.referenced, s.recalled = s.referenced[:0], s.recalled[:0]
	scratches.Put(s)
}

// expands reports whether entities at a depth show their fields.
func (c *call) expands(depth int) bool { return depth == 0 || depth < c.depth }

// enter takes one entity of the walk in.
func (c *call) enter(b *block, cand prompt.Entity) {
	if cand.Expanded {
		c.fieldsIn(b)
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
		if n := c.usable(ref.id, false); n != nil {
			reason := "linked from @" + b.card.Name + "." + ref.field
			if ref.field == graph.OwnNote {
				reason = "the note of @" + b.card.Name
			}
			note := prompt.Note{ID: n.ID, Title: c.title(nil, n), Reason: reason}
			if cand.Follows {
				note.Focus = prompt.Focus(reason)
			}
			c.in.Linked = append(c.in.Linked, note)
		}
	}
}

// fieldsIn takes in what the fields of an entity were made of.
func (c *call) fieldsIn(b *block) {
	for _, d := range b.dropped {
		if d.Reason == prompt.Private {
			c.withheld(d)
		} else {
			c.in.Dropped = append(c.in.Dropped, d)
		}
	}
	c.queries = append(c.queries, b.failed...)
	c.standsOn(b)
}

// standsOn notes what the fields of an entity were made of.
func (c *call) standsOn(b *block) {
	for _, edge := range b.card.Edges {
		c.stood.Entities = append(c.stood.Entities, edge.ID)
	}
	for _, q := range b.queries {
		if q.result != nil {
			ids, types := q.result.StandsOn()
			c.stood.Join(record.StandsOn{Entities: ids, Types: types})
		}
	}
}

// searched takes the notes that the search found, as many as were asked for.
func (c *call) searched() {
	if len(c.in.Linked)+len(c.found) == 0 && c.mentions.focus == nil {
		return
	}
	pinned := make(map[string]candidateText, len(c.texts)) // and shown, or at least first in line
	for _, t := range c.texts {
		pinned[t.note.ID] = t
	}
	taken, also := make(map[string]bool), make(map[string]bool) // also: by the focus, which goes first where room is short
	for id, t := range pinned {
		if (*t.section)[t.at].Focus != "" {
			also[id] = true
		} else {
			taken[id] = true
		}
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
			if n.Focus != "" {
				also[n.ID] = true
			} else {
				taken[n.ID] = true
			}
			c.text(&c.in.Linked, i, c.view.Note(n.ID))
		}
	}
	withheld := 0 // that rank above what is shown
	cited := c.citedInFocus(taken, also)
	more := c.SearchNotes
	for _, f := range c.found {
		if more == 0 {
			break
		}
		id := f.Doc.ID()
		n := c.view.Note(id) // it may have changed since the search
		switch {
		case taken[id], cited[id] && c.mentions.focus.asks: // what is found by words of the focus is there for the focus
			continue
		case n == nil && c.told.Note(id) != nil: // only who is told of it has it found
			withheld++
			if withheld <= prompt.MaxFound {
				c.drop(prompt.KindNote, id, "", prompt.Private)
			}
			continue
		case !n.Live():
			continue
		}
		if !also[id] {
			more--
		}
		also[id] = true
		c.in.Found = append(c.in.Found, prompt.Note{ID: n.ID, Title: c.title(nil, n), Reason: foundBy(f)})
		c.texts = append(c.texts, candidateText{section: &c.in.Found, at: len(c.in.Found) - 1, note: n, found: true, near: f.Snippet})
	}
	c.showCited(cited, also)
}
