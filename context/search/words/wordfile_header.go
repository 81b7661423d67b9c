package words

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

const (
	// fileHeaderSize is the length of a header in bytes.
	fileHeaderSize = 84

	magic = "ctxdword"
)

// errUnusable is the error of a file that is damaged, or not of this program.
var errUnusable = errors.New("the index on disk can't be used")

var frameChecksums = crc32.MakeTable(crc32.Castagnoli)

// rawHeader is a header as it stands in a file.
type rawHeader [fileHeaderSize]byte

// fileHeader are the numbers of a header.
type fileHeader struct {
	Literal bool   // without stems
	Seq     uint64 // of the last transaction that the index has seen
	At      int64  // when that was written, in Unix nanoseconds; 0: not known

	Docs, Words, Lists, Blocks int

	Total    uint64  // words of all documents
	Capped   float64 // the average length that blocks are worth what they are worth with
	Variants int64   // where the variants begin
	Size     int64   // of the file
}

// Head writes a header of a version of the analysis.
func (h *fileHeader) Head(version uint32) (head rawHeader) {
	le := binary.LittleEndian
	b := head[:0]
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	literal := byte(0)
	if h.Literal {
		literal = 1
	}
	b = append(b, literal, 0, 0, 0)
	b = append(b, make([]byte, 16)...) // see Stamp
	for _, n := range []int{h.Docs, h.Words, h.Lists, h.Blocks} {
		b = le.AppendUint32(b, uint32(n))
	}
	b = le.AppendUint64(b, h.Total)
	b = le.AppendUint64(b, math.Float64bits(h.Capped))
	b = le.AppendUint64(b, uint64(h.Variants))
	le.AppendUint64(b, uint64(h.Size))
	head.Stamp(h.Seq, h.At)
	return head
}

// Stamp writes the last transaction into a header, and seals it.
func (head *rawHeader) Stamp(seq uint64, at int64) {
	binary.LittleEndian.PutUint64(head[16:], seq)
	binary.LittleEndian.PutUint64(head[24:], uint64(at))
	binary.LittleEndian.PutUint32(head[fileHeaderSize-4:], crc32.Checksum(head[:fileHeaderSize-4], frameChecksums))
}

// Read checks the header of a file of some size, which is of use when it is of the same
// version of the analysis.
func (head *rawHeader) Read(version uint32, size int64) (h fileHeader, err error) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	switch {
	case string(head[:8]) != magic:
		return h, fmt.Errorf("%w: the header is damaged", errUnusable)
	case u32(8) != version: // whose header may be longer or shorter
		return h, fmt.Errorf("%w: it is of another version", errUnusable)
	case u32(fileHeaderSize-4) != crc32.Checksum(head[:fileHeaderSize-4], frameChecksums):
		return h, fmt.Errorf("%w: the header is damaged", errUnusable)
	}
	h = fileHeader{
		Literal: head[12] == 1, Seq: u64(16), At: int64(u64(24)),
		Docs: int(u32(32)), Words: int(u32(36)), Lists: int(u32(40)), Blocks: int(u32(44)),
		Total: u64(48), Capped: math.Float64frombits(u64(56)), Variants: int64(u64(64)), Size: int64(u64(72)),
	}
	if h.Size != size || h.Variants < fileHeaderSize || h.Variants > size {
		return h, fmt.Errorf("%w: it is not whole", errUnusable)
	}
	for _, n := range []int{h.Docs, h.Words, h.Lists, h.Blocks} { // each takes a byte at least
		if int64(n) > size {
			return h, fmt.Errorf("%w: it is too short", errUnusable)
		}
	}
	return h, nil
}

// readRawHeader reads the header of a file and does not check it.
func readRawHeader(name string) (head rawHeader, err error) {
	f, _, err := openWordFile(name)
	if err != nil {
		return head, err
	}
	defer f.Close()
	_, err = io.ReadFull(f, head[:])
	return head, err
}

// IsFile reports whether a file is one of an index of words, or one that is being written.
func IsFile(path string) bool {
	name := filepath.Base(path)
	if name != FileName && name != FileName+tempSuffix {
		return false
	}
	f, size, err := openWordFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, min(size, int64(len(magic))))
	_, err = io.ReadFull(f, head)
	return err == nil && strings.HasPrefix(magic, string(head))
}

// openWordFile opens a file to read it.
func openWordFile(name string) (f *os.File, size int64, err error) {
	switch info, err := os.Lstat(name); {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for its other end
		return nil, 0, fmt.Errorf("%w: it is no file", errUnusable)
	}
	f, err = os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
