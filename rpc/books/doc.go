// Package books has the handlers of books.*: files that a person asks about. Package rpc lists them in its table of
// methods, and calls them with the Reader of the call. A handler turns params into a call of the room of books or of
// recall, and its answer into the result. books.put is for local connections, as it reads any file that the daemon can
// read. The package keeps nothing, and may be called concurrently; its errors are those of the rooms.
package books
