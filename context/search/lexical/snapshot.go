package lexical

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ctxd/ctxd/context/search/source"
)

// An index is kept in one file: a header, then frames of whole records, each
// with its length and checksum, so that they can be read and let go one by one.
// Each kind of record begins a frame.
//
//	header    magic 8, analysis 4, literal 1, zero 3, sequence 8, time of it 8,
//	          documents 4, words 4, lists 4, blocks 4, sum of lengths 8, average of
//	          worth 8, where the variants begin 8, size of the file 8, checksum 4
//	frame     size 4, checksum 4, records
//	document  text id ("" for a number that is free), uvarint version,
//	          varint time of change (Unix ns), CRC-32C of its texts 4, head of the
//	          title 8, length code 1
//	word      text, uvarint documents, uvarint stem plus one, list 1; in order
//	list      uvarint documents, uvarint blocks, of each: uvarint first document,
//	          uvarint distance to the last, postings less 1 and 128 when packed 1,
//	          worth 4, uvarint size, postings
//	variants  of each document (see variants.go): uvarint length, uvarint words, of
//	          each: uvarint distance from the word before, doubled, plus one when its
//	          stem stands there too
//
// A text is a uvarint length and its bytes. Integers of fixed size are
// little-endian, checksums CRC-32C. Sequence and time are those of the last
// transaction that the index has seen; the time is 0 when it is not known.
//
// The variants come last because a start reads them only when documents are to be
// taken out.
const (
	// FileName is the file in the folder of an index, and TempSuffix what is added for
	// one that is being written.
	FileName   = "words"
	TempSuffix = ".tmp"

	fileMagic  = "ctxdword"
	headerSize = 84
	frameSize  = 1 << 20

	// analysisVersion says how texts are tokenised. Another one makes the index
	// on disk useless: raise it whenever words, stems, weights or heads of titles
	// come out differently, or the file is laid out otherwise.
	analysisVersion = 6
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errSnapshot = errors.New("the index on disk can't be used")

// snapshots is what is known of the file, and of what it lacks.
type snapshots struct {
	saving  sync.Mutex   // of whoever writes it
	waiting atomic.Int32 // commits that wait for the lock

	// What follows is guarded by the lock of the Index.

	head  [headerSize]byte // of the file, as it was read or written
	docs  int              // documents of which it has the variants, if they are not fresh
	order []wordID         // its words by their numbers in it; nil: they are the same here
	sums  []uint32         // of the texts of its documents
	fresh map[docID]record // documents that changed since
	round uint32           // counts the writings
	anew  string           // why the index could not be taken from it at the start
	taken int              // notes that were taken from it
	late  int              // notes that differed at the start

	keeping
}

// record is what the file is to be told of a document that was entered or taken out.
type record struct {
	round    uint32
	variants []byte // see variants.go; nil: the document is gone
}

// put notes that a document changed. The caller has the lock of the Index.
func (s *snapshots) put(d docID, variants []byte) {
	if s.wake == nil {
		return // there is no file
	}
	if s.fresh == nil {
		s.fresh = make(map[docID]record)
	}
	s.fresh[d] = record{s.round, variants}
	s.changed()
}

// forget notes that the file is of another index. The caller has the lock of the Index.
func (s *snapshots) forget() {
	s.docs, s.order, s.sums, s.fresh = 0, nil, nil, nil
	s.taken, s.late = 0, 0
}

// errBusy ends the writing of the file when a commit waits.
var errBusy = errors.New("the notes change")

// frames writes records in frames.
type frames struct {
	w    *bufio.Writer
	at   int64 // in the file
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
	f.at += int64(len(head) + len(f.buf))
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
			x.log.Warn("search: the index of words can't be kept; the next start makes up for it", "error", err)
		}
	}()
	x.file.saving.Lock()
	defer x.file.saving.Unlock()
	began := time.Now()
	if err := os.MkdirAll(x.opts.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(x.opts.Dir, 0o700); err != nil { //nolint:gosec // a folder
		return err
	}
	if err := x.clean(); err != nil {
		return err
	}
	name := filepath.Join(x.opts.Dir, FileName)
	temp := name + TempSuffix
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp) //nolint:errcheck // gone when all went well
	x.mu.Lock()
	round := x.file.round
	x.file.round++
	x.mu.Unlock()
	x.rlock()
	w, err := x.write(f, round)
	x.mu.RUnlock()
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	x.written(w, time.Since(began))
	return nil
}

