package wordfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const frameSize = 1 << 20

// ErrBusy ends the writing of a file when a commit waits.
var ErrBusy = errors.New("the notes change")

// Writer writes records in frames, behind a header that is still to be written.
type Writer struct {
	Busy func() bool // whether the writing is to end

	w   *bufio.Writer
	at  int64 // in the file
	buf []byte
}

// NewWriter leaves room for the header and writes frames from there on.
func NewWriter(w io.Writer, busy func() bool) (Writer, error) {
	f := Writer{Busy: busy, w: bufio.NewWriterSize(w, 256<<10), at: HeaderSize}
	_, err := f.w.Write(make([]byte, HeaderSize))
	return f, err
}

// At is where the next frame begins, when the one before is flushed.
func (f *Writer) At() int64 { return f.at }

// End ends a record, and the frame if that is full.
func (f *Writer) End() error {
	if len(f.buf) < frameSize {
		return nil
	}
	return f.Flush()
}

// Flush ends a frame, or ends the writing with ErrBusy.
func (f *Writer) Flush() error {
	if f.Busy() {
		return ErrBusy
	}
	if len(f.buf) == 0 {
		return nil
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(f.buf)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(f.buf, castagnoli))
	_, err := f.w.Write(head[:])
	if err == nil {
		_, err = f.w.Write(f.buf)
	}
	f.at += int64(len(head) + len(f.buf))
	f.buf = f.buf[:0]
	return err
}

// Close writes what waits for the file, which stays open.
func (f *Writer) Close() error { return f.w.Flush() }

// Uint writes a uvarint.
func (f *Writer) Uint(v uint64) { f.buf = binary.AppendUvarint(f.buf, v) }

// Int writes a varint.
func (f *Writer) Int(v int64) { f.buf = binary.AppendVarint(f.buf, v) }

// Text writes a length and the bytes.
func (f *Writer) Text(s string) {
	f.Uint(uint64(len(s)))
	f.buf = append(f.buf, s...)
}

// Bytes writes a length and the bytes.
func (f *Writer) Bytes(b []byte) {
	f.Uint(uint64(len(b)))
	f.buf = append(f.buf, b...)
}

// Byte writes one byte.
func (f *Writer) Byte(b byte) { f.buf = append(f.buf, b) }

// Uint32 writes four bytes.
func (f *Writer) Uint32(v uint32) { f.buf = binary.LittleEndian.AppendUint32(f.buf, v) }

// Uint64 writes eight bytes.
func (f *Writer) Uint64(v uint64) { f.buf = binary.LittleEndian.AppendUint64(f.buf, v) }

// Reader reads records out of frames. What is read panics where a frame holds less than
// that, which is sound by its checksum, but of another program.
type Reader struct {
	r    io.Reader
	left int64  // bytes of the file
	rest []byte // of the frame
}

// NewReader reads so many bytes of frames.
func NewReader(r io.Reader, left int64) Reader { return Reader{r: r, left: left} }

// Done reports whether all that there is was read.
func (f *Reader) Done() bool { return len(f.rest) == 0 && f.left == 0 }

// Record goes on to the frame that the next record is in.
func (f *Reader) Record() error {
	if len(f.rest) > 0 {
		return nil
	}
	var head [8]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	size := binary.LittleEndian.Uint32(head[:])
	f.left -= 8 + int64(size)
	if size == 0 || f.left < 0 {
		return fmt.Errorf("%w: a frame is damaged", ErrUnusable)
	}
	f.rest = make([]byte, size)
	if _, err := io.ReadFull(f.r, f.rest); err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if crc32.Checksum(f.rest, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: a frame is damaged", ErrUnusable)
	}
	return nil
}

// Skip leaves the records of a frame out.
func (f *Reader) Skip() { f.rest = nil }

// Uint reads a uvarint.
func (f *Reader) Uint() uint64 {
	v, n := binary.Uvarint(f.rest)
	f.rest = f.rest[n:]
	return v
}

// Int reads a varint.
func (f *Reader) Int() int64 {
	v, n := binary.Varint(f.rest)
	f.rest = f.rest[n:]
	return v
}

// Bytes reads so many bytes, which stay those of the frame.
func (f *Reader) Bytes(n uint64) []byte {
	b := f.rest[:n:n]
	f.rest = f.rest[n:]
	return b
}
