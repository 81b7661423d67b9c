// Package hiding makes the answers private that stand on notes that become private (PRIV-4).
//
// # Who may call it
//
// Who opens the rooms: [Hider.Note] is the Hide of notes.Options, and [Hider.Use] is called when all rooms are open,
// before anybody reads.
//
// # What it does
//
// An answer stands on a note when one of its references to it is used: the note stood in the prompt, a tool has read it,
// or the answer cites it. Where people and remote readers have different references the latter count: an answer that only
// links to a private note stays public. In the transaction in which a note becomes private these answers become private, too, and what was made from
// them: memories that come from them, and answers that stand on those. For remote readers the conversations are as if
// the answers had never been there (chat.HideMessages), so numbers of later messages move up.
//
// Where a note that there was becomes private, all messages are read, once a transaction: O(all messages). Use takes
// O(notes that are referred to). Errors are those of the store.
package hiding
