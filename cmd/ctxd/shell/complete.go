package shell

import (
	"context"
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// completeTimeout bounds what a press of Tab may wait for the daemon.
const completeTimeout = 5 * time.Second

// complete completes a text at the prompt. Without a daemon there is nothing to
// offer but words.
func (s *session) complete(text string, at int) syntax.Completion {
	ctx, cancel := context.WithTimeout(s.Ctx, completeTimeout)
	defer cancel()
	var list protocol.TypeList
	_ = s.call(ctx, "types.list", nil, &list) // an empty list without it
	c := &syntax.Completer{Types: typesByName(list.Types), This: s.this.typ}
	c.Names = func(prefix string, types []string) []string {
		var found protocol.EntityItems
		if s.call(ctx, "entities.complete", protocol.EntityComplete{Prefix: prefix, Types: types, Limit: 50},
			&found) != nil {
			return nil
		}
		names := make([]string, len(found.Items))
		for i, it := range found.Items {
			names[i] = it.Name
		}
		return names
	}
	return completionOf(c, text, at)
}

// completionOf completes a query or a command.
func completionOf(c *syntax.Completer, text string, at int) syntax.Completion {
	if strings.HasPrefix(text, `\`) {
		return commandChoices(c, text[:at])
	}
	return c.At(text, at)
}
