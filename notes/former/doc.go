// Package former keeps what notes were called until lately, so that a name in the field of
// an entity leads to its note for a month after the note was renamed: titles, file names and
// paths. Links in texts do not ask for it: editors rewrite them, and one that is not
// rewritten is to be listed as broken.
//
// The records of the collection "note-former" are by id of the note. A name leaves its
// record when the note has it again, when Kept is over (Drop), when there are more than
// maxNames younger ones, or with the note. What is in the records counts: time alone changes
// nothing, so that a store which is opened again says what it said before.
//
// A Set is what the store of notes holds of them. It is not safe for concurrent use: its
// owner has the lock.
package former
