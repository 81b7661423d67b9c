package mcp

import (
	"cmp"
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

const (
	// maxCompletions is how many values a completion has at most (MCP, completion).
	maxCompletions = 100
	// maxTyped is how much of an argument is completed, in bytes.
	maxTyped = 512
)

// complete answers completion/complete: of the addresses of resources, and of the
// mention that the message of a prompt ends with.
func (s *server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	c := s.begin(ctx)
	var values []string
	var err error
	value := req.Params.Argument.Value
	switch ref := req.Params.Ref; {
	case ref == nil:
		return nil, invalidParams("ref is needed")
	case ref.Name == promptName && req.Params.Argument.Name == "message":
		values, err = c.completeMention(value)
	case ref.URI == record.NoteAddress+"{id}" && req.Params.Argument.Name == "id":
		values, err = c.completeNote(value)
	case ref.URI == record.EntityAddress+"{id}" && req.Params.Argument.Name == "id":
		values, err = c.completeEntity(value)
	default:
		return nil, invalidParams("no such prompt, resource template or argument")
	}
	if err != nil {
		return nil, s.wireError(err)
	}
	if values == nil {
		values = []string{}
	}
	return &sdk.CompleteResult{
		Completion: sdk.CompletionResultDetails{Values: values, HasMore: len(values) == maxCompletions},
	}, nil
}

// completeMention completes a message that ends with the beginning of a mention.
func (c *call) completeMention(message string) ([]string, error) {
	link, name := strings.LastIndex(message, "[["), strings.LastIndexByte(message, '@')
	switch {
	case link > name && !strings.Contains(message[link:], "]]"):
		found, err := c.notesLike(message[link+2:])
		return completed(found, linkTo, func(text string) string { return message[:link] + "[[" + text + "]]" }), err
	case name > link && name >= 0:
		found, err := c.entitiesLike(strings.TrimPrefix(message[name+1:], "["))
		return completed(found, mentionOf, func(text string) string { return message[:name] + "@" + text }), err
	}
	return nil, nil
}

// linkTo returns what to write between [[ and ]] for a note: what leads to it alone or, when
// nothing does, its path or title, of which the prompt then says what it may mean. An id
// leads nowhere there. It returns "" when neither can be written as a link.
func linkTo(n protocol.NoteItem) string {
	if n.Insert != "" {
		return n.Insert
	}
	text := cmp.Or(strings.TrimSuffix(n.Path, ".md"), render.OneLine(n.Title))
	if strings.ContainsAny(text, "[]|#^") {
		return ""
	}
	return text
}

// mentionOf is linkTo for what is written behind an @.
func mentionOf(e protocol.EntityItem) string {
	text := cmp.Or(e.Insert, render.OneLine(e.Name))
	switch {
	case e.Insert != "" && strings.ContainsAny(text, "[]"):
		return text
	case strings.ContainsAny(text, "[]"):
		return ""
	case strings.ContainsAny(text, " \t"):
		return "[" + text + "]"
	}
	return text
}

// completeNote returns the titles of notes for an address, and the ids of those of one title.
func (c *call) completeNote(typed string) ([]string, error) {
	found, err := c.notesLike(typed)
	count := make(map[string]int)
	for _, n := range found {
		count[n.Title]++
	}
	return completed(found, func(n protocol.NoteItem) string {
		if count[n.Title] > 1 {
			return n.ID
		}
		return n.Title
	}, render.OneLine), err
}

// completeEntity is completeNote for entities.
func (c *call) completeEntity(typed string) ([]string, error) {
	found, err := c.entitiesLike(typed)
	count := make(map[string]int)
	for _, e := range found {
		count[e.Name]++
	}
	return completed(found, func(e protocol.EntityItem) string {
		if count[e.Name] > 1 {
			return e.ID
		}
		return e.Name
	}, render.OneLine), err
}

func (c *call) notesLike(typed string) ([]protocol.NoteItem, error) {
	if len(typed) > maxTyped {
		return nil, nil
	}
	var found protocol.NoteItems
	err := c.ask("notes.complete", protocol.NoteComplete{Prefix: typed, Limit: maxCompletions}, &found)
	return found.Items, err
}

func (c *call) entitiesLike(typed string) ([]protocol.EntityItem, error) {
	if len(typed) > maxTyped {
		return nil, nil
	}
	var found protocol.EntityItems
	err := c.ask("entities.complete", protocol.EntityComplete{Prefix: typed, Limit: maxCompletions}, &found)
	return found.Items, err
}

// completed returns what names the records, each text once, written as value does.
func completed[T any](items []T, nameOf func(T) string, value func(string) string) (values []string) {
	named := make(map[string]bool)
	for _, item := range items {
		name := nameOf(item)
		if name == "" || named[name] {
			continue
		}
		named[name] = true
		values = append(values, value(name))
	}
	return values
}
