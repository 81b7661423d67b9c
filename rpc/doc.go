// Package rpc serves the protocol: the table of all methods, a thin handler for each,
// the rooms that they call, events, and the mapping of errors to the wire. It holds no
// domain logic. README.md describes the protocol.
//
// A call comes from rpc/jsonrpc, which has read it, put it in its order and let it
// through the gate. method.go decodes its params strictly (rpc/jsonrpc), finds the
// rooms and the View of its audience, and calls the handler, which stands in the file
// of its namespace (notes.go, entities.go, …), or in a package of its own below this one
// (rpc), and calls one domain room. The result
// goes back as JSON; errors.go is the only place that makes an error of the wire of an
// error of a room. methods.go is the one table of all methods; what a method needs of
// the store, its mode and its kind of job stand in rpc/protocol and nowhere else.
//
// # The rooms
//
// A Server serves from its first moment: Load opens the store and the rooms over it
// meanwhile, and Replace puts others in their place, for a backup that is restored.
// They are behind the gate of rpc/jsonrpc, and nothing else keeps them from one call
// to the next: a handler gets those of the moment, and whoever holds them is counted.
//
// While the gate is closed, a call that uses the store stays in the queue of its
// connection, in its order and within its limits; it can be withdrawn, and a read ends
// with its connection. Methods that need no store pass it. When the rooms can't be
// opened, the gate opens to rooms that answer every call with the reason.
//
// Replace closes the gate, has jobs end with a reason that their callers are told,
// waits until the last call has left, lets the new rooms be made, tells the
// subscribers that anything may have changed, and opens the gate. A call is answered
// by the old rooms or by the new ones, never by both. The call that replaces the rooms
// is not in them.
//
// # Events
//
// rpc tells the connections that subscribed of what a commit changed, of vaults
// that are read and of the health. A Server hands it the commits of its rooms, and a
// Session has a Subscription, which outlives them.
//
// Progress and deltas are no events: they belong to a call, and go through a Feed of
// rpc/jsonrpc (progress.go, Deltas, Follow).
//
// # Concurrency
//
// A Server may be used by any number of goroutines. Handlers of one connection run
// concurrently as rpc/jsonrpc says, and must not keep their Session longer than the
// connection lives. cmd may import this package; nothing else does.
//
// # Size
//
// The package has more than 2,500 lines, most of them handlers: a file for each
// namespace, which knows of no other. Those of a namespace that needs no more than the
// Reader of a call stand in packages below this one, which have what they need from
// rpc; what is here uses the Session, the scope or the rooms themselves.
package rpc
