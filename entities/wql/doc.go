// Package wql is the query language of computed fields and of wql.query: a
// SELECT over typed entities.
//
// The way of a text: lexer and parser make an AST of the whole grammar and
// report every error with its place; the checker types it against the declared
// types; the compiler turns operands into slots and WHERE into one expr
// program over a fixed, typed environment; a plan picks the rows to look at;
// the machine runs the program row by row.
//
// The package is larger than most of ours because it is the whole language with
// its planner: a language that is split over rooms has no place where it is
// decided what a text means.
//
// # Why expr sees so little
//
// Raw expr can kill a process: repeat() exhausts memory, nested all() time, a
// million parentheses the stack. So no text of a user reaches it. The program
// that the compiler writes knows &&, || and calls of the fixed functions of the
// environment type with slot numbers, as in `eq(0, 1) && gt(2, 3)`; every
// builtin is off, there are no loops, and its size is bounded by the 256 nodes
// of the query.
//
// NOT does not appear in the program either. In three-valued logic NOT can be
// pushed down to the comparisons, and a row is wanted exactly when the whole is
// TRUE, so each comparison is asked "are you TRUE?" or, below an odd number of
// NOTs, "are you FALSE?". UNKNOWN answers no to both, and plain two-valued &&
// and || give the result SQL defines.
//
// # Bounds
//
// Source 4 KB (fault.Limit), nesting 64 and 256 nodes (fault.Query), result
// rows 10,000, hops over references deduplicated, computed fields inside
// computed fields 5 deep and never in a cycle. The context's deadline is
// looked at between rows and inside long matches.
//
// # Who may call
//
// Rooms above entities; all methods of an Engine are safe for concurrent use.
// A Result is shared by callers and must not be changed. This is the only
// package of the project that imports expr-lang/expr.
//
// An Engine answers from the entities.Store as it is at the moment of the
// call; Engine.Apply, registered as kv.Store.OnCommit after entities.Open,
// keeps built indexes current at the cost of the change instead of rebuilding
// them. It is correct without Apply too, only slower after writes.
package wql
