package kv

import (
	"bytes"
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

	fileHeaderSize = 32
	headerSize     = 44
	maxPayload     = 256 << 20
	maxAbout       = 64 << 10 // of what a backup says of itself

	journalMagic  = "ctxdjrnl"
	snapshotMagic = "ctxdsnap"
	backupMagic   = "ctxdback"
	recordMagic   = "\xc7kv\x9e"

	journalPrefix  = "journal-"
	snapshotPrefix = "snapshot-"
	damagedPrefix  = "damaged-"
	tempSuffix     = ".tmp"
	backupSuffix   = ".ctxdbackup"
)

// Kinds of records.
const (
	kindTx    = 1 // a transaction, in a journal
	kindChunk = 2 // some keys and values, in a snapshot or backup
	kindEnd   = 3 // the end of a snapshot or backup
	kindAbout = 4 // what a backup is of, before its pieces
)

// Operations in a payload.
const (
	opPut    = 1
	opDelete = 2
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// fileID is what a file's name and its header both say: where it stands in
// the sequence, and the salt of its checksums. Seq is the first sequence
// number of a journal segment, and the last one in a snapshot.
type fileID struct {
	seq  uint64
	salt uint64
}

func (id fileID) name(prefix string) string {
	return fmt.Sprintf("%s%016x-%016x", prefix, id.seq, id.salt)
}

func parseName(prefix, name string) (fileID, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	a, b, ok2 := strings.Cut(rest, "-")
	if !ok || !ok2 || len(a) != 16 || len(b) != 16 {
		return fileID{}, false
	}
	seq, err := strconv.ParseUint(a, 16, 64)
	salt, err2 := strconv.ParseUint(b, 16, 64)
	return fileID{seq, salt}, err == nil && err2 == nil
}

// seed is the state of a checksum after the salt. Salted, a record of one
// file is never taken for one of another: not when a file system hands out
// an old block again, and not when somebody keeps a journal in a note.
func (id fileID) seed() uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], id.salt)
	return crc32.Checksum(b[:], crcTable)
}

func (id fileID) header(magic string) []byte {
	b := make([]byte, 0, fileHeaderSize)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, layoutVersion)
	b = binary.LittleEndian.AppendUint64(b, id.seq)
	b = binary.LittleEndian.AppendUint64(b, id.salt)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crcTable))
}

// parseFileHeader returns the identity in a file's header and the layout of
// the file; ok is false when the header is damaged.
func parseFileHeader(magic string, b []byte) (id fileID, layout uint32, ok bool) {
	if len(b) < fileHeaderSize || string(b[:8]) != magic ||
		crc32.Checksum(b[:28], crcTable) != binary.LittleEndian.Uint32(b[28:]) {
		return fileID{}, 0, false
	}
	id = fileID{binary.LittleEndian.Uint64(b[12:]), binary.LittleEndian.Uint64(b[20:])}
	return id, binary.LittleEndian.Uint32(b[8:]), true
}

// header is the fixed part of a record.
type header struct {
	kind byte
	seq  uint64
	// durable is the newest transaction that was acknowledged when this one
	// was written. When a record before this one turns out to be damaged, it
	// tells a lost transaction from one that nobody was promised.
	durable uint64
	time    int64 // Unix nanoseconds
	size    uint32
	crc     uint32 // of the payload
}

func (h *header) put(b []byte, seed uint32) {
	copy(b, recordMagic)
	b[4], b[5], b[6], b[7] = h.kind, 0, 0, 0
	binary.LittleEndian.PutUint64(b[8:], h.seq)
	binary.LittleEndian.PutUint64(b[16:], h.durable)
	binary.LittleEndian.PutUint64(b[24:], uint64(h.time))
	binary.LittleEndian.PutUint32(b[32:], h.size)
	binary.LittleEndian.PutUint32(b[36:], h.crc)
	binary.LittleEndian.PutUint32(b[40:], crc32.Update(seed, crcTable, b[:40]))
}

func (h *header) parse(b []byte, seed uint32) bool {
	if len(b) < headerSize || string(b[:4]) != recordMagic ||
		crc32.Update(seed, crcTable, b[:40]) != binary.LittleEndian.Uint32(b[40:]) {
		return false
	}
	h.kind = b[4]
	h.seq = binary.LittleEndian.Uint64(b[8:])
	h.durable = binary.LittleEndian.Uint64(b[16:])
	h.time = int64(binary.LittleEndian.Uint64(b[24:]))
	h.size = binary.LittleEndian.Uint32(b[32:])
	h.crc = binary.LittleEndian.Uint32(b[36:])
	return h.size <= maxPayload
}

