package record

import "time"

// StoreStatus is the state of a store as shown to people.
type StoreStatus struct {
	Mode         string        `json:"mode" jsonschema:"read-write or read-only; loading while calls wait for the store, closed when it could not be opened"`
	Reason       string        `json:"reason,omitempty" jsonschema:"why it takes no writes"`
	Durability   string        `json:"durability" jsonschema:"strict: on disk before the reply; relaxed: on disk within a second of the reply; memory: without a disk"`
	Seq          uint64        `json:"seq" jsonschema:"number of the last transaction"`
	Records      int           `json:"records" jsonschema:"records in it"`
	JournalBytes int64         `json:"journalBytes" jsonschema:"bytes of the journal since the last snapshot"`
	SnapshotSeq  uint64        `json:"snapshotSeq" jsonschema:"last transaction in the newest snapshot, 0 without one"`
	Recovered    StoreRecovery `json:"recovered" jsonschema:"what the start found on disk"`
	// SnapshotError says why the last snapshot failed; the store goes on
	// without it, its journal grows.
	SnapshotError string `json:"snapshotError,omitempty" jsonschema:"why the last snapshot failed"`
	// Deleted are files of the store that somebody else has deleted while it was open.
	Deleted *StoreDeleted `json:"deleted,omitempty" jsonschema:"files that another program deleted while the store was open"`
}

// StoreDeleted says which files of a store were deleted by somebody else.
type StoreDeleted struct {
	Files []string  `json:"files" jsonschema:"their names"`
	At    time.Time `json:"at" jsonschema:"when they were missed"`
	Whole bool      `json:"whole" jsonschema:"whether the store was made whole again from memory"`
}

// StoreRecovery is what Open found on disk. A zero StoreRecovery but for Clean and
// Replayed means that all was well.
type StoreRecovery struct {
	// Clean says that the store was closed properly and all of it is here.
	// A new store is clean.
	Clean bool `json:"clean" jsonschema:"whether the store was closed properly and is whole"`
	// Replayed is how many transactions came from the journal.
	Replayed uint64 `json:"replayed" jsonschema:"transactions that came from the journal"`
	// TornBytes is the size of an unfinished write that was cut off the end
	// of the journal. Nobody had been told that it was stored, as far as the
	// files can tell.
	TornBytes int64 `json:"tornBytes,omitempty" jsonschema:"size of an unfinished write that was cut off"`
	// Lost is how many acknowledged transactions the files prove to be
	// missing. The store holds everything before them, and after them what
	// Salvaged says.
	Lost uint64 `json:"lost,omitempty" jsonschema:"acknowledged transactions that are proved to be missing"`
	// Salvaged is how many transactions were found intact behind damage, and
	// are in the store. Each is there as a whole, but what it was based on may
	// be among the lost.
	Salvaged uint64 `json:"salvaged,omitempty" jsonschema:"intact transactions found behind damage and recovered"`
	// Aside is how many intact transactions were not taken, because they lie
	// behind one that may never have been finished. They are in the files of
	// Damaged. Nobody is known to have been told that they were stored.
	Aside uint64 `json:"aside,omitempty" jsonschema:"intact transactions behind one that may be unfinished; they are kept only in the damaged files"`
	// LostPieces is how many pieces of the oldest snapshot, of up to a hundred
	// records each, could not be read when a store was put together with
	// Options.Salvage. Records in them that were changed since, or are in a newer
	// snapshot, are there nevertheless.
	LostPieces uint64 `json:"lostPieces,omitempty" jsonschema:"blocks of the oldest snapshot, of up to a hundred records each, that could not be read"`
	// Damaged names the files, in the store's directory, that were found
	// damaged and are kept for inspection.
	Damaged []string `json:"damaged,omitempty" jsonschema:"files that are kept for inspection"`
}

// StoreManifest says what a backup holds.
type StoreManifest struct {
	Path        string         `json:"path" jsonschema:"the file"`
	Format      int            `json:"format" jsonschema:"format of its records"`
	Seq         uint64         `json:"seq" jsonschema:"number of the last transaction in it"`
	Created     time.Time      `json:"created" jsonschema:"when it was made"`
	Program     string         `json:"program,omitempty" jsonschema:"the program that made it"`
	Records     int            `json:"records" jsonschema:"records in it"`
	Collections map[string]int `json:"collections" jsonschema:"records by kind"`
	Bytes       int64          `json:"bytes" jsonschema:"its size"`
	Checksum    string         `json:"checksum" jsonschema:"SHA-256 of the file, in hex"`
}

// StoreInspectedFile is one file of a store.
type StoreInspectedFile struct {
	Name  string `json:"name" jsonschema:"its name in the data folder"`
	Kind  string `json:"kind" jsonschema:"journal, snapshot, backup, set aside, unfinished, marker or lock"`
	Bytes int64  `json:"bytes" jsonschema:"its size"`
	// First and Last are the transactions that a journal segment begins and ends
	// with; Last alone is that of a snapshot.
	First uint64 `json:"first,omitempty" jsonschema:"the first transaction of a journal"`
	Last  uint64 `json:"last,omitempty" jsonschema:"the last transaction of a journal or snapshot"`
	// Intact is how many transactions of a journal segment, or records of a
	// snapshot, are as they were written.
	Intact    uint64 `json:"intact" jsonschema:"transactions of a journal, or records of a snapshot, that are as they were written"`
	Condition string `json:"condition,omitempty" jsonschema:"of a journal or snapshot: whole, torn when it ends with an unfinished write, or damaged"`
	DamagedAt int64  `json:"damagedAt,omitempty" jsonschema:"offset of the first damage, in bytes"`
}
