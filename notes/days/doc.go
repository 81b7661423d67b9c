// Package days knows the notes of days: where a vault has them, how their files are named, what a new one begins with, and what
// a link to one says, by the settings of the program that keeps the vault; and where other new notes go. Obsidian has them in
// .obsidian/daily-notes.json, or in those of its plugin Periodic Notes, with a format of moment.js, and in templates.json and
// app.json there; Logseq in logseq/config.edn, with one of Java. Names of months and days are English, as both have them where
// nobody has set a language. A setting that leads out of the vault, or names what no file can be called, is left out.
//
// It is pure: who calls it reads the files. notes/vault gives the notes of days the names that Logseq has for them and makes new
// ones, and rpc/lsp completes links to days and has the editor make the note of today.
//
// Wall: second user: an editor's server writes the names of days that the import reads, and holds no store.
package days
