package mcp

// This file chooses which tools a host is offered, and names those that are in the place of others.

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/text"
)

// core are the tools that do for most hosts: what a model reads of its tools is paid for in each conversation, and of
// few it chooses the right one more often. They are at most 8, of at most 6,000 characters as they are sent (CLI-10).
var core = []string{"assemble_context", "search", "read", "query", "recall", "remember", "list", "explain"}

// inPlaceOf are tools that one of core stands in for. The set of all tools has them, and not the one of core.
var inPlaceOf = map[string]string{
	"search_notes": "search", "search_books": "search", "related_notes": "search",
	"read_notes": "read", "read_note": "read", "read_book": "read", "get_entity": "read",
	"list_notes": "list", "list_entities": "list", "list_types": "list", "list_tags": "list", "recent_changes": "list",
	"explain_context": "explain", "memory_profile": "recall",
}

// ChooseTools returns the names of the tools of a list such as "core,read_note"; all is every tool but those of core
// that only stand in for others. Its error names the nearest names.
func ChooseTools(list string) ([]string, error) {
	known := newServer(Options{AllowWrite: true, everything: true}).known
	chosen := make(map[string]bool)
	for _, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "core":
			chosen = withNames(chosen, core)
		case word == "all":
			chosen = withNames(chosen, slices.DeleteFunc(slices.Clone(known), standsIn))
		case slices.Contains(known, word):
			chosen[word] = true
		default:
			near := text.Nearest(word, append([]string{"core", "all"}, known...))
			hint := "core, all, or names of " + strings.Join(known, ", ")
			if len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			}
			return nil, fault.Field("tools", "there is no tool %q", word).WithHint("%s", hint)
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

func withNames(set map[string]bool, names []string) map[string]bool {
	for _, name := range names {
		set[name] = true
	}
	return set
}

// standsIn reports whether a tool does nothing that others do not.
func standsIn(name string) bool {
	return slices.Contains([]string{"search", "read", "list", "explain"}, name)
}

// offers reports whether the host is offered a tool.
func (s *server) offers(name string) bool {
	switch {
	case s.opts.everything:
		return true
	case s.opts.Tools == nil:
		return !standsIn(name)
	}
	return slices.Contains(s.opts.Tools, name)
}

// lean reports whether only tools of core are offered: then their schemas are listed without what is seldom given.
func (s *server) lean() bool {
	other := func(name string) bool { return !slices.Contains(core, name) }
	return s.opts.Tools != nil && !slices.ContainsFunc(s.opts.Tools, other)
}

// naming makes the replacer that puts the tool that a host is offered in the place of one that it is not.
func (s *server) naming() *strings.Replacer {
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(inPlaceOf))) { // read_notes before read_note
		if now := inPlaceOf[name]; !s.offers(name) && s.offers(now) {
			pairs = append(pairs, name, now)
		}
	}
	return strings.NewReplacer(pairs...)
}

// leanTool is what a lean list says of a tool; "" as the whole one does. All arguments of the tool are taken.
type leanTool struct {
	about     string
	arguments map[string]string // those that are listed, by name
}

const leanCursor = "of the page before"

var leanTools = map[string]leanTool{
	"assemble_context": {
		"Gather what is known about a message in one text: the entities and notes that it mentions, " +
			"what they refer to, and what a search finds.",
		map[string]string{
			"message":  "what the user wrote; @Name, [[Title]], [[Title#Heading]], #42 and @handle in it are mentions",
			"memories": "memories to add by a search",
		},
	},
	"query": {"", map[string]string{"query": "", "this": "an entity: name or id", "cursor": leanCursor}},
	"recall": {
		"Find what is remembered about the user and their world, best first, with how sure it is.",
		map[string]string{"query": "", "tags": "only with each of these tags"},
	},
	"remember": {
		"Write one statement about the user or their world down, for later conversations.",
		map[string]string{
			"statement": "one sentence, such as: Anna prefers morning workouts", "kind": "", "tags": "a/b is a tag below a",
			"supersedes": "memories that hold no more",
		},
	},
	"search": {"", map[string]string{"query": "", "kind": "", "cursor": leanCursor}},
	"read": {"", map[string]string{
		"note": "", "entity": "", "memory": "", "book": "", "heading": "", "cursor": leanCursor,
	}},
	"list": {"", map[string]string{
		"kind": "", "type": "", "folder": "", "tag": "", "changedSince": "", "cursor": leanCursor,
	}},
	"explain": {"", map[string]string{"cursor": leanCursor}},
}

// makeLean shortens what is listed of a tool.
func makeLean(tool *sdk.Tool, whole *jsonschema.Schema) {
	about := leanTools[tool.Name]
	tool.Description = cmp.Or(about.about, tool.Description)
	schema := &jsonschema.Schema{Type: whole.Type, Required: whole.Required}
	schema.Properties = make(map[string]*jsonschema.Schema, len(about.arguments))
	for name, text := range about.arguments {
		p := *whole.Properties[name]
		p.Description = cmp.Or(text, p.Description)
		schema.Properties[name] = &p
	}
	tool.InputSchema = schema
	no := false
	a := sdk.ToolAnnotations{ReadOnlyHint: tool.Annotations.ReadOnlyHint, OpenWorldHint: &no}
	if !a.ReadOnlyHint {
		a.DestructiveHint = tool.Annotations.DestructiveHint
	}
	tool.Annotations = &a
}
