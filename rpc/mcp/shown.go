package mcp

import (
	"slices"

	"github.com/ctxd/ctxd/context/prompt/body"
	"github.com/ctxd/ctxd/context/prompt/properties"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// showText leaves of the text of a note what a prompt shows of it: its properties, and its
// Markdown without comments. Its tags stand above it.
func showText(n *protocol.NoteFull) {
	list, text := properties.Of(n.Body)
	list = slices.DeleteFunc(list, func(p body.Property) bool { return p.Key == "tags" })
	n.Body = body.Under(list, body.Shown(text))
}
