// Package rows has entities/wql/columns read entities through a connection to the daemon: for programs that show the
// rows of a query, such as ctxd wql.
//
// It keeps nothing. A Reader that it makes belongs to one answer and one goroutine.
//
// Wall: second user: ctxd wql and ctxd mcp show rows, and rpc/client stays without the code that computes them.
package rows
