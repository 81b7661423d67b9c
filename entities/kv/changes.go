package kv

import (
	"time"
)

// ChangeSet is what one transaction changed. The handlers of OnCommit get the
// same set one after the other; a handler may refine it for those after it, by
// appending a Change or replacing a New.
type ChangeSet struct {
	Seq     uint64    // of the transaction: 1, 2, 3 … without gaps
	Time    time.Time // when it was written
	Changes []Change  // in the order in which the records were first written
}

// Change is what happened to one record, however often the transaction wrote
// it. A record that is absent before and after is not in the set.
type Change struct {
	Collection string
	ID         string
	// Old and New are *T of the collection, decoded from the stored bytes and
	// shared by all handlers: they must not be changed. They are untyped nil
	// where the record was, or is now, absent. Old is also nil when what was
	// stored can't be read.
	Old, New any
}
