// Package text says what can be searched (source.go: a Source and its documents) and what the
// words of a text are: it splits and folds them, finds their stems, estimates tokens, and
// finds the words of a query in a text.
//
//   - source.go: Source, Doc, Chunk, Field: what an index knows of documents
//   - words.go, letters.go, characters.go, fold.go, stem.go, symbols.go: words
//   - tokens.go: tokens and sentences; matcher.go: the words of a query in a text, snippets
//
// All functions of words are pure, and all of search uses them, for documents, queries and
// snippets alike: a word that one of them splits otherwise is not found. Whatever
// changes a word, a stem or a part here makes the indexes on disk useless, so their
// versions are to be raised with it (see packages words and notedoc).
//
// A text is split by UAX 29 and folded: NFKC, case, the accents of Latin, Greek and
// Cyrillic, the vowel points of Hebrew and Arabic. English words are found by their
// stems (Porter2, see StemEnglish). Chinese, Japanese, Korean, Thai and their
// neighbours, which have no blanks between words, are found by pairs of characters
// that overlap. Symbols are words of their own (see isSymbol).
//
// A Splitter and a Matcher keep memory between calls and belong to one goroutine at a
// time; everything else may be called concurrently.
//
// Wall: promise: a Source is implemented, and words are found in a text, without bringing in an index.
package text
