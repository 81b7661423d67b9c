// Package cites knows which messages refer to which notes and memories, and answers what is asked about that: where a
// note was used, what an answer stood on and as which excerpts, which conversations share notes, which notes are
// related, and what was found in conversations. It also makes answers private that stand on notes which become private.
//
// README.md has the rules and the promises.
//
// # Parts
//
//   - cited.go, ids.go, ask.go, together.go, drawn.go: the index of references, and what is asked of it
//   - shown.go: what messages stood on, as it is now
//   - highlight.go: the excerpts of notes that an answer stood on
//   - suggest.go: notes that are related to a conversation
//   - inspect.go: what a model got for an answer
//   - find.go: what was said in conversations
//   - hiding.go: answers that become private with their notes
//
// # Who may call it
//
// Handlers of rpc, with the View of the reader. The daemon opens the [Index] and the [AnswerHider].
//
// # Lifetime and concurrency
//
// An Index lives as long as the store below it. The finders keep nothing. All methods may be called concurrently.
//
// Wall: subject: what messages stand on, asked from the side of the notes and of the messages.
package cites
