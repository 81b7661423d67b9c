// Package attachments knows the files of vaults that are no notes by their names, so that
// a link to a picture is not taken for a broken one. Nothing in such a file is read.
//
// A Set is what the store of notes holds of them: the records of the collection
// "vault-attachment", one for each file, by vault and path. Package notes loads it and
// keeps it current with each commit; package notes/watch, which scans vaults, writes the
// records.
//
// A Set is not safe for concurrent use: its owner has the lock.
package attachments
