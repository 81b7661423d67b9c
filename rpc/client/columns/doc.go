// Package columns reads what is shown of the rows of a WQL query beside id, name and
// type: the fields that the query mentions, through a connection to the daemon.
//
// ctxd wql and the tool query of ctxd mcp show rows with it, so both show the same. The
// query is read here only to know what to show: what it means the daemon decides, and
// what a reader may see of a field the daemon decides as well.
//
// A Reader belongs to one answer and one goroutine; it asks for up to eight entities at
// a time, each of them once.
package columns
