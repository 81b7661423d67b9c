package gather

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// block is what an entity shows to one audience, ready to be put in.
type block struct {
	card    *prompt.Card
	edges   []graph.Node     // what each of card.Edges leads to
	notes   []noteRef        // notes of the fields, then its own
	dropped []prompt.Dropped // what the fields refer to and can't be shown
	failed  []prompt.QueryError
	derived stamp // of a block with computed fields
}

// noteRef is a note that an entity refers to.
type noteRef struct {
	id    string
	field string
}

// stamp is what computed fields depend on. Two equal stamps give equal values.
type stamp struct {
	gen, noteGen uint64
	day          string
}

// blocks keeps the blocks of both audiences by the number of the entity.
type blocks struct {
	mu   sync.RWMutex
	list [2][]*block // local, remote
}

func audienceIndex(remote bool) int {
	if remote {
		return 1
	}
	return 0
}

// commit drops the blocks that a commit makes stale.
func (g *Gatherer) commit(cs *kv.ChangeSet) {
	for _, ch := range cs.Changes {
		if _, _, ok := entities.TypeRecords.Of(ch); ok {
			g.blocks.clear()
			return
		}
	}
	for _, ch := range cs.Changes {
		key := graph.Key{Kind: graph.Entity, ID: ch.ID}
		if _, _, ok := entities.EntityRecords.Of(ch); ok {
			g.blocks.drop(g.graph.Number(key))
		} else if _, _, ok := notes.Records.Of(ch); ok {
			key.Kind = graph.Note
		} else {
			continue
		}
		for _, id := range g.graph.Referrers(key) {
			g.blocks.drop(g.graph.Number(graph.Key{Kind: graph.Entity, ID: id}))
		}
	}
}

func (b *blocks) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = [2][]*block{}
}

func (b *blocks) drop(n graph.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, list := range b.list {
		if int(n) < len(list) {
			list[n] = nil
		}
	}
}

func (b *blocks) get(audience int, n graph.Node) *block {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if list := b.list[audience]; int(n) < len(list) {
		return list[n]
	}
	return nil
}

func (b *blocks) put(audience int, n graph.Node, blk *block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list[audience]
	if int(n) >= len(list) {
		grown := make([]*block, max(int(n)+1, 2*len(list)))
		copy(grown, list)
		list = grown
		b.list[audience] = list
	}
	list[n] = blk
}

// block returns the block of an entity for the audience of the call, nil for
// one that is not live.
func (c *call) block(n graph.Node) *block {
	audience := audienceIndex(c.remote)
	b := c.g.blocks.get(audience, n)
	if b != nil && (b.derived == stamp{} || b.derived == c.now()) {
		return b
	}
	e := c.g.entities.Get(c.g.graph.Key(n).ID)
	if !e.Live() {
		return nil
	}
	b = c.render(e)
	if c.ctx.Err() == nil { // a cancelled query leaves a gap that must not stay
		c.g.blocks.put(audience, n, b)
	}
	return b
}

// now returns the stamp of this moment.
func (c *call) now() stamp {
	if c.stamp == (stamp{}) {
		c.stamp = stamp{c.g.entities.Gen(), c.g.notes.Gen(), c.g.opts.Now().Format(time.DateOnly)}
	}
	return c.stamp
}

// render makes the block of an entity.
func (c *call) render(e *entities.Entity) *block {
	b := &block{}
	t := c.g.entities.Type(e.Type)
	var fields []prompt.Field
	if t != nil {
		for _, f := range t.Fields {
			fields = append(fields, c.field(b, e, f))
		}
	}
	b.card = prompt.NewCard(e.Name, e.Type, e.ID, fields)
	for _, edge := range b.card.Edges {
		b.edges = append(b.edges, c.g.graph.Number(graph.Key{Kind: graph.Entity, ID: edge.ID}))
	}
	if e.NoteID != "" {
		b.notes = append(b.notes, noteRef{e.NoteID, graph.OwnNote})
	}
	return b
}

