// Package runner is the embedder that runs a transformer model in a child process, the
// [Ranker] that runs a cross-encoder in one, and what that child needs: the daemon holds a
// [Runner], cmd/ctxd-runner calls [Dial] and [Serve] or [ServeScores]. Native code that crashes ends the child and not the daemon, which starts it
// again, later each time it fails. A Runner is safe for concurrent use; Close ends it
// with its child.
//
// # The protocol
//
// [Runner] starts cmd/ctxd-runner and talks to it over a pair of sockets, one of
// which the child inherits as descriptor 3; on Windows it is a named pipe whose
// name the child is given. The child serves with [Serve]. Each side writes
// frames; numbers are little-endian:
//
//	offset  bytes
//	0       4      n, length of what follows, at most 16 MiB
//	4       1      kind
//	5       n-1    body
//
// The child begins with a hello ('h', JSON of [Hello]). The daemon then
// sends one request at a time ('e': id uint64, then for each text its length
// uint32 and its bytes). While the child works it beats ten times a second ('b':
// id, number of texts done uint32). It answers with vectors ('v': id, dimensions
// uint32, number uint32, then for each text a byte 0 for none or 1 and float32
// values) or refuses the texts ('x': id, reason).
//
// The child of a Ranker is one of its own, with a model of its own. Its hello says so. It
// is asked for scores ('r': as 'e', where the first text is the question) and answers with
// scores ('s': as 'v', one float32 value for each text).
//
// Whatever else comes, an answer to another request, another number of vectors
// or values, a vector that is not of length 1, is a [ProtocolError]: nothing of
// it is used, and the child is killed. So is one that does not beat for
// Options.Stall, which a stopped one does not, or that takes longer than
// CallTimeout over one text. What it wrote to stderr last is part of the error.
//
// The child ends when the socket does, at once even if a text is at work; on
// Linux the kernel kills it with its parent. It leads a process group of its own,
// and what it started is killed with it.
package runner
