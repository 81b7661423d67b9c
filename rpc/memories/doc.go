// Package memories has the handlers of memories: of the methods memory.*, memory.synonyms.* and contexts.*. Package rpc
// lists them in its table of methods, and calls them with the Reader of the call. A handler turns params into a call of
// one room, package memory, similar or recall, and its answer into the result. It keeps nothing, and may be called
// concurrently; its errors are those of the rooms.
package memories
