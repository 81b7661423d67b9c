// Package wql is the query language of computed fields and of wql.query: a
// SELECT over typed entities.
//
// The way of a text: entities/wql/syntax makes an AST of the whole grammar and
// reports every error with its place; the checker types it against the declared
// types; the compiler turns operands into slots and WHERE into one expr
// program over a fixed, typed environment; a plan picks the rows to look at;
// the machine runs the program row by row.
//
//   - engine.go, records.go, run.go, explain.go: the Engine, a query and its result, how it was answered
//   - schema.go, resolve.go: the declared types at one moment, and what a name in a query means
//   - compile.go, operand.go, function.go, machine.go, walk.go: the program, its slots, and running it
//   - access.go, order.go, rank.go: plans and the order of rows
//   - index*.go: who has which value of a field
//   - datum_*.go: values, how they compare, dates, LIKE, sums
//   - cache.go, depend.go: results of computed fields, and what they depend on
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
// # Plans
//
// With the program the compiler makes an access: which comparisons of a field
// with a value known beforehand hold for every wanted row. An index answers =,
// IN, CONTAINS on lists and references, and with an order <, <=, >, >= and
// BETWEEN on numbers, days and points in time. OR takes the union of its arms,
// AND the arm that leaves the fewest rows, by exact counts. Every row found so
// runs through the whole program all the same: an index decides how fast an
// answer is and never what it is. What equals what depends on both sides of a
// comparison ("010" equals 10 and not "10"), so a field may have an index of
// each class of comparison.
//
// ORDER BY with a LIMIT of less than a quarter of the rows takes them from an index
// that has all entities of the type by the first key, name and id, and stops when there
// are enough; rows equal in the first key are sorted by the others. As a result says how
// many rows there are in all, it needs a count without a look at each: there is no WHERE,
// or one index holds exactly what WHERE asks. A way on which half of the rows did not
// suffice is left, and the rows are sorted. References and lists are always sorted.
//
// An index is built when a query first wants it and changes with each commit by
// what the commit touched. When no index leaves less than a quarter of the
// rows, all are scanned. Query with Explain says what was done and why.
//
// # Results of computed fields
//
// The value of a computed field is kept together with what it was made from:
// the entities whose reference is the one that was looked for, those between
// two dates, the fields that were read of them, single entities behind
// references. A commit drops the values that one of its changes touches and no
// others. A run that read more than 64 such parts depends on the fields of the
// types instead, whatever their values; a change of a type drops all. What
// today() says ends with the calendar day, what now() or MATCHES say is not
// kept. Engine.Current tells whether a value holds.
//
// # Bounds
//
// Source 4 KB (fault.Limit), nesting 64 and 256 nodes (fault.Query), result
// rows 10,000, hops over references deduplicated, computed fields inside
// computed fields 5 deep and never in a cycle. The context's deadline is
// looked at between rows and inside long matches. Indexes hold half a million
// entries (50 to 75 MB), kept values about 400,000 rows (some 40 MB); what was
// not asked for longest goes first, of the values any.
//
// # Who may call
//
// Every layer above entities; all methods of an Engine are safe for concurrent use.
// A Result is shared by callers and must not be changed. This is the only
// package of the project that imports expr-lang/expr.
//
// An Engine answers from the entities.Store as it is at the moment of the
// call. It is correct without Engine.Apply too, only slower after writes. While
// a commit is under way that Apply has not seen yet, rows are scanned and no
// kept value is used.
//
// Wall: dependency: expr-lang/expr, of which raw expressions can kill the process; nobody else imports it.
package wql
