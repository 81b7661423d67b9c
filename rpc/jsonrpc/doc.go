// Package jsonrpc turns the messages of connections into calls and replies: limits, order, back-pressure and
// scheduling. It knows no method and no record. Options.Methods says of each method its name, when its calls may run
// (a Mode of the contract, whether it needs the store) and what runs them; params stay the bytes that came, results
// are bytes, and what lies behind the gate is opaque.
//
// # Parts
//
//   - message_*.go: cuts the bytes into messages in either framing and finds the parts of a request.
//   - conn.go: decides who runs a message; inline.go runs what is short at once; schedule.go, jobs.go and workers.go
//     decide when anything else runs.
//   - gate.go: keeps calls waiting while there is no store.
//   - places_*.go: the places on which reads compute, and who gets them.
//   - reply.go, replies.go, outbound.go, feed.go: frame the answer and write it without ever waiting for a slow
//     reader; Feed is for deltas and progress.
//   - server.go, process.go, parent.go, descriptors.go, evict.go, idle.go, shutdown.go: accept connections, tell
//     clients apart, and end them.
//   - limits.go, inbound.go, memory.go, collector.go: what a client, and all of them together, may take.
//   - wirejson_*.go: JSON of the wire: a Scanner, a strict Decoder, a fast Encoder.
//   - stats.go, figures.go: figures of methods and connections.
//
// # Why our own stream under the library
//
// sourcegraph/jsonrpc2 keeps the books of a connection: which message is a request, who waits for what, when it is
// closed. Left alone it closes the connection on bad JSON, batches and ids that are not small integers, decodes every
// message twice and waits for slow readers. So the stream gives the library a slot number in place of every id and
// nothing of the params and results, which never leave their bytes (Conn.ReadObject gives the reason in figures); what
// is no request never reaches it, nor does an inline call.
//
// # Order
//
// The calls of one connection: reads run concurrently on a bounded pool, mutations one after the other, and a read
// starts when every mutation that came before it is done. Jobs stand outside. Connections don't wait for each other. A
// mutation that was accepted runs with a context that no client can end.
//
// # Fair shares
//
// A client is a process, over how many connections ever it calls (process.go). Clients share two things. Reads compute
// on a fixed number of places, which the clients get in turn; long reads get half of them (places_pool.go). The number
// of open connections is limited; when it is reached, a new connection evicts the least active one (evict.go).
//
// A handler that may compute for long passes a yield.Point (entities/yield) between its steps, where it waits when
// others need its place.
//
// # Locks
//
// Server.mu is taken before schedule.mu of a connection, and that one before readPool.mu, Gate.mu, memory.mu,
// replies.mu and outbound.mu, never after them. Nothing that may wait is called with one of them held.
//
// # Concurrency
//
// A Server, its Conns, a Decoder and an Encoder may be used by any number of goroutines; a Reader, a Scanner and a
// Buffer by one at a time. rpc imports this package, rpc/lsp for the framing of its messages, and cmd for the
// collector.
//
// Wall: promise: it knows no method and no record, so no handler gets around order, limits and fair shares.
package jsonrpc
