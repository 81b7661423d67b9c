// Package nats keeps the log of a shared store on a cluster of NATS servers (JetStream, 2.11
// or later): entries in one stream, the list of machines and the lease in a key-value bucket,
// snapshots in an object store. Everything in them is sealed (seal_*.go), and their names
// are random. We write no server, no consensus and no replication: the servers order and keep
// messages, this package checks that they did. commitlog_log.go of entities/kv/outbox has a
// picture of the whole, and the words.
//
//   - connect.go, connected.go, enter.go, trouble.go: the connection, credentials, what an error means
//   - append.go, read.go, chain.go, tail.go: the Log
//   - kept.go, restore.go: what servers have lost of its end is put back
//   - begin.go, cluster.go, permissions.go: making and joining a store, what servers must allow
//   - identity.go, machines.go, bucket.go: machines and their keys
//   - snapshot.go: states for machines that join
//   - seal_*.go: encryption and the format of messages; needs no server
//
// entities/kv/shared joins it to a store; cmd/ctxd shows what it says of servers and machines.
//
// # The log
//
// Log is an outbox.Log. A position is the stream's sequence of the last message of an entry,
// and the hash over all entries up to it. An entry is appended with the sequence that must be
// the newest (compare and append) and a message id. So a message fits one place of the stream,
// and sending it again is harmless. An acknowledgement that does not come is settled by
// sending the same message again until a server says that it has it, or that something else
// has the place; only a caller that gives up first is told that the outcome is unknown.
//
// An entry over the limit of a message is sent in parts. Each part expects to stand directly
// behind the one before, and the last one makes the entry valid. Whatever comes between makes
// the parts void: they stay in the stream and nobody reads an entry in them. A writer that
// finds the beginning of somebody else's entry waits three seconds for its next part.
//
// Reading asks the leader of the stream for its end, takes what the consumer has brought
// already, and fetches the rest. Every message is checked: key, place, and the hash of the
// entry before. The first that is not right ends the reading with an error that is not
// retryable, and so all writing: nothing behind it is applied. At the first reading of a
// connection the entry of the store's own position is compared, too, so that servers that
// have lost what they had acknowledged are found out.
//
// A leader that is cut off from the others may show an end that is some seconds old. What was
// read is then old, never wrong; whoever appends finds out. So a store that has to know that it
// has read everything appends an entry that changes nothing.
//
// A server that is cut off from the others does not say so. A machine that gets no answer for four
// seconds goes to the next server. New messages are followed by a consumer that is given up when
// it is silent for two heartbeats.
//
// # Machines and keys
//
// Identity is a machine's key file: where the store lies, one secret for each epoch, a number,
// an X25519 key pair. Removing a machine is an entry of the log. It holds the next secret,
// encrypted for each machine that stays, and the next message has the next key. So all agree
// where the epoch begins, and a writer that was overtaken by the removal is refused by
// compare and append. The keys of all epochs lie in the bucket, sealed with the newest, for
// machines that join with its recovery words. Of a removal that is interrupted after its
// entry, the next Announce does the rest. A machine whose record was not renewed before
// another removal gets no key of that one and has to join again.
//
// # Costs
//
// Append is one round trip to the leader and its quorum. Arrived is none. Read is one, and one for
// each message that the consumer has not brought, or one consumer for many. A Log holds a
// connection, three goroutines of the client, one consumer of ours and the newest messages (16 MiB
// at most). Snapshots are sealed in pieces of 4 MiB and held one piece at a time.
//
// # Errors
//
// *fault.Error of kind Unavailable: retryable when servers do not answer, refuse the credentials or
// have no room (outbox.ErrFull), not retryable when
// the log is not the one that this machine knows (outbox.ErrForked), does not reach back
// (ErrGone), was altered (ReasonOf says how), or this machine was removed (ErrRemoved).
// Times are wall-clock and only shown to people; nothing is decided by them.
//
// A Log and an Identity may be used concurrently.
//
// Wall: dependency: nats.go; what leaves for other machines is sealed here.
package nats
