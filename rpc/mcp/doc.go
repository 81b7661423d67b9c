// Package mcp offers the daemon to hosts of the Model Context Protocol, such as desktop assistants and coding agents:
// search, reading, context and the graph as tools, notes and entities as resources. It is a client of the daemon's
// socket: it translates between rpc/protocol, through rpc/client, and MCP, and holds no records.
//
// # Parts
//
//   - server.go, call.go, errors.go, stdio_conn.go: a session with a host, and its transport.
//   - tools.go: the tools; each stands in the file of its subject (search.go, notes.go, memory.go, …).
//   - toolset.go, core.go, parts.go: which tools are offered and listed, and those that stand in for others.
//   - asking.go: how the user is asked before a write. http.go: hosts over HTTP.
//   - write.go: tools that write records, and that propose changes of notes as diffs.
//   - answer.go, refs.go: how a tool answers, and how records are named in arguments. ids.go: short ids.
//   - resources.go, subscriptions.go, completion.go: notes and entities as resources, and what a host is told of them.
//
// # Audience
//
// A host passes what it gets to a model that is mostly not on this machine. Therefore the connection to the daemon is
// that of a remote audience, which never sees private records, and with Options.IncludePrivate that of a local one.
// This package filters nothing itself: it shows what its connection sees.
//
// # Texts
//
// A tool answers with a text, page by page when it is long (answer.go). Titles, names, types and values are escaped in
// it as prompts escape them (chat/tools/render), so that none of them passes for the id of a record. Records are named
// in arguments as they stand in answers (refs.go).
//
// read_note, get_entity, explore_graph and query are the tools that the daemon gives the models that it asks itself
// (chat/tools): they are called by tools.call, and answer alike.
//
// # Lifetime and concurrency
//
// Serve may be called several times at once; it returns when the host has gone. ServeHTTP serves many hosts, which share
// what was shown and assembled last. The daemon is dialled when a request needs it, and again after the connection was
// lost. With Options.AllowWrite or AskToWrite records are written by methods of the daemon; such a call is never
// repeated after the connection was lost. No file is written. cmd/ctxd calls it, and tests do.
//
// Wall: subject: the server of the Model Context Protocol.
package mcp
