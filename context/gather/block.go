package gather

import (
	"fmt"
	"strconv"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
)

// render makes the block of an entity. Only a full one has fields; of the others
// no more is asked than the heading and the notes. moment and privacy are those from
// before the entity was read.
func (c *call) render(e *entities.Entity, full bool, moment, privacy uint64) *block {
	b := &block{full: full, privacy: privacy}
	b.seen.Store(moment)
	t := c.view.TypeOf(e)
	var fields []prompt.Field
	switch {
	case t == nil:
	case full:
		fields = make([]prompt.Field, 0, len(t.Fields))
		for _, f := range t.Fields {
			if c.ctx.Err() != nil {
				return b // which nobody is shown
			}
			fields = append(fields, c.field(b, e, f))
		}
	default:
		for _, f := range t.Fields {
			if id, ok := e.Fields[f.Name].(string); ok && f.Type.Info().To == record.ToNote {
				b.notes = append(b.notes, noteRef{id, f.Name})
			}
		}
	}
	b.card = *prompt.NewCard(c.format, c.name(b, e), e.Type, e.ID, fields)
	b.card.Fields.Refs = nil // edges say what is needed of them
	b.edges = make([]graph.Node, 0, len(b.card.Edges))
	for _, edge := range b.card.Edges {
		b.edges = append(b.edges, c.view.Number(graph.Key{Kind: graph.Entity, ID: edge.ID}))
	}
	if e.NoteID != "" {
		b.notes = append(b.notes, noteRef{e.NoteID, graph.OwnNote})
	}
	b.fixed = b.queries == nil && !b.links
	return b
}

// field turns a stored or computed value into what is shown of it.
func (c *call) field(b *block, e *entities.Entity, f entities.Field) prompt.Field {
	out := prompt.Field{Name: f.Name}
	if f.Type.IsComputed() {
		c.computed(b, e, f, &out)
		return out
	}
	switch v := e.Fields[f.Name].(type) {
	case nil:
	case float64:
		out.Text = record.FormatNumber(v)
	case bool:
		out.Text = strconv.FormatBool(v)
	case []string:
		if !f.Type.IsRef() {
			out.Items = c.items(b, e.NoteID, v)
			break
		}
		for _, id := range v {
			out.Refs = append(out.Refs, c.entityRef(b, e.NoteID, id))
		}
	case string:
		switch f.Type.Info().To {
		case record.ToEntity:
			out.Refs = []prompt.Ref{c.entityRef(b, e.NoteID, v)}
		case record.ToNote:
			out.Refs = []prompt.Ref{c.noteRef(b, e.NoteID, v, f.Name)}
		default:
			out.Text = c.value(b, e.NoteID, v)
		}
	}
	return out
}

// computed shows what a query gives. What it says to a remote audience, it says
// of a world without private entities: a count, a maximum or an order can tell
// of what must not be told.
func (c *call) computed(b *block, e *entities.Entity, f entities.Field, out *prompt.Field) {
	if !c.view.CanQuery() {
		return
	}
	res, err := c.query(b, e, f)
	if err != nil {
		b.failed = append(b.failed, prompt.QueryError{Entity: e.ID, Field: f.Name, Message: fault.Message(err)})
		return
	}
	if res.IsValue {
		out.Text = c.value(b, "", valueText(res.Value))
		return
	}
	for _, row := range res.Rows[:min(len(res.Rows), prompt.ComputedRows)] {
		out.Refs = append(out.Refs, c.entityRef(b, "", row.ID))
	}
	out.More = res.Total - len(out.Refs)
}

// query evaluates a computed field and has the block remember what it stands on.
func (c *call) query(b *block, e *entities.Entity, f entities.Field) (*wql.Result, error) {
	res, err := c.view.Computed(c.ctx, e, f)
	b.queries = append(b.queries, answer{c.view, res})
	if err == nil && !c.view.Current(res) {
		b.instant = true
	}
	return res, err
}

// valueText writes an aggregate.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return record.FormatNumber(v)
	}
	return fmt.Sprint(v)
}

// entityRef says how a reference to an entity shows to the audience. from is the note of
// the entity that refers, "" for none.
func (c *call) entityRef(b *block, from, id string) prompt.Ref {
	ref := prompt.Ref{Kind: prompt.KindEntity, ID: id}
	e := c.view.Entity(id)
	var reason prompt.Reason
	switch {
	case e == nil && c.view.Withheld(id):
		ref.State, b.links = prompt.IsPrivate, true
		b.dropped = append(b.dropped, prompt.Dropped{Kind: prompt.KindEntity, Reason: prompt.Private})
		return ref
	case e == nil && c.view.HidesEntity(id):
		ref.State, reason = prompt.IsPrivate, prompt.Private
	case e == nil && record.NeverLed(id):
		c.unresolvedRef(b, from, &ref)
		reason = prompt.Unknown
	case e == nil:
		ref.State, reason = prompt.IsDeleted, prompt.Unknown
	case !e.Live():
		ref.State, reason = prompt.IsDeleted, prompt.Deleted
	default:
		ref.Name = c.name(b, e)
		return ref
	}
	if ref.State == prompt.IsPrivate && reason == prompt.Unknown {
		b.dropped = append(b.dropped, prompt.Dropped{Kind: prompt.KindEntity, Reason: prompt.Private})
		return ref
	}
	d := prompt.Dropped{Kind: prompt.KindEntity, ID: id, Reason: reason}
	if reason == prompt.Deleted {
		d.Title = c.name(b, e)
	}
	unresolved(&d)
	b.dropped = append(b.dropped, d)
	return ref
}

// unresolvedRef shows a reference that leads nowhere by its name, which may be that of a
// private record.
func (c *call) unresolvedRef(b *block, from string, ref *prompt.Ref) {
	name := ref.ID
	if target, ok := record.LinkTarget(name); ok {
		name = target
	}
	ref.State, ref.Name = prompt.IsUnresolved, c.value(b, from, name)
	if ref.Name != name {
		ref.State, ref.Name = prompt.IsPrivate, ""
	}
}

// noteRef says how a reference to a note shows, and takes the note in. from is that of
// entityRef.
func (c *call) noteRef(b *block, from, id, field string) prompt.Ref {
	ref := prompt.Ref{Kind: prompt.KindNote, ID: id}
	n := c.view.Note(id)
	switch {
	case n == nil && c.view.Withheld(id):
		ref.State, b.links = prompt.IsPrivate, true
	case n == nil && c.view.HidesNote(id):
		ref.State = prompt.IsPrivate
	case n == nil && record.NeverLed(id):
		c.unresolvedRef(b, from, &ref)
	case n == nil:
		ref.State = prompt.IsArchived
	case !n.Live():
		ref.State = prompt.IsArchived
	default:
		ref.Name = c.title(b, n)
	}
	b.notes = append(b.notes, noteRef{id, field})
	return ref
}

// unresolved moves a link that leads nowhere from the id, which it is not, to
// the title.
func unresolved(d *prompt.Dropped) {
	if target, ok := record.LinkTarget(d.ID); ok {
		d.ID, d.Title = "", target
	}
}
