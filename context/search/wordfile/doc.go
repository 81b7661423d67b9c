// Package wordfile is the file that an index of words is kept in: its header, its frames
// with their checksums, and the way that a new file takes the place of the one before.
//
// Package lexical says what stands in the frames, and alone reads and writes them. A Writer
// and a Reader belong to one goroutine at a time; functions may be called concurrently by
// whoever sees to it that one of them writes.
//
// # Layout
//
// A header is followed by frames of whole records, each with its length and checksum, so that
// they can be read and let go one by one. Each kind of record begins a frame.
//
//	header    magic 8, analysis 4, literal 1, zero 3, sequence 8, time of it 8,
//	          documents 4, words 4, lists 4, blocks 4, sum of lengths 8, average of
//	          worth 8, where the variants begin 8, size of the file 8, checksum 4
//	frame     size 4, checksum 4, records
//
// A text is a uvarint length and its bytes. Integers of fixed size are little-endian,
// checksums CRC-32C. Sequence and time are those of the last transaction that the index has
// seen; the time is 0 when it is not known.
package wordfile
