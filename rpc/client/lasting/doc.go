// Package lasting is a connection to the daemon that outlives it, for programs that run
// for longer than one: ctxd mcp and ctxd lsp.
//
// A Conn dials when a call needs it, and again after the connection was lost. Call, for
// methods that read, repeats a call that the loss of the connection broke off; Once, for
// methods that change records, does not, since nobody knows then what became of the
// change. Errors are those of the daemon, or a fault.Unavailable with the hint of the
// Options where there is no daemon. Any number of goroutines may call it.
package lasting
