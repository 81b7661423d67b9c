// Package books is ctxd books: files that a person asks about. It adds, lists, shows, searches, publishes and removes
// them over the socket. Whoever runs a command gives it the streams and the link to the daemon; it keeps nothing between
// two calls and is used by one goroutine. Errors are those of the daemon, and of files that cannot be found.
package books
