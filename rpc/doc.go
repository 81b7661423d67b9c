// Package rpc serves the protocol: the table of all methods, a thin handler for each, the domain rooms that they call,
// events, and the mapping of errors to the wire. It holds no domain logic. README.md describes the protocol.
//
// A call comes from rpc/jsonrpc, which has read it, put it in its order and let it through the gate. method.go decodes
// its params strictly, finds the rooms and the View of its audience, and calls the handler, which stands in the file
// of its namespace (notes.go, entities.go, …) and calls one domain room. The result goes back as JSON; errors.go is
// the only place that makes an error of the wire of an error of a room. methods.go is the one table of all methods;
// what a method needs of the store, its mode and its kind of job stand in rpc/protocol and nowhere else.
//
// # Parts
//
//   - method.go, methods.go, scope.go, errors.go, encode_*.go: from the params of a call to its result.
//   - server.go, session.go, rooms.go, lifecycle.go, connections.go: the server, its sessions, the rooms of the
//     moment.
//   - notes.go, entities.go, types.go, wql.go, graph.go, index.go, context.go, refs.go, vault.go, tools.go, intent.go,
//     features.go, privacy.go: the handlers of these namespaces.
//   - chat*.go, providers.go: conversations, their answers, references and files, and who answers.
//   - memories*.go, learning_*.go: memories, contexts, and what is learned from use.
//   - books.go, personalities.go, editing*.go, syncing*.go: the handlers of books.*, personality.*, of what editors
//     ask, and of sync.*.
//   - calls_*.go: what all handlers need of a call: its reader, pages of a list, progress.
//   - found*.go, resolved*.go: what a search says of itself, and what references lead to, as the protocol has it.
//   - events*.go: what subscribers are told.
//   - waiting_*.go, again.go: calls that wait for the other machines of a shared store.
//   - admin.go, backup.go, check.go, views.go, reindex.go, host_*.go: the store as a whole, and its machine.
//   - followers.go, pause.go: work in the background that gives way to calls.
//
// # The rooms
//
// A Server serves from its first moment: Load opens the store and the rooms over it meanwhile, and admin.restore and
// admin.check put others in their place. They are behind the gate of rpc/jsonrpc, and nothing else keeps them
// from one call to the next: a handler gets those of the moment, and whoever holds them is counted.
//
// While the gate is closed, a call that uses the store stays in the queue of its connection, in its order and within
// its limits; it can be withdrawn, and a read ends with its connection. Methods that need no store pass it. When the
// rooms can't be opened, the gate opens to rooms that answer every call with the reason.
//
// Who replaces the rooms closes the gate, has jobs end with a reason that their callers are told, waits until the last
// call has left, lets the new rooms be made, tells the subscribers that anything may have changed, and opens the gate.
// A call is answered by the old rooms or by the new ones, never by both. The call that replaces the rooms is not in
// them.
//
// # Events
//
// The connections that subscribed are told of what a commit changed, of vaults that are read and of the health. A
// Server hands the commits of its rooms to one hub, and a Session has a subscription, which outlives the rooms.
// Progress and deltas are no events: they belong to a call, and go through a Feed of rpc/jsonrpc (calls_progress.go,
// Deltas, Follow).
//
// # Concurrency
//
// A Server may be used by any number of goroutines. Handlers of one connection run concurrently as rpc/jsonrpc says,
// and must not keep their Session longer than the connection lives. cmd may import this package, and rpc/servertest
// for tests; nothing else does.
//
// Wall: subject: the methods of the daemon.
package rpc
