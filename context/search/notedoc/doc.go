// Package notedoc is the Source of notes for package search: which fields a note has and
// what they weigh, how it is cut into chunks, and the filters tag:, path:, type:,
// vault:, conflict: and by properties.
//
// It knows notes and no index. Whoever opens an index of notes makes a Source first, after
// the store of the notes, whose part in a commit then comes before that of the index. What
// a remote reader, who never sees private records, sees of a note is decided by its callers: see
// Options. Everything here may be called concurrently.
//
// Wall: promise: the search knows no kind of record; what it must know of notes stands outside it.
package notedoc
