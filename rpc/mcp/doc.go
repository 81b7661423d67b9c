// Package mcp offers the daemon to hosts of the Model Context Protocol, such as
// desktop assistants and coding agents: search, reading, context and the graph
// as tools, notes and entities as resources. It is an adapter: it speaks the
// protocol of package rpc/protocol to a daemon, through package rpc/client, and
// knows nothing of the rooms behind it.
//
// A host passes what it gets to a model that is mostly not on this machine.
// Therefore a host counts as a remote audience (CTX-34) unless Options say
// otherwise, and this package answers as if private records did not exist: they
// are in no list, count or graph, a guess at their title is answered like any
// wrong guess, and a link to one in the text of another note becomes
// "(private)". Methods of the daemon that know of audiences are told; what the
// others answer is checked here, record by record, each time: a note that was
// made private a moment ago is private. When a check can't be made, nothing is
// shown.
//
// Nothing here writes to the store. Serve may be called several times at once.
package mcp
