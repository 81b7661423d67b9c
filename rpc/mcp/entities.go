package mcp

import (
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// entityInput are the arguments of get_entity.
type entityInput struct {
	ID    string `json:"id,omitempty" jsonschema:"id of the entity"`
	Name  string `json:"name,omitempty" jsonschema:"its name or an alias, in full"`
	Depth int    `json:"depth,omitempty" jsonschema:"steps to follow references; what is reached is shown with its fields, except the last"`
}

func entitySchema() *jsonschema.Schema {
	return inputOf[entityInput](func(p map[string]*jsonschema.Schema) { between(p["depth"], 0, prompt.MaxDepth, 1) })
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
		text += "\n\nnote:" + idMark(o.NoteID)
	}
	return text
}

func (c *call) getEntity(in entityInput) (entityOutput, error) {
	e, err := c.wanted(in)
	if err != nil {
		return entityOutput{}, err
	}
	out := entityOutput{ID: e.ID, Type: e.Type, Name: e.Name, Aliases: e.Aliases, NoteID: e.NoteID}
	out.Text, err = c.card(e.ID, in.Depth)
	return out, err
}

// wanted finds the one entity with an id or name.
func (c *call) wanted(in entityInput) (*record.Entity, error) {
	switch {
	case (in.ID == "") == (in.Name == ""):
		return nil, fault.Field("id", "exactly one of id and name is needed")
	case in.ID != "":
		return c.entity(in.ID, noEntity())
	}
	var found protocol.EntityFull
	name := strings.TrimPrefix(strings.TrimSpace(in.Name), "@")
	err := c.ask("entities.get", protocol.EntityGet{Name: name}, &found)
	switch {
	case fault.KindOf(err) == fault.NotFound || err == nil && found.TrashedAt != nil:
		return nil, noEntity()
	case fault.KindOf(err) == fault.Conflict:
		return nil, c.several(err)
	}
	return &found.Entity, err
}

// several is the error for a name that several entities have. Those of a name are all
// live or all in the trash, where a host looks for none.
func (c *call) several(err error) error {
	var found *fault.Error
	if !errors.As(err, &found) || len(found.Candidates) == 0 {
		return err
	}
	_, missing := c.entity(found.Candidates[0].ID, noEntity())
	if missing != nil {
		return missing
	}
	return fault.New(fault.Conflict, "several entities have that name").
		WithHint("name one of these by its id").WithCandidates(found.Candidates)
}

// card shows an entity as prompts do.
func (c *call) card(id string, depth int) (string, error) {
	none := 0
	var res prompt.Result
	err := c.ask("context.assemble", prompt.Params{
		MentionedEntityIDs: []string{id}, MaxDepth: &depth, Audience: c.opts.audience(),
		Budgets: &prompt.ParamBudgets{Linked: &none},
	}, &res)
	if err != nil {
		return "", err
	}
	at := strings.Index(res.System, "### ")
	if at < 0 { // it went meanwhile
		return "", noEntity()
	}
	return strings.TrimSpace(res.System[at:]), nil
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
		b.WriteString("- " + entityLabel(e.Name, e.Type) + idMark(e.ID))
		if len(e.Aliases) > 0 {
			b.WriteString(" also " + inlineList(e.Aliases))
		}
		b.WriteByte('\n')
	}
	if o.NextCursor != "" {
		b.WriteString("There are more: go on with cursor " + o.NextCursor + "\n")
	}
	return b.String()
}

func (c *call) listEntities(in listInput) (listOutput, error) {
	out := listOutput{Entities: []listedEntity{}}
	if in.Type != "" {
		err := c.ask("types.get", protocol.TypeName{Name: in.Type}, nil)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, "there is no such type").WithHint("list_types shows the types")
		}
		if err != nil {
			return out, err
		}
	}
	var page protocol.EntityPage
	err := c.ask("entities.list",
		protocol.EntityFilter{Type: in.Type, Page: protocol.Page{Cursor: in.Cursor, Limit: in.Limit}}, &page)
	if err != nil {
		return out, err
	}
	for _, e := range page.Entities {
		out.Entities = append(out.Entities, listedEntity{e.ID, e.Type, e.Name, e.Aliases})
	}
	out.NextCursor = page.NextCursor
	return out, nil
}
