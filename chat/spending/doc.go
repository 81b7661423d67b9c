// Package spending keeps what language models are asked in the store: tokens and requests by day, provider,
// model and whether somebody waited, in the collection chat-spending. Counting and refusing are done by the
// ledger of chat/llm, which lives as long as the daemon; this package gives it the rows of a store, and writes
// those that change.
//
// # When it is written
//
// After each answer, before its caller has it, in a transaction of its own: an answer takes seconds, a
// transaction milliseconds. A daemon that is killed loses at most the answers that were still arriving. A row
// that can't be written, since the disk is full, counts all the same and is written with the next.
//
// What was spent is spent: a store that is restored from a backup gets the rows that were counted since then,
// so a budget does not begin anew. Rows of days that are too long ago are deleted by the next write.
//
// # Who may call it
//
// Package daemon, when it opens the rooms over a store, and admin.check. Nothing has to be closed: the ledger
// is given another store, or none. All functions may be called concurrently.
package spending
