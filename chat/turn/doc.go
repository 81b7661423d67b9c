// Package turn declares what a client says to have a message answered, and what it is told: the parameters and the
// result of chat.send, the deltas of an answer that is being given, the trace of one that was, and what messages stood
// on.
//
// # Who may call it
//
// Packages of chat, the protocol of rpc and its clients. It has values, and what can be told of turns by their messages
// alone. All of it is pure and may be used concurrently; nothing is kept.
//
// Wall: promise: the protocol and clients speak of answers by it, so it brings in no store of conversations.
package turn
