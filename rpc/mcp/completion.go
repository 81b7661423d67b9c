package mcp

import (
	"cmp"
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	case ref.URI == noteURI+"{id}" && req.Params.Argument.Name == "id":
		values, err = c.completeNote(value, noteIDOf, func(title string) string { return title })
	case ref.URI == entityURI+"{id}" && req.Params.Argument.Name == "id":
		values, err = c.completeEntity(value, entityIDOf, func(name string) string { return name })
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
		return c.completeNote(message[link+2:], linkTo, func(title string) string { return message[:link] + "[[" + title + "]]" })
	case name > link && name >= 0:
		return c.completeEntity(strings.TrimPrefix(message[name+1:], "["), mentionOf, func(full string) string {
			if strings.ContainsAny(full, " \t[]") {
				full = "[" + full + "]"
			}
			return message[:name] + "@" + full
		})
	}
	return nil, nil
}

// What names a record alone: its id where an id is asked for, and in a message what means it
// there.
func noteIDOf(n protocol.NoteItem) string     { return n.ID }
func entityIDOf(e protocol.EntityItem) string { return e.ID }
func linkTo(n protocol.NoteItem) string       { return cmp.Or(n.Insert, n.ID) }
func mentionOf(e protocol.EntityItem) string  { return cmp.Or(strings.Trim(e.Insert, "[]"), e.ID) }

// completeNote returns the titles of notes that a text may mean, written as value does; for
// one whose title others have, too, what names it alone.
func (c *call) completeNote(typed string, alone func(protocol.NoteItem) string,
	value func(title string) string,
) (values []string, err error) {
	if len(typed) > maxTyped {
		return nil, nil
	}
	var found protocol.NoteItems
	err = c.ask("notes.complete", protocol.NoteComplete{Prefix: typed, Limit: maxCompletions}, &found)
	return completed(found.Items, func(n protocol.NoteItem) string { return n.Title }, alone, value), err
}

// completeEntity is completeNote for entities.
func (c *call) completeEntity(typed string, alone func(protocol.EntityItem) string,
	value func(name string) string,
) (values []string, err error) {
	if len(typed) > maxTyped {
		return nil, nil
	}
	var found protocol.EntityItems
	err = c.ask("entities.complete", protocol.EntityComplete{Prefix: typed, Limit: maxCompletions}, &found)
	return completed(found.Items, func(e protocol.EntityItem) string { return e.Name }, alone, value), err
}

// completed returns the names of records, written as value does.
func completed[T any](items []T, nameOf, alone func(T) string, value func(name string) string) (values []string) {
	count := make(map[string]int)
	for _, item := range items {
		count[nameOf(item)]++
	}
	for _, item := range items {
		name := nameOf(item)
		if count[name] > 1 {
			name = alone(item)
		}
		values = append(values, value(oneLine(name)))
	}
	return values
}
