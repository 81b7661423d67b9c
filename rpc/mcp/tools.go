package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTools declares the tools. All of them read only.
func (s *server) addTools() {
	add(s, "search_notes", "Search the user's notes",
		"Find notes by the words of a query and by what it means, best first, each with the place of its text that fits best. Read one with read_note.",
		searchSchema(), (*call).searchNotes)
	add(s, "similar_notes", "Find notes that mean what one does",
		"Find the notes that are nearest to a note in meaning, nearest first, each with the part of its text that is nearest. Read one with read_note.",
		similarSchema(), (*call).similarNotes)
	add(s, "read_note", "Read a note",
		"Read one note as Markdown, by its id, path or title; a long one in parts.",
		readSchema(), (*call).readNote)
	add(s, "assemble_context", "Gather the context of a message",
		"Gather what the user's notes know about a message: the entities that it mentions as @Name or @[Full Name] with what they refer to, "+
			"the notes that it mentions as [[Title]], and notes found by a search for its words. Within a budget, with the reason for each item.",
		assembleSchema(), (*call).assembleContext)
	add(s, "get_entity", "Look up an entity",
		"Show a person, project or other entity with its fields, computed ones included, and what they refer to. By id or by name.",
		entitySchema(), (*call).getEntity)
	add(s, "list_entities", "List entities",
		"List the entities of a type by name, page by page.",
		listSchema(), (*call).listEntities)
	add(s, "list_types", "List the types of entities",
		"List the types of entities, with the fields of each.",
		inputOf[noInput](nil), (*call).listTypes)
	add(s, "explore_graph", "See what is around a record",
		"Show the notes and entities around one: references between entities, and links between notes, in both directions.",
		graphSchema(), (*call).exploreGraph)
	add(s, "find_path", "See how two records are connected",
		"Find a shortest chain of references and links between two notes or entities.",
		pathSchema(), (*call).findPath)
	add(s, "query", "Query the entities",
		"Run a WQL query, such as SELECT p FROM Person WHERE p.team.name = 'Core' ORDER BY p.name, or SELECT COUNT(*) FROM Project. list_types shows types and fields.",
		querySchema(), (*call).query)
}

// output is the structured result of a tool.
type output interface {
	// text is the same for a model that reads.
	text() string
}

// add declares one tool.
func add[In any, Out output](
	s *server, name, title, description string, input *jsonschema.Schema, run func(*call, In) (Out, error),
) {
	no := false
	tool := &sdk.Tool{
		Name: name, Title: title, Description: description, InputSchema: input, OutputSchema: schemaOf[Out](),
		Annotations: &sdk.ToolAnnotations{
			Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no,
			OpenWorldHint: &no,
		},
	}
	sdk.AddTool(s.sdk, tool,
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, Out, error) {
			out, err := run(s.begin(ctx), in)
			if err != nil {
				return nil, out, s.explain(err)
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: out.text()}}}, out, nil
		})
}

// noInput are the arguments of a tool that takes none.
type noInput struct{}

// inputOf makes the schema of the arguments of a tool. set has its properties
// by name.
func inputOf[T any](set func(property map[string]*jsonschema.Schema)) *jsonschema.Schema {
	schema := schemaOf[T]()
	if set != nil {
		set(schema.Properties)
	}
	return schema
}

// schemaOf makes the schema of a type.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("mcp: %T has no schema: %v", *new(T), err)) // a defect of this package, seen by any test
	}
	return neverNull(schema)
}

// neverNull says of lists that they are lists: none of ours is null, and some
// hosts can't read a schema with two types.
func neverNull(s *jsonschema.Schema) *jsonschema.Schema {
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
	if s.Items != nil {
		neverNull(s.Items)
	}
	return s
}

// between sets the bounds and the default of a number.
func between(property *jsonschema.Schema, least, most, standard int) {
	low, high := float64(least), float64(most)
	property.Minimum, property.Maximum = &low, &high
	property.Default = fmt.Appendf(nil, "%d", standard)
}
