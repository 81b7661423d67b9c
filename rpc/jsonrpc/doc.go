// Package jsonrpc turns the messages of connections into calls and replies: limits,
// order, back-pressure and scheduling. It knows no method and no record.
// Options.Methods says of each method its name, when its calls may run (a Mode of
// the contract, whether it needs the store) and what runs them; params stay the
// bytes that came, results are bytes, and what lies behind the gate is opaque.
//
// A call passes these files: package message cuts the bytes into messages in either
// framing and finds the parts of a request, conn.go decides who runs it,
// inline.go runs what is short at once, schedule.go decides when anything else runs,
// gate.go keeps it waiting while there is no store, reply.go frames the answer and
// outbound.go writes it without ever waiting for a slow reader. server.go accepts
// connections and ends them.
//
// # Why our own stream under the library
//
// sourcegraph/jsonrpc2 keeps the books of a connection: which message is a request,
// who waits for what, when it is closed. Left alone it closes the connection on bad
// JSON, batches and ids that are not small integers, decodes every message twice and
// waits for slow readers. So the stream gives the library a slot number in place of
// every id and nothing of the params and results, which never leave their bytes
// (Conn.ReadObject gives the reason in figures); what is no request never reaches
// it, nor does an inline call.
//
// # Order
//
// The calls of one connection: reads run concurrently on a bounded pool, mutations
// one after the other, and a read starts when every mutation that came before it is
// done. Jobs stand outside. Connections don't wait for each other. A mutation that
// was accepted runs with a context that no client can end.
//
// # Fair shares
//
// A client is a process, over how many connections ever it calls (process.go). Clients
// share two things. Reads compute on a fixed number of places, which the clients get in
// turn; long reads get half of them (package places). The number of open connections is
// limited; when it is reached, a new connection evicts the least active one (evict.go).
//
// A handler that may compute for long passes a yield.Point between its steps (package
// yield), where it waits when others need its place.
//
// # Locks
//
// Server.mu is taken before schedule.mu of a connection, and that one before
// readPool.mu, Gate.mu, memory.mu, replies.mu and outbound.mu, never after them.
// Nothing that may wait is called with one of them held.
//
// # Concurrency
//
// A Server and its Conns may be used by any number of goroutines. Only rpc imports
// this package, and cmd for the collector.
//
// # Size
//
// What keeps one client from hurting another (order, outbound, memory, gate) shares
// the state of a connection under one lock; a cut between them would be crossed by
// every call. What is apart needs none of it: messages (package message) and the places
// for reads (package places).
package jsonrpc
