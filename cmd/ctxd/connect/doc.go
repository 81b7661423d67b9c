// Package connect is the way from a command to the daemon: it dials the socket
// that is configured, asks for its health, and starts a daemon for a client that
// finds none (ctxd stdio and ctxd mcp).
//
// A start settles no race itself: all start their own, ctxd serve lets the owner
// of the socket win (rpc/socket), the losers end at once, and everybody attaches
// to the winner. What a daemon that could not start has to say, it says as JSON
// on standard error, which is a temporary file; the starter reads it.
//
// A Link is made by main for one command and carries its context. Its methods
// may be called concurrently once the flags have been parsed; a connection
// belongs to who asked for it.
package connect
