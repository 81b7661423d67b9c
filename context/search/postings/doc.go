// Package postings keeps the postings of one term: which documents hold it and how
// often, in order, a byte and a half each.
//
// A List is a row of blocks of up to 128 postings. A Block knows its first and last
// document and what any posting in it is worth at most, so that a search passes over
// blocks that can't matter without reading them (Ding and Suel 2011). The last block
// grows by appending varints; one that is full is packed into numbers of few bits with
// exceptions (Zukowski and others, Super-Scalar RAM-CPU Cache Compression, 2006), which
// is read several times as fast (BenchmarkUnpack). A change rewrites one block.
//
// Package lexical owns the Lists and is the only caller. Nothing here is safe for
// concurrent use but reading while nobody writes. The fields of a Block are exported
// for the file of the index, which holds blocks as they are.
package postings
