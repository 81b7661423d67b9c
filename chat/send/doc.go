// Package send answers messages: it makes the prompt, keeps what the user said, asks a provider, runs the tools that
// it calls, and keeps the answer. README.md has the stages and what becomes of a failure in each.
//
// # What is durable when
//
// The message of the user is stored before a provider is asked. What comes of the answer is stored each second or
// 4 KB in parts, which the transaction of the finished answer replaces. A call that ends, for whatever reason, leaves
// either no answer, since nothing came of it, or one that says how it ended. The writes of a call that was cancelled
// are done all the same: they don't follow the context of the call.
//
// # Privacy
//
// A provider that is not local reads as a remote reader: the prompt, what was said before, the message itself and
// the results of tools are made by the View of one. A local provider reads as the one who asks. Its answer is private
// when the message is, when a private message was replayed, when a tool showed something private, or when a remote
// reader would have been given another prompt. That prompt is made beside the first one.
//
// # Concurrency
//
// A [Pipeline] is safe for concurrent use. One answer at a time is given in a conversation; conversations run side by
// side. Deltas are emitted from the goroutine of the call, and a caller who is slow slows his provider down.
//
// # Who may call it
//
// Handlers of rpc.
package send
