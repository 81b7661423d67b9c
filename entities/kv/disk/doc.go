// Package disk is what a store has on disk: the seam to the file system, the
// names and headers of files, records, and the reading and writing of whole files; and the
// codecs by which records become strings. It knows keys and values, and nothing of
// transactions under way, of the store in memory, or of what is done about damage: that is
// package kv.
//
//   - fs.go, folder.go, lock.go, rename_*.go, errors.go, marker.go: the file system, the folder, its lock and marks
//   - record.go, blocks.go, segment.go, reopen.go, replay.go: records and the journal
//   - state.go, publish.go, load.go, pieces.go, in_order.go, unfinished.go: whole states
//   - rebuild.go, loss.go: what is made of damaged files, and what is told of it
//   - inspect.go, inspection.go, inventory.go: looking without changing
//   - codec*.go: codecs and declared collections
//
// entities/kv calls all of it; entities/kv/outbox uses Pair, and packages that
// store records in a form of their own the Append functions and RecordReader of codec.go.
//
// # Why not buntdb's own file, and why no log library
//
// buntdb is used as an ordered set in memory. Its own file and four log
// libraries were put through what this store has to stand: a log of 60 entries
// with a flipped bit (some 20,000 cases each), cut at every offset, and with a
// block of zeros. In fixtures/peers: go test -run Logs -v -every 7
//
//	of all flipped bits   read back changed   lost, nothing said   refused as a whole
//	buntdb                             90 %                 2.8 %               9.4 %
//	tidwall/wal                        99 %                 0.0 %               0.6 %
//	raft-wal                           84 %                 4.3 %               0.2 %
//	rosedb/wal                            0                     0                   0
//	etcd/wal                              0               6 cases                93 %
//	this store                            0                     0                   0
//
// buntdb and tidwall/wal have no checksums; cut somewhere, the first says
// nothing and the second refuses 99.6 % of the files. raft-wal looks at the
// checksum of the last batch only: zeros before it cost everything behind them,
// unsaid, in all 470 cases. rosedb/wal notices, but gives up everything behind
// the damage (30 of 60 entries on average), writes on where nobody reads, and
// panics on some cut files. etcd/wal is sound, and refuses the whole log for
// one bit in it. This store gives back every entry that the damage did not
// touch and says what is lost; it can't know of a cut exactly between two
// transactions when it was not closed. Speed decides nothing: each appends
// 2 KB in the time of an fsync.
//
// What this store needs beyond a log is more than the log: checksums by which
// to find the way again behind damage, salts, a seam for failing any operation,
// and the mark of what had been acknowledged, without which an
// unfinished write can't be told from a lost one.
//
// # Files
//
//	lock, lock.pid              who has the store
//	clean                       the sequence number of the last proper stop
//	loss                        what a start found missing, until it has told so
//	unmended                    transactions were lost, or a backup restored, and nobody has called Mended since
//	unfinished                  where a backup is being written, maybe in another folder
//	journal-SEQ-SALT            a segment, beginning with transaction SEQ
//	snapshot-SEQ-SALT           the whole state after transaction SEQ
//	*.tmp                       being written; deleted at the next start
//	damaged-*                   kept for inspection, never read again
//	*.ctxdbackup                a backup, such as before an upgrade
//
// All integers are little-endian, checksums are CRC-32C. A journal segment
// and a snapshot both are a file header and then records without gaps:
//
//	file header, 32 bytes       magic 8, layout 4, SEQ 8, SALT 8, checksum 4
//
//	record header, 44 bytes     magic 4, kind 1, zero 3, sequence 8, durable 8,
//	                            time 8 (Unix ns), size 4, payload checksum 4,
//	                            checksum of the 40 bytes before 4
//	payload                     operations, each: 1 put or 2 delete,
//	                            uvarint length and key,
//	                            for a put uvarint length and value
//
// A key is the collection's name, a slash and the record's id; the key
// "!format" holds Options.Format. Operations are absolute: the new value, not
// a difference. Record checksums begin with the file's salt, so a block of an
// old file that the file system hands out again, or a journal inside a note,
// is not taken for a record. SEQ and SALT stand in the name as well, so a
// damaged file header does not cost the records behind it.
//
// In a journal a record is one transaction. Its durable field is the newest
// transaction that the disk had confirmed when it was written. In a snapshot
// the records are numbered pieces (their number stands in the durable field)
// and the last one holds the count of keys. A backup is a snapshot with one
// record more at its beginning, which says in JSON what it is of.
//
// # Reading
//
// A Window reads a file through a buffer. Record says what stands at a place: a
// record whose checksums are right, the end, the beginning of a record (Torn), or
// anything else (Bad); Resync finds the next good record behind damage. Replay
// reads journal segments in their order, notes where and why that ended, and what
// proves that more had been acknowledged; it writes the transactions to a Sink.
// SnapshotPairs reads a snapshot with all processors; IntactPieces reads what is
// left of a damaged one. Inspect looks at one file of any kind.
//
// # Writing
//
// A State is a file that holds a whole state, a snapshot or a backup. It gets its
// name once it is whole and durable. WriteClean marks a store that was closed.
// NoteUnfinished says where a backup is being written, and RemoveUnfinished what is left.
// Transactions are appended to a Segment, one record each.
//
// # Lock and errors
//
// LockDir keeps other processes out of a folder. Unavailable and ExplainError put into words
// what a disk refuses.
//
// # Lifetime and concurrency
//
// Windows, Replays and States are for one goroutine. The lists of SnapshotPairs are
// valid until the next; keys and values stay valid and are parts of the memory that
// the file was read into.
//
// An error is ErrDamaged when a file is not what was written, a fault.Error of kind
// Unavailable when its layout is newer than this program, and otherwise what the
// file system said.
//
// Wall: subject: what lies on disk, byte by byte, and what is read back of it after damage.
package disk
