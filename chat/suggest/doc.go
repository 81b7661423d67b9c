// Package suggest names notes that are related to a conversation and that it does not refer to yet (CHAT-31).
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader.
//
// # What it does
//
// [Suggester.Of] joins three lists of notes: those that are linked with notes of the conversation, those that other
// conversations stood on together with them (package chat/cited), and those that the last messages find by their words.
// A note gets 1 / (60 + place) of each list that it is in, and the best sums come first; each note says by which of the
// lists it came. The README has the order of each list.
//
// All three are made of what the View shows, so neither order nor reasons tell a remote reader of private records. The
// error is NotFound under "conversationId". Asking takes O(links and references of the notes of the conversation) and one
// search by words. All methods may be called concurrently.
package suggest
