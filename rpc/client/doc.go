// Package client is the Go client of the daemon, used by ctxd itself and by programs that would rather not write JSON.
//
// Dial connects and does the handshake; Call sends a request and waits for its reply. Params and results are the
// structs of rpc/protocol, or anything else that encoding/json takes. A Client may be used by any number of
// goroutines: their calls share one connection and run side by side as the daemon allows. It lives until Close, or as
// long as its connection; a ReconnectingConn (lasting.go) outlives the daemon.
//
// A program of its own needs this package, rpc/protocol and rpc/socket, and brings in nothing of the daemon with them:
// neither its store nor its indexes. The example below is whole: where the socket is, a connection, a call.
//
// A daemon of another major version of the protocol is a *VersionError of Dial and New: it says which of the two is
// older.
//
// When the context of a call ends, the daemon is asked to withdraw the call and Call waits a moment for its answer,
// because a mutation that has begun completes: a result that comes is returned as such, and an error means that
// nothing is known to have been done.
//
// Wall: promise: a client that brought in a store would carry it into every program that talks to the daemon.
package client
