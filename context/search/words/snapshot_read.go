package words

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

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
		if head, now := readRawHeader(filepath.Join(dir, FileName)); now != nil || head != file.head {
			return readStored(dir)
		}
	}
	return file, err
}

// stored is what the file of an index holds.
type stored struct {
	head    rawHeader
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

// readStored reads the file in a folder, but for the variants.
func readStored(dir string) (_ *stored, err error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	f, size, err := openWordFile(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := new(stored)
	var working sync.WaitGroup
	defer func() { // what is sound by its checksum may still be of another program
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %T", errUnusable, r)
		}
		working.Wait()
	}()
	in := bufio.NewReaderSize(f, 64<<10)
	if _, err := io.ReadFull(in, s.head[:]); err != nil {
		return nil, fmt.Errorf("%w: it is too short", errUnusable)
	}
	h, err := s.head.Read(analysisVersion, size)
	if err != nil {
		return nil, err
	}
	s.literal, s.seq, s.at = h.Literal, h.Seq, h.At
	s.x = newInverted(nil)
	s.x.total = h.Total
	r := newFrameReader(in, h.Variants-fileHeaderSize)
	ids, err := s.readDocs(&r, h.Docs)
	if err != nil {
		return nil, err
	}
	working.Go(func() { s.numberAll(ids) })
	if err := s.x.readWords(&r, h.Words, h.Lists); err != nil {
		return nil, err
	}
	working.Go(func() { s.x.rehash(s.x.slotsFor()) })
	if err := s.x.readLists(&r, h.Docs, h.Lists, h.Blocks); err != nil {
		return nil, err
	}
	working.Wait()
	if !r.Done() || len(s.number) != h.Docs-len(s.free) {
		return nil, fmt.Errorf("%w: it holds more than it should", errUnusable)
	}
	s.x.docs = len(s.number)
	s.x.cap(h.Capped)
	s.x.average()
	return s, nil
}

// readDocs reads the documents and returns the ids of their notes.
func (s *stored) readDocs(r *frameReader, n int) (ids [][]byte, err error) {
	ids = make([][]byte, n)
	s.docs, s.heads, s.sums = make([]storedDoc, n), make([]uint64, n), make([]uint32, n)
	s.x.lengths = make([]uint8, n)
	for d := range s.docs {
		if err := r.Record(); err != nil {
			return nil, err
		}
		ids[d] = r.Bytes(r.Uint())
		if len(ids[d]) == 0 {
			s.free = append(s.free, docID(d))
			continue
		}
		k := &s.docs[d]
		k.version, k.changed = r.Uint(), r.Int()
		b := r.Bytes(13)
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
		if err := r.Record(); err != nil {
			return err
		}
		letters := r.Bytes(r.Uint())
		if n := len(x.words); len(letters) == 0 || len(letters) > text.MaxWord ||
			n > 0 && bytes.Compare(letters, x.bytes(wordID(n-1))) <= 0 {
			return fmt.Errorf("%w: a word is out of order", errUnusable)
		}
		w := word{
			at: uint32(len(x.text)), size: uint8(len(letters)), docs: uint32(r.Uint()),
			stem: wordID(r.Uint()) - 1,
		}
		if r.Bytes(1)[0] == 1 {
			lists++
			w.list = lists
		}
		if w.stem != noWord && int(w.stem) >= n {
			return fmt.Errorf("%w: a stem is missing", errUnusable)
		}
		x.text = append(x.text, letters...)
		x.words = append(x.words, w)
		x.sorted = append(x.sorted, wordID(id))
	}
	if int(lists) != listCount {
		return fmt.Errorf("%w: %d lists of %d", errUnusable, lists, listCount)
	}
	return nil
}

// readLists reads the postings. They stay where they were read, until they
// change, and are not decoded: their checksum says that they are as this program
// has written them.
func (x *inverted) readLists(r *frameReader, docCount, n, blockCount int) error {
	x.lists = make([]postingList, n)
	all := make([]postingBlock, blockCount)
	for i := range x.lists {
		if err := r.Record(); err != nil {
			return err
		}
		total, count := int(r.Uint()), int(r.Uint())
		if count == 0 || count > len(all) {
			return fmt.Errorf("%w: a list is damaged", errUnusable)
		}
		part := all[:count:count]
		docs, next := 0, docID(0)
		for j := range part {
			b := &part[j]
			b.First = docID(r.Uint())
			b.Last = b.First + docID(r.Uint())
			head := r.Bytes(5)
			b.N, b.Packed = head[0]&0x7f+1, head[0]>>7 == 1
			b.Max = math.Float32frombits(binary.LittleEndian.Uint32(head[1:]))
			b.Data = r.Bytes(r.Uint())
			if b.First < next || b.Last < b.First || int(b.Last) >= docCount {
				return fmt.Errorf("%w: a block is damaged", errUnusable)
			}
			next = b.Last + 1
			docs += int(b.N)
		}
		if docs != total {
			return fmt.Errorf("%w: a list is damaged", errUnusable)
		}
		x.lists[i] = newPostingList(part, total)
		if count == 1 {
			part[0] = postingBlock{}
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
	f, size, err := openWordFile(filepath.Join(x.opts.Dir, FileName))
	if err != nil {
		return oldVariants{}
	}
	o := oldVariants{f: f, left: x.file.docs}
	var head rawHeader
	var h fileHeader
	_, err = io.ReadFull(f, head[:])
	if err == nil {
		h, err = head.Read(analysisVersion, size)
	}
	if err == nil && head == x.file.head {
		_, err = f.Seek(h.Variants, io.SeekStart)
	}
	if err != nil || head != x.file.head {
		o.close()
		return oldVariants{}
	}
	o.r = newFrameReader(bufio.NewReaderSize(f, 64<<10), size-h.Variants)
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
	if o.r.Record() != nil {
		return false
	}
	v.read(&o.r)
	return true
}
