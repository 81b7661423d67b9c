package words

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/ctxd/ctxd/context/search/text"
)

// For a reader from whom private records are kept, the index is that of another store,
// which never had them: their words are not counted, and a document that hides some of its
// text has the words of what is left. So scores, the order of hits, completions and
// corrections tell of nothing that is hidden.
//
// The index of words holds all documents as they are. Beside it stands what has to be
// taken off its counts, by word, and a second, small index of the documents that hide a
// part, as they are for others: the two are the layers of a public search. Local searches
// know nothing of this and pay nothing. It is made in memory after a start, in the
// background, from the documents that hide anything, and kept current from then on.

// hidden is what the index of words holds and a public search does not see.
type hidden struct {
	set   []uint64 // of documents, by docID
	docs  int      // in set
	total uint64   // their words
	stems []uint32 // by wordID: documents of set that have the stem
	words []uint32 // by wordID: documents of set in which the word stands as it is

	x      *inverted  // of what others see of documents of set
	shown  []text.Doc // of x, by docID; nil where there is none
	heads  []uint64
	number map[string]docID // by the id of the document
	free   []docID

	public int // documents of a public search
	sat    saturationTable
	mean   float64 // length of these
}

func (h *hidden) has(d docID) bool {
	return int(d/64) < len(h.set) && h.set[d/64]>>(d%64)&1 == 1
}

// of returns how many documents are to be taken off a count.
func of(counts []uint32, id wordID) int {
	if int(id) < len(counts) {
		return int(counts[id])
	}
	return 0
}

// count adds the contents of a document to what is hidden, or takes them off.
func (h *hidden) count(d docID, c contents, by int) {
	for need := int(d/64) + 1; len(h.set) < need; {
		h.set = append(h.set, 0)
	}
	h.set[d/64] ^= 1 << (d % 64)
	h.docs += by
	h.total += uint64(by * int(c.length))
	add := func(counts *[]uint32, id wordID) {
		if n := len(*counts); int(id) >= n {
			*counts = append(*counts, make([]uint32, int(id)+1-n+n/8)...)
		}
		(*counts)[id] += uint32(by)
	}
	for _, p := range c.terms {
		add(&h.stems, p.term)
	}
	for _, id := range c.words {
		add(&h.words, id)
	}
}

// put has a document stand as others see it.
func (h *hidden) put(fields []text.Field, d text.Doc) {
	n := len(h.free)
	var at docID
	if n > 0 {
		at, h.free = h.free[n-1], h.free[:n-1]
	} else {
		at = docID(len(h.shown))
		h.shown, h.heads = append(h.shown, nil), append(h.heads, 0)
	}
	h.shown[at], h.heads[at] = d, headOf(d.Title())
	h.number[d.ID()] = at
	h.x.docs++
	h.x.replace(at, contents{}, h.x.take(analyse(new(reading), fields, d)))
}

// drop takes out how others saw a document, if it stood there.
func (h *hidden) drop(fields []text.Field, id string) {
	at, ok := h.number[id]
	if !ok {
		return
	}
	h.x.replace(at, h.x.take(analyse(new(reading), fields, h.shown[at])), contents{})
	h.x.docs--
	delete(h.number, id)
	h.shown[at], h.free = nil, append(h.free, at)
}

// hide notes what is hidden of a document that was entered. The caller has the lock.
func (x *Index) hide(d docID, now contents) {
	if x.hidden == nil {
		return
	}
	doc := x.docs[d]
	public := x.src.Public(doc)
	if public != doc {
		x.hideAs(d, now, public)
	}
}

// hideAs is hide for a document that others see as public, another one or none. To ask the
// Source for that takes as long as the text is.
func (x *Index) hideAs(d docID, now contents, public text.Doc) {
	x.hidden.count(d, now, 1)
	if public != nil {
		x.hidden.put(x.fields, public)
	}
}

// show forgets what is hidden of a document that is taken out. The caller has the lock.
func (x *Index) show(d docID, old contents) {
	if x.hidden == nil || !x.hidden.has(d) {
		return
	}
	x.hidden.count(d, old, -1)
	x.hidden.drop(x.fields, x.docs[d].ID())
}

// hideAll is hide for documents that were entered all at once.
func (x *Index) hideAll(heaps []heap) {
	if x.hidden == nil {
		return
	}
	for i := range heaps {
		for _, n := range heaps[i].notes {
			doc := x.docs[n.doc]
			public := x.src.Public(doc)
			if public != doc {
				x.hideAs(n.doc, x.x.take(n.analysis), public)
			}
		}
	}
}

