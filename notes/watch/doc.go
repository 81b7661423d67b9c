// Package watch brings folders of Markdown files into the store, and keeps the
// store as they are.
//
// An Import reads a vault and makes the store agree with it: a note for every
// Markdown file, the entities that frontmatter describes, the types that
// .ctxd/types declares or that the frontmatter suggests. It never writes into
// the vault, never leaves it (os.Root refuses links and paths that lead out,
// what is opened is looked at once more, and a pipe is not waited for), and lists
// what it could not take in, with the reason.
//
// A scan (scan.go) makes a tree of what is there: folders, and of each note its
// size and time. What has changed since the last tree, or since what the store
// knows, is read and parsed in parallel and written in transactions of some
// hundred notes (run.go): a cancelled import stops between two of them and leaves
// whole notes behind. A file of the same size and time is not read again, unless
// it was so young when it was read that it may have changed and kept them; one
// with the same content is not written again; a file that moved keeps its ids when
// its content is the same (moves.go) or much like it (alike.go), and one that is gone for less than a month gets
// them back when it comes back (lost.go). A file that can't be taken in any more, such
// as one that became binary, leaves its note as it was, and is listed.
//
// # Following
//
// A vault that is followed (follow.go) has a goroutine that looks at folders in
// which something is said to have changed (ears.go), 40 ms after the last word of
// it and 150 ms after the first at the latest, and at everything now and then: that
// finds what was not heard of. A look at everything takes about 40 ms at 10,000
// files, and the time to the next is a hundred times as long at least, half a
// minute where changes are heard of, a second where they are not: kqueue takes a
// descriptor for each file and is not used, and Linux may run out of watches. What
// a look sees to be gone is looked for once more before it is taken for gone,
// since a file that moves may be seen at neither place.
//
// A folder that is not there, or that is empty where there were notes, is a disk
// that was taken out: the notes stay, the vault is stale, and it is looked for each
// second. One that was not there when it was to be imported first is waited for
// likewise (Await). What a follower writes it writes by Host.Enter, so that nobody replaces
// the store meanwhile. Followers end before the store is closed.
//
// # One folder, one vault
//
// A folder is the same vault by whatever path (place.go), and a vault does not lie in
// the folder of another unless it is left out there: its notes would be there twice.
//
// Forget removes a vault in groups (forget.go). Its record says so from the first of
// them on and goes last: whatever ends between, the next start goes on with it.
//
// # Excluding
//
// A vault may exclude files by .ctxdignore files, in the syntax of .gitignore, and
// Options.Exclude does so for every vault. Hidden files and folders are always left
// out, .ctxd/types apart.
//
// Work on one vault is done by one at a time; an Importer is safe for concurrent
// use.
package watch
