package mcp

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// entityInput are the arguments of get_entity.
type entityInput struct {
	ID    string `json:"id,omitempty" jsonschema:"id of the entity"`
	Name  string `json:"name,omitempty" jsonschema:"its name or an alias, in full"`
	Depth int    `json:"depth,omitempty" jsonschema:"steps to follow references; what is reached is shown with its fields, except the last"`
}

func entitySchema() *jsonschema.Schema {
	return inputOf[entityInput](func(p map[string]*jsonschema.Schema) { between(p["depth"], 0, gather.MaxDepth, 1) })
}

// entityOutput is the result of get_entity.
type entityOutput struct {
	ID      string   `json:"id" jsonschema:"id of the entity"`
	Type    string   `json:"type" jsonschema:"its type"`
	Name    string   `json:"name" jsonschema:"its name"`
	Aliases []string `json:"aliases" jsonschema:"its other names"`
	NoteID  string   `json:"noteId,omitempty" jsonschema:"the note that describes it, for read_note"`
	Text    string   `json:"shown" jsonschema:"its fields, and the entities that they refer to with theirs, as Markdown; [id:…] are ids"`
}

func (o entityOutput) text() string {
	text := o.Text
	if o.NoteID != "" {
		text += "\n\nnote: [id:" + o.NoteID + "]"
	}
	return text
}

func (c *call) getEntity(in entityInput) (entityOutput, error) {
	e, err := c.wanted(in)
	if err != nil {
		return entityOutput{}, err
	}
	out := entityOutput{ID: e.ID, Type: e.Type, Name: e.Name, Aliases: e.Aliases}
	if out.Text, err = c.card(e.ID, in.Depth); err != nil {
		return out, err
	}
	if e.NoteID != "" {
		n, err := c.note(e.NoteID)
		if err != nil {
			return out, err
		}
		if n != nil {
			out.NoteID = n.ID
		}
	}
	return out, nil
}

// wanted finds the one entity that may be shown of those with an id or name.
func (c *call) wanted(in entityInput) (*entities.Entity, error) {
	switch {
	case (in.ID == "") == (in.Name == ""):
		return nil, fault.Field("id", "exactly one of id and name is needed")
	case in.ID != "":
		e, err := c.entity(in.ID)
		if e == nil && err == nil {
			err = noEntity()
		}
		return e, err
	}
	found, err := c.called(in.Name)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, noEntity()
	case len(found) > 1:
		return nil, fault.New(fault.Conflict, "several entities have that name").
			WithHint("name one of these by its id").WithCandidates(candidates(found))
	}
	return found[0], nil
}

// called returns the entities with a name or alias that may be shown.
func (c *call) called(name string) ([]*entities.Entity, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	if strings.ContainsAny(name, "[]`\r\n") {
		return c.completed(name)
	}
	// A mention is looked up by the whole name; no other method does so.
	none := 0
	var res prompt.Result
	err := c.ask("context.assemble", gather.Params{Text: "@[" + name + "]", MaxDepth: &none, Audience: c.audience()}, &res)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, section := range res.Report.Sections {
		for _, item := range section.Items {
			if item.Kind == prompt.KindEntity {
				ids = append(ids, item.ID)
			}
		}
	}
	for _, d := range res.Report.Dropped {
		for _, cand := range d.Candidates {
			ids = append(ids, cand.ID)
		}
	}
	return c.shown(ids)
}

// completed is called for a name that can't be written as a mention. Of many
// entities whose names begin with it, it may miss one.
func (c *call) completed(name string) ([]*entities.Entity, error) {
	var items protocol.EntityItems
	if err := c.ask("entities.complete", protocol.EntityComplete{Prefix: name, Limit: 100}, &items); err != nil {
		return nil, err
	}
	var ids []string
	for _, item := range items.Items {
		if entities.Fold(item.Name) == entities.Fold(name) {
			ids = append(ids, item.ID)
		}
	}
	return c.shown(ids)
}

// shown returns those of the entities that may be shown.
func (c *call) shown(ids []string) (out []*entities.Entity, err error) {
	for _, id := range ids {
		e, err := c.entity(id)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, e)
		}
	}
	return out, nil
}

