// Package refs is how people refer to records in a message: what @, # and [[ mean in a text, the
// handles by which they name memories, contexts, conversations, tags and domains, and the index
// that completes what they type.
//
//   - find.go, skip.go, parse.go, clean.go, scratch.go: the references of a text. [Find] returns them
//     with byte offsets, [Clean] takes them out of the text, and [Parse] does both for a caller of
//     the protocol. [FindIn] is Find for a text that was read, by one who looks for mentions by
//     name as well
//   - handle*.go: handles are made, checked, compared and renamed
//   - index*.go: the [Index] of handles, by what was typed of them
//
// The package knows no store: which records are meant, and whether there are any, its callers say.
// Stores of memories, contexts and conversations make handles with it on each write;
// context/gather keeps the Index; chat and rpc read messages. Where a handle ends is written in
// entities/names, what may stand before its mark in entities/text, and what is code, a comment or
// a wikilink in notes/markdown: the mentions of entities are read by the same rules.
//
// Functions are linear in their texts, hold no state and may be called concurrently; an Index has
// its own rules (index.go).
//
// Wall: subject: references and handles, as people write them in a message.
package refs
