// Package branch says which messages of a conversation follow each other (CHAT-37). A conversation is a tree of messages:
// each follows the one before it, but for those that begin a branch, which are its Forks. Messages are named by their
// index, from 1. It is a package of its own since it knows numbers alone; package chat keeps the forks in the record of
// the conversation. All functions take O(forks) and may be called concurrently.
package branch
