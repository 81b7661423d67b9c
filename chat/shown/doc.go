// Package shown shows what messages stood on as it is now: for each note and memory that one message, or the newest
// branch of a conversation, refers to, what to call it, where it can be opened, and whether it is still there (CHAT-28).
// README.md has the rules.
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader. What a message refers to is read as the reader sees the message, and all
// that is said of now is looked up with his View: he is told nothing that chat.get and notes.get would not tell him.
//
// # Shapes and errors
//
// Places are half-open and in UTF-16 code units of the message as the reader sees it. The errors are those of the store
// of conversations, NotFound for a message that there is not, and that of a context that has ended.
//
// # Lifetime, concurrency and time
//
// The package keeps nothing, and its functions may be called concurrently. A message by its number takes O(its
// references), one by its id is looked for from the end, and a conversation takes O(its messages). A heading is looked
// for in a note only for what is on the page.
package shown
