// Package refs reads the references of a message: what @, # and [[ mean in it. It is a
// function of the text alone. Which records are meant, and whether there are any, is for
// those to say who know a store.
//
// Find returns the references with byte offsets, Clean takes them out of the text, and
// Parse does both for a caller of the protocol. FindIn is Find for a text that was read, by
// one who looks for mentions by name as well. Where a handle ends is written in
// entities/names, what may stand before its mark in entities/text, and what is code, a
// comment or a wikilink in notes/markdown: the mentions of entities are read by the same rules.
//
// All functions are linear in their texts, hold no state and may be called concurrently.
package refs
