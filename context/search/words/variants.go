package words

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The postings are by stems: they tell which stems a document has, and not in which
// forms. Without that, a document whose text is gone could not be taken out: the
// dictionary counts the documents of every word as it stands in texts. So the
// file keeps of each document its variants: the words that are not their own stem,
// each with whether the stem itself stands there as a word too. Stems of which it
// has no variant stand there as they are. That is a fraction of all words.
//
// In memory there are only the variants of documents that were entered after the
// file was written, as a record: uvarint length of the document, then of each variant
// a uvarint, the number of the word doubled, plus one when its stem stands there too.

// describer makes records. The zero value works, for one goroutine at a time.
type describer struct {
	marks []uint8 // by wordID: 1 for stems of variants, 2 for those that stand there too
	ids   []wordID
	list  []wordID
	buf   []byte
}

// describe returns the record of a document with such words, each once. It only reads
// the dictionary.
func (s *describer) describe(x *dictionary, length uint32, words []wordID) []byte {
	if n := len(x.words); len(s.marks) < n {
		s.marks = make([]uint8, n+n/8)
	}
	s.list = s.list[:0]
	for _, id := range words {
		if stem := x.words[id].stem; stem != id {
			s.list = append(s.list, id)
			s.marks[stem] = 1
		}
	}
	if len(s.list) > 0 {
		for _, id := range words {
			if s.marks[id] == 1 && x.words[id].stem == id {
				s.marks[id] = 2
			}
		}
	}
	s.buf = binary.AppendUvarint(s.buf[:0], uint64(length))
	for _, id := range s.list {
		s.buf = binary.AppendUvarint(s.buf, uint64(id)<<1|uint64(s.marks[x.words[id].stem]>>1))
	}
	for _, id := range s.list {
		s.marks[x.words[id].stem] = 0
	}
	return slices.Clone(s.buf)
}

// describe has the file told of a document that was entered. The caller has the lock.
func (x *Index) describe(d docID, now contents) {
	if x.opts.Dir != "" {
		x.file.put(d, x.describers[0].describe(&x.x.dictionary, now.length, now.words))
	}
}

// describeAll is describe for notes that were entered all at once.
func (x *Index) describeAll(heaps []heap) {
	if x.opts.Dir == "" {
		return
	}
	records := make([][][]byte, len(heaps))
	inParallel(min(len(heaps), len(x.describers)), func(k, workers int) {
		s := &x.describers[k]
		for i := k; i < len(heaps); i += workers {
			for _, n := range heaps[i].notes {
				s.ids = s.ids[:0]
				for _, o := range n.found() {
					s.ids = append(s.ids, n.words.ids[o.word])
				}
				records[i] = append(records[i], s.describe(&x.x.dictionary, n.length, s.ids))
			}
		}
	})
	for i := range heaps {
		for j, n := range heaps[i].notes {
			x.file.put(n.doc, records[i][j])
		}
	}
}

// describeAnew returns the record of a note that is in the index.
func (s *describer) describeAnew(x *dictionary, a *analysis) ([]byte, error) {
	s.ids = s.ids[:0]
	for _, o := range a.found() {
		id, ok := x.find(a.words.bytes(o.word))
		if !ok || x.words[id].stem == noWord {
			return nil, errors.New("a word of a note is not in the index")
		}
		s.ids = append(s.ids, id)
	}
	return s.describe(x, a.length, s.ids), nil
}

// variant is a word of a document that is not its own stem.
type variant struct {
	word  wordID
	plain bool // the stem stands there too
}

// variantsOf are those of one document.
type variantsOf struct {
	length uint64
	list   []variant
}

// readRecord takes a record of memory apart.
func (v *variantsOf) readRecord(b []byte) {
	var n int
	v.length, n = binary.Uvarint(b)
	v.list = v.list[:0]
	for b = b[n:]; len(b) > 0; b = b[n:] {
		var u uint64
		u, n = binary.Uvarint(b)
		v.list = append(v.list, variant{wordID(u >> 1), u&1 == 1})
	}
}

// write writes a record of the file: of words in the order of their numbers there,
// the distances.
func (v *variantsOf) write(w *frameWriter) {
	w.Uint(v.length)
	w.Uint(uint64(len(v.list)))
	before := wordID(0)
	for _, word := range v.list {
		w.Uint(uint64(word.word-before)<<1 | uint64(flagIf(word.plain)))
		before = word.word
	}
}

// read reads a record of the file.
func (v *variantsOf) read(r *frameReader) {
	v.length = r.Uint()
	v.list = v.list[:0]
	word := wordID(0)
	for range r.Uint() {
		u := r.Uint()
		word += wordID(u >> 1)
		v.list = append(v.list, variant{word, u&1 == 1})
	}
}

// renumber gives the words other numbers, those of the file. It reports whether all
// of them have one.
func (v *variantsOf) renumber(number func(wordID) (wordID, bool)) bool {
	sorted := true
	for i := range v.list {
		w := &v.list[i]
		to, ok := number(w.word)
		if !ok {
			return false
		}
		w.word = to
		sorted = sorted && (i == 0 || to > v.list[i-1].word)
	}
	if !sorted {
		slices.SortFunc(v.list, func(a, b variant) int { return int(a.word) - int(b.word) })
	}
	return true
}

// removal takes documents out of an index of which the texts are gone.
type removal struct {
	x    *inverted
	gone []uint32 // documents, in order
	// hidden is how many of them have a stem in variants only.
	hidden map[wordID]uint32
}

// take takes out what the variants of one document say of the words.
func (r *removal) take(d docID, v *variantsOf) bool {
	x := r.x
	if v.length > x.total || len(v.list) > 0 && int(v.list[len(v.list)-1].word) >= len(x.words) {
		return false
	}
	x.total -= v.length
	x.lengths[d] = 0
	x.docs--
	r.gone = append(r.gone, uint32(d))
	hidden := make(map[wordID]bool, len(v.list))
	for _, w := range v.list {
		word := &x.words[w.word]
		if word.docs == 0 || word.stem == w.word || word.stem == noWord {
			return false
		}
		word.docs--
		hidden[word.stem] = !w.plain
	}
	for stem, is := range hidden {
		if is {
			r.hidden[stem]++
		}
	}
	return true
}

// run takes the documents out of the postings. It reports whether everything was
// found as it must be. O(postings).
func (r *removal) run() bool {
	x := r.x
	set := make([]uint64, (len(x.lengths)+63)/64)
	for _, d := range r.gone {
		set[d/64] |= 1 << (d % 64)
	}
	for id := range x.words {
		w := &x.words[id]
		if w.list == 0 {
			continue
		}
		l := &x.lists[w.list-1]
		n := uint32(l.RemoveAll(r.gone, set, x.worth))
		if n == 0 {
			continue
		}
		hidden := r.hidden[wordID(id)]
		delete(r.hidden, wordID(id))
		if hidden > n || n-hidden > w.docs {
			return false
		}
		w.docs -= n - hidden
		if l.Docs() == 0 {
			x.spare = append(x.spare, w.list-1)
			*l, w.list = postingList{}, 0
		}
	}
	return len(r.hidden) == 0
}
