package outbox

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
)

// Entry is a group of transactions, in their order. Every machine applies all of them or,
// until it has read the entry, none.
type Entry struct {
	ID     [16]byte // Writer, then random; tells whose entry it is when an outcome was not known
	Format int      // of the records in it, see kv.Options.Format
	// Hold asks other machines to append nothing for so long, or until the next entry: others
	// were first again and again before the machine that asks. At most MaxHold. Such an entry
	// has no transactions.
	Hold         time.Duration
	Transactions []Transaction
}

// maxHold is for how long at most one entry keeps other machines from appending.
const maxHold = time.Second

// Transaction is what one transaction wrote.
type Transaction struct {
	Time   int64 // when, in Unix nanoseconds, by the clock of the machine that wrote it
	Writes []LogWrite
}

// LogWrite is the new state of one key: a collection's name, a slash, and the id of a record.
type LogWrite struct {
	Key, Value string
	Deleted    bool // Value is then empty
}

// version of the encoding of an entry.
const version = 1

// Kinds of writes.
const (
	opPut    = 1
	opDelete = 2
)

// NewWriterID returns a name for who begins to write.
func NewWriterID() (w WriterID) {
	_, _ = rand.Read(w[:]) // never fails, says its documentation
	return w
}

// NewID returns the id of a new entry.
func (w WriterID) NewID() (id [16]byte) {
	_, _ = rand.Read(id[copy(id[:], w[:]):])
	return id
}

// Writer returns who has written the entry.
func (e *Entry) Writer() WriterID { return WriterID(e.ID[:len(WriterID{})]) }

// Encode returns an entry as bytes:
//
//	version 1, id 16, uvarint format, uvarint hold (ms), uvarint count of transactions,
//	for each: varint time, uvarint count of writes,
//	for each: 1 put or 2 delete, uvarint length and key, for a put uvarint length and value
func (e *Entry) Encode() []byte {
	size := 64
	for i := range e.Transactions {
		size += 2 * binary.MaxVarintLen64
		for _, w := range e.Transactions[i].Writes {
			size += 1 + 2*binary.MaxVarintLen32 + len(w.Key) + len(w.Value)
		}
	}
	b := append(make([]byte, 0, size), version)
	b = append(b, e.ID[:]...)
	b = binary.AppendUvarint(b, uint64(e.Format))
	b = binary.AppendUvarint(b, uint64(e.Hold/time.Millisecond))
	b = binary.AppendUvarint(b, uint64(len(e.Transactions)))
	for i := range e.Transactions {
		t := &e.Transactions[i]
		b = binary.AppendVarint(b, t.Time)
		b = binary.AppendUvarint(b, uint64(len(t.Writes)))
		for _, w := range t.Writes {
			if w.Deleted {
				b = appendText(append(b, opDelete), w.Key)
				continue
			}
			b = appendText(append(b, opPut), w.Key)
			b = appendText(b, w.Value)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// DecodeEntry reads what Encode has written, and refuses anything else as Invalid.
func DecodeEntry(b []byte) (*Entry, error) {
	r := reader{b: b}
	e := new(Entry)
	if r.byte() != version {
		return nil, damaged()
	}
	copy(e.ID[:], r.take(uint64(len(e.ID))))
	e.Format = int(r.uint() & (1<<31 - 1))
	e.Hold = min(time.Duration(r.uint()&(1<<31-1))*time.Millisecond, maxHold)
	for n := r.count(); n > 0 && !r.bad; n-- {
		t := Transaction{Time: r.int()}
		for n := r.count(); n > 0 && !r.bad; n-- {
			t.Writes = append(t.Writes, r.write())
		}
		e.Transactions = append(e.Transactions, t)
	}
	if r.bad || len(r.b) > 0 {
		return nil, damaged()
	}
	return e, nil
}

func damaged() error { return fault.New(fault.Invalid, "an entry of the shared log can't be read") }

// reader takes an entry from its beginning on. After what can't be read it is bad and gives
// zero values.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) write() LogWrite {
	switch r.byte() {
	case opPut:
		return LogWrite{Key: r.text(), Value: r.text()}
	case opDelete:
		return LogWrite{Key: r.text(), Deleted: true}
	}
	r.bad = true
	return LogWrite{}
}

// count is a number of things of at least a byte each.
func (r *reader) count() uint64 {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) text() string { return string(r.take(r.uint())) }

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	part := r.b[:n]
	r.b = r.b[n:]
	return part
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.b)
	r.skip(size)
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.b)
	r.skip(size)
	return n
}

func (r *reader) skip(size int) {
	if size <= 0 {
		r.bad, size = true, 0
	}
	r.b = r.b[size:]
}
