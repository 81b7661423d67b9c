package mcp

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// entityInput are the arguments of get_entity.
type entityInput struct {
	Entity string `json:"entity" jsonschema:"the entity: its name, an alias or its id"`
	Depth  int    `json:"depth,omitempty" jsonschema:"steps to follow references: what is reached is shown with its fields too"`
	paging
}

// maxEntityDepth is that of the daemon.
const maxEntityDepth = 3

func entitySchema() *jsonschema.Schema {
	return pagesOf[entityInput](func(p map[string]*jsonschema.Schema) { between(p["depth"], 0, maxEntityDepth, 1) })
}

func (c *call) getEntity(in entityInput) (string, error) {
	return c.tool("get_entity", in.paging, map[string]any{"entity": in.Entity, "depth": in.Depth})
}

// entityCard shows an entity with its fields, and below it what its references lead to.
func entityCard(e *protocol.EntityFull) string {
	card := render.Card{ID: e.ID, Name: e.Name, Type: e.Type, Aliases: e.Aliases, NoteID: e.NoteID, Fields: e.Fields}
	return card.Text(func(map[string]any) {})
}

func noEntity() error {
	return fault.New(fault.NotFound, "no such entity").WithHint("list_entities shows the entities of a type")
}
