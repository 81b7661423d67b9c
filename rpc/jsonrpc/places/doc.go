// Package places shares a number of places among reads, on which they compute: more of
// them than there are processors would help nobody. It knows no protocol and no store.
//
// Who has reads to run is a Conn of a Client, which comes in line for a place and is
// called when it has got one; a Client may have any number of Conns and gets no more by
// it. A Read says when it ends and, if it can, gives way between its steps (Yield).
// How places are shared stands at Pool: the client that has waited for longest comes
// first, and long reads have half of the places.
//
// rpc/jsonrpc makes the one Pool of a server and keeps the other three in its own
// connections, processes and calls, so that a read costs no allocation here. The work of
// handlers reaches Yield by way of its context (package yield).
//
// # Concurrency
//
// A Pool may be used by any number of goroutines. Its lock is taken after those of the
// caller, and nothing is called or waited for with it held, but for the function that
// Init was given to run others, which must not wait.
package places
