package disk

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
)

// Sizes and marks of the files; doc.go draws them.
const (
	layoutVersion = 1 // of the files themselves; Options.Format is that of the records

	FileHeaderSize   = 32
	RecordHeaderSize = 44
	MaxPayload       = 256 << 20
	maxAbout         = 64 << 10 // of what a backup says of itself

	JournalMagic  = "ctxdjrnl"
	SnapshotMagic = "ctxdsnap"
	BackupMagic   = "ctxdback"
	recordMagic   = "\xc7kv\x9e"

	JournalPrefix  = "journal-"
	SnapshotPrefix = "snapshot-"
	DamagedPrefix  = "damaged-"
	TempSuffix     = ".tmp"
	BackupSuffix   = ".ctxdbackup"
)

// FormatKey is the key of the store itself that holds the format of its records. No
// collection can have a name like that.
const FormatKey = "!format"

// Kinds of records.
const (
	KindTransaction = 1 // a transaction, in a journal
	KindChunk       = 2 // some keys and values, in a snapshot or backup
	KindEnd         = 3 // the end of a snapshot or backup
	KindAbout       = 4 // what a backup is of, before its pieces
)

// Operations in a payload.
const (
	opPut    = 1
	opDelete = 2
)

// Checksums is the table of CRC-32C, the checksum of everything in a store.
var Checksums = crc32.MakeTable(crc32.Castagnoli)

// ID is what a file's name and its header both say: where it stands in
// the sequence, and the salt of its checksums. Seq is the first sequence
// number of a journal segment, and the last one in a snapshot.
type ID struct {
	Seq  uint64
	Salt uint64
}

// NewID returns the identity of a new file, with a random salt.
func NewID(seq uint64) ID {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, says its documentation
	return ID{Seq: seq, Salt: binary.LittleEndian.Uint64(b[:])}
}

// Name returns the name of the file of that kind, which its prefix tells.
func (id ID) Name(prefix string) string {
	return fmt.Sprintf("%s%016x-%016x", prefix, id.Seq, id.Salt)
}

// ParseName is the reverse of ID.Name.
func ParseName(prefix, name string) (ID, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	a, b, ok2 := strings.Cut(rest, "-")
	if !ok || !ok2 || len(a) != 16 || len(b) != 16 {
		return ID{}, false
	}
	seq, err := strconv.ParseUint(a, 16, 64)
	salt, err2 := strconv.ParseUint(b, 16, 64)
	return ID{seq, salt}, err == nil && err2 == nil
}

// Seed is the state of a checksum after the salt. Salted, a record of one
// file is never taken for one of another: not when a file system hands out
// an old block again, and not when somebody keeps a journal in a note.
func (id ID) Seed() uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], id.Salt)
	return crc32.Checksum(b[:], Checksums)
}

// Header returns the header of the file of that kind, FileHeaderSize bytes.
func (id ID) Header(magic string) []byte {
	b := make([]byte, 0, FileHeaderSize)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, layoutVersion)
	b = binary.LittleEndian.AppendUint64(b, id.Seq)
	b = binary.LittleEndian.AppendUint64(b, id.Salt)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, Checksums))
}

// parseFileHeader returns the identity in a file's header and the layout of
// the file; ok is false when the header is damaged.
func parseFileHeader(magic string, b []byte) (id ID, layout uint32, ok bool) {
	if len(b) < FileHeaderSize || string(b[:8]) != magic ||
		crc32.Checksum(b[:28], Checksums) != binary.LittleEndian.Uint32(b[28:]) {
		return ID{}, 0, false
	}
	id = ID{binary.LittleEndian.Uint64(b[12:]), binary.LittleEndian.Uint64(b[20:])}
	return id, binary.LittleEndian.Uint32(b[8:]), true
}