func candidates(list []*entities.Entity) []fault.Candidate {
	out := make([]fault.Candidate, len(list))
	for i, e := range list {
		out[i] = fault.Candidate{ID: e.ID, Name: e.Name, Type: e.Type}
	}
	return out
}

// card shows an entity as prompts do: they know what which audience may see,
// also of computed fields.
func (c *call) card(id string, depth int) (string, error) {
	none := 0
	var res prompt.Result
	err := c.ask("context.assemble", gather.Params{
		MentionedEntityIDs: []string{id}, MaxDepth: &depth, Audience: c.audience(), Budgets: &gather.Budgets{Linked: &none},
	}, &res)
	if err != nil {
		return "", err
	}
	at := strings.Index(res.System, "### ")
	if at < 0 { // it went meanwhile
		return "", noEntity()
	}
	return c.quoted(strings.TrimSpace(res.System[at:]))
}

// listInput are the arguments of list_entities.
type listInput struct {
	Type   string `json:"type,omitempty" jsonschema:"entities of this type, such as Person; of all types when absent"`
	Limit  int    `json:"limit,omitempty" jsonschema:"entities at most"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

func listSchema() *jsonschema.Schema {
	return inputOf[listInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 200, 50) })
}

// listOutput is the result of list_entities.
type listOutput struct {
	Entities   []listedEntity `json:"entities" jsonschema:"the entities by name"`
	NextCursor string         `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// listedEntity is an entity without its fields.
type listedEntity struct {
	ID      string   `json:"id" jsonschema:"id of the entity, for get_entity"`
	Type    string   `json:"type" jsonschema:"its type"`
	Name    string   `json:"name" jsonschema:"its name"`
	Aliases []string `json:"aliases" jsonschema:"its other names"`
}

func (o listOutput) text() string {
	if len(o.Entities) == 0 {
		return "There is none."
	}
	var b strings.Builder
	for _, e := range o.Entities {
		fmt.Fprintf(&b, "- @%s (%s) [id:%s]", oneLine(e.Name), e.Type, e.ID)
		if len(e.Aliases) > 0 {
			b.WriteString(" also " + oneLine(strings.Join(e.Aliases, ", ")))
		}
		b.WriteByte('\n')
	}
	if o.NextCursor != "" {
		b.WriteString("There are more: go on with cursor " + o.NextCursor + "\n")
	}
	return b.String()
}

// listPage is how many entities are asked for at once.
const listPage = 200

// listEntities counts what it has shown for its cursors: those of the daemon
// hold the name of the record that they stand behind.
func (c *call) listEntities(in listInput) (listOutput, error) {
	out := listOutput{Entities: []listedEntity{}}
	before, err := strconv.Atoi(cmp.Or(in.Cursor, "0"))
	if err != nil || before < 0 {
		return out, fault.Field("cursor", "the cursor is not one that this tool gave").WithHint("give the nextCursor of the page before")
	}
	if known, err := c.knowsType(in.Type); !known || err != nil {
		return out, err
	}
	at := 0
	for from := ""; ; {
		page, err := c.page(in.Type, from, listPage)
		if err != nil {
			return out, err
		}
		for _, e := range page.Entities {
			if c.hides(e.Private) {
				continue
			}
			if at++; at <= before {
				continue
			}
			if len(out.Entities) == in.Limit {
				out.NextCursor = strconv.Itoa(before + in.Limit)
				return out, nil
			}
			if err := c.clean(&e.Name, e.Aliases); err != nil {
				return out, err
			}
			out.Entities = append(out.Entities, listedEntity{e.ID, e.Type, e.Name, e.Aliases})
		}
		if from = page.NextCursor; from == "" {
			return out, nil
		}
	}
}

func (c *call) page(kind, cursor string, limit int) (page protocol.EntityPage, err error) {
	err = c.ask("entities.list", protocol.EntityFilter{Type: kind, Page: protocol.Page{Cursor: cursor, Limit: limit}}, &page)
	return page, err
}