// field turns a stored or computed value into what is shown of it.
func (c *call) field(b *block, e *entities.Entity, f entities.Field) prompt.Field {
	out := prompt.Field{Name: f.Name}
	if f.Type == entities.Computed {
		c.computed(b, e, f, &out)
		return out
	}
	switch v := e.Fields[f.Name].(type) {
	case nil:
	case float64:
		out.Text = entities.FormatNumber(v)
	case bool:
		out.Text = fmt.Sprint(v)
	case []string:
		if !f.Type.IsRef() {
			out.Items = v
			break
		}
		for _, id := range v {
			out.Refs = append(out.Refs, c.entityRef(b, id))
		}
	case string:
		switch f.Type {
		case entities.EntityRef:
			out.Refs = []prompt.Ref{c.entityRef(b, v)}
		case entities.NoteRef:
			out.Refs = []prompt.Ref{c.noteRef(b, v, f.Name)}
		default:
			out.Text = v
		}
	}
	return out
}

func (c *call) computed(b *block, e *entities.Entity, f entities.Field, out *prompt.Field) {
	b.derived = c.now()
	if strings.Contains(entities.Fold(f.Query), "now") {
		b.derived.day = "" // never the same again
	}
	if c.g.wql == nil {
		return
	}
	res, err := c.g.wql.Computed(c.ctx, e, f)
	if err != nil {
		b.failed = append(b.failed, prompt.QueryError{Entity: e.ID, Field: f.Name, Message: fault.Message(err)})
		return
	}
	if res.IsValue {
		if c.remote { // a count or a maximum can tell of what must not be told
			if res, err = c.g.public.Computed(c.ctx, e, f); err != nil {
				b.failed = append(b.failed, prompt.QueryError{Entity: e.ID, Field: f.Name, Message: fault.Message(err)})
				return
			}
		}
		out.Text = valueText(res.Value)
		return
	}
	shown := res.Rows
	if len(shown) > prompt.ComputedRows {
		shown = shown[:prompt.ComputedRows]
	}
	for _, row := range shown {
		out.Refs = append(out.Refs, c.entityRef(b, row.ID))
	}
	out.More = res.Total - len(shown)
}

// valueText writes an aggregate.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return entities.FormatNumber(v)
	}
	return fmt.Sprint(v)
}

// entityRef says how a reference to an entity shows to the audience.
func (c *call) entityRef(b *block, id string) prompt.Ref {
	ref := prompt.Ref{Kind: prompt.KindEntity, ID: id}
	e := c.g.entities.Get(id)
	var reason prompt.Reason
	switch {
	case e == nil:
		ref.State, reason = prompt.IsDeleted, prompt.Unknown
	case c.remote && e.Private:
		ref.State, reason = prompt.IsPrivate, prompt.Private
	case !e.Live():
		ref.State, reason = prompt.IsDeleted, prompt.Deleted
	default:
		ref.Name = e.Name
		return ref
	}
	d := prompt.Dropped{Kind: prompt.KindEntity, ID: id, Reason: reason}
	if reason == prompt.Deleted {
		d.Title = e.Name
	}
	unresolved(&d)
	b.dropped = append(b.dropped, d)
	return ref
}

// noteRef says how a reference to a note shows, and takes the note in.
func (c *call) noteRef(b *block, id, field string) prompt.Ref {
	ref := prompt.Ref{Kind: prompt.KindNote, ID: id}
	n := c.g.notes.Get(id)
	switch {
	case n == nil:
		ref.State = prompt.IsArchived
	case c.remote && n.Private:
		ref.State = prompt.IsPrivate
	case !n.Live():
		ref.State = prompt.IsArchived
	default:
		ref.Name = n.Title
	}
	b.notes = append(b.notes, noteRef{id, field})
	return ref
}

// unresolved moves a link that leads nowhere from the id, which it is not, to
// the title.
func unresolved(d *prompt.Dropped) {
	if target, ok := entities.LinkTarget(d.ID); ok {
		d.ID, d.Title = "", target
	}
}