// RecordHeader is the fixed part of a record.
type RecordHeader struct {
	Kind byte
	Seq  uint64
	// durable is the newest transaction that was acknowledged when this one
	// was written. When a record before this one turns out to be damaged, it
	// tells a lost transaction from one that nobody was promised.
	Durable uint64
	Time    int64 // Unix nanoseconds
	size    uint32
	crc     uint32 // of the payload
}

func (h *RecordHeader) put(b []byte, seed uint32) {
	copy(b, recordMagic)
	b[4], b[5], b[6], b[7] = h.Kind, 0, 0, 0
	binary.LittleEndian.PutUint64(b[8:], h.Seq)
	binary.LittleEndian.PutUint64(b[16:], h.Durable)
	binary.LittleEndian.PutUint64(b[24:], uint64(h.Time))
	binary.LittleEndian.PutUint32(b[32:], h.size)
	binary.LittleEndian.PutUint32(b[36:], h.crc)
	binary.LittleEndian.PutUint32(b[40:], crc32.Update(seed, Checksums, b[:40]))
}

func (h *RecordHeader) parse(b []byte, seed uint32) bool {
	if len(b) < RecordHeaderSize || string(b[:4]) != recordMagic ||
		crc32.Update(seed, Checksums, b[:40]) != binary.LittleEndian.Uint32(b[40:]) {
		return false
	}
	h.Kind = b[4]
	h.Seq = binary.LittleEndian.Uint64(b[8:])
	h.Durable = binary.LittleEndian.Uint64(b[16:])
	h.Time = int64(binary.LittleEndian.Uint64(b[24:]))
	h.size = binary.LittleEndian.Uint32(b[32:])
	h.crc = binary.LittleEndian.Uint32(b[36:])
	return h.size <= MaxPayload
}

// Finish completes a record whose payload was appended to buf behind
// RecordHeaderSize free bytes.
func Finish(buf []byte, h RecordHeader, seed uint32) []byte {
	payload := buf[RecordHeaderSize:]
	h.size = uint32(len(payload))
	h.crc = crc32.Update(seed, Checksums, payload)
	h.put(buf, seed)
	return buf
}

// AppendOp appends an operation to a payload; raw is of no account for a deletion.
func AppendOp(b []byte, key, raw string, deleted bool) []byte {
	if deleted {
		b = append(b, opDelete)
	} else {
		b = append(b, opPut)
	}
	b = binary.AppendUvarint(b, uint64(len(key)))
	b = append(b, key...)
	if !deleted {
		b = binary.AppendUvarint(b, uint64(len(raw)))
		b = append(b, raw...)
	}
	return b
}

var errPayload = errors.New("malformed payload")

// EachOp calls fn with every operation of a payload. The slices are parts of
// it.
func EachOp(payload []byte, fn func(key, raw []byte, deleted bool) error) error {
	field := func() ([]byte, bool) {
		n, w := binary.Uvarint(payload)
		if w <= 0 || n > uint64(len(payload)-w) {
			return nil, false
		}
		b := payload[w : w+int(n)]
		payload = payload[w+int(n):]
		return b, true
	}
	for len(payload) > 0 {
		op := payload[0]
		payload = payload[1:]
		key, ok := field()
		if !ok || len(key) == 0 || op != opPut && op != opDelete {
			return errPayload
		}
		var raw []byte
		if op == opPut {
			raw, ok = field()
			if !ok {
				return errPayload
			}
		}
		if err := fn(key, raw, op == opDelete); err != nil {
			return err
		}
	}
	return nil
}

// CheckOps says whether a payload can be read to its end.
func CheckOps(payload []byte) error {
	return EachOp(payload, func(_, _ []byte, _ bool) error { return nil })
}

// Window reads a file through a buffer that follows the reader.
type Window struct {
	f    io.ReaderAt
	Size int64
	buf  []byte
	at   int64
}

// WindowSize is how many bytes are read at a time.
const WindowSize = 1 << 20

