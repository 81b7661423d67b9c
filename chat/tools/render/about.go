package render

// ToolInfo is what people and models are told of a tool that package tools and ctxd mcp both have.
type ToolInfo struct{ Name, Title, Description string }

// The tools that both have.
var (
	ReadNoteInfo = ToolInfo{
		"read_note", "Read a note",
		"Read one note as Markdown, or what stands under one of its headings. A long note comes in parts.",
	}
	SearchNotesInfo = ToolInfo{
		"search_notes", "Search the notes",
		"Find notes by words and by meaning, best first, each with the place of its text that fits best.",
	}
	GetEntityInfo = ToolInfo{
		"get_entity", "Look up an entity",
		"Show a person, project or other entity with its fields, computed ones included, and what they refer to.",
	}
	ExploreGraphInfo = ToolInfo{
		"explore_graph", "See what is around a record",
		"Show the notes and entities around one: references between entities and links between notes, in both directions.",
	}
)

// QueryInfo is what is said of the tool query: the language, as short as a model can do with. entities/wql/README.md has
// all of it. types says where the model learns which types and fields there are.
func QueryInfo(types string) ToolInfo {
	return ToolInfo{"query", "Query the entities", beforeTypes + types + language}
}
