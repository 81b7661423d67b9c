// Package summary says in a line what a note is about: its first paragraph where that is short, else a sentence that a
// model made of it, else its first sentence, cut.
//
// # Who may call it
//
// Rooms that show or send references to notes, with the View of the reader, and not within a transaction of the store.
// Nothing is made for a note before somebody asks for it. Nobody waits for a model: [Store.Of] takes what is there, and
// has a [Maker] ask for what is not.
//
// # What is kept
//
// Package digest keeps the sentences of models beside their notes. The key is the SHA-256 of the text of the note as the
// reader sees it, of the limit and of the model. So a sentence that was made of private text is not found by a reader
// who does not see that text, and what was said of a text that is gone is never shown.
//
// # Privacy
//
// What a remote model is given is what a remote reader would see, of a note that he sees. Where a local reader sees more,
// a remote model is not asked, and the first sentence stands.
//
// # Concurrency
//
// All methods may be called concurrently. A call takes time linear in the text of the note, up to the first 256 KiB, and
// where a model is configured in all of it.
package background