// NewWindow reads the first size bytes of a file.
func NewWindow(f io.ReaderAt, size int64) *Window { return &Window{f: f, Size: size} }

// InMemory is a window on bytes that lie in memory. They may change between two calls.
func InMemory(data []byte) *Window { return &Window{Size: int64(len(data)), buf: data} }

// Bytes returns the n bytes at off, fewer at the end of the file. They are
// valid until the next call.
func (w *Window) Bytes(off int64, n int) ([]byte, error) {
	if left := w.Size - off; int64(n) > left {
		n = int(max(left, 0))
	}
	if off >= w.at && off+int64(n) <= w.at+int64(len(w.buf)) {
		return w.buf[off-w.at:][:n], nil
	}
	want := int(min(max(int64(n), WindowSize), w.Size-off))
	if cap(w.buf) < want || cap(w.buf) > 4*WindowSize {
		w.buf = make([]byte, want)
	}
	w.buf, w.at = w.buf[:want], off
	if got, err := w.f.ReadAt(w.buf, off); got < want {
		w.buf = w.buf[:0]
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return w.buf[:n], nil
}

// Verdict is what stands at an offset of a file.
type Verdict int

// Verdicts of Window.Record.
const (
	Good Verdict = iota
	End          // exactly the end of the file
	Torn         // the beginning of a record, or zeros up to the end
	Bad          // anything else
)

// Record reads the record at off. next is the offset behind a good one.
func (w *Window) Record(off int64, seed uint32) (h RecordHeader, payload []byte, next int64, v Verdict, err error) {
	if off == w.Size {
		return h, nil, 0, End, nil
	}
	b, err := w.Bytes(off, RecordHeaderSize)
	if err != nil {
		return h, nil, 0, Bad, err
	}
	if len(b) < RecordHeaderSize {
		return h, nil, 0, Torn, nil
	}
	if !h.parse(b, seed) {
		zero, err := w.zeros(off)
		if err == nil && zero {
			return h, nil, 0, Torn, nil
		}
		return h, nil, 0, Bad, err
	}
	next = off + RecordHeaderSize + int64(h.size)
	if next > w.Size {
		return h, nil, 0, Torn, nil
	}
	payload, err = w.Bytes(off+RecordHeaderSize, int(h.size))
	if err != nil {
		return h, nil, 0, Bad, err
	}
	if crc32.Update(seed, Checksums, payload) != h.crc {
		return h, nil, next, Bad, nil
	}
	return h, payload, next, Good, nil
}

// zeros reports whether the file holds nothing but zeros from off on, as it
// does when its new length reached the disk and its new content did not.
func (w *Window) zeros(off int64) (bool, error) {
	for off < w.Size {
		b, err := w.Bytes(off, WindowSize)
		if err != nil {
			return false, err
		}
		if len(bytes.Trim(b, "\x00")) > 0 {
			return false, nil
		}
		off += int64(len(b))
	}
	return true, nil
}

// Resync looks from off on for the next good record and returns its offset,
// or the end of the file. durable is the newest transaction that was acknowledged
// when a record in between was written, of which the header alone is good.
func (w *Window) Resync(off int64, seed uint32) (next int64, durable uint64, err error) {
	for off < w.Size {
		b, err := w.Bytes(off, WindowSize)
		if err != nil {
			return 0, 0, err
		}
		i := bytes.Index(b, []byte(recordMagic))
		if i < 0 {
			if len(b) < len(recordMagic) || off+int64(len(b)) >= w.Size {
				return w.Size, durable, nil
			}
			off += int64(len(b) - len(recordMagic) + 1)
			continue
		}
		off += int64(i)
		h, _, _, v, err := w.Record(off, seed)
		if err != nil {
			return 0, 0, err
		}
		if v == Good {
			return off, durable, nil
		}
		if h.Kind == KindTransaction {
			durable = max(durable, h.Durable)
		}
		off++
	}
	return w.Size, durable, nil
}
