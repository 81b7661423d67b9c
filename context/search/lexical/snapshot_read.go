package lexical

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/ctxd/ctxd/context/search/postings"
	"github.com/ctxd/ctxd/context/search/text"
)

// Ahead is the file of an index that is read while there are no notes yet to compare
// it with.
type Ahead struct {
	dir  string
	done chan struct{}
	file *stored
	err  error
}

// ReadAhead begins to read the index of words in a folder, for Options.Ahead. It
// needs no store: read it beside the opening of the store. O(size of the file), in
// the background.
func ReadAhead(dir string) *Ahead {
	a := &Ahead{dir: dir, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.file, a.err = readStored(dir)
	}()
	return a
}

// of returns what was read, if it is the file that is in the folder now. It can be
// had once.
func (a *Ahead) of(dir string) (*stored, error) {
	if a == nil || a.dir != dir {
		return readStored(dir)
	}
	<-a.done
	file, err := a.file, a.err
	a.dir, a.file = "", nil
	if err == nil {
		if head, now := readHead(filepath.Join(dir, FileName)); now != nil || head != file.head {
			return readStored(dir)
		}
	}
	return file, err
}

// stored is what the file of an index holds.
type stored struct {
	head    [headerSize]byte
	literal bool
	seq     uint64
	at      int64

	x     *inverted // without its way of stemming
	docs  []storedDoc
	heads []uint64
	sums  []uint32
	// number are the documents by the ids of their notes.
	number map[string]docID
	free   []docID
}

// storedDoc is what the file says of a document; none has the version 0.
type storedDoc struct {
	version uint64
	changed int64
}

