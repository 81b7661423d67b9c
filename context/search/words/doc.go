// Package words finds documents by their words: an inverted index in memory over the
// fields that a Source declares, ranked by BM25, with the file that it is kept in.
//
// An Index serves one Source and takes its part in every commit, so that a search sees what
// was written before, and nothing of what is gone. Documents are tokenised in OnPrepare, before
// the commit has its turn; those of a large commit are tokenised and entered after it returns,
// and those that come meanwhile after them (see queue.go): no commit waits for that, and a
// search waits until what was written before it is entered. Open it after the Source's
// records; only package search asks it. All methods may be called concurrently, and the
// store's closing ends what it does in the background.
//
//   - index.go, inverted.go, dictionary.go, layers.go, analysis.go, apply.go: the index, and a commit's way into it
//   - queue.go, backlog.go: large commits, which wait
//   - plan.go, search.go, heap.go, explain.go: a search; hidden.go: what a public one does not see
//   - postings_*.go: lists of postings and the evaluation over them
//   - shortwords_table.go: numbers for short words
//   - keep.go, snapshot*.go, catch_up.go, variants.go, weigh.go, reindex.go, inspect.go: keeping it on disk
//   - wordfile_*.go: the header and the frames of the file
//
// # Ranking
//
// BM25 with k1 1.6 and b 0.6 (Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009), a word counting in each field as many times as that weighs. Scores are
// whole numbers, so that their sums do not depend on the order of the terms, and are added
// up for 4,096 documents at a time; terms that can't lift a document among the best are only
// asked for documents that the others have found (MaxScore; see evaluation).
// Postings have no positions: a phrase is looked for in the texts of the documents that hold
// all of its words, which are in memory anyway.
//
// # Readers who may not see everything
//
// What a public search does not see stands beside the index, in counts by word and in a
// second layer of the documents that hide a part: see hidden.go. Local searches pay nothing
// for it.
//
// # On disk
//
// The index is kept in a file of its own, checksummed, which another takes the place
// of as a whole: when the store is closed, when the index was made, and now and then
// while documents change (see pace). A commit does not wait for it to be written: the writer
// backs off and tries again. The file is read beside the opening of the store (see
// ReadAhead). Its documents are then compared with those that are there: by version and
// time, and by the checksums of their texts unless the last transaction of the store
// is the one that the file has seen. Documents that differ are taken out and entered
// again, so that a crash costs what changed since the file was written, and the index
// is the same as one made anew. A file that is damaged or of another kind is of no
// use: the index is made anew in the background, and results say what is missing
// meanwhile.
//
// To take a document out its words must be known, and its text is gone. The postings are
// looked through for it, once for all documents that go, blocks that can't have any aside;
// they tell its stems. In which forms these stood there, which the dictionary counts,
// the file keeps for each document (see variants.go): 16 percent more than without. To
// keep all words of each would have doubled it, and tombstones in the
// postings would leave the counts of words wrong or every search slower. Nothing of
// this is in memory, but for the documents that changed since the file was written, and
// the writer copies most of it from the file before. A crash with ten notes changed of
// 100,000 costs the start nothing that can be told from noise; it took half a minute
// of processor time to make the index anew. To write the file takes 0.15 to 0.2 s of
// it. The file is read into memory and not mapped: postings are changed in place, a page
// that can't be read would end the process, and to read it takes a tenth of the start.
//
// Wall: subject: search by words: the inverted index, its ranking and its file.
package words
