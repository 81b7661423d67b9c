// Package days knows the notes of days: where a vault has them, how their files are named, and what a link to one says, by
// the settings of the program that keeps the vault. Obsidian has them in .obsidian/daily-notes.json, or in those of its
// plugin Periodic Notes, with a format of moment.js; Logseq in logseq/config.edn, with one of Java.
//
// It is pure: who calls it reads the files. notes/vault gives the notes of days the names that Logseq has for them, and
// rpc/lsp completes links to days and makes the note of today.
//
// Wall: second user: an editor's server writes the names of days that the import reads, and holds no store.
package days
