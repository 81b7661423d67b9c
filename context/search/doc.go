// Package search finds notes by their words and by what they mean.
//
// Index is an inverted index in memory over titles, headings, tags, paths and
// bodies, ranked by BM25. It takes its part in every commit, so that a search
// sees what was written before, and nothing of what is gone. The notes of a large
// commit are taken apart before its turn comes, and entered all at once when it has
// returned, under a lock that it took: searches wait for it, the next commit hardly
// does. With an embedder it
// keeps the vectors of the notes as well. Open it after package notes; whoever
// finds notes for people or prompts asks it: rpc, gather, and, by words alone, WQL
// through a hook.
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
// # Meaning
//
// A note is split at its headings, and long sections after a sentence, into chunks
// of about 200 tokens (see Chunks). Each has a vector in package vector. A hybrid
// search makes one list of the notes that have its words and of those that are
// nearest to it, by reciprocal ranks: a note gets weight/(60+rank) of each list. How
// near a note is, is the mean of two cosines: of its nearest chunk, and of all of its
// chunks together.
// The weights of 1 for words and 0.5 for meaning did well on both labelled sets in
// testdata; more for meaning would do better on paraphrases, and worse where words
// are exact. Filters, phrases and what must not be there are met by every note
// before it is ranked. Meaning has no part in queries that say exactly what they want:
// phrases and filters alone, names such as ERR-4711, a word that was only begun. A
// note that has none of the words counts from a least nearness on, which is
// higher for one word than for a sentence. A search waits 150 ms for the vector of
// its query, and within that for notes that were just written.
//
// What a note lacks is found by comparing: a key of its title and text with the
// one that its vectors were put with, then a key of each chunk. So the queue needs
// no file: whatever a crash leaves, a start finds what is missing, and a chunk whose
// text was embedded before is not embedded again. Commits only note ids. One
// goroutine does the rest: the latest edit first, when notes have rested for 50 ms
// or somebody waits, and after an import has ended or went on for 30 s; the unchanged chunks of an edited note serve at once.
//
// When the embedder has another model than the vectors are of, a second index is
// made beside, and takes the place of the first when every note is in it; queries go
// to the built-in model meanwhile if the first is of that, and are by words
// otherwise. A start goes on with a second index that was begun.
//
// # Memory
//
// Postings are blocks of up to 128, a byte and a half each, in the order of the
// documents, packed in bits when no more are expected behind them; a block knows its
// ends and what any posting in it is worth at most. Positions are not kept: a phrase is looked for in the texts of the notes
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
// The index is kept in a file of its own, checksummed, which another takes the place
// of as a whole: when the store is closed, when the index was made, and now and then
// while notes change (see pace). A commit does not wait for it to be written: the writer
// leaves and tries again. The file is read beside the opening of the store (see
// ReadAhead). Its notes are then compared with those that are there: by version and
// time, and by the checksums of their texts unless the last transaction of the store
// is the one that the file has seen. Notes that differ are taken out and taken in
// again, so that a crash costs what changed since the file was written, and the index
// is the same as one made anew. A file that is damaged or of another kind is of no
// use: the index is made anew in the background, and results say what is missing
// meanwhile.
//
// To take a note out its words must be known, and its text is gone. The postings are
// looked through for it, once for all notes that go, blocks that can't have any aside;
// they tell its stems. In which forms these stood there, which the dictionary counts,
// the file keeps for each note (see variants.go): 16 percent more than without. To
// keep all words of each note would have doubled it, and marks of the dead in the
// postings would leave the counts of words wrong or every search slower. Nothing of
// this is in memory, but for the notes that changed since the file was written, and
// the writer copies most of it from the file before. A crash with ten notes changed of
// 100,000 costs the start nothing that can be told from noise; it took half a minute
// of processor time to make the index anew. To write the file takes 0.15 to 0.2 s of
// it.
//
// The file is read into memory and not mapped: postings are changed in place, a page
// that can't be read would end the process, and to read it takes a tenth of the start.
//
// # Size
//
// The package is larger than most. Vectors and their file are package vector;
// taking texts apart, the postings, their file
// and the search share the shape of a word and of a block, and its tests hold each
// against the others: packages of their own would have to show all of that to each
// other.
package search
