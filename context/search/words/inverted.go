package words

import (
	"math"
	"slices"
)

// inverted is an inverted index over documents that it knows by number: what
// words they hold, how often, and how long they are. It is not safe for
// concurrent use.
type inverted struct {
	dictionary
	lists   []postingList
	spare   []uint32 // indexes of lists that are free
	lengths []uint8  // of the documents, as codes
	docs    int      // that are there
	total   uint64   // words of all documents

	// now is what lengths count with today's average length; caps the same with an
	// average that is at least today's, so that what blocks are worth stays true while
	// the average changes a little.
	now    saturationTable
	caps   [256]float32
	capped float64 // the average that caps is for

	weights []uint32 // scratch of take, by wordID
}

func newInverted(stem func(string) string) *inverted {
	x := &inverted{dictionary: *newDictionary(stem)}
	x.average()
	return x
}

// average brings what lengths count up to date with the average length, and the
// worth of all blocks when that has moved out of where it holds.
func (x *inverted) average() {
	average := 1.0
	if x.docs > 0 {
		average = max(1, float64(x.total)/float64(x.docs))
	}
	x.now.Fill(average)
	if average <= x.capped && average >= x.capped*0.8 {
		return
	}
	x.cap(average * 1.05)
	for i := range x.lists {
		x.lists[i].Revalue(x.worth)
	}
}

// cap sets the average that blocks are worth what they are worth with.
func (x *inverted) cap(average float64) {
	x.capped = average
	fillNorms(&x.caps, average)
}

func (x *inverted) worth(doc docID, tf uint32) float32 {
	return saturation(tf, x.caps[x.lengths[doc]])
}

// idf weighs a word by the number of documents that it stands in, of so many.
func idf(all, docs int) float64 {
	return math.Log(1 + (float64(all)-float64(docs)+0.5)/(float64(docs)+0.5))
}

// posting is a term of a document.
type posting struct {
	term wordID // a stem
	tf   uint32
}

// contents are what the index holds of one document.
type contents struct {
	terms  []posting // in order of the numbers
	words  []wordID  // each once
	length uint32
}

// take looks the words of an analysis up and enters those that are new.
func (x *inverted) take(a *analysis) contents {
	a.words.enterInto(&x.dictionary)
	if n := len(x.dictionary.words); len(x.weights) < n {
		x.weights = append(x.weights, make([]uint32, n+n/8-len(x.weights))...)
	}
	c := contents{length: a.length}
	for _, o := range a.found() {
		id := a.words.ids[o.word]
		stem := a.words.stems[o.word]
		if x.weights[stem] == 0 {
			c.terms = append(c.terms, posting{term: stem})
		}
		x.weights[stem] += o.weight
		c.words = append(c.words, id)
	}
	for i := range c.terms {
		p := &c.terms[i]
		p.tf, x.weights[p.term] = x.weights[p.term], 0
	}
	slices.SortFunc(c.terms, func(a, b posting) int { return int(a.term) - int(b.term) })
	return c
}

// replace exchanges what the index holds of a document. Empty contents are those
// of none. O(terms of both).
func (x *inverted) replace(doc docID, old, now contents) {
	x.reach(doc)
	before := x.lengths[doc]
	x.lengths[doc] = lengthCode(now.length)
	x.total += uint64(now.length) - uint64(old.length)
	a, b := old.terms, now.terms
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].term < b[0].term:
			x.set(a[0].term, doc, 0)
			a = a[1:]
		case len(a) == 0 || b[0].term < a[0].term:
			x.set(b[0].term, doc, b[0].tf)
			b = b[1:]
		default:
			if a[0].tf != b[0].tf {
				x.set(b[0].term, doc, b[0].tf)
			} else if x.lengths[doc] < before { // a shorter text makes each word worth more
				l := x.listOf(b[0].term)
				l.Raise(doc, x.worth(doc, b[0].tf))
			}
			a, b = a[1:], b[1:]
		}
	}
	for _, id := range old.words {
		x.words[id].docs--
	}
	for _, id := range now.words {
		x.words[id].docs++
	}
}

// set gives a document a frequency of a term, 0 for none.
func (x *inverted) set(term wordID, doc docID, tf uint32) {
	w := &x.words[term]
	if w.list == 0 && tf == 0 {
		return
	}
	l := &x.lists[x.listFor(term)]
	l.Set(doc, tf, x.worth)
	if l.Docs() == 0 {
		x.spare = append(x.spare, w.list-1)
		*l, w.list = postingList{}, 0
	}
}

// listFor returns the index of the postings of a term, which gets some when it has
// none.
func (x *inverted) listFor(term wordID) uint32 {
	w := &x.words[term]
	if w.list == 0 {
		if n := len(x.spare); n > 0 {
			w.list, x.spare = x.spare[n-1]+1, x.spare[:n-1]
		} else {
			x.lists = append(x.lists, postingList{})
			w.list = uint32(len(x.lists))
		}
	}
	return w.list - 1
}

// reach makes room for a document.
func (x *inverted) reach(doc docID) {
	for int(doc) >= len(x.lengths) {
		x.lengths = append(x.lengths, 0)
	}
}

// listOf returns the postings of a term, nil when there are none.
func (x *inverted) listOf(term wordID) *postingList {
	if l := x.words[term].list; l > 0 {
		return &x.lists[l-1]
	}
	return nil
}

// postings returns the postings of the stem of a word, nil when it is not there.
// Nothing is entered.
func (x *inverted) postings(text []byte) (*postingList, wordID) {
	if id, ok := x.find(text); ok && x.words[id].stem != noWord {
		id = x.words[id].stem
		return x.listOf(id), id
	}
	if id, ok := x.find([]byte(x.stem(string(text)))); ok {
		return x.listOf(id), id
	}
	return nil, noWord
}
