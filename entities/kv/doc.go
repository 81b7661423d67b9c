// Package kv is the record store of ctxd: typed records in ordered
// collections, changed by transactions, kept in memory and on disk. It is the
// one truth from which every index, graph and cache is rebuilt.
//
// Every package above may use it, and each owns the collections that it declares. It knows
// nothing of what a record means. It is the only importer of buntdb.
//
//   - store.go, tx.go, collection.go, changes.go: the Store, transactions, typed collections, change sets
//   - commit.go, journal.go, flush.go: how a transaction becomes durable and visible
//   - overlay.go, pairs_*.go: what lies beside the ordered set of keys: accepted writes, ranges merged with them
//   - snapshot.go, load_*.go, recover.go, rebuild.go, loss.go, unmended.go, deleted.go, format.go: files and starts
//   - backup*.go, restore.go: backups, written and read
//   - replica*.go, outbox.go: the store's part in a log that machines share
//   - ahead.go, loading_lock.go: what views of the store are built with
//   - inspect.go, records.go: what is told of a store
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
// Package entities/kv/disk draws the files byte by byte, and says why no log library keeps them and
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
// With Options.Log the store is a replica. commitlog_log.go of entities/kv/outbox has a picture of how a write travels
// then, and the words for it. Transactions are accepted as ever, but not journaled: one goroutine
// (outbox.Runner) appends each group to the log, and only then has it journaled, flushed and
// applied, each transaction in one record with its position. When others were first, everything
// accepted is aborted: the overlay is cleared under the writer lock, and the entries of others are
// applied there. Meanwhile a gate is closed, and what began before is not queued.
//
// Sequence numbers, and so ChangeSet.Seq, are this machine's: nothing that is stored may hold
// one. A transaction is prepared (OnPrepare) when it is in the log, since its number may be
// another one's before. A refusal that may come of records that others have changed (NotFound,
// Conflict) is given only when the log holds nothing newer; ErrUnconfirmed is beside it when it
// can't be reached. A View shows what is applied here, after CatchUp all that was acknowledged
// anywhere. Both append an entry without transactions to find that out.
//
// With Options.Queue what only adds is accepted while the log can't be reached (Queueable), as
// README.md says. An upgrade of the records (Options.Upgrade) is every machine's own: it must make
// the same of the same. Where it belongs in the log, replicate_runner.go of entities/kv/outbox says, under Upgrades.
//
// # Snapshots, recovery
//
// A snapshot is the state after one transaction, written while commits go on; two generations are
// kept. Open loads the newest that is whole and applies the transactions that follow it. README.md
// says how that is done, what a start makes of what is missing or damaged, how a state is
// replaced, and what is done about files that somebody deletes. Inspect does what a start does
// without changing anything.
//
// # Concurrency
//
// Locks are taken in this order: the turn to write a whole state, writer, the flusher's segment,
// queue or overlay, and view before buntdb's own. View holds the view lock shared for as long as
// its function runs; a pending commit waits for it and holds up new readers, so do not wait for
// anything in a View. Handlers run under the exclusive view lock and must call neither View nor
// Update. A function in Update may take its time: readers and the flush of earlier transactions go
// on meanwhile, other writers wait.
//
// # Caveats
//
// A function of Update may run several times with a log. Everything is in memory, each value once:
// as the string that the codec made, or, since a start, as a part of what a snapshot was read into,
// of which 16 MiB at a time stay while any is used. Records are decoded at every Get, so views with
// hot reads keep their own typed structures, fed by OnCommit; what is not needed at once is built
// behind the start (see LoadLock). A transaction is at most 256 MiB. buntdb keeps a goroutine
// that ends up to a second after Close.
//
// Wall: dependency: buntdb; records of the one store are reached by this package alone.
package kv
