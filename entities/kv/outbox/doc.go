// Package outbox is what stands between a store and the log that it shares with other machines:
// the log itself as an interface, the protocol by which one store follows it, and what a machine
// has accepted while the log can't be reached.
//
//   - commitlog_*.go: Log and Entry, positions, turns (Pace); begin there: it has a picture of the
//     whole, and the words
//   - replicate_*.go: Runner, the protocol between one store and its log, in one goroutine
//   - box.go, call.go, logstate.go, replay.go: the outbox, and doing its items again (Replayer)
//   - gate.go: which transactions may begin while items are done again
//
// entities/kv has a Runner and an outbox, entities/kv/nats and entities/kv/kvtest implement Log.
// Nothing here knows records, journals or views. A Call, a Replayer and a Runner may be used by
// several goroutines; a Tx is that of its own.
//
// # The outbox
//
// It keeps the items that have to be done again, in their order, and what their transactions
// have changed in the meantime. It works on keys and values in transactions of a store.
//
// # Keys
//
// All are of the store itself, so they stay on this machine and in its journal. A transaction
// that is taken here writes them in the same record as its own.
//
//	!outbox             JSON of Head: the id of this outbox, the last number, the batch
//	!waiting NUMBER     JSON of an item; NUMBER has 16 hexadecimal digits
//	!base COLLECTION/ID its base, what the record is according to the log: "-" it is absent,
//	                    "+" and its value
//	!sent ENTRY INDEX   number of the item whose transaction was sent to the log and may be there
//
// Each record that a provisional transaction writes has a base, from the first such write until
// all are taken back. So the state of the log can be read at any time (LogState), and taking all
// back costs one transaction, whatever the transactions did to each other. Records are taken
// back from the last written to the first, so that handlers of change sets see them undone in
// order. An item is applied while its batch is that of the Head: taking back begins another batch,
// and changes no item.
//
// # Exactly once
//
// The transaction of a replay deletes its item and says in a shared record, of the id of this
// outbox, how far that is replayed. Both are in one entry of the log and one record of the
// journal. A machine that stops between the two reads the entry at its next start, and finds in
// the record that the item is done. Numbers grow, also of an item that is tried once more, and
// an item whose outcome is not known is never refused.
//
// A transaction may have been sent to the log before it is taken here, and nobody has said whether
// the log has it. Its item keeps the id of the entry and the place in it. When that entry is read,
// the item is deleted in the same record of the journal as the transaction is written (Found). An item
// is replayed into the log, or refused, only after the log was read to an end that was proven: behind
// that the entry can't get in. What a call does after its first transaction is not done when that is
// found, as when the process stops between the two.
//
// "How far" is one number, so items have to be in the log in their order. Several are replayed at a
// time: an item whose transaction comes before that of the item in front is queued, in the same
// generation of the store, gets ErrOutOfTurn and is replayed later (Call.CheckTurn).
//
// # Limits
//
// MaxItems and MaxBytes, after which an addition is refused with kind Limit. Bytes are those of
// bodies, of keys, and of values before and after. Errors are *fault.Error. Taking an addition
// costs O(what it wrote + keys of its item), taking all back O(bytes that wait), a replay what
// its transaction costs.
//
// Wall: promise: the store knows a log that machines share by the interface here, and brings in no NATS.
package outbox
