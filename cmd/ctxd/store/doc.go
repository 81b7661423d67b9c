// Package store has the commands for the files of a store: ctxd backup, restore and compact, ctxd sync, which shares
// one with other machines, ctxd uninstall, which removes it, and the way to a store that a daemon may have or not.
//
// # Parts
//
//   - access.go: the way to a store. Flag.reach alone decides who does the work: the daemon that has the store or,
//     when none has it, the command, under the same lock, without bringing records into a newer format. ctxd doctor
//     takes the rest of Access.
//   - backup.go, restore.go, compact.go: these commands.
//   - record_words.go: the words for what a store holds and what a start finds in it.
//   - syncs*.go: ctxd sync.
//   - uninstall.go: ctxd uninstall.
//
// Each command is used by one goroutine. cmd/ctxd calls them; ctxd doctor and ctxd inspect take Access and the words.
//
// Wall: subject: the commands for the store as a whole.
package store
