package kv

import (
	"github.com/ctxd/ctxd/entities/kv/disk"
)

// JournalReader reads a segment that lies in memory with the code that Open
// reads it with, without all that Open does beside. So every bit of a large
// journal can be flipped within minutes.
type JournalReader struct {
	w    *disk.Window
	seed uint32
}

// NewJournalReader reads data, which may change between two calls, as a segment
// of that name.
func NewJournalReader(name string, data []byte) *JournalReader {
	id, ok := disk.ParseName(disk.JournalPrefix, name)
	if !ok {
		panic("no segment has the name " + name)
	}
	return &JournalReader{w: disk.InMemory(data), seed: id.Seed()}
}

// Record says what stands at an offset: "good", "end", "torn" or "bad".
func (r *JournalReader) Record(off int64) (seq uint64, what string, err error) {
	h, _, _, v, err := r.w.Record(off, r.seed)
	return h.Seq, [...]string{disk.Good: "good", disk.End: "end", disk.Torn: "torn", disk.Bad: "bad"}[v], err
}

// Resync returns where reading goes on behind damage.
func (r *JournalReader) Resync(off int64) (int64, error) {
	next, _, err := r.w.Resync(off, r.seed)
	return next, err
}