// openFile opens the file of an index.
func openFile(name string) (f *os.File, size int64, err error) {
	switch info, err := os.Lstat(name); {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for its other end
		return nil, 0, fmt.Errorf("%w: it is no file", errSnapshot)
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

func readHead(name string) (head [headerSize]byte, err error) {
	f, _, err := openFile(name)
	if err != nil {
		return head, err
	}
	defer f.Close()
	_, err = io.ReadFull(f, head[:])
	return head, err
}

// headOfFile are the numbers of a header.
type headOfFile struct {
	literal                    bool
	seq                        uint64
	at                         int64
	docs, words, lists, blocks int
	total                      uint64
	capped                     float64
	variants                   int64
}

// readHeader checks the header of a file of some size.
func readHeader(b []byte, size int64) (h headOfFile, err error) {
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	switch {
	case string(b[:8]) != fileMagic:
		return h, fmt.Errorf("%w: the header is damaged", errSnapshot)
	case u32(8) != analysisVersion: // whose header may be longer or shorter
		return h, fmt.Errorf("%w: it is of another version", errSnapshot)
	case uint32(u32(headerSize-4)) != crc32.Checksum(b[:headerSize-4], castagnoli):
		return h, fmt.Errorf("%w: the header is damaged", errSnapshot)
	}
	h = headOfFile{
		literal: b[12] == 1, seq: u64(16), at: int64(u64(24)),
		docs: u32(32), words: u32(36), lists: u32(40), blocks: u32(44),
		total: u64(48), capped: math.Float64frombits(u64(56)), variants: int64(u64(64)),
	}
	if int64(u64(72)) != size || h.variants < headerSize || h.variants > size {
		return h, fmt.Errorf("%w: it is not whole", errSnapshot)
	}
	for _, n := range []int{h.docs, h.words, h.lists, h.blocks} { // each takes a byte at least
		if int64(n) > size {
			return h, fmt.Errorf("%w: it is too short", errSnapshot)
		}
	}
	return h, nil
}

// readStored reads the file in a folder, but for the variants.
func readStored(dir string) (_ *stored, err error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	f, size, err := openFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := new(stored)
	var working sync.WaitGroup
	defer func() { // what is sound by its checksum may still be of another program
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %T", errSnapshot, r)
		}
		working.Wait()
	}()
	in := bufio.NewReaderSize(f, 64<<10)
	if _, err := io.ReadFull(in, s.head[:]); err != nil {
		return nil, fmt.Errorf("%w: it is too short", errSnapshot)
	}
	h, err := readHeader(s.head[:], size)
	if err != nil {
		return nil, err
	}
	s.literal, s.seq, s.at = h.literal, h.seq, h.at
	s.x = newInverted(nil)
	s.x.total = h.total
	r := &frameReader{r: in, left: h.variants - headerSize}
	ids, err := s.readDocs(r, h.docs)
	if err != nil {
		return nil, err
	}
	working.Go(func() { s.numberAll(ids) })
	if err := s.x.readWords(r, h.words, h.lists); err != nil {
		return nil, err
	}
	working.Go(func() { s.x.rehash(s.x.slotsFor()) })
	if err := s.x.readLists(r, h.docs, h.lists, h.blocks); err != nil {
		return nil, err
	}
	working.Wait()
	if len(r.rest) > 0 || r.left != 0 || len(s.number) != h.docs-len(s.free) {
		return nil, fmt.Errorf("%w: it holds more than it should", errSnapshot)
	}
	s.x.docs = len(s.number)
	s.x.cap(h.capped)
	s.x.average()
	return s, nil
}

// frameReader reads records out of frames.
type frameReader struct {
	r    io.Reader
	left int64  // bytes of the file
	rest []byte // of the frame
}

// record goes on to the frame that the next record is in.
func (f *frameReader) record() error {
	if len(f.rest) > 0 {
		return nil
	}
	var head [8]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	size := binary.LittleEndian.Uint32(head[:])
	f.left -= 8 + int64(size)
	if size == 0 || f.left < 0 {
		return fmt.Errorf("%w: a frame is damaged", errSnapshot)
	}
	f.rest = make([]byte, size)
	if _, err := io.ReadFull(f.r, f.rest); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	if crc32.Checksum(f.rest, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: a frame is damaged", errSnapshot)
	}
	return nil
}

func (f *frameReader) uint() uint64 {
	v, n := binary.Uvarint(f.rest)
	f.rest = f.rest[n:]
	return v
}

func (f *frameReader) int() int64 {
	v, n := binary.Varint(f.rest)
	f.rest = f.rest[n:]
	return v
}

func (f *frameReader) bytes(n uint64) []byte {
	b := f.rest[:n:n]
	f.rest = f.rest[n:]
	return b
}

// readDocs reads the documents and returns the ids of their notes.
func (s *stored) readDocs(r *frameReader, n int) (ids [][]byte, err error) {
	ids = make([][]byte, n)
	s.docs, s.heads, s.sums = make([]storedDoc, n), make([]uint64, n), make([]uint32, n)
	s.x.lengths = make([]uint8, n)
	for d := range s.docs {
		if err := r.record(); err != nil {
			return nil, err
		}
		ids[d] = r.bytes(r.uint())
		if len(ids[d]) == 0 {
			s.free = append(s.free, docID(d))
			continue
		}
		k := &s.docs[d]
		k.version, k.changed = r.uint(), r.int()
		b := r.bytes(13)
		s.sums[d], s.heads[d], s.x.lengths[d] = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:]), b[12]
	}
	return ids, nil
}

// numberAll makes the map of the documents. Its keys are parts of one text.
func (s *stored) numberAll(ids [][]byte) {
	size := 0
	for _, id := range ids {
		size += len(id)
	}
	text := make([]byte, 0, size)
	for _, id := range ids {
		text = append(text, id...)
	}
	all := string(text)
	s.number = make(map[string]docID, len(ids))
	for d, id := range ids {
		if len(id) > 0 {
			s.number[all[:len(id)]] = docID(d)
			all = all[len(id):]
		}
	}
}

// slotsFor is how large a table the words need.
func (d *dictionary) slotsFor() int {
	slots := 1024
	for slots < 2*(len(d.words)+1) {
		slots *= 2
	}
	return slots
}

