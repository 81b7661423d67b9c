// Package send answers messages: it makes the prompt, keeps what the user said, asks a provider, runs the tools that it
// calls, and keeps the answer. README.md has the stages and what becomes of a failure in each.
//
// # Parts
//
//   - send.go, sending.go: the Pipeline, and one call of it up to the stored message
//   - attach.go: pictures and files that come with a message
//   - give.go, keeper.go: the answer while it is given, and what of it is durable meanwhile
//   - orders.go, became.go: what a message orders, and what has become of what answers proposed
//   - traced.go: how the answer was given
//   - spending.go: what models were asked, as rows of the store
//
// # What is durable when
//
// The message of the user is stored before a provider is asked. What comes of the answer is stored each second or 4 KB
// in parts, which the transaction of the finished answer replaces. A call that ends, for whatever reason, leaves either
// no answer, since nothing came of it, or one that says how it ended. The writes of a call that was cancelled are done
// all the same: they don't follow the context of the call.
//
// # Privacy
//
// A provider that is not local reads as a remote reader: the prompt, what was said before, the message itself and the
// results of tools are made by the View of one. A local provider reads as its asker. Its answer is private when the
// message is, when a private message was replayed, when a tool showed something private, or when a remote reader would
// have been given another prompt. That prompt is made beside the first one.
//
// # Who may call it
//
// Handlers of rpc; the daemon gives a ledger its rows.
//
// # Lifetime and concurrency
//
// A [Pipeline] lives as long as the stores that it asks, and is safe for concurrent use. One answer at a time is given
// in a conversation; conversations run side by side. Deltas are emitted from the goroutine of the call, and a caller
// who is slow slows his provider down.
//
// Wall: subject: how a message is answered.
package send
