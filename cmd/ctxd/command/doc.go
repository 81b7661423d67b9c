// Package command holds what all commands of ctxd share and what draws nothing:
// their errors with the exit statuses, their examples, the number flags, the
// version of the program, and the words of a hint (quoted for a shell, nearest
// to a misspelt name).
//
// A command returns an error and prints nothing of it. Explain makes a Failure
// of the error, which the main package prints: "Error: …", "Try: …", or JSON,
// and the exit status. An error that knows better how it is shown is a
// Describer.
//
// Every package below cmd/ctxd may call it. It keeps no state, so all of it may
// be called concurrently.
package command
