// Package socket finds, binds and dials the one endpoint of the daemon: a Unix domain socket, or a named pipe on
// Windows. There is no TCP port.
//
// Resolve says where the endpoint is (RPC-1), Listen makes the caller the one owner of it (RPC-2), Dial connects to
// it, and both sides check that the peer runs as the same user where the operating system offers that (RPC-3).
//
// What each operating system does in its own way for an open socket is here too: PeerPID and WatchProcess (which
// process is at the other end, and when it ends), AwaitHangup (whether it has closed both halves) and TryWriter
// (writing without waiting).
//
// # One owner
//
// Three steps, in this order, make a second listener on the same path impossible and a crashed one harmless: a lock
// file is locked (the lock dies with its process, so nothing has to be cleaned up after a crash), the path is probed
// by dialling it, and only a path where nobody answers is unlinked and bound. The lock file is never unlinked, because
// two processes could then hold locks on two files of one name. It holds who owns the endpoint, so that the loser of
// the race can say so.
//
// # Concurrency
//
// All functions may be called concurrently; a TryWriter is used by one goroutine at a time. Listen changes the umask
// of the process for the length of one bind call, because no other way closes the moment between bind and chmod; files
// that another goroutine creates in that moment come out stricter, never wider.
//
// cmd, rpc/client and rpc/jsonrpc may call this package, and tests.
//
// Wall: subject: where the daemon listens, who owns the socket and who may connect, on each operating system.
package socket