// readWords reads the words, which come in order.
func (x *inverted) readWords(r *frameReader, n, listCount int) error {
	x.words, x.sorted = make([]word, 0, n+n/8), make([]wordID, 0, n)
	x.text = make([]byte, 0, 10*n)
	lists := uint32(0)
	for id := range n {
		if err := r.record(); err != nil {
			return err
		}
		letters := r.bytes(r.uint())
		if n := len(x.words); len(letters) == 0 || len(letters) > text.MaxWord ||
			n > 0 && bytes.Compare(letters, x.bytes(wordID(n-1))) <= 0 {
			return fmt.Errorf("%w: a word is out of order", errSnapshot)
		}
		w := word{
			at: uint32(len(x.text)), size: uint8(len(letters)), docs: uint32(r.uint()),
			stem: wordID(r.uint()) - 1,
		}
		if r.bytes(1)[0] == 1 {
			lists++
			w.list = lists
		}
		if w.stem != noWord && int(w.stem) >= n {
			return fmt.Errorf("%w: a stem is missing", errSnapshot)
		}
		x.text = append(x.text, letters...)
		x.words = append(x.words, w)
		x.sorted = append(x.sorted, wordID(id))
	}
	if int(lists) != listCount {
		return fmt.Errorf("%w: %d lists of %d", errSnapshot, lists, listCount)
	}
	return nil
}

// readLists reads the postings. They stay where they were read, until they
// change, and are not decoded: their checksum says that they are as this program
// has written them.
func (x *inverted) readLists(r *frameReader, docCount, n, blockCount int) error {
	x.lists = make([]list, n)
	all := make([]block, blockCount)
	for i := range x.lists {
		if err := r.record(); err != nil {
			return err
		}
		total, count := int(r.uint()), int(r.uint())
		if count == 0 || count > len(all) {
			return fmt.Errorf("%w: a list is damaged", errSnapshot)
		}
		part := all[:count:count]
		docs, next := 0, docID(0)
		for j := range part {
			b := &part[j]
			b.First = docID(r.uint())
			b.Last = b.First + docID(r.uint())
			head := r.bytes(5)
			b.N, b.Packed = head[0]&0x7f+1, head[0]>>7 == 1
			b.Max = math.Float32frombits(binary.LittleEndian.Uint32(head[1:]))
			b.Data = r.bytes(r.uint())
			if b.First < next || b.Last < b.First || int(b.Last) >= docCount {
				return fmt.Errorf("%w: a block is damaged", errSnapshot)
			}
			next = b.Last + 1
			docs += int(b.N)
		}
		if docs != total {
			return fmt.Errorf("%w: a list is damaged", errSnapshot)
		}
		x.lists[i] = postings.Own(part, total)
		if count == 1 {
			part[0] = block{}
		} else {
			all = all[count:]
		}
	}
	return nil
}

// oldVariants reads the variants of a file, one document after the other.
type oldVariants struct {
	f    *os.File // nil: there are none
	r    frameReader
	left int // documents
}

// openVariants opens those of the file that the index knows. There are none when
// it is not there any more.
func (x *Index) openVariants() oldVariants {
	if x.file.docs == 0 {
		return oldVariants{}
	}
	f, size, err := openFile(filepath.Join(x.opts.Dir, FileName))
	if err != nil {
		return oldVariants{}
	}
	o := oldVariants{f: f, left: x.file.docs}
	var head [headerSize]byte
	h := headOfFile{}
	_, err = io.ReadFull(f, head[:])
	if err == nil {
		h, err = readHeader(head[:], size)
	}
	if err == nil && head == x.file.head {
		_, err = f.Seek(h.variants, io.SeekStart)
	}
	if err != nil || head != x.file.head {
		o.close()
		return oldVariants{}
	}
	o.r = frameReader{r: bufio.NewReaderSize(f, 64<<10), left: size - h.variants}
	return o
}

func (o *oldVariants) close() {
	if o.f != nil {
		_ = o.f.Close() // was only read
	}
	o.left = 0
}

// next reads those of the next document. It reports whether it could: after the last
// document, and from damage on, it can't.
func (o *oldVariants) next(v *variantsOf) (ok bool) {
	if o.left == 0 {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
		o.left--
		if !ok {
			o.left = 0
		}
	}()
	if o.r.record() != nil {
		return false
	}
	o.r.variants(v)
	return true
}
