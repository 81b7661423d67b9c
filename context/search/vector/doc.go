// Package vector finds texts by their vectors: a flat index in memory, of which
// every search looks at every row, and the file that it is kept in.
//
// It knows nothing of notes: an [Item] is an id with the vectors of its parts.
// Package search keeps the chunks of notes in it; other texts may follow. It
// stands beside the index of words, not in it, because nothing of the two is
// shared: words have dictionaries and postings, vectors have rows.
//
// # The scan
//
// A row is kept as int8 codes with a scale. A scan compares the codes of all rows with
// the widest instructions of the processor (AVX2; plain Go elsewhere). It then ranks the
// best rows by their exact vectors, in float32. A search that may find no more than 1,024
// rows, because of its filters, compares the exact vectors of all of these and scans none.
//
// There is no graph or tree of neighbours: a scan of a million rows takes some 20 ms, and
// sees a change at once.
//
// # Memory and the file
//
// Codes are in memory, dims+36 bytes a row. Exact vectors stay in the file: a
// search reads some fifty of them. On unix the file is mapped into memory, what was
// added to it since is read by calls, as all is elsewhere. Each vector is
// compared with its checksum as it is read, and one that is damaged, or whose
// page can't be read, counts by its codes until Check has taken it out. Numbers
// are little-endian.
//
//	header  magic "ctxdvecs", length 4, model as JSON (name, dims, sha256),
//	        CRC-32C of all that 4, zeros up to a multiple of 8
//	record  magic "vcrd", kind 4, length 4, CRC-32C of kind, length and what
//	        follows 4, what it holds, zeros up to a multiple of 8
//	void    kind 1: zeros, which the checksum does not cover
//	row     kind 2: key of the text 16, vector 4*dims
//	item    kind 3: key 16, length of the id 4, id, for each part where the
//	        record of its row begins, 0 for none 8
//
// Records are only appended; of two items with an id the later holds. A record
// that is of no use any more is overwritten with zeros soon (see Flush): nothing of
// a text that was deleted stays on disk, not even its vector. When half of the file
// is waste it is written anew beside, and takes its place (see Compact).
//
// # What a crash leaves
//
// Nothing is synced on the way, since all of it can be made again. A file is read
// to its last sound record and cut there; a damaged record in between is passed
// over. An item that has lost a row keeps the others and has the zero Key: it is to
// be put again, which costs what is missing only. Whether an item is still what
// its id stands for is for the caller to say, by its Key: so an index of other
// notes than those that are there can do no harm.
package vector
