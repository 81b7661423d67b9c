// Package highlight finds the excerpts of notes that an answer stood on, in the notes as they are now (CHAT-35).
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader.
//
// # What it does
//
// A tool that gives a model passages of a note leaves their places in the reference to it: UTF-16 code units,
// half-open, of the body that the asker saw, with the SHA-256 of that body. [Finder.Of] reads these places in the body
// as its reader sees it. Where the body is another one by now the item is stale and has no text. Private records do not
// exist for a remote reader. The error for a message that he does not see is NotFound.
//
// Asking takes O(bytes of the notes). All methods may be called concurrently.
package highlight
