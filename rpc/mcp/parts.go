package mcp

// This file leaves the tools of empty parts out of what is listed: a model does not look for what is not there. Such a
// tool is listed, and the host told, when its part has a record that the host may see.

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// part is a sort of records that there may be none of.
type part string

const (
	memories part = "memories"
	entities part = "entities"
	bookPart part = "books"
)

// partOf are the tools that do nothing without records of a part.
var partOf = map[string]part{
	"recall": memories, "memory_profile": memories, "memory_insights": memories, "update_memory": memories,
	"record_response": memories, "record_outcome": memories, "forget_memory": memories,
	"get_entity": entities, "list_entities": entities,
	"search_books": bookPart, "read_book": bookPart,
}

// partsWait is how long a list of tools waits for a daemon to say which parts are empty.
const partsWait = 3 * time.Second

// hiddenParts are those whose tools were left out of the last list.
type hiddenParts struct {
	wake chan struct{} // holds a token when one may have a record now

	mu    sync.Mutex // guards parts
	parts []part
}

func (h *hiddenParts) set(parts []part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts = parts
}

func (h *hiddenParts) get() []part {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.parts
}

// suspect has the parts looked at again if one of them is hidden. It does not block.
func (h *hiddenParts) suspect(p part) {
	if !slices.Contains(h.get(), p) {
		return
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// withoutEmpty leaves the tools of empty parts out of a list.
func (s *server) withoutEmpty(ctx context.Context, list *sdk.ListToolsResult) {
	var wanted []part
	for _, tool := range list.Tools {
		if p, ok := partOf[tool.Name]; ok && !slices.Contains(wanted, p) {
			wanted = append(wanted, p)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, partsWait)
	defer cancel()
	c := s.begin(ctx)
	empty := c.emptyOf(wanted)
	s.hidden.set(empty)
	if len(empty) > 0 {
		// When this fails, the next list has them.
		_ = c.ask("events.subscribe", protocol.EventTopics{Topics: partTopics}, nil)
	}
	list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return slices.Contains(empty, partOf[t.Name]) })
}

// partTopics are those that tell of records of parts. Books have none: they are looked for after each call.
var partTopics = []protocol.Topic{protocol.TopicMemory, protocol.TopicEntities}

// emptyOf returns those parts that have no record. One that can't be asked for is taken for one that has.
func (c *call) emptyOf(parts []part) (empty []part) {
	one := protocol.Page{Limit: 1}
	for _, p := range parts {
		n, err := 0, error(nil)
		switch p {
		case memories:
			var page protocol.MemoryPage
			err = c.ask("memory.list", protocol.MemoryFilter{Page: one}, &page)
			n = page.Total
		case entities:
			var page protocol.EntityPage
			err = c.ask("entities.list", protocol.EntityFilter{Page: one}, &page)
			n = page.Total
		case bookPart:
			var page record.BookList
			err = c.ask("books.list", protocol.BooksList{Page: one}, &page)
			n = len(page.Books)
		}
		if err == nil && n == 0 {
			empty = append(empty, p)
		}
	}
	return empty
}

// tellTools tells the host that there are other tools, if a hidden part has a record now.
func (s *server) tellTools(ctx context.Context) {
	hidden := s.hidden.get()
	empty := s.begin(ctx).emptyOf(hidden)
	if len(empty) == len(hidden) {
		return
	}
	s.hidden.set(empty)
	s.touch() // the SDK tells of tools that are added, also of the same one again
}