// clean removes what a writer left that did not come to its end.
func (x *Index) clean() error {
	err := os.Remove(filepath.Join(x.opts.Dir, FileName+TempSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// writing is the state of an index that is written, and then that of the file.
type writing struct {
	frames
	x     *inverted
	head  [headerSize]byte
	order []wordID // the words, by their new numbers
	sums  []uint32
	round uint32

	numbers []uint32 // the new numbers plus one, by the old
	was     oldVariants
}

// write writes the file. An index that is not whole is not kept. The caller has the
// lock.
func (x *Index) write(f *os.File, round uint32) (*writing, error) {
	if x.broken != nil {
		return nil, errHalf
	}
	if len(x.waiting) > 0 || x.file.waiting.Load() > 0 {
		return nil, errBusy
	}
	w := &writing{x: x.x, round: round}
	w.was = x.openVariants()
	defer w.was.close()
	w.order, w.numbers = x.x.kept()
	w.frames = frames{
		at: headerSize, w: bufio.NewWriterSize(f, 256<<10),
		busy: func() bool { return x.file.waiting.Load() > 0 },
	}
	if _, err := w.frames.w.Write(make([]byte, headerSize)); err != nil {
		return nil, err
	}
	variants := int64(0)
	for _, part := range []func() error{
		func() error { return x.writeDocs(w) }, w.writeWords, w.writeLists,
		func() error {
			variants = w.at
			return x.writeVariants(w)
		},
	} {
		if err := errors.Join(part(), w.flush()); err != nil {
			return nil, err
		}
	}
	if err := w.frames.w.Flush(); err != nil {
		return nil, err
	}
	copy(w.head[:], x.header(w, variants))
	stampHeader(&w.head, x.seq, x.at)
	_, err := f.WriteAt(w.head[:], 0)
	return w, err
}

// written notes that the file is of that writing.
func (x *Index) written(w *writing, cost time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if w.x != x.x { // it is being made anew
		return
	}
	x.file.head, x.file.order, x.file.sums, x.file.docs = w.head, w.order, w.sums, len(w.sums)
	for d, r := range x.file.fresh {
		if r.round <= w.round {
			delete(x.file.fresh, d)
		}
	}
	if len(x.file.fresh) == 0 {
		x.file.fresh = nil // a map does not give its memory back
	}
	x.file.saved(cost)
}

func (x *Index) writeDocs(w *writing) error {
	w.sums = make([]uint32, len(x.docs))
	for d, n := range x.docs {
		if n == nil {
			w.text("")
		} else {
			if _, fresh := x.file.fresh[docID(d)]; fresh || d >= len(x.file.sums) {
				w.sums[d] = textsOf(n)
			} else {
				w.sums[d] = x.file.sums[d]
			}
			w.text(n.ID())
			w.uint(n.Version())
			w.buf = binary.AppendVarint(w.buf, n.UpdatedAt().UnixNano())
			w.buf = binary.LittleEndian.AppendUint32(w.buf, w.sums[d])
			w.buf = binary.LittleEndian.AppendUint64(w.buf, x.heads[d])
			w.buf = append(w.buf, w.x.lengths[d])
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) writeWords() error {
	for _, id := range w.order {
		word := &w.x.words[id]
		w.text(string(w.x.bytes(id)))
		w.uint(uint64(word.docs))
		stem := uint64(0)
		if word.stem != noWord {
			stem = uint64(w.numbers[word.stem])
		}
		w.uint(stem)
		w.buf = append(w.buf, flagIf(word.list > 0))
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) writeLists() error {
	for _, id := range w.order {
		if l := w.x.listOf(id); l != nil {
			w.list(l)
			if err := w.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeVariants takes the variants of most documents from the file before.
func (x *Index) writeVariants(w *writing) error {
	number := func(id wordID) (wordID, bool) {
		if int(id) >= len(w.numbers) || w.numbers[id] == 0 {
			return 0, false
		}
		return wordID(w.numbers[id] - 1), true
	}
	numberOfOld := func(id wordID) (wordID, bool) {
		if x.file.order == nil {
			return number(id)
		}
		if int(id) >= len(x.file.order) {
			return 0, false
		}
		return number(x.file.order[id])
	}
	var v, fresh variantsOf
	var again reading
	var s describer
	for d, n := range x.docs {
		old := w.was.next(&v)
		r, changed := x.file.fresh[docID(d)]
		switch {
		case n == nil:
			v = variantsOf{list: v.list[:0]}
		case !changed && old && v.renumber(numberOfOld):
		default:
			if r.variants == nil { // the file before is damaged, or gone
				if w.busy() {
					return errBusy
				}
				again.forget(manyWords)
				var err error
				r.variants, err = s.describeAnew(&x.x.dictionary, analyse(&again, x.fields, n))
				if err != nil {
					return err
				}
			}
			fresh.readRecord(r.variants)
			if !fresh.renumber(number) {
				return errors.New("a word of a note is not in the index")
			}
			v, fresh = fresh, v
		}
		w.variants(&v)
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

var textEnd = []byte{0xff} // which is in no text

// textsOf is the checksum of what the index reads of a note. A note that was
// deleted and made again may have the version and the time that it had.
func textsOf(n source.Doc) uint32 {
	sum := uint32(0)
	add := func(text string) {
		sum = crc32.Update(sum, castagnoli, unsafe.Slice(unsafe.StringData(text), len(text))) //nolint:gosec // is only read; copies of all texts take long
		sum = crc32.Update(sum, castagnoli, textEnd)
	}
	n.Stored(add)
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
	f.uint(uint64(l.Docs()))
	all := l.Blocks()
	f.uint(uint64(len(all)))
	for _, b := range all {
		f.uint(uint64(b.First))
		f.uint(uint64(b.Last - b.First))
		f.buf = append(f.buf, b.N-1|flagIf(b.Packed)<<7)
		f.buf = binary.LittleEndian.AppendUint32(f.buf, math.Float32bits(b.Max))
		f.uint(uint64(len(b.Data)))
		f.buf = append(f.buf, b.Data...)
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

func (x *Index) header(w *writing, variants int64) []byte {
	lists, blocks := 0, 0
	for _, id := range w.order {
		if l := x.x.listOf(id); l != nil {
			lists++
			blocks += len(l.Blocks())
		}
	}
	h := append(make([]byte, 0, headerSize), fileMagic...)
	h = binary.LittleEndian.AppendUint32(h, analysisVersion)
	h = append(h, flagIf(x.opts.Literal), 0, 0, 0)
	h = append(h, make([]byte, 16)...) // see stampHeader
	for _, n := range []int{len(x.docs), len(w.order), lists, blocks} {
		h = binary.LittleEndian.AppendUint32(h, uint32(n))
	}
	h = binary.LittleEndian.AppendUint64(h, x.x.total)
	h = binary.LittleEndian.AppendUint64(h, math.Float64bits(x.x.capped))
	h = binary.LittleEndian.AppendUint64(h, uint64(variants))
	h = binary.LittleEndian.AppendUint64(h, uint64(w.at))
	return append(h, 0, 0, 0, 0)
}

// stampHeader writes the last transaction into a header, and seals it.
func stampHeader(h *[headerSize]byte, seq uint64, at int64) {
	binary.LittleEndian.PutUint64(h[16:], seq)
	binary.LittleEndian.PutUint64(h[24:], uint64(at))
	binary.LittleEndian.PutUint32(h[headerSize-4:], crc32.Checksum(h[:headerSize-4], castagnoli))
}
