// Package watch brings folders of Markdown files into the store.
//
// An Import reads a vault and makes the store agree with it: a note for every
// Markdown file, the entities that frontmatter describes, the types that
// .ctxd/types declares or that the frontmatter suggests. It never writes into
// the vault, never leaves it (os.Root refuses links and paths that lead out),
// and lists what it could not take in, with the reason.
//
// Files are read and parsed in parallel and written in transactions of some
// hundred notes: a cancelled import stops between two of them and leaves whole
// notes behind. A file that is as it was the last time is not written again; a
// file that moved keeps its ids when its content is the same.
//
// A vault may exclude files by .ctxdignore files, in the syntax of .gitignore.
// Hidden files and folders are always left out, .ctxd/types apart.
//
// Imports of one vault run one at a time; an Importer is safe for concurrent
// use.
package watch
