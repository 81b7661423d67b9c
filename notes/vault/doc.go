// Package vault brings folders of Markdown files, called vaults, into the store, keeps the store
// in agreement with them, says what is wrong with a note, and works out which edits a rename
// needs. It writes into a vault only when a client asks for it and a setting allows it (Write, Trash, Undo).
//
//   - vault.go, import.go, run.go, typed.go, types.go, record*.go: an import
//   - scan.go, tree.go, exclude.go, moves.go, similar.go, tombstone.go: what is there, and what moved or went
//   - follow.go, events*.go: following a vault
//   - place.go, own_files.go, forget.go: which folder is which vault, and removing one
//   - diagnose*.go: what is wrong with the text of a note in an editor (Diagnose)
//   - writing.go, history.go: writes into files, by package write, and what was written
//   - rename_*.go: the edits of a rename (RenameNote, MoveFiles and others)
//
// The daemon has one Importer, which lives as long as the store; rpc calls it, Diagnose and the
// renames. A rename is a plan, which an editor carries out; nothing of it is written here.
//
// # Import
//
// An Import reads a vault and makes the store agree with it: a note for every Markdown
// file, the entities that frontmatter describes, the types that .ctxd/types declares or
// that the frontmatter suggests. It writes nothing into the vault. It never leaves it:
// os.Root refuses links and paths that lead out, a file is checked again after it was
// opened, and a pipe is not waited for. What it could not take in it lists, with the
// reason.
//
// A scan (scan.go) makes a tree (tree.go) of what is there: folders, and the size and
// time of each note. What has changed since the last tree, or since what the store knows,
// is read and parsed in parallel and written in transactions of some hundred notes
// (run.go). A cancelled import stops between two transactions and leaves whole notes. A
// file of the same size and time is not read again, unless it was so young when it was
// read that it may have changed since and kept them; a file with the same content is not
// written again. A file that moved keeps its ids when its content is the same (moves.go)
// or similar (similar.go), and one that is gone for less than a month gets them back when
// it comes back (tombstone.go). A file that can't be taken in any more, such as one that
// became binary, leaves its note as it was, and is listed.
//
// # Following
//
// A vault that is followed (follow.go) has a goroutine that scans the folders in which
// the system reports changes (events.go), 40 ms after the last event and 150 ms after the
// first at the latest. From time to time it scans the whole vault, which finds what was
// not reported. On Windows one watch serves a vault with all its folders
// (events_windows.go). A full scan takes about 40 ms at 10,000 files. The time to the next one
// is a hundred times as long, and at least half a minute where events come and a second
// where they do not: kqueue takes a descriptor for each file and is not used, and Linux
// may run out of watches. What a scan misses is scanned for once more before it is taken
// for gone, since a file that moves may be seen at neither place.
//
// A folder that is not there, or that is empty where there were notes, is a disk that was
// taken out: the notes stay, the vault is stale, and the follower tries again each second.
// A folder that was not there when it was to be imported first is waited for likewise
// (Await). A follower writes inside Host.Enter, so that nobody replaces the store
// meanwhile. Followers end before the store is closed.
//
// # One folder, one vault
//
// A folder is the same vault by whatever path (place.go). A vault does not lie in the
// folder of another unless it is excluded there: its notes would be there twice.
//
// Forget removes a vault in groups (forget.go). The record of the vault says so from the
// first group on and goes last: when the program ends in between, the next start goes on.
//
// # Writing
//
// A write has the vault to itself, so that no scan sees it half taken in. It is noted in the store (underway), done by
// package write, taken in as a scan would do it (takeIn), and then moves to the history (changes). What a kill leaves
// underway, settle ends at the next start or before the next write.
//
// # Excluding
//
// A vault excludes files by .ctxdignore files, in the syntax of .gitignore, and
// Options.Exclude does so for every vault (exclude.go). Hidden files and folders are
// always left out, .ctxd/types apart. Paths and patterns are compared in NFC, and without
// letter case where the file system of the vault folds it. The entity of a note whose
// file is excluded now is private until the file is taken in again.
//
// # What was private
//
// A note that was private stays private until a whole file says otherwise, because an
// editor may empty a file or cut it before it writes the new text. A file is whole when
// its head is: it is not blank, and if it opens with the marker of frontmatter, that is
// closed (markdown.IsHeadComplete). The head decides because a file that is being written is a
// beginning of what it will be, and what is behind the head does not say whether a note is
// private. No time is waited for: a quiet period would end for a slow writer too. This
// holds for a file that was removed and made anew, as long as its tombstone is kept. Each
// note that is private in doubt is listed in the status of the vault.
//
// # Concurrency
//
// Work on one vault is done by one goroutine at a time; an Importer is safe for concurrent
// use.
//
// Wall: subject: folders of Markdown files, kept in agreement with the store.
package vault