// reveal brings documents up to date of which others see more, or less, than before. The
// caller has the lock.
func (x *Index) reveal(ids []string) {
	if x.hidden == nil {
		for _, id := range ids {
			if x.turned != nil {
				x.turned[id] = true
			}
		}
	}
	if x.hidden == nil || len(ids) == 0 {
		return
	}
	for _, id := range ids {
		d, ok := x.number[id]
		if !ok {
			continue
		}
		doc := x.docs[d]
		public := x.src.Public(doc)
		if public == doc && !x.hidden.has(d) {
			continue
		}
		now := x.x.take(analyse(new(reading), x.fields, doc))
		x.show(d, now)
		if public != doc {
			x.hideAs(d, now, public)
		}
	}
	x.settleHidden()
}

// settleHidden brings up to date what depends on all that is hidden. The caller has the
// lock.
func (x *Index) settleHidden() {
	h := x.hidden
	if h == nil {
		return
	}
	h.x.average()
	h.x.tidy()
	h.public = x.x.docs - h.docs + h.x.docs
	h.mean = 1
	if h.public > 0 {
		h.mean = max(1, float64(x.x.total-h.total+h.x.total)/float64(h.public))
	}
	h.sat.Fill(h.mean)
}

// Docs returns the documents of the index as a reader sees them. O(documents).
func (x *Index) Docs(public bool) []text.Doc {
	x.rlockFor(public)
	defer x.mu.RUnlock()
	var w world
	w.see(x, public)
	list := make([]text.Doc, 0, w.all)
	for _, l := range w.layers {
		for i := range l.docs {
			if d := l.base | docID(i); w.sees(d) {
				list = append(list, w.doc(d))
			}
		}
	}
	return list
}

// Public is Source.Public without a look at the texts, for who asks it of many documents. known is false for a document
// that is not in the index, and while it is not known what is hidden.
func (x *Index) Public(d text.Doc) (public text.Doc, known bool) {
	x.rlock()
	defer x.mu.RUnlock()
	at, ok := x.number[d.ID()]
	if x.hidden == nil || !ok || x.docs[at] != d {
		return nil, false
	}
	if !x.hidden.has(at) {
		return d, true
	}
	if upper, ok := x.hidden.number[d.ID()]; ok {
		return x.hidden.shown[upper], true
	}
	return nil, true
}

// rlockFor is rlock. For a public search it is known then what is hidden.
func (x *Index) rlockFor(public bool) {
	for x.rlock(); public && x.hidden == nil; x.rlock() {
		x.mu.RUnlock()
		x.findHidden(func() bool { return false })
	}
}

// findHidden finds what is hidden, if that is not known yet, unless it is ended. The texts are read without the lock:
// commits and local searches do not wait for it. O(documents, and the words of those that hide anything).
func (x *Index) findHidden(ended func() bool) {
	x.finding.Lock()
	defer x.finding.Unlock()
	x.mu.Lock()
	if x.hidden != nil {
		x.mu.Unlock()
		return
	}
	docs := slices.Clone(x.docs)
	x.turned = make(map[string]bool)
	x.mu.Unlock()
	parts := x.hiding(docs, ended)
	inParallel(len(parts), func(k, _ int) { parts[k].read(x.fields) })
	if ended() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hidden = &hidden{x: newInverted(x.stem), number: make(map[string]docID)}
	for _, p := range parts {
		for i, c := range p.list {
			if d, ok := x.number[c.id]; ok && x.docs[d] == c.now && !x.turned[c.id] {
				x.hideAs(d, x.x.take(c.words), p.public[i])
			}
		}
	}
	for d, doc := range x.docs {
		same := d < len(docs) && docs[d] == doc
		if doc == nil || same && !x.turned[doc.ID()] || x.hidden.has(docID(d)) {
			continue
		}
		if public := x.src.Public(doc); public != doc { // it came or changed meanwhile
			x.hideAs(docID(d), x.x.take(analyse(new(reading), x.fields, doc)), public)
		}
	}
	x.turned = nil
	x.settleHidden()
}

// hiding are documents that hide anything, with what others see of each.
type hiding struct {
	part
	public []text.Doc
}

// hiding returns those of documents that hide anything, in parts that can be read at once.
func (x *Index) hiding(docs []text.Doc, ended func() bool) []hiding {
	parts := make([]hiding, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	const some = 512
	inParallel(len(parts), func(k, _ int) {
		p := &parts[k]
		p.reading = new(reading)
		for !ended() {
			from := int(next.Add(some)) - some
			if from >= len(docs) {
				return
			}
			for _, doc := range docs[from:min(from+some, len(docs))] {
				if doc == nil {
					continue
				}
				if public := x.src.Public(doc); public != doc {
					p.list, p.public = append(p.list, change{id: doc.ID(), now: doc}), append(p.public, public)
				}
			}
		}
	})
	return parts
}