// finish completes a record whose payload was appended to buf behind
// headerSize free bytes.
func finish(buf []byte, h header, seed uint32) []byte {
	payload := buf[headerSize:]
	h.size = uint32(len(payload))
	h.crc = crc32.Update(seed, crcTable, payload)
	h.put(buf, seed)
	return buf
}

func appendOp(b []byte, key, raw string, deleted bool) []byte {
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

// eachOp calls fn with every operation of a payload. The slices are parts of
// it.
func eachOp(payload []byte, fn func(key, raw []byte, deleted bool) error) error {
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
			if raw, ok = field(); !ok {
				return errPayload
			}
		}
		if err := fn(key, raw, op == opDelete); err != nil {
			return err
		}
	}
	return nil
}

// checkOps says whether a payload can be read to its end.
func checkOps(payload []byte) error {
	return eachOp(payload, func(_, _ []byte, _ bool) error { return nil })
}

// window reads a file through a buffer that follows the reader.
type window struct {
	f    io.ReaderAt
	size int64
	buf  []byte
	at   int64
}

const windowSize = 1 << 20

// bytes returns the n bytes at off, fewer at the end of the file. They are
// valid until the next call.
func (w *window) bytes(off int64, n int) ([]byte, error) {
	if left := w.size - off; int64(n) > left {
		n = int(max(left, 0))
	}
	if off >= w.at && off+int64(n) <= w.at+int64(len(w.buf)) {
		return w.buf[off-w.at:][:n], nil
	}
	want := int(min(max(int64(n), windowSize), w.size-off))
	if cap(w.buf) < want || cap(w.buf) > 4*windowSize {
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

// verdict is what stands at an offset of a file.
type verdict int

const (
	good verdict = iota
	end          // exactly the end of the file
	torn         // the beginning of a record, or zeros up to the end
	bad          // anything else
)

// record reads the record at off. next is the offset behind a good one.
func (w *window) record(off int64, seed uint32) (h header, payload []byte, next int64, v verdict, err error) {
	if off == w.size {
		return h, nil, 0, end, nil
	}
	b, err := w.bytes(off, headerSize)
	if err != nil {
		return h, nil, 0, bad, err
	}
	if len(b) < headerSize {
		return h, nil, 0, torn, nil
	}
	if !h.parse(b, seed) {
		zero, err := w.zeros(off)
		if err == nil && zero {
			return h, nil, 0, torn, nil
		}
		return h, nil, 0, bad, err
	}
	next = off + headerSize + int64(h.size)
	if next > w.size {
		return h, nil, 0, torn, nil
	}
	payload, err = w.bytes(off+headerSize, int(h.size))
	if err != nil {
		return h, nil, 0, bad, err
	}
	if crc32.Update(seed, crcTable, payload) != h.crc {
		return h, nil, next, bad, nil
	}
	return h, payload, next, good, nil
}

// zeros reports whether the file holds nothing but zeros from off on, as it
// does when its new length reached the disk and its new content did not.
func (w *window) zeros(off int64) (bool, error) {
	for off < w.size {
		b, err := w.bytes(off, windowSize)
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

// resync looks from off on for the next good record and returns its offset,
// or the end of the file. durable is the newest transaction that was acknowledged
// when a record in between was written, of which the header alone is good.
func (w *window) resync(off int64, seed uint32) (next int64, durable uint64, err error) {
	for off < w.size {
		b, err := w.bytes(off, windowSize)
		if err != nil {
			return 0, 0, err
		}
		i := bytes.Index(b, []byte(recordMagic))
		if i < 0 {
			if len(b) < len(recordMagic) || off+int64(len(b)) >= w.size {
				return w.size, durable, nil
			}
			off += int64(len(b) - len(recordMagic) + 1)
			continue
		}
		off += int64(i)
		h, _, _, v, err := w.record(off, seed)
		if err != nil {
			return 0, 0, err
		}
		if v == good {
			return off, durable, nil
		}
		if h.kind == kindTx {
			durable = max(durable, h.durable)
		}
		off++
	}
	return w.size, durable, nil
}
