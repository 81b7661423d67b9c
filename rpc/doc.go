// Package rpc serves the protocol: it turns the bytes of a connection into
// calls of the domain rooms and their answers into bytes again.
//
// A call passes these files: frames.go cuts the bytes into messages in either
// framing and under limits, scan.go checks that a message is JSON and finds its
// members, brief.go runs what will be over at once, stream.go hands other
// requests to the JSON-RPC library and splices replies, dispatch.go decides when
// a call runs, method.go and decode.go turn params into a typed value and refuse
// what does not fit, a handler file (notes.go, entities.go, …) calls one domain
// room, encode.go writes its result, errors.go maps what went wrong, outbound.go
// writes without ever waiting for a slow reader. methods.go is the
// one table of all methods; server.go accepts connections and ends them; rooms.go
// opens and replaces what the methods call, behind door.go.
//
// # Why our own stream under the library
//
// sourcegraph/jsonrpc2 keeps the books of a connection: which message is a
// request, who waits for what, when it is closed. Left alone it closes the
// connection on bad JSON, batches and ids that are not small integers, decodes
// every message twice and waits for slow readers. So the stream gives the
// library a slot number in place of every id and nothing of the params and
// results, which never leave their bytes; what is no request never reaches it,
// nor does a call that is answered before anything else has been read.
//
// # Order
//
// The calls of one connection: reads run beside each other on a bounded pool,
// mutations one after the other, and a read starts when every mutation that
// came before it is done. Jobs stand outside. Connections don't wait for each
// other. A mutation that was accepted runs with a context that no client can
// end.
//
// # The rooms
//
// A Server serves from its first moment: Load opens the store and the rooms over
// it meanwhile, and Replace puts others in their place, for a backup that is
// restored. Nothing but the door keeps the rooms from one call to the next: a
// handler gets those of the moment, and whoever holds them is counted.
//
// While the door is shut, a call that needs the rooms stays in the queue of its
// connection, in its order and within its limits; it can be withdrawn, and a read
// ends with its connection. Methods that need none (x-at-once in the document)
// pass it. When the rooms can't be opened, the door opens to rooms that answer
// every call with the reason.
//
// Replace shuts the door, has jobs withdrawn, waits until the last call is out,
// lets the new rooms be made, tells the subscribers that anything may have
// changed, and opens the door. A call is answered by the old rooms or by the new
// ones, never by both. The call that replaces the rooms stands outside of them.
//
// # Events
//
// A commit leaves the ids and kinds of what it changed in a queue (changes.go);
// a goroutine that lives while anybody is subscribed sends them on (events.go).
// It waits for nobody: a connection with much to read already gets its events
// merged when it has read the rest. Subscriptions outlive the rooms.
//
// # Concurrency
//
// A Server may be used by any number of goroutines. Handlers of one connection
// run concurrently as said above and must not keep their Session longer than
// the connection lives.
//
// cmd may import this package; nothing else does. It holds no domain logic.
//
// # Size
//
// The package is larger than most: what keeps one client from hurting another
// (frames, scanner, decoder, order, outbound) shares the state of a connection,
// and an interface between the parts would only be there to be crossed once.
package rpc
