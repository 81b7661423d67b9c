package tools

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/entities/yield"
	"github.com/ctxd/ctxd/graph"
)

// longName is how long the name of a record is in an argument, in bytes.
const longName = 4 << 10

var getEntity = shared(render.GetEntityInfo,
	(*toolRun).getEntity,
	argument{name: "entity", kind: aText, required: true, long: longName, about: "the entity: its name, an alias or its id"},
	argument{
		name: "depth", kind: aNumber, least: 0, most: graph.MaxResolve - 1, standard: 1,
		about: "steps to follow references: what is reached is shown with its fields too",
	},
	cursorArgument,
)

func (c *toolRun) getEntity() error {
	e, err := c.entity("entity", c.text("entity"))
	if err != nil {
		return err
	}
	// What is reached last has no fields: one step more shows those of what is asked for.
	fields, stood, err := c.resolved(c.ctx, e, c.number("depth")+1)
	if err != nil {
		return err
	}
	c.out.StandsOn.All(stood)
	shown := c.view.ShownEntity(e)
	card := render.Card{ID: e.ID, Name: shown.Name, Type: shown.Type, Aliases: shown.Aliases, NoteID: shown.NoteID, Fields: fields}
	c.referNote(e.NoteID, e.NoteID)
	text := card.Text(func(r map[string]any) {
		id, _ := r["id"].(string)
		switch {
		case r["kind"] == "note":
			c.referNote(id, id)
		case r["fields"] != nil: // its fields come from its note
			if e := c.view.Entity(id); e != nil {
				c.referNote(id, e.NoteID)
			}
		}
	})
	return c.page(render.Lines(text))
}

// resolved returns the fields of an entity with what they refer to, as JSON has them.
func (c *toolRun) resolved(ctx context.Context, e *entities.Entity, depth int,
) (fields map[string]any, stood record.StandsOn, err error) {
	full, err := c.view.ResolveEntity(ctx, e.ID, depth)
	if err != nil {
		return nil, stood, err
	}
	data, err := json.Marshal(full.Fields)
	if err != nil {
		return nil, stood, err
	}
	return fields, full.StandsOn, json.Unmarshal(data, &fields)
}

var exploreGraph = shared(render.ExploreGraphInfo,
	(*toolRun).exploreGraph,
	argument{
		name: "record", kind: aText, required: true, long: longName,
		about: "the note or entity to start from: its title, name or id",
	},
	argument{name: "depth", kind: aNumber, least: 1, most: 4, standard: 1, about: "steps to go"},
	argument{name: "kinds", kind: aList, values: []string{"note", "entity"}, about: "show only note or entity; both when absent"},
	cursorArgument,
)

func (c *toolRun) exploreGraph() error {
	id, err := c.record("record", c.text("record"))
	if err != nil {
		return err
	}
	sub, err := c.view.Neighbors(c.ctx, id, c.number("depth"), c.list("kinds"), 0)
	switch {
	case fault.IsMissing(err): // it is archived, or has gone meanwhile
		return noRecord("record", nil)
	case err != nil:
		return err
	}
	for _, v := range sub.Nodes {
		if v.Kind == "note" {
			c.referNote(v.ID, v.ID)
		} else {
			c.out.StandsOn.Entities = append(c.out.StandsOn.Entities, v.ID)
		}
	}
	return c.page(render.Graph(sub))
}

const (
	maxRows    = 10_000
	rowsOfPage = 500
)

var query = shared(render.QueryInfo("An error says which types and fields there are."),
	(*toolRun).query,
	argument{name: "query", kind: aText, required: true, long: syntax.MaxSource, about: "the WQL text"},
	argument{name: "this", kind: aText, long: longName, about: "the entity that {this} means: its name or id"},
	argument{name: "limit", kind: aNumber, least: 1, most: rowsOfPage, standard: 50, about: "rows of a page"},
	cursorArgument,
)

func (c *toolRun) query() error {
	text, limit := c.text("query"), c.number("limit")
	l := &render.Page{Noun: "row", None: "0 rows", Most: limit}
	if err := l.SkipUnknown(c.text("cursor"), maxRows); err != nil {
		return err
	}
	opts := wql.QueryOptions{Limit: min(l.From+limit, maxRows)}
	if this := c.text("this"); this != "" {
		e, err := c.entity("this", this)
		if err != nil {
			return err
		}
		opts.This = e.ID
	}
	res, err := c.view.Query(c.ctx, text, opts)
	if err != nil {
		whole, ok := render.QueryError(text, err, func() []record.Diagnostic { return c.view.Check(text, "") })
		if ok {
			return wholeError(whole + "\n")
		}
		return err
	}
	ids, types := res.StandsOn()
	c.out.StandsOn.All(record.StandsOn{Entities: ids, Types: types, Notes: res.StandsOnNotes()})
	c.out.StandsOn.Entity(opts.This)
	if res.IsValue {
		value, err := json.Marshal(res.Value)
		c.answer(prompt.EscapeLine(string(value)) + "\n")
		return err
	}
	q, _ := syntax.Parse(text)
	l.Total = min(render.Rows(q, res.Total), maxRows)
	rows := res.Rows[min(l.From, len(res.Rows)):]
	fields, err := c.fieldsOf(q, rows)
	if err != nil {
		return err
	}
	if l.Total > 0 {
		l.Head = render.Plural(l.Total, "row") + "\n"
	}
	for i, r := range rows {
		l.Items = append(l.Items, render.Row(r, fields, i))
		if r.Task != nil {
			c.referNote(r.ID, r.ID)
			c.out.StandsOn.Note(r.ID)
			continue
		}
		if e := c.view.Entity(r.ID); e != nil {
			c.referNote(r.ID, e.NoteID)
		}
		c.out.StandsOn.Entities = append(c.out.StandsOn.Entities, r.ID)
	}
	page, err := l.Text(c.limit)
	c.answer(page)
	return err
}

// fieldsOf reads the fields of rows that a query mentions.
func (c *toolRun) fieldsOf(q *syntax.Query, rows []record.WQLRow) ([]columns.Column, error) {
	if q == nil || len(columns.Mentioned(q)) == 0 || len(rows) == 0 {
		return nil, nil
	}
	r := columns.NewReader(slices.Clone(c.view.Types()), c.column)
	r.AddMentioned(q)
	return r.Fill(yield.Never(c.ctx), rows) // it reads on several goroutines, and a place belongs to one
}

// column returns an entity as columns are made of it.
func (c *toolRun) column(ctx context.Context, id string) (*columns.Entity, error) {
	e, err := c.view.EntityByID(id)
	if err != nil {
		return nil, err
	}
	out := &columns.Entity{Entity: c.view.ShownEntity(e)}
	if t := c.view.TypeOf(e); t != nil && c.view.TypesNamed(e.Type).OfVault(t.Vault) != nil { // the reader knows of it
		out.TypeVault = t.Vault
	}
	var stood record.StandsOn
	out.Fields, stood, err = c.resolved(ctx, e, 1)
	c.stand(stood)
	return out, err
}
