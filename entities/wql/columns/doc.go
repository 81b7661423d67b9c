// Package columns reads what is shown of the rows of a WQL query beside id, name and
// type: the fields that the query mentions.
//
// ctxd wql and the tool query show rows with it, so both show the same. The
// query is read here only to know what to show: what it means the engine decides, and
// what a reader may see of a field whoever gives the entities.
//
// A Reader belongs to one answer and one goroutine; it asks for up to eight entities at
// a time, each of them once.
//
// Wall: promise: clients show the columns of rows without bringing in the query engine or a store.
package columns
