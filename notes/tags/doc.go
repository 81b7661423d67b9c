// Package tags counts notes by tag, for the store of notes and for readers who do not see
// all notes. Counts are not safe for concurrent use: their owner has the lock.
package tags
