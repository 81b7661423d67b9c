// Package search finds notes by their words.
//
// Index is an inverted index in memory over titles, headings, tags, paths and
// bodies, ranked by BM25. It takes its part in every commit, so that a search
// sees what was written before, and nothing of what is gone. Open it after
// package notes; whoever finds notes for people or prompts asks it: rpc, gather,
// and WQL through a hook.
//
// # Words
//
// A text is taken apart by UAX 29 and folded: NFKC, case, the accents of Latin,
// Greek and Cyrillic, the vowel points of Hebrew and Arabic. English words are
// found by their stems (Porter2). Chinese, Japanese, Korean, Thai and their
// neighbours, which have no blanks between words, are found by pairs of
// characters. The same code takes notes, queries and snippets apart.
//
// # Queries
//
//	hive scale            any of the words; the last one may be unfinished
//	"load cell"           these words in this order, as they are written
//	-word -"two words"    not these
//	tag:work path:2025 type:person before:2026-02 after:2025-12-24
//
// Phrases and filters are met by every hit; with a - before it, a filter is
// turned round. Words that no note has count as the words that differ by one
// edit, but only when the query finds nothing otherwise.
//
// # Memory
//
// Postings are blocks of up to 128 varints, a byte and a half each, in the order
// of the documents; a block knows its ends and what any posting in it is worth at
// most. Positions are not kept: a phrase is looked for in the texts of the notes
// that hold all of its words, which are in memory anyway. A change touches one
// block for each word that the note has gained or lost.
//
// # Speed
//
// Scores are added up for 4,096 documents at a time (see evaluation). Terms that
// can't lift a document among the best are only asked for documents that the
// others have found. Scores are whole numbers, so that their sums do not depend
// on the order of the terms.
//
// # On disk
//
// The index is kept in a file of its own when the store is closed and when it was
// made. At the next start it is taken when its checksums are right and it is of
// exactly the notes that are there; otherwise it is made anew in the background,
// and results say what is missing meanwhile. A commit does not wait for the file to be
// written: the writer leaves and tries again.
//
// # Size
//
// The package is larger than most. Taking texts apart, the postings, their file
// and the search share the shape of a word and of a block, and its tests hold each
// against the others: packages of their own would have to show all of that to each
// other.
package search
