// Package turn declares what a client says to have a message answered, and what it is told: the parameters and the
// result of chat.send, the deltas of an answer that is being given, and the trace of one that was.
//
// Package send and the protocol use it. It has values only.
package turn
