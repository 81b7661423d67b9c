// Package connect is the way from a command to the daemon: it dials the socket that is configured, asks for its
// health, and starts a daemon for a client that finds none (ctxd stdio and ctxd mcp).
//
// # Parts
//
//   - link.go: a Link, the connection of a command; audience.go: for whom it reads.
//   - attach.go, child.go, detach_*.go: attach to a daemon or start one.
//   - stop.go: end a daemon and wait for it.
//   - health.go, empty.go: what the daemon says of itself, and what to say where there is nothing.
//   - find*.go: which record a person means by an id, a handle or a title.
//   - input.go: what is read from standard input.
//   - call*.go: ctxd call.
//
// # Starting a daemon
//
// A start settles no race itself: all start their own, ctxd serve lets the owner of the socket win (rpc/socket), the
// losers end at once, and everybody attaches to the winner. What a daemon that could not start has to say, it says as
// JSON on standard error, which is a temporary file; the starter reads it.
//
// # Lifetime and concurrency
//
// A Link is made by main for one command and carries its context. Its methods may be called concurrently once the
// flags have been parsed; a connection belongs to who asked for it. Every package with commands calls this one.
//
// Wall: subject: how a command gets to the daemon.
package connect
