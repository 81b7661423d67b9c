// Package store is ctxd backup and ctxd restore, and the way to a store that a
// daemon may have or not.
//
// Both commands have the daemon do the work that has the store. When none has it
// they open the store themselves, under the same lock, without bringing its
// records into a newer format, and close it when they are done. Flag.Reach alone
// decides which of the two it is; ctxd doctor takes the rest of Access, and the
// words for what a store holds and what a start finds in it.
//
// Each command is used by one goroutine.
package store
