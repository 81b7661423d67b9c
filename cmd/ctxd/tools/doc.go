// Package tools is ctxd tools: what a model that the daemon serves can call, and what it is told then.
//
// Both commands ask the daemon, by tools.list and tools.call. The package keeps nothing; one goroutine runs a command.
package tools
