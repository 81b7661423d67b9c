package words

// wordfile_*.go are the file that an index of words is kept in: its header, its frames
// with their checksums, and the way that a new file takes the place of the one before.
//
// snapshot*.go say what stands in the frames. A frameWriter and a frameReader belong to one
// goroutine at a time; functions may be called concurrently by whoever sees to it that one of
// them writes.
//
// # Layout
//
// A header is followed by frames of whole records, each with its length and checksum, so that
// they can be read and let go one by one. Each kind of record begins a frame.
//
//	header    magic 8, analysis 4, literal 1, zero 3, sequence 8, time of it 8,
//	          documents 4, words 4, lists 4, blocks 4, sum of lengths 8, average of
//	          worth 8, where the variants begin 8, size of the file 8, checksum 4
//	frame     size 4, checksum 4, records
//
// A text is a uvarint length and its bytes. Integers of fixed size are little-endian,
// checksums CRC-32C. Sequence and time are those of the last transaction that the index has
// seen; the time is 0 when it is not known.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const frameSize = 1 << 20

// errWriterBusy ends the writing of a file when a commit waits.
var errWriterBusy = errors.New("the notes change")

// frameWriter writes records in frames, behind a header that is still to be written.
type frameWriter struct {
	Busy func() bool // whether the writing is to end

	w   *bufio.Writer
	at  int64 // in the file
	buf []byte
}

// newFrameWriter leaves room for the header and writes frames from there on.
func newFrameWriter(w io.Writer, busy func() bool) (frameWriter, error) {
	f := frameWriter{Busy: busy, w: bufio.NewWriterSize(w, 256<<10), at: fileHeaderSize}
	_, err := f.w.Write(make([]byte, fileHeaderSize))
	return f, err
}

// At is where the next frame begins, when the one before is flushed.
func (f *frameWriter) At() int64 { return f.at }

// End ends a record, and the frame if that is full.
func (f *frameWriter) End() error {
	if len(f.buf) < frameSize {
		return nil
	}
	return f.Flush()
}

// Flush ends a frame, or ends the writing with ErrBusy.
func (f *frameWriter) Flush() error {
	if f.Busy() {
		return errWriterBusy
	}
	if len(f.buf) == 0 {
		return nil
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(f.buf)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(f.buf, frameChecksums))
	_, err := f.w.Write(head[:])
	if err == nil {
		_, err = f.w.Write(f.buf)
	}
	f.at += int64(len(head) + len(f.buf))
	f.buf = f.buf[:0]
	return err
}

// Close writes what waits for the file, which stays open.
func (f *frameWriter) Close() error { return f.w.Flush() }

// Uint writes a uvarint.
func (f *frameWriter) Uint(v uint64) { f.buf = binary.AppendUvarint(f.buf, v) }

// Int writes a varint.
func (f *frameWriter) Int(v int64) { f.buf = binary.AppendVarint(f.buf, v) }

// Text writes a length and the bytes.
func (f *frameWriter) Text(s string) {
	f.Uint(uint64(len(s)))
	f.buf = append(f.buf, s...)
}

// Bytes writes a length and the bytes.
func (f *frameWriter) Bytes(b []byte) {
	f.Uint(uint64(len(b)))
	f.buf = append(f.buf, b...)
}

// Byte writes one byte.
func (f *frameWriter) Byte(b byte) { f.buf = append(f.buf, b) }

// Uint32 writes four bytes.
func (f *frameWriter) Uint32(v uint32) { f.buf = binary.LittleEndian.AppendUint32(f.buf, v) }

// Uint64 writes eight bytes.
func (f *frameWriter) Uint64(v uint64) { f.buf = binary.LittleEndian.AppendUint64(f.buf, v) }

// frameReader reads records out of frames. What is read panics where a frame holds less than
// that, which is sound by its checksum, but of another program.
type frameReader struct {
	r    io.Reader
	left int64  // bytes of the file
	rest []byte // of the frame
}

// newFrameReader reads so many bytes of frames.
func newFrameReader(r io.Reader, left int64) frameReader { return frameReader{r: r, left: left} }

// Done reports whether all that there is was read.
func (f *frameReader) Done() bool { return len(f.rest) == 0 && f.left == 0 }

// Record goes on to the frame that the next record is in.
func (f *frameReader) Record() error {
	if len(f.rest) > 0 {
		return nil
	}
	var head [8]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	size := binary.LittleEndian.Uint32(head[:])
	f.left -= 8 + int64(size)
	if size == 0 || f.left < 0 {
		return fmt.Errorf("%w: a frame is damaged", errUnusable)
	}
	f.rest = make([]byte, size)
	if _, err := io.ReadFull(f.r, f.rest); err != nil {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	if crc32.Checksum(f.rest, frameChecksums) != binary.LittleEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: a frame is damaged", errUnusable)
	}
	return nil
}

// Skip leaves the records of a frame out.
func (f *frameReader) Skip() { f.rest = nil }

// Uint reads a uvarint.
func (f *frameReader) Uint() uint64 {
	v, n := binary.Uvarint(f.rest)
	f.rest = f.rest[n:]
	return v
}

// Int reads a varint.
func (f *frameReader) Int() int64 {
	v, n := binary.Varint(f.rest)
	f.rest = f.rest[n:]
	return v
}

// Bytes reads so many bytes, which stay those of the frame.
func (f *frameReader) Bytes(n uint64) []byte {
	b := f.rest[:n:n]
	f.rest = f.rest[n:]
	return b
}
