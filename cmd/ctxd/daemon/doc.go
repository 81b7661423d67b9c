// Package daemon opens the rooms over a store in their order and puts a server on the socket.
//
// engine.go opens store and rooms, embedder.go what turns text into vectors, reranker.go what scores hits anew,
// providers.go who answers in conversations, and daemon.go takes the socket, loads, and ends. Start makes a Daemon,
// Load opens its store, Close ends it; each is called once, by one goroutine. The socket comes before the store: it
// tells a second daemon from the first without touching the data.
//
// It also writes and reads the signature of a data folder, which says whose it is. ctxd serve and ctxd demo run a
// daemon; the commands that open a store themselves take its format from here. The package draws nothing.
//
// Wall: subject: what a start of the daemon opens, and in which order.
package daemon
