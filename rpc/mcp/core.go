package mcp

import (
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/entities/fault"
)

// addCore declares the tools of core that stand in for others.
func (s *server) addCore() {
	add(s, reads, "search", "Search",
		"Find notes by words and meaning, best first; with kind book, passages of books to cite; "+
			"with kind related, what is near the note in query.",
		coreSearchSchema(), (*call).search)
	add(s, reads, "read", "Read",
		"Read one record: a note, an entity with its fields, a memory, or a book (its sections; with heading, one of them). "+
			"Long ones come in parts.",
		coreReadSchema(), (*call).read)
	add(s, reads, "list", "List",
		"List notes by title, recent changes, tags, types with their fields, entities, "+
			"or the profile: what is known about the user.",
		coreListSchema(), (*call).list)
	add(s, reads, "explain", "Explain the last context",
		"List what is in the last answer of assemble_context and why, and what was left out.",
		explainSchema(), (*call).explainContext)
}

// coreSearchInput are the arguments of search.
type coreSearchInput struct {
	Query string `json:"query" jsonschema:"words, a question, or \"a phrase\""`
	Kind  string `json:"kind,omitempty" jsonschema:"what to find"`
	Limit int    `json:"limit,omitempty" jsonschema:"hits at most"`
	paging
}

func coreSearchSchema() *jsonschema.Schema {
	return pagesOf[coreSearchInput](func(p map[string]*jsonschema.Schema) {
		oneOf(p["kind"], []string{"note", "book", "related"}, "note")
		between(p["limit"], 1, maxHits, 10)
	})
}

func (c *call) search(in coreSearchInput) (string, error) {
	switch in.Kind {
	case "book":
		return c.searchBooks(searchBooksInput{Query: in.Query, Limit: in.Limit, paging: in.paging})
	case "related":
		return c.relatedNotes(relatedInput{Note: in.Query, Limit: in.Limit, paging: in.paging})
	}
	return c.searchNotes(searchInput{Query: in.Query, Limit: in.Limit, paging: in.paging})
}

// coreReadInput are the arguments of read.
type coreReadInput struct {
	Note    string `json:"note,omitempty" jsonschema:"a note: title, path, [[link]] or id"`
	Entity  string `json:"entity,omitempty" jsonschema:"an entity: name, @name or id"`
	Memory  string `json:"memory,omitempty" jsonschema:"a memory: #number, @handle or id"`
	Book    string `json:"book,omitempty" jsonschema:"a book: title or id"`
	Heading string `json:"heading,omitempty" jsonschema:"only this part of the note or book"`
	Depth   int    `json:"depth,omitempty" jsonschema:"steps to follow references of an entity"`
	paging
}

func coreReadSchema() *jsonschema.Schema {
	return pagesOf[coreReadInput](func(p map[string]*jsonschema.Schema) { between(p["depth"], 0, maxEntityDepth, 1) })
}

func (c *call) read(in coreReadInput) (string, error) {
	missing := func(name string) bool { return strings.TrimSpace(name) == "" }
	given := slices.DeleteFunc([]string{in.Note, in.Entity, in.Memory, in.Book}, missing)
	if len(given) != 1 {
		return "", fault.Field("note", "one of note, entity, memory and book is needed, and no more")
	}
	switch given[0] {
	case in.Entity:
		return c.getEntity(entityInput{Entity: in.Entity, Depth: in.Depth, paging: in.paging})
	case in.Memory:
		return c.readMemory(recallInput{Memory: in.Memory, paging: in.paging})
	case in.Book:
		return c.readBook(readBookInput{Book: in.Book, Section: in.Heading, paging: in.paging})
	}
	return c.readNote(readInput{Note: in.Note, Heading: in.Heading, paging: in.paging})
}

// coreListInput are the arguments of list.
type coreListInput struct {
	Kind         string `json:"kind" jsonschema:"what to list"`
	Type         string `json:"type,omitempty" jsonschema:"of this type, such as Person"`
	Folder       string `json:"folder,omitempty" jsonschema:"notes below this folder"`
	Tag          string `json:"tag,omitempty" jsonschema:"notes with this tag"`
	Vault        string `json:"vault,omitempty" jsonschema:"notes of this vault"`
	ChangedSince string `json:"changedSince,omitempty" jsonschema:"notes changed since: today, 7d, 2w or 2026-01-31"`
	Limit        int    `json:"limit,omitempty" jsonschema:"records of a page"`
	paging
}

func coreListSchema() *jsonschema.Schema {
	return pagesOf[coreListInput](func(p map[string]*jsonschema.Schema) {
		oneOf(p["kind"], []string{"notes", "changes", "tags", "types", "entities", "profile"}, "")
		between(p["limit"], 1, 50, 50)
	})
}

func (c *call) list(in coreListInput) (string, error) {
	switch in.Kind {
	case "changes":
		return c.recentChanges(changesInput{
			ChangedSince: in.ChangedSince, Vault: in.Vault, Limit: in.Limit, paging: in.paging,
		})
	case "tags":
		return c.listTags(tagsInput{Prefix: in.Tag, Limit: in.Limit, paging: in.paging})
	case "types":
		return c.listTypes(typesInput{in.paging})
	case "entities":
		return c.listEntities(listInput{Type: in.Type, Limit: in.Limit, paging: in.paging})
	case "profile":
		return c.memoryProfile(profileInput{Limit: in.Limit, paging: in.paging})
	}
	return c.listNotes(notesInput{
		Folder: in.Folder, Tag: in.Tag, Type: in.Type, Vault: in.Vault, ChangedSince: in.ChangedSince,
		Limit: in.Limit, paging: in.paging,
	})
}
