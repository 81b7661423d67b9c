package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/chat/tools/render"
)

// addTools declares the tools that read.
func (s *server) addTools() {
	offer(s, render.SearchNotesInfo,
		searchSchema(), (*call).searchNotes)
	offer(s, render.ReadNoteInfo,
		readSchema(), (*call).readNote)
	add(s, reads, "read_notes", "Read several notes",
		"Read several notes at once; they share the length of the answer.",
		readManySchema(), (*call).readNotes)
	add(s, reads, "list_notes", "List notes",
		"List notes by title: of a folder, tag, type or vault, or changed since a day.",
		notesSchema(), (*call).listNotes)
	add(s, reads, "recent_changes", "List recent changes",
		"List the notes that were changed last, newest first.",
		changesSchema(), (*call).recentChanges)
	add(s, reads, "related_notes", "Find related notes",
		"List the notes that are similar to a note in meaning, that it links to, or that link to it.",
		relatedSchema(), (*call).relatedNotes)
	add(s, reads, "list_tags", "List tags",
		"List the tags of the notes, most frequent first.",
		tagsSchema(), (*call).listTags)
	add(s, reads, "assemble_context", "Gather the context of a message",
		"Gather what the notes say about a message in one text: the entities that it mentions as @Name with what they refer to, "+
			"the notes that it mentions as [[Title]], the memories that it refers to as #42 or @handle, and notes found by a search; with memories, also what is remembered.",
		assembleSchema(), (*call).assembleContext)
	add(s, reads, "explain_context", "Explain the last context",
		"List what is in the last answer of assemble_context and why, and what was left out.",
		explainSchema(), (*call).explainContext)
	offer(s, render.GetEntityInfo,
		entitySchema(), (*call).getEntity)
	add(s, reads, "list_entities", "List entities",
		"List the entities of a type by name.",
		listSchema(), (*call).listEntities)
	add(s, reads, "list_types", "List the types of entities",
		"List the types of entities with their fields.",
		typesSchema(), (*call).listTypes)
	offer(s, render.QueryInfo("list_types shows types and fields."),
		querySchema(), (*call).query)
	offer(s, render.ExploreGraphInfo,
		graphSchema(), (*call).exploreGraph)
	add(s, reads, "find_path", "See how two records are connected",
		"Find a shortest chain of references and links between two notes or entities.",
		pathSchema(), (*call).findPath)
	add(s, reads, "recall", "Recall what the user told",
		"Find what is remembered about the user and their world that answers a question, best first, with how sure it is. "+
			"With memory it reads one memory whole.",
		recallSchema(), (*call).recall)
	add(s, reads, "memory_profile", "Read what is known about the user",
		"List what is remembered about the user: who they are, what they prefer, what they want and work on.",
		profileSchema(), (*call).memoryProfile)
	add(s, reads, "memory_insights", "See what helped before",
		"Say what became of memories about the subjects of a text: what helped, what did not, what the user asked before, and which subjects go on.",
		insightsSchema(), (*call).memoryInsights)
	add(s, reads, "search_books", "Search the books",
		"Find the passages of the user's books and other added files that answer a question, best first, each with how to cite it.",
		searchBooksSchema(), (*call).searchBooks)
	add(s, reads, "read_book", "Read a book",
		"List the sections of a book, or read one of them, or its whole text, in passages with how to cite them.",
		readBookSchema(), (*call).readBook)
}

// offer declares a tool that the daemon's models have too.
func offer[In any](s *server, about render.ToolInfo, input *jsonschema.Schema, run func(*call, In) (string, error)) {
	add(s, reads, about.Name, about.Title, about.Description, input, run)
}

// effect is what a tool does to the records.
type effect uint8

const (
	reads    effect = iota // nothing
	adds                   // makes or lengthens one
	replaces               // may replace what one says
)

// add declares one tool. Its answer is text: of structured content beside it some hosts
// show their model the one and some the other, so that whatever stood in one of them
// alone would be lost on half of them.
func add[In any](
	s *server, does effect, name, title, description string, input *jsonschema.Schema,
	run func(*call, In) (string, error),
) {
	s.known = append(s.known, name)
	if !s.offers(name) {
		return
	}
	no, destroys := false, does == replaces
	tool := &sdk.Tool{
		Name: name, Title: title, Description: s.words.Replace(description), InputSchema: input,
		Annotations: &sdk.ToolAnnotations{
			Title: title, ReadOnlyHint: does == reads, IdempotentHint: does == reads, DestructiveHint: &destroys,
			OpenWorldHint: &no,
		},
	}
	if s.lean() {
		makeLean(tool, input)
	}
	handle := func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		in, wrong := argumentsOf[In](s.ids, name, input, req.Params.Arguments)
		if wrong != "" {
			return answerOf(wrong, true), nil
		}
		if does != reads && !s.opts.AllowWrite && !changesNothing(in) {
			ask, refused := s.permission(req, title, req.Params.Arguments)
			if refused != "" {
				return answerOf(refused, true), nil
			}
			if ask != nil {
				return ask, nil
			}
		}
		c := s.begin(ctx)
		c.follow(req)
		text, err := run(c, in)
		if err != nil {
			return answerOf(s.ids.shortenAll(c.explain(err).Error()), true), nil
		}
		return answerOf(s.ids.shorten(in, text), false), nil
	}
	s.touch = func() { s.sdk.AddTool(tool, handle) }
	s.touch()
}

func answerOf(text string, failed bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: failed}
}

// pagesOf makes the schema of the arguments of a tool whose answer has pages.
func pagesOf[T any](set func(property map[string]*jsonschema.Schema)) *jsonschema.Schema {
	return inputOf[T](func(p map[string]*jsonschema.Schema) {
		between(p["maxChars"], leastChars, mostChars, standardChars)
		if set != nil {
			set(p)
		}
	})
}

// inputOf makes the schema of the arguments of a tool. set has its properties
// by name.
func inputOf[T any](set func(property map[string]*jsonschema.Schema)) *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("mcp: %T has no schema: %v", *new(T), err)) // a defect of this package, seen by any test
	}
	neverNull(schema)
	if set != nil {
		set(schema.Properties)
	}
	return schema
}

// neverNull says of all arguments that they are absent or not null: some hosts can't read
// a schema with two types.
func neverNull(s *jsonschema.Schema) {
	if s.Types = slices.DeleteFunc(s.Types, func(kind string) bool { return kind == "null" }); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
	if s.Items != nil {
		neverNull(s.Items)
	}
}

// oneOf sets the values of a text and its default, "" for none.
func oneOf(property *jsonschema.Schema, values []string, standard string) {
	for _, v := range values {
		property.Enum = append(property.Enum, v)
	}
	if standard != "" {
		property.Default = fmt.Appendf(nil, "%q", standard)
	}
}

// share sets the bounds of a number between 0 and 1.
func share(property *jsonschema.Schema) {
	low, high := 0.0, 1.0
	property.Minimum, property.Maximum = &low, &high
}

// between sets the bounds and the default of a number.
func between(property *jsonschema.Schema, least, most, standard int) {
	low, high := float64(least), float64(most)
	property.Minimum, property.Maximum = &low, &high
	property.Default = fmt.Appendf(nil, "%d", standard)
}
