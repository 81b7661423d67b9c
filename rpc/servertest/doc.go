// Package servertest starts whole daemons for the tests of what talks to one: a store in memory, every room over it as
// a daemon opens them, and a socket in a folder of its own. Clocks and ids are counted, so that two runs are alike. A
// Daemon ends with its test, which fails when something can't be started or closed; its methods are for one goroutine,
// the rooms for any.
//
// The tests of rpc use it, and those of the language server (rpc/lsp/lsptest) and MCP add their clients to it.
//
// Wall: test helper: a daemon over a store in memory, which no program contains.
package servertest
