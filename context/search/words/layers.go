package words

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ctxd/ctxd/context/search/text"
)

// upperLayer is a bit of the numbers of documents in the second layer.
const upperLayer docID = 1 << 31

// layer is an index of words that a search reads. A local search reads one, a public one
// may read two (see hidden).
type layer struct {
	x     *inverted
	docs  []text.Doc
	heads []uint64
	base  docID
	// hidden are those of docs that are not there for a public search, as bits.
	hidden []uint64
	scoreParams
}

// world is what one search sees. It holds as long as the lock of the Index.
type world struct {
	layers []layer
	all    int     // documents
	hidden *hidden // nil: nothing is
	room   [2]layer
}

// see sets what a search sees. The caller has the lock.
func (w *world) see(x *Index, public bool) {
	w.room[0] = layer{
		x: x.x, docs: x.docs, heads: x.heads,
		scoreParams: scoreParams{saturationTable: &x.x.now, Lengths: x.x.lengths, Slack: 1},
	}
	w.layers, w.all, w.hidden = w.room[:1], x.x.docs, nil
	h := x.hidden
	if !public || h == nil || h.docs == 0 {
		return
	}
	w.all, w.hidden, w.room[0].hidden = h.public, h, h.set
	w.room[0].saturationTable, w.room[0].Slack = &h.sat, slackOf(h.mean, x.x)
	if h.x.docs > 0 {
		w.room[1] = layer{x: h.x, docs: h.shown, heads: h.heads, base: upperLayer}
		w.room[1].scoreParams = scoreParams{saturationTable: &h.sat, Lengths: h.x.lengths, Slack: slackOf(h.mean, h.x)}
		w.layers = w.room[:2]
	}
}

// slackOf is the slack of a layer for an average length: the longer documents are on
// average, the less a length counts, by no more than that.
func slackOf(mean float64, x *inverted) float32 { return float32(max(1, mean/x.capped) * 1.0001) }

func (w *world) layerOf(d docID) *layer { return &w.layers[d>>31] }

func (w *world) doc(d docID) text.Doc { return w.layerOf(d).docs[d&^upperLayer] }

func (w *world) head(d docID) uint64 { return w.layerOf(d).heads[d&^upperLayer] }

// sees reports whether a document is there.
func (w *world) sees(d docID) bool {
	return w.doc(d) != nil && (w.hidden == nil || d >= upperLayer || !w.hidden.has(d))
}

func (w *world) idf(docs int) float64 { return idf(w.all, docs) }

// found are the postings of a stem, by layer.
type found struct {
	lists [2]*postingList // nil: none
	stem  wordID          // in the first layer; noWord when it is not there
	docs  int             // that have it
}

// lookUp returns the postings of the stem of a word. Nothing is entered.
func (w *world) lookUp(word []byte) (f found) {
	for i := range w.layers {
		l, id := w.layers[i].x.postings(word)
		f.add(w, i, l, id)
	}
	return f
}

// add adds the postings of a stem of a layer.
func (f *found) add(w *world, layer int, l *postingList, stem wordID) {
	if layer == 0 {
		f.stem = stem
	}
	if l == nil {
		return
	}
	f.lists[layer] = l
	f.docs += l.Docs()
	if layer == 0 && w.hidden != nil {
		f.docs -= of(w.hidden.stems, stem)
	}
}

// candidate is a word of texts that another may stand for.
type candidate struct {
	docs uint32    // in which it stands as it is
	ids  [2]wordID // by layer; noWord where it is not
}

// text returns the word.
func (w *world) text(c candidate) []byte {
	for i := range w.layers {
		if c.ids[i] != noWord {
			return w.layers[i].x.bytes(c.ids[i])
		}
	}
	return nil
}

// lists returns the postings of the stem of a candidate.
func (w *world) lists(c candidate) found {
	if len(w.layers) > 1 {
		return w.lookUp(w.text(c))
	}
	x := w.layers[0].x
	stem := x.words[c.ids[0]].stem
	var f found
	f.add(w, 0, x.listOf(stem), stem)
	return f
}

// completions returns words that begin with a prefix, the most frequent first;
// all pairs for a character.
func (w *world) completions(prefix string) []candidate {
	list := w.candidates(func(x *inverted, visit func(wordID)) { x.eachPrefixed([]byte(prefix), visit) })
	if text.IsCharacter(prefix) {
		return list
	}
	return w.frequentFirst(list)
}

// corrections returns words that differ from a word by one edit.
func (w *world) corrections(word []byte) []candidate {
	return w.frequentFirst(w.candidates(func(x *inverted, visit func(wordID)) { x.eachNear(word, visit) }))
}

// candidates returns the words that each visits in the layers.
func (w *world) candidates(each func(x *inverted, visit func(wordID))) (list []candidate) {
	x := w.layers[0].x
	each(x, func(id wordID) {
		docs := x.words[id].docs
		if w.hidden != nil {
			docs -= uint32(of(w.hidden.words, id))
		}
		if docs > 0 {
			list = append(list, candidate{docs, [2]wordID{id, noWord}})
		}
	})
	if len(w.layers) == 1 {
		return list
	}
	at := make(map[wordID]int, len(list))
	for i, c := range list {
		at[c.ids[0]] = i
	}
	upper := w.layers[1].x
	each(upper, func(id wordID) {
		below, ok := x.find(upper.bytes(id))
		if i, there := at[below]; ok && there {
			list[i].docs += upper.words[id].docs
			list[i].ids[1] = id
			return
		}
		list = append(list, candidate{upper.words[id].docs, [2]wordID{noWord, id}})
	})
	return list
}

func (w *world) frequentFirst(list []candidate) []candidate {
	slices.SortFunc(list, func(a, b candidate) int {
		if a.docs != b.docs {
			return cmp.Compare(b.docs, a.docs)
		}
		return bytes.Compare(w.text(a), w.text(b))
	})
	return list[:min(len(list), maxExpansions)]
}
