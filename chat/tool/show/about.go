package show

// About is what people and models are told of a tool that package tool and ctxd mcp both have.
type About struct{ Name, Title, Description string }

// The tools that both have.
var (
	ReadNote = About{
		"read_note", "Read a note",
		"Read one note as Markdown, or what stands under one of its headings. A long note comes in parts.",
	}
	SearchNotes = About{
		"search_notes", "Search the notes",
		"Find notes by words and by meaning, best first, each with the place of its text that fits best.",
	}
	GetEntity = About{
		"get_entity", "Look up an entity",
		"Show a person, project or other entity with its fields, computed ones included, and what they refer to.",
	}
	ExploreGraph = About{
		"explore_graph", "See what is around a record",
		"Show the notes and entities around one: references between entities and links between notes, in both directions.",
	}
)

// Query is what is said of the tool query: the language, as short as a model can do with. entities/wql/README.md has
// all of it. types says where the model learns which types and fields there are.
func Query(types string) About {
	return About{"query", "Query the entities", beforeTypes + types + language}
}
