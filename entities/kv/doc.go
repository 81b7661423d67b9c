// Package kv is the record store of ctxd: typed records in ordered
// collections, changed by transactions, kept in memory and on disk. It is the
// one truth from which every index, graph and cache is rebuilt.
//
// Everybody above may use it; `entities`, `notes` and the rooms to their right
// each own the collections that they declare. It knows nothing of what a
// record means. It is the only importer of buntdb.
//
// # Use
//
//	var notes = kv.NewCollection[Note]("note")
//
//	s, err := kv.Open(dir, kv.Options{Format: 1})
//	err = s.Update(ctx, func(tx *kv.Tx) error { return notes.Put(tx, id, n) })
//	err = s.View(ctx, func(tx *kv.Tx) error { n, err = notes.Get(tx, id); return err })
//
// OnCommit gives every derived view the change set of a transaction before
// the Update that made it returns. Inside View, store and views agree.
//
// # What is promised
//
// When Update returns nil, the transaction is on disk as a whole. When it
// returns an error that is Retryable, nothing of it is. When the disk fails
// to confirm a write, nobody can know, the store says so and takes no more
// writes until it is opened again, which shows what is really there. Readers
// never see what is not durable, and neither does the caller of an Update
// that changed nothing: it waits for what it saw.
//
// With Relaxed durability "on disk" is "with the operating system": a process
// that dies loses nothing, a machine that loses power at most the last second,
// and what is left is a beginning of what there was.
//
// # Files
//
// Package disk draws the files byte by byte, and says why no log library keeps them and
// buntdb is used as an ordered set in memory only. In a journal a record is one transaction, with
// the newest one that the disk had confirmed when it was written; a snapshot is a state in
// numbered pieces, and a backup a snapshot that says what it is of.
//
// # Commit
//
// Update runs its function under the writer lock, where reads look through
// the transaction's own writes, then the overlay of accepted transactions,
// then the committed store. It encodes one record, appends it to the journal
// and queues the transaction. After that, the first waiter that finds no
// leader becomes one: it flushes the journal once for all that are queued,
// then applies each under the view lock, calls the handlers and wakes the
// others (the writer of a large one as soon as that is applied). While it
// flushes, the next group gathers. Change sets are decoded before the view lock
// is taken.
//
// A failed append is cut off again and refused as retryable; if it can't be
// cut off, or a flush fails, the store is read-only. A flush is never tried
// twice: after a failed fsync the kernel may call lost pages clean. What was
// queued is then gone from what a transaction reads, and may be in the journal
// all the same: one that was under way is refused before it is written.
//
// # Several machines
//
// With Options.Log the store is a replica (replica.go, and replica_store.go for what package
// replicate asks of it). Transactions are accepted as ever, but not journaled: one goroutine
// appends each group to the log, and only then has it journaled, flushed and applied, each
// transaction in one record with the place in the log that it leads to. When others were
// first, everything accepted is void: its writers are told to run again, the overlay is
// cleared under the writer lock, and the entries of others are applied there. From the first
// of these to the last a gate is closed, and a transaction that began before is not queued.
//
// Sequence numbers, and so ChangeSet.Seq, are this machine's: every transaction has one, its
// own, those of others, and those with local writes only. Nothing that is stored may hold one.
// A transaction is prepared (OnPrepare) when it is in the log, since its number may be another
// one's before.
//
// A refusal that may come of records that others have changed (NotFound, Conflict) is given
// only when the log holds nothing newer, as far as it can be reached. A View shows what is
// applied here; CatchUp before it makes it see all that was acknowledged anywhere.
//
// An upgrade of the records (Options.Upgrade) is every machine's own: it must make the same
// of the same. Entries of another format are refused in both directions.
//
// # Snapshots
//
// A snapshot begins with a new journal segment, at a moment when every
// transaction is applied. It is then written in pieces of up to a hundred keys,
// each read under the shared view lock, while commits go on; what they
// replace in the part not yet written is kept for it. So the file is exactly
// the state at its SEQ and needs no journal to be consistent. It gets its
// name after fsync. Two generations are kept, and the segments since the
// older one; before there are two, the whole journal. A backup is written in
// the same way, to another place. That is a person's, so where it is going to be is noted
// first, and a start removes what a process that was killed has left there: a file with the
// name and the header of that backup, nothing else.
//
// # Files that somebody deletes
//
// A journal without a name takes writes and flushes as before, and nothing of them is
// there after a crash. So each flush looks whether the name still leads to the file, and
// twice a minute the store looks for all its files (CheckFiles). When any is gone, a new
// journal is begun, in a new folder if need be and with a new lock, and a snapshot
// is written from memory, after which nothing needs what was deleted. Between the two only
// what was written since is safe. Until there is a new journal, writes are refused as
// retryable. What was acknowledged between the deletion and the flush that missed it is in
// memory, and so in the snapshot, unless the process dies in these milliseconds.
//
// # Replacing the state
//
// A restore and an upgrade of the records put another state in the place of the
// present one. It is written as two snapshots of the next sequence number under
// temporary names, flushed, and takes effect when the first has its name: one
// rename, before which nothing has changed and after which the journal and the
// older snapshots are not read any more. Two, so that damage to one of them is
// no loss; older generations must not be fallen back to, since what is written
// from then on does not belong on top of them. An upgrade keeps what was before
// as a backup beside, a restore does so when asked. The views above know nothing
// of a state that was replaced, so a restored store has to be opened anew.
//
// # Recovery
//
// Open loads the newest snapshot that is whole and applies the transactions that follow it.
// What it makes of those that are missing or damaged, README.md says under "What a start does".
// Inspect does all this without changing anything.
//
// # Concurrency
//
// Locks are taken in this order: the turn to write a whole state, writer, the
// flusher's segment, queue or overlay, and view before buntdb's own. View holds the view lock shared for as long as
// its function runs; a pending commit waits for it and holds up new readers,
// so do not wait for anything in a View. Handlers run under the exclusive view
// lock and must call neither View nor Update. A function in Update may take
// its time: readers and the flush of earlier transactions go on meanwhile,
// other writers wait.
//
// # Caveats
//
// A function of Update may run several times with a log. Everything is in memory, each value once: as the string that the codec made, or,
// since a start, as a part of what a snapshot was read into. That stays as a whole,
// 16 MiB at a time, while any of it is in use. Records are decoded at every Get, so
// rooms with hot reads keep their own typed structures, fed by OnCommit; what is not
// needed at once is built behind the start (package loading). A transaction is at most
// 256 MiB. buntdb keeps a goroutine that ends up to a second after Close.
//
// # Size
//
// The package is larger than most of ours: commit, snapshots, recovery, backups
// and the overlay for readers are one promise over one set of files, and none of
// them is of use alone. What lies in the files, reading and writing them, the lock of
// the folder and the words for what a disk refuses are package disk; reading a backup is
// package backup, codecs are package codec, and what lies beside the set in memory is
// package pairs.
package kv
