// Package rows has package entities/wql/columns read entities through a connection to the daemon: for programs
// that show the rows of a query, such as ctxd wql.
//
// It keeps nothing. A Reader that it makes belongs to one answer and one goroutine.
package rows
