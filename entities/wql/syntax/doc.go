// Package syntax is how WQL is written: text to tree and back, diagnostics with
// their places, and the values that stand in a text, such as dates.
//
// Parse makes a Query of the whole grammar and reports every error with its
// place and what to do about it; Query.String writes a tree in one canonical
// form, which parses to the same tree. What a query means, which types and
// fields there are and how it is answered is in entities/wql: this package knows no
// store and no engine, so the daemon and the prompt of ctxd wql share it.
//
// The grammar stands in entities/wql/README.md. Bounds: MaxSource bytes,
// MaxDepth levels and MaxNodes nodes; everything is linear in the text. A tree
// belongs to who asked for it; there is no state, so all of it may be called
// concurrently.
//
// Wall: promise: editors and the command line read a query without bringing in the engine or a store.
package syntax
