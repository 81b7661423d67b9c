// Package text says what the words of a text are: it splits and folds them, finds
// their stems, estimates tokens, and finds the words of a query in a text.
//
// All functions are pure, and all of search uses them, for documents, queries and
// snippets alike: a word that one of them splits otherwise is not found. Whatever
// changes a word, a stem or a part here makes the indexes on disk useless, so their
// versions are to be raised with it (see packages lexical and notedoc).
//
// A text is split by UAX 29 and folded: NFKC, case, the accents of Latin, Greek and
// Cyrillic, the vowel points of Hebrew and Arabic. English words are found by their
// stems (Porter2, see StemEnglish). Chinese, Japanese, Korean, Thai and their
// neighbours, which have no blanks between words, are found by pairs of characters
// that overlap. Symbols are words of their own (see isSymbol).
//
// A Splitter and a Matcher keep memory between calls and belong to one goroutine at a
// time; everything else may be called concurrently.
package text
