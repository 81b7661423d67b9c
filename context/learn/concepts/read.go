package concepts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/memory/document"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/record"
)

// found is a term of a document.
type found struct {
	key, shown string
	bits
}

// aboutEntity begins the key of a term that is an entity, of which the id follows. No phrase has one that begins so.
const aboutEntity = "\x00"

func compareRefs(a, b ref) int {
	if a.message != b.message {
		if b.message {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.id, b.id)
}

// read reads a document; nil for one that is gone.
func (x *Index) read(r ref) (*doc, []found) {
	src := x.opts.Memories
	if r.message {
		src = x.opts.Messages
	}
	d := src.Get(r.id)
	if d == nil {
		return nil, nil
	}
	public := src.Public(d)
	out := &doc{ref: r, public: public != nil, current: local | remote}
	t := &x.taken
	t.begin()
	if r.message {
		x.readMessage(out, t, d, public)
	} else if !x.readMemory(out, t, d, public) {
		return nil, nil
	}
	return out, slices.Clone(t.list)
}

func (x *Index) readMessage(out *doc, t *taken, d, public text.Doc) {
	out.said[0] = x.opts.Said(d, false)
	out.at = out.said[0].At.UnixNano()
	bits := local
	if public != nil {
		out.said[1] = x.opts.Said(public, true)
		if public.Plain() == d.Plain() {
			bits |= remote
		} else {
			x.phrases(t, remote, x.textsOf(public, x.opts.SaidField))
		}
	}
	x.phrases(t, bits, x.textsOf(d, x.opts.SaidField))
}

// textsOf returns the texts of some fields of a document.
func (*Index) textsOf(d text.Doc, fields ...int) (texts []string) {
	d.Fields(func(field int, text string) bool {
		for _, f := range fields {
			if f == field {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// readMemory reports whether a memory counts in anything.
func (x *Index) readMemory(out *doc, t *taken, d, public text.Doc) bool {
	m := document.Memory(d)
	if !counts(m) && (public == nil || !counts(document.Memory(public))) {
		return false
	}
	out.at, out.current, out.tier, out.kind = m.CreatedAt.UnixNano(), 0, m.Tier, m.Kind
	out.use = x.opts.Store.Counters(m.ID)
	who := []bits{local, remote}
	if public == d {
		who = []bits{local | remote}
	}
	for _, bit := range who {
		of := d
		if bit == remote {
			of = public
		}
		if of == nil || !counts(document.Memory(of)) {
			continue
		}
		shown := document.Memory(of)
		if shown.Current() {
			out.current |= bit
		}
		for side, one := range [...]bits{local, remote} {
			if bit&one != 0 {
				out.quality[side] = shown.Importance * shown.Confidence
			}
		}
		x.phrases(t, bit, x.textsOf(of, document.Summary, document.Questions, document.Statement))
		t.labels(bit, shown)
		for _, id := range m.EntityIDs { // also hidden ones: which they are may be another matter when somebody asks
			t.take(found{aboutEntity + id, "", bit | sure | declared})
		}
	}
	return true
}

// counts reports whether a memory says anything still.
func counts(m *memory.Record) bool {
	return m.Status != record.MemoryRetracted && m.Status != record.MemoryMerged
}

func (x *Index) phrases(t *taken, who bits, texts []string) {
	for _, text := range texts {
		x.reader.In(text, func(p learn.Phrase) bool {
			f := found{p.Key, p.Shown, who}
			if !p.Weak {
				f.bits |= sure
			}
			t.take(f)
			return true
		})
	}
}

// taken collects the terms of one document.
type taken struct {
	list  []found
	index map[takenKey]int // in list
	count [local | remote + 1]int
}

func (t *taken) begin() {
	if t.index == nil {
		t.index = make(map[takenKey]int)
	}
	clear(t.index)
	clear(t.list) // of the texts
	t.list, t.count = t.list[:0], [local | remote + 1]int{}
}

// takenKey keeps apart what only one reader sees: how a private part of a text has a term must not be seen in its
// public part.
type takenKey struct {
	key string
	who bits
}

// mostTerms is how many terms of a document count: those of a long answer are of its subject many times over.
const mostTerms = 60

// take adds a term. Of several forms the first one that something says is one is shown.
func (t *taken) take(f found) {
	key := takenKey{f.key, f.bits & (local | remote)}
	at, ok := t.index[key]
	if !ok {
		if t.count[key.who] >= mostTerms {
			return
		}
		t.count[key.who]++
		t.index[key] = len(t.list)
		t.list = append(t.list, f)
		return
	}
	old := &t.list[at]
	if f.bits&sure != 0 && old.bits&sure == 0 {
		old.shown = f.shown
	}
	old.bits |= f.bits
}

// labels takes the tags and domains of a memory: of a/b both.
func (t *taken) labels(who bits, m *memory.Record) {
	for _, list := range [][]string{m.Tags, m.Domains} {
		for _, label := range list {
			for part := range strings.SplitSeq(label, "/") {
				if key := learn.PhraseKey(part); key != "" {
					t.take(found{key, part, who | sure | declared})
				}
			}
		}
	}
}

// told is what is known of a document beside its terms.
func (d *doc) told() []string {
	return []string{fmt.Sprint(d.at, d.public, d.current, d.tier, d.kind, d.quality, d.use, d.said)}
}
