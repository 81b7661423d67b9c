// Package message cuts the bytes of a connection into messages, in either framing, and
// finds the parts of the requests in them (RPC-4). It makes no call of them: what a
// method is called, and what its params hold, is nothing to it.
//
// A Reader gives one message after the other (reader.go). One that is too large is
// dropped to its end, and the id of its call found all the same (idfinder.go). An
// Envelope is a request whose parts are the bytes that came (envelope.go): nothing is
// copied, so they are valid for as long as the message is.
//
// rpc/jsonrpc has one Reader a connection. How much a connection may hold of a message
// is bounded by Options; what all connections hold is added up there, through
// Options.Hold.
//
// # Concurrency
//
// A Reader belongs to one goroutine at a time. The functions may be called by any
// number of them.
package message
