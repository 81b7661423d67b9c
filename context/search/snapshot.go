package search

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
	"sync/atomic"
	"unsafe"

	"github.com/ctxd/ctxd/notes"
)

// An index is kept in one file: a header, then frames of whole records, each
// with its length and checksum, so that they can be read and let go one by one.
//
//	header    magic 8, analysis 4, literal 1, zero 3, sequence 8, documents 4,
//	          words 4, lists 4, blocks 4, sum of lengths 8, average of worth 8, checksum 4
//	frame     size 4, checksum 4, records
//	document  text id ("" for a number that is free), uvarint version,
//	          varint time of change (Unix ns), CRC-32C of its texts 4, length code 1
//	word      text, uvarint documents, uvarint stem plus one, list 1; in order
//	list      uvarint documents, uvarint blocks, of each: uvarint first document,
//	          uvarint distance to the last, postings less 1 and 128 when packed 1,
//	          worth 4, uvarint size, postings
//
// A text is a uvarint length and its bytes. Integers of fixed size are
// little-endian, checksums CRC-32C.
const (
	fileName   = "words"
	tempSuffix = ".tmp"
	fileMagic  = "ctxdword"
	headerSize = 60
	frameSize  = 1 << 20

	// analysisVersion says how texts are taken apart. Another one makes the index
	// on disk useless: raise it whenever words, stems or weights come out
	// differently, or the file is laid out otherwise.
	analysisVersion = 3
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errSnapshot = errors.New("the index on disk can't be used")

// snapshots is what is known of the file. changed is guarded by the lock of the
// Index.
type snapshots struct {
	saving  sync.Mutex   // of whoever writes it
	waiting atomic.Int32 // commits that wait for the lock
	changed int          // notes, since the file was written or read
}

// errBusy ends the writing of the file when a commit waits.
var errBusy = errors.New("the notes change")

// frames writes records in frames.
type frames struct {
	w    *bufio.Writer
	buf  []byte
	busy func() bool
}

// end ends a record, and the frame if that is full.
func (f *frames) end() error {
	if len(f.buf) < frameSize {
		return nil
	}
	return f.flush()
}

func (f *frames) flush() error {
	if f.busy() {
		return errBusy
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
	f.buf = f.buf[:0]
	return err
}

func (f *frames) uint(v uint64) { f.buf = binary.AppendUvarint(f.buf, v) }

func (f *frames) text(s string) {
	f.uint(uint64(len(s)))
	f.buf = append(f.buf, s...)
}

// save writes the index to disk, if it is whole. It takes the place of the one
// before when it is there as a whole. A commit does not wait for it: it ends the
// writing with errBusy.
func (x *Index) save() (err error) {
	if x.opts.Dir == "" {
		return nil
	}
	defer func() {
		if err != nil && !errors.Is(err, errBusy) {
			x.log.Warn("search: the index of words can't be kept; the next start makes it anew", "error", err)
		}
	}()
	x.file.saving.Lock()
	defer x.file.saving.Unlock()
	if err := os.MkdirAll(x.opts.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(x.opts.Dir, 0o700); err != nil { //nolint:gosec // a folder
		return err
	}
	if err := x.clean(); err != nil {
		return err
	}
	name := filepath.Join(x.opts.Dir, fileName)
	temp := name + tempSuffix
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp) //nolint:errcheck // gone when all went well
	x.mu.RLock()
	changed := x.file.changed
	whole := len(x.waiting) == 0
	if whole {
		err = x.write(f)
	}
	x.mu.RUnlock()
	if err == nil && whole {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil || !whole {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	x.mu.Lock()
	x.file.changed -= changed
	x.mu.Unlock()
	return nil
}

// clean removes what a writer left that did not come to its end.
func (x *Index) clean() error {
	err := os.Remove(filepath.Join(x.opts.Dir, fileName+tempSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// write writes the file. The caller has the lock.
func (x *Index) write(w io.Writer) error {
	order, numbers := x.x.kept()
	f := &frames{w: bufio.NewWriterSize(w, 256<<10), busy: func() bool { return x.file.waiting.Load() > 0 }}
	if _, err := f.w.Write(x.header(order)); err != nil {
		return err
	}
	for d, n := range x.docs {
		if n == nil {
			f.text("")
		} else {
			f.text(n.ID)
			f.uint(uint64(n.Version))
			f.buf = binary.AppendVarint(f.buf, n.UpdatedAt.UnixNano())
			f.buf = binary.LittleEndian.AppendUint32(f.buf, textsOf(n))
			f.buf = append(f.buf, x.x.lengths[d])
		}
		if err := f.end(); err != nil {
			return err
		}
	}
	if err := f.flush(); err != nil {
		return err
	}
	for _, id := range order {
		word := &x.x.words[id]
		f.text(string(x.x.bytes(id)))
		f.uint(uint64(word.docs))
		stem := uint64(0)
		if word.stem != noWord {
			stem = uint64(numbers[word.stem])
		}
		f.uint(stem)
		f.buf = append(f.buf, flagIf(word.list > 0))
		if err := f.end(); err != nil {
			return err
		}
	}
	if err := f.flush(); err != nil {
		return err
	}
	for _, id := range order {
		if l := x.x.listOf(id); l != nil {
			f.list(l)
			if err := f.end(); err != nil {
				return err
			}
		}
	}
	return errors.Join(f.flush(), f.w.Flush())
}

var textEnd = []byte{0xff} // which is in no text

// textsOf is the checksum of what the index reads of a note. A note that was
// deleted and made again may have the version and the time that it had.
func textsOf(n *notes.Note) uint32 {
	sum := uint32(0)
	add := func(text string) {
		sum = crc32.Update(sum, castagnoli, unsafe.Slice(unsafe.StringData(text), len(text))) //nolint:gosec // is only read; copies of all texts take long
		sum = crc32.Update(sum, castagnoli, textEnd)
	}
	add(n.Title)
	add(placeOf(n))
	for _, list := range [][]string{n.Aliases, n.Tags} {
		for _, text := range list {
			add(text)
		}
		add("")
	}
	add(n.Body)
	return sum
}

func flagIf(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// list writes one list.
func (f *frames) list(l *list) {
	f.uint(uint64(l.docs()))
	all := l.blocks()
	f.uint(uint64(len(all)))
	for _, b := range all {
		f.uint(uint64(b.first))
		f.uint(uint64(b.last - b.first))
		f.buf = append(f.buf, b.n-1|flagIf(b.packed)<<7)
		f.buf = binary.LittleEndian.AppendUint32(f.buf, math.Float32bits(b.max))
		f.uint(uint64(len(b.data)))
		f.buf = append(f.buf, b.data...)
	}
}

// kept returns the words that are worth keeping, in order, and their new numbers
// plus one by the old: those of texts, and their stems.
func (x *inverted) kept() (order []wordID, numbers []uint32) {
	words := x.dictionary // of which the order is worked out apart: others read the index
	words.sort()
	keep := make([]bool, len(x.words))
	for id := range x.words {
		if w := &x.words[id]; w.docs > 0 || w.list > 0 {
			keep[id] = true
			if w.stem != noWord {
				keep[w.stem] = true
			}
		}
	}
	numbers = make([]uint32, len(x.words))
	for _, id := range words.sorted {
		if keep[id] {
			order = append(order, id)
			numbers[id] = uint32(len(order))
		}
	}
	return order, numbers
}

func (x *Index) header(order []wordID) []byte {
	lists, blocks := 0, 0
	for _, id := range order {
		if l := x.x.listOf(id); l != nil {
			lists++
			blocks += len(l.blocks())
		}
	}
	h := append(make([]byte, 0, headerSize), fileMagic...)
	h = binary.LittleEndian.AppendUint32(h, analysisVersion)
	h = append(h, flagIf(x.opts.Literal), 0, 0, 0)
	h = binary.LittleEndian.AppendUint64(h, x.seq)
	for _, n := range []int{len(x.docs), len(order), lists, blocks} {
		h = binary.LittleEndian.AppendUint32(h, uint32(n))
	}
	h = binary.LittleEndian.AppendUint64(h, x.x.total)
	h = binary.LittleEndian.AppendUint64(h, math.Float64bits(x.x.capped))
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

// restore takes in what is on disk, if it is of exactly the notes that are
// there. The caller has the lock, and the index is empty.
func (x *Index) restore(seq uint64) {
	if x.opts.Dir == "" {
		return
	}
	if err := x.clean(); err != nil {
		x.log.Warn("search: a file of a writer that was interrupted can't be removed", "error", err)
	}
	err := x.read(seq)
	if err == nil {
		return
	}
	if !errors.Is(err, fs.ErrNotExist) {
		x.log.Info("search: the index of words is made anew", "reason", err)
	}
	x.x = newInverted(x.stem)
	x.docs, x.heads, x.free = nil, nil, nil
	clear(x.number)
}

// read is restore without what follows an error.
func (x *Index) read(seq uint64) (err error) {
	name := filepath.Join(x.opts.Dir, fileName)
	switch info, err := os.Lstat(name); {
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // opening a pipe would wait for its other end
		return fmt.Errorf("%w: it is no file", errSnapshot)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	defer func() { // what is sound by its checksum may still be of another program
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %T", errSnapshot, r)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r := &frameReader{r: bufio.NewReaderSize(f, 64<<10), left: info.Size() - headerSize}
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(r.r, head); err != nil {
		return fmt.Errorf("%w: %w", errSnapshot, err)
	}
	num := func(at int) int { return int(binary.LittleEndian.Uint32(head[at:])) }
	switch {
	case string(head[:8]) != fileMagic || uint32(num(headerSize-4)) != crc32.Checksum(head[:headerSize-4], castagnoli):
		return fmt.Errorf("%w: the header is damaged", errSnapshot)
	case num(8) != analysisVersion || head[12] != flagIf(x.opts.Literal):
		return fmt.Errorf("%w: it is of another version", errSnapshot)
	case binary.LittleEndian.Uint64(head[16:]) > seq:
		return fmt.Errorf("%w: it is newer than the store", errSnapshot)
	}
	for at := 24; at < 40; at += 4 { // each of them takes a byte at least
		if int64(num(at)) > r.left {
			return fmt.Errorf("%w: it is too short", errSnapshot)
		}
	}
	x.x.total = binary.LittleEndian.Uint64(head[40:])
	kept, err := x.readDocs(r, num(24))
	if err != nil {
		return err
	}
	var compared error // half of the work, which needs nothing of the other half
	var comparing sync.WaitGroup
	comparing.Go(func() { compared = x.compare(kept) })
	defer comparing.Wait() // also after a panic: then all is given up
	err = x.x.readWords(r, num(28), num(32))
	if err == nil {
		there := make([]bool, len(kept))
		for d := range kept {
			there[d] = len(kept[d].id) > 0
		}
		err = x.readLists(r, there, num(32), num(36))
	}
	comparing.Wait()
	if err := errors.Join(err, compared); err != nil {
		return err
	}
	x.x.cap(math.Float64frombits(binary.LittleEndian.Uint64(head[48:])))
	x.x.average()
	return nil
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
	if f.left -= 8 + int64(size); size == 0 || f.left < 0 {
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

// keptDoc is what the file says of a document.
type keptDoc struct {
	id      []byte // empty for a number that is free
	version uint64
	changed int64
	texts   uint32
}

// readDocs reads the documents.
func (x *Index) readDocs(r *frameReader, n int) ([]keptDoc, error) {
	kept := make([]keptDoc, n)
	x.x.lengths = make([]uint8, n)
	for d := range kept {
		if err := r.record(); err != nil {
			return nil, err
		}
		k := &kept[d]
		if k.id = r.bytes(r.uint()); len(k.id) == 0 {
			continue
		}
		k.version, k.changed, k.texts = r.uint(), r.int(), binary.LittleEndian.Uint32(r.bytes(4))
		x.x.lengths[d] = r.bytes(1)[0]
	}
	return kept, nil
}

// compare finds the notes of the documents, which must be as they were.
func (x *Index) compare(kept []keptDoc) error {
	x.docs, x.heads = make([]*notes.Note, len(kept)), make([]uint64, len(kept))
	x.number = make(map[string]docID, len(kept))
	for d := range kept {
		k := &kept[d]
		if len(k.id) == 0 {
			x.free = append(x.free, docID(d))
			continue
		}
		note := x.notes.Get(string(k.id))
		if note == nil || uint64(note.Version) != k.version || note.UpdatedAt.UnixNano() != k.changed || textsOf(note) != k.texts {
			return fmt.Errorf("%w: it is not of these notes", errSnapshot)
		}
		x.docs[d], x.heads[d] = note, headOf(note.Title)
		x.number[note.ID] = docID(d)
	}
	x.x.docs = len(kept) - len(x.free)
	if len(x.number) != x.x.docs {
		return fmt.Errorf("%w: a note is in it twice", errSnapshot)
	}
	return nil
}

// readWords reads the words, which come in order.
func (x *inverted) readWords(r *frameReader, n, listCount int) error {
	slots := 1024
	for slots < 2*(n+1) {
		slots *= 2
	}
	x.words, x.sorted = make([]word, 0, n+n/8), make([]wordID, 0, n)
	x.text = make([]byte, 0, 10*n)
	lists := uint32(0)
	for id := range n {
		if err := r.record(); err != nil {
			return err
		}
		text := r.bytes(r.uint())
		if n := len(x.words); len(text) == 0 || len(text) > maxWord || n > 0 && bytes.Compare(text, x.bytes(wordID(n-1))) <= 0 {
			return fmt.Errorf("%w: a word is out of order", errSnapshot)
		}
		w := word{at: uint32(len(x.text)), size: uint8(len(text)), docs: uint32(r.uint()), stem: wordID(r.uint()) - 1}
		if r.bytes(1)[0] == 1 {
			lists++
			w.list = lists
		}
		if w.stem != noWord && int(w.stem) >= n {
			return fmt.Errorf("%w: a stem is missing", errSnapshot)
		}
		x.text = append(x.text, text...)
		x.words = append(x.words, w)
		x.sorted = append(x.sorted, wordID(id))
	}
	if int(lists) != listCount {
		return fmt.Errorf("%w: %d lists of %d", errSnapshot, lists, listCount)
	}
	x.rehash(slots)
	return nil
}

// readLists reads the postings. They stay where they were read, until they
// change.
func (x *Index) readLists(r *frameReader, there []bool, n, blockCount int) error {
	x.x.lists = make([]list, n)
	all := make([]block, 0, blockCount)
	for i := range x.x.lists {
		if err := r.record(); err != nil {
			return err
		}
		l := &x.x.lists[i]
		docs, count := r.uint(), r.uint()
		total := int(docs)
		from, next := len(all), uint32(0)
		for range count {
			b := block{first: docID(r.uint())}
			b.last = b.first + docID(r.uint())
			n := r.bytes(1)[0]
			b.n, b.packed = n&0x7f+1, n>>7 == 1
			b.max = math.Float32frombits(binary.LittleEndian.Uint32(r.bytes(4)))
			b.data = r.bytes(r.uint())
			if !b.sound(there, next) {
				return fmt.Errorf("%w: a block is damaged", errSnapshot)
			}
			next = uint32(b.last) + 1
			docs -= uint64(b.n)
			all = append(all, b)
		}
		if docs != 0 || count == 0 {
			return fmt.Errorf("%w: a list is damaged", errSnapshot)
		}
		if part := all[from:len(all):len(all)]; count == 1 {
			l.one[0] = part[0]
			all = all[:from]
		} else {
			l.more = &blocks{list: part, docs: total}
		}
	}
	return nil
}

// sound reports whether the postings of a block are those of documents that are
// there, in order, from a document on. Read past the end, it panics, as
// all of a damaged file does (see read).
func (b *block) sound(there []bool, from uint32) bool {
	if b.n == 0 || b.n > blockSize || uint32(b.first) < from {
		return false
	}
	var docs, tfs [blockSize + 1]uint32
	n := b.decode(&docs, &tfs)
	for i, d := range docs[:n] {
		if int(d) >= len(there) || !there[d] || i > 0 && d <= docs[i-1] {
			return false
		}
	}
	return docs[0] == uint32(b.first) && docs[n-1] == uint32(b.last)
}

// close ends the work in the background and keeps the index for the next start,
// if that will find these notes.
func (x *Index) close(replaced bool) {
	x.stopOnce.Do(func() { close(x.stop) })
	x.building.Wait()
	x.mu.RLock()
	changed := x.file.changed
	x.mu.RUnlock()
	if changed > 0 && !replaced {
		_ = x.save() // said already
	}
}

// forget leaves nothing on disk of what is not in the store any more.
func (x *Index) forget() error {
	if x.opts.Dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(x.opts.Dir, fileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	x.mu.Lock()
	x.file.changed++ // so that it is written at the end
	x.mu.Unlock()
	if err := x.save(); !errors.Is(err, errBusy) {
		return err
	}
	return nil
}
