// Package yield lets long work take turns with other work. Work that may compute for long
// calls Point between its steps. Who runs it puts a Yielder in its context, which decides
// whether the work goes on at once or waits; without one a Point costs next to nothing.
//
// rpc/jsonrpc runs reads with one, so that long reads of some clients do not hold up those
// of others. The package imports nothing of ours, since every package may compute for long.
//
// # Concurrency
//
// A Point is passed by the goroutine that the context was given to, and by no other. It
// may wait, and so is passed with no lock held and outside of a View of the store: who
// waits for those would wait with it. Never is for contexts of such work. Leave is for work
// that waits for a server, and must not hold others up meanwhile.
//
// Wall: second user: long work in every layer takes turns by it, and rpc/jsonrpc decides the turns.
package yield
