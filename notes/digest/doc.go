// Package digest keeps what language models said a note is about, beside the note, for as long as it has the text that
// they said it of.
//
// The records of the collection "note-summary" are by id of the note. The store of notes deletes one in the transaction
// that gives the note another text, or deletes the note. So nothing of a text that is gone stays here, and there are at
// most as many records as notes, each of at most Kept lines. A record is a cache: losing it costs a request to a model.
//
// Package summary of the chat writes and reads them. Functions run in transactions of the caller.
package digest
