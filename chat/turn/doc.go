// Package turn declares what a client says to have a message answered, and what it is told: the parameters and the
// result of chat.send, the deltas of an answer that is being given, and the trace of one that was.
//
// Rooms of chat and the protocol use it. It has values, and what can be told of turns by their messages alone.
package turn
