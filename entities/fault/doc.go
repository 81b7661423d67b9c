// Package fault is the one error type of ctxd.
//
// Every package returns a *fault.Error for what a caller can act on: what kind of
// failure it is, with what, and what to do about it. The protocol layer maps
// the kind to a wire code in one place, the CLI prints the hint as "Try: …".
// Any other error that reaches the wire is an internal error and its text
// stays in the log.
//
// Messages and hints are shown to people and sent to clients: they hold ids,
// names of fields and limits, never note text, file-system paths or keys.
//
// The package imports nothing of ours, so every package may import it.
//
// Wall: promise: it imports nothing of ours, so a client that reads errors brings in no store.
package fault
