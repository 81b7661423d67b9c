package words

import (
	"errors"
	"hash/crc32"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ctxd/ctxd/context/search/text"
)

// An index is kept in one file, of a header and frames (see wordfile_frames.go), which hold
// these records. Each kind of record begins a frame.
//
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
// The variants come last because a start reads them only when documents are to be
// taken out.
//
// analysisVersion says how texts are tokenised. Another one makes the index
// on disk useless: raise it whenever words, stems, weights or heads of titles
// come out differently, or the file is laid out otherwise.
const analysisVersion = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// snapshots is what is known of the file, and of what it lacks.
type snapshots struct {
	saving  sync.Mutex   // of whoever writes it
	waiting atomic.Int32 // commits that wait for the lock

	// What follows is guarded by the lock of the Index.

	head  rawHeader        // of the file, as it was read or written
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

// save writes the index to disk, if it is whole. It takes the place of the one
// before when it is there as a whole. A commit does not wait for it: it ends the
// writing with errWriterBusy.
func (x *Index) save() (err error) {
	if x.opts.Dir == "" {
		return nil
	}
	defer func() {
		if err != nil && !errors.Is(err, errWriterBusy) {
			x.log.Warn("search: the index of words can't be kept; the next start makes up for it", "error", err)
		}
	}()
	x.file.saving.Lock()
	defer x.file.saving.Unlock()
	began := time.Now()
	var w *writing
	err = replaceFile(x.opts.Dir, func(f *os.File) error {
		x.mu.Lock()
		round := x.file.round
		x.file.round++
		x.mu.Unlock()
		x.rlock()
		defer x.mu.RUnlock()
		var err error
		w, err = x.write(f, round)
		return err
	})
	if err != nil {
		return err
	}
	x.written(w, time.Since(began))
	return nil
}

// writing is the state of an index that is written, and then that of the file.
type writing struct {
	frameWriter
	x     *inverted
	head  rawHeader
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
		return nil, errWriterBusy
	}
	w := &writing{x: x.x, round: round}
	w.was = x.openVariants()
	defer w.was.close()
	w.order, w.numbers = x.x.kept()
	var err error
	w.frameWriter, err = newFrameWriter(f, func() bool { return x.file.waiting.Load() > 0 })
	if err != nil {
		return nil, err
	}
	variants := int64(0)
	for _, part := range []func() error{
		func() error { return x.writeDocs(w) }, w.writeWords, w.writeLists,
		func() error {
			variants = w.At()
			return x.writeVariants(w)
		},
	} {
		if err := errors.Join(part(), w.Flush()); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	w.head = x.header(w, variants)
	_, err = f.WriteAt(w.head[:], 0)
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
			w.Text("")
		} else {
			if _, fresh := x.file.fresh[docID(d)]; fresh || d >= len(x.file.sums) {
				w.sums[d] = textsOf(n)
			} else {
				w.sums[d] = x.file.sums[d]
			}
			w.Text(n.ID())
			w.Uint(n.Version())
			w.Int(n.UpdatedAt().UnixNano())
			w.Uint32(w.sums[d])
			w.Uint64(x.heads[d])
			w.Byte(w.x.lengths[d])
		}
		if err := w.End(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) writeWords() error {
	for _, id := range w.order {
		word := &w.x.words[id]
		w.Text(string(w.x.bytes(id)))
		w.Uint(uint64(word.docs))
		stem := uint64(0)
		if word.stem != noWord {
			stem = uint64(w.numbers[word.stem])
		}
		w.Uint(stem)
		w.Byte(flagIf(word.list > 0))
		if err := w.End(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) writeLists() error {
	for _, id := range w.order {
		if l := w.x.listOf(id); l != nil {
			writeList(&w.frameWriter, l)
			if err := w.End(); err != nil {
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
				if w.Busy() {
					return errWriterBusy
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
		v.write(&w.frameWriter)
		if err := w.End(); err != nil {
			return err
		}
	}
	return nil
}

var textEnd = []byte{0xff} // which is in no text

// textsOf is the checksum of what the index reads of a note. A note that was
// deleted and made again may have the version and the time that it had.
func textsOf(n text.Doc) uint32 {
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

// writeList writes one list.
func writeList(w *frameWriter, l *postingList) {
	w.Uint(uint64(l.Docs()))
	all := l.Blocks()
	w.Uint(uint64(len(all)))
	for _, b := range all {
		w.Uint(uint64(b.First))
		w.Uint(uint64(b.Last - b.First))
		w.Byte(b.N - 1 | flagIf(b.Packed)<<7)
		w.Uint32(math.Float32bits(b.Max))
		w.Bytes(b.Data)
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

// header is that of a file of which the frames are written. The caller has the lock.
func (x *Index) header(w *writing, variants int64) rawHeader {
	h := fileHeader{
		Literal: x.opts.Literal, Seq: x.seq, At: x.at, Docs: len(x.docs), Words: len(w.order), Total: x.x.total,
		Capped: x.x.capped, Variants: variants, Size: w.At(),
	}
	for _, id := range w.order {
		if l := x.x.listOf(id); l != nil {
			h.Lists++
			h.Blocks += len(l.Blocks())
		}
	}
	return h.Head(analysisVersion)
}
