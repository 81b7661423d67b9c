// Package personality keeps how the assistant is to speak: templates of the person's own beside those that are compiled
// in, and which of them is active. None is, until one is activated.
//
// # Parts
//
//   - personality.go: the personalities of a store
//   - exchange.go: export and import of them
//   - template*.go: templates: how one is read, its options, the presets
//
// # Records
//
//	personality         a template of the person's own, by id: its text as it was given, its version and its times
//	personality-active  the one record "active" with the id of the active one; absent when none is
//
// Ids are of a-z, 0-9 and hyphens, at most 64. There are at most 100 personalities, each of at most 64 KiB.
//
// # Errors
//
// Invalid for an id and for a template with errors, of which it has the first one with line and column; Conflict for a
// preset that is to be changed, another version, and the active one that is to be deleted; NotFound; Limit.
//
// # Who may call it
//
// Handlers of rpc for local connections: what is chosen here, every prompt of every client says. The daemon gives
// package gather the active one, whose text is the person's own and is told to every model that a prompt is for.
//
// # Lifetime and concurrency
//
// A [Store] lives as long as the store of records below it. All methods are safe for concurrent use. Active costs a
// load of a pointer; the others are linear in the number of personalities.
//
// Wall: subject: how the assistant speaks, which a person writes as a template.
package personality
