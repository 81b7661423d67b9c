// Package render writes records as models read them: notes, entities, rows of queries, parts of the graph and what was
// found, with pages for what is long. The tools of package tools and those of ctxd mcp answer with it, so a record
// looks the same to a model wherever it asks.
//
// Titles, names, types and values are escaped as prompts escape them, so that none of them passes for the id of a
// record or for a line that this package wrote.
//
// It is pure: text out of what it is given, which the reader may see. All of it is safe for concurrent use, but for a
// Page, which belongs to one answer.
//
// Wall: promise: ctxd mcp, a client of the daemon, writes records with it, so it brings in no store.
package render
