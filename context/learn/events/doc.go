// Package events keeps what learning did to memories, so that a person can see it: one event for each change, written in
// the transaction of the change.
//
// An event has a kind, the ids of the memories that it is about, and of each the members that changed, before and after.
// It has no statement and no other text of a memory (MEM-5). A memory that is deleted is taken out of its events in the
// same transaction, by [Forget]; an event about nothing else goes with it.
//
// # Who may call it
//
// The rooms of learning append, inside transactions of memory.Store.Revise. Who reads gives the View of the reader: an
// event is there for who sees all memories that it names, so that none tells a remote reader of a private one.
//
// # Records
//
//	learn-event       an event, by its number
//	learn-event-of    nothing, by the id of a memory and the number of an event that names it
//	learn-event-last  the number of the last event, which is never given again
//
// # Order and bounds
//
// Lists begin with the newest event. The newest [Keep] events are kept; each append deletes those that are older, which
// is one mostly. Append costs O(memories named), List O(events looked at), of one memory O(its events).
//
// Everything may be called concurrently; nothing is kept in memory. The errors are those of the store.
package events
