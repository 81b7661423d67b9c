package notes

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/text"
)

// Loaded are the notes of a store by their ids, for a Store that opens over it.
type Loaded struct {
	seq      uint64 // of the store's last transaction
	lists    [][]*Note
	index    *index // without names and links
	live     int
	privates int64
	text     int64
}

// Load reads the notes of a store, for Options.Loaded: it can run beside the opening of
// other rooms. It leaves for later what the notes are named and link to; see
// Store.LoadRest. Both together are the same as to enter them one after the other and
// to resolve their links then, in a fraction of the time.
func Load(db *kv.Store) (*Loaded, error) {
	l := &Loaded{seq: db.Seq()}
	all := 0
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		for list := range kv.LoadAhead(tx, stored, func(_ []string, list []*Note) []*Note { return list }) {
			l.lists, all = append(l.lists, list), all+len(list)
		}
		return tx.Err()
	})
	if err != nil {
		return nil, err
	}
	x := &index{byID: make(map[string]num, all), list: make([]entry, 0, all)}
	for _, list := range l.lists {
		for _, n := range list {
			x.byID[n.ID] = num(len(x.list))
			x.list = append(x.list, entry{note: n})
			l.text += int64(len(n.Body))
			if n.Live() {
				l.live++
			}
			if n.Private {
				l.privates++
			}
		}
	}
	l.index = x
	return l, nil
}

// load takes in the notes of the store, as far as Load does.
func (s *Store) load() error {
	l := s.opts.Loaded
	s.opts.Loaded = nil
	if l == nil || l.seq != s.db.Seq() {
		var err error
		l, err = Load(s.db)
		if err != nil {
			return err
		}
	}
	s.index, s.live, s.text = l.index, l.live, l.text
	s.privates.Store(l.privates)
	s.mu.Later(func() { s.loadRest(l.lists) })
	return nil
}

// loadRest loads what load has left for later.
func (s *Store) loadRest(lists [][]*Note) {
	batches, texts := make([]*batch, len(lists)), make([]*names.Batch, len(lists))
	private := make([]*names.Batch, len(lists))
	onAll(len(lists), func(from, to int) {
		for i := from; i < to; i++ {
			batches[i] = readBatch(lists[i])
			texts[i], private[i] = &batches[i].names, &batches[i].private
		}
	})
	var both sync.WaitGroup
	both.Go(func() { s.names = names.Load(texts) })
	both.Go(func() { s.privateNames = names.Load(private) })
	for _, list := range lists {
		for _, n := range list {
			if n.Live() {
				s.countTags(n)
			}
		}
	}
	s.index.load(batches)
	both.Wait()
}

// batch is some notes with what can be worked out of each without the others.
type batch struct {
	notes []*Note
	names names.Batch

	private names.Batch // the names of the private notes
	keys    []nameKey
	links   []linkKey
	folds   []byte // the keys of all links, one after the other
	many    []manyLinks

	places []uint32 // of the first keys of links, once they have been looked for
}

// nameKey is a key that a note is named by.
type nameKey struct {
	key  string
	note uint32 // in the batch
	as   role
}

// linkKey is a link of a note and the ends of its keys in batch.folds. The second
// one is empty where a link has one key, and both are in a link into the note itself.
type linkKey struct{ note, whole, base uint32 }

// manyLinks are the keys of a note that has many links.
type manyLinks struct {
	note uint32 // in the batch
	keys *linkHashes
}

func readBatch(list []*Note) *batch {
	b := &batch{
		notes: list, keys: make([]nameKey, 0, len(list)), links: make([]linkKey, 0, 3*len(list)),
		folds: make([]byte, 0, 80*len(list)),
	}
	b.names.Reserve(len(list))
	texts := make([]names.Name, 0, len(list))
	for at, n := range list {
		i, from := uint32(at), len(texts)
		eachName(n, func(name, key string, as role) {
			if key == name || as == byPath || as == byBase {
				key = strings.Clone(key) // it may be a part of the record
			}
			b.keys = append(b.keys, nameKey{key, i, as})
			if as == byTitle || as == byAlias {
				texts = append(texts, names.Name{Text: name, Fold: key})
			}
		})
		if n.Live() {
			b.names.Add(names.Record{ID: n.ID, Changed: n.UpdatedAt, Private: n.Private},
				texts[from:len(texts):len(texts)])
		}
		if n.Private {
			b.private.Add(names.Record{ID: n.ID}, foldedNames(n))
		}
		if n.hasMany() {
			b.many = append(b.many, manyLinks{i, newLinkHashes(n.Places, n.Body)})
			continue
		}
		for l := range n.eachLink() {
			b.readLink(i, sought(l))
		}
	}
	return b
}

func (b *batch) readLink(note uint32, target string) {
	from := len(b.folds)
	b.folds = text.AppendFold(b.folds, strings.TrimSpace(target))
	l := linkKey{note, uint32(len(b.folds)), uint32(len(b.folds))}
	if fold := b.folds[from:]; bytes.IndexByte(fold, '/') >= 0 || bytes.HasSuffix(fold, []byte(".md")) ||
		bytes.HasSuffix(fold, []byte(".markdown")) {
		if keys := linkKeys(target); len(keys) > 1 {
			b.folds = append(b.folds, keys[1]...)
			l.base = uint32(len(b.folds))
		}
	}
	b.links = append(b.links, l)
}

// loader enters the names and links of an index. Notes have their numbers in the
// order in which they come, which is that of their ids.
type loader struct {
	x      *index
	keys   []string // by place
	refs   [byLink + 1][]placed
	links  []uint32 // places of the first keys of all links, in order
	counts []uint32 // by note: its links
}

// placed is a note that the key at a place names.
type placed struct {
	at uint32
	n  num
}

// Places that are none.
const (
	own     = ^uint32(0)     // of a link into the note itself
	missing = ^uint32(0) - 1 // of a key that no note is named by
)

// load enters the names and links of the notes, which are there already.
func (x *index) load(batches []*batch) {
	notes, names, links := 0, 0, 0
	for _, b := range batches {
		notes, names, links = notes+len(b.notes), names+len(b.keys), links+len(b.links)
	}
	x.keys = make(map[string]uint32, names)
	l := loader{
		x:    x,
		keys: make([]string, 0, names), links: make([]uint32, 0, links), counts: make([]uint32, notes),
	}
	l.refs[byTitle] = make([]placed, 0, notes)
	l.refs[byLink] = make([]placed, 0, links)
	first := num(0)
	for _, b := range batches {
		l.takeNames(b, first)
		first += num(len(b.notes))
	}
	onAll(len(batches), func(from, to int) {
		for _, b := range batches[from:to] {
			l.findLinks(b)
		}
	})
	first = 0
	for _, b := range batches {
		l.takeLinks(b, first)
		first += num(len(b.notes))
	}
	l.link()
}

// takeNames takes the names of notes of which the first has that number.
func (l *loader) takeNames(b *batch, first num) {
	for _, k := range b.keys {
		at, ok := l.x.keys[k.key]
		if !ok {
			at = l.newPlace(k.key)
		}
		n := first + num(k.note)
		l.refs[k.as] = append(l.refs[k.as], placed{at, n})
		if k.as == byPath {
			l.x.list[n].path = l.keys[at]
		}
	}
}

// findLinks looks for the places of the first keys of links. Most are there: most
// links lead to a note. It changes nothing but the batch.
func (l *loader) findLinks(b *batch) {
	b.places = make([]uint32, len(b.links))
	from := uint32(0)
	for i, k := range b.links {
		b.places[i] = own
		if whole := b.folds[from:k.whole]; len(whole) > 0 {
			at, ok := l.x.keys[string(whole)]
			if !ok {
				at = missing
			}
			b.places[i] = at
		}
		from = k.base
	}
}

// takeLinks takes the links of notes of which the first has that number.
func (l *loader) takeLinks(b *batch, first num) {
	for _, m := range b.many {
		l.x.setMany(first+num(m.note), m.keys)
	}
	from := uint32(0)
	for i, k := range b.links {
		n, at := first+num(k.note), b.places[i]
		if at == missing {
			at = l.place(b.folds[from:k.whole])
		}
		if at != own {
			l.refs[byLink] = append(l.refs[byLink], placed{at, n})
		}
		if base := b.folds[k.whole:k.base]; len(base) > 0 {
			l.refs[byLink] = append(l.refs[byLink], placed{l.place(base), n})
		}
		l.links = append(l.links, at)
		l.counts[n]++
		from = k.base
	}
}

func (l *loader) place(key []byte) uint32 {
	if at, ok := l.x.keys[string(key)]; ok {
		return at
	}
	return l.newPlace(string(key))
}

func (l *loader) newPlace(key string) (at uint32) {
	at = uint32(len(l.keys))
	l.keys = append(l.keys, key)
	l.x.keys[key] = at
	return at
}

// link builds what needs all notes.
func (l *loader) link() {
	l.x.refs = l.lists()
	out := l.resolve()
	ends := make([]uint32, len(l.x.list)+1) // where the notes that link to each end
	for _, to := range out {
		if to != nowhere {
			ends[to+1]++
		}
	}
	for i := range l.x.list {
		ends[i+1] += ends[i]
	}
	in := make([]num, ends[len(l.x.list)])
	for i := range l.x.list {
		l.x.list[i].in = in[ends[i]:ends[i]:ends[i+1]]
	}
	for i := range l.x.list {
		for _, to := range l.x.list[i].out {
			if to == nowhere {
				continue
			}
			if e := &l.x.list[to]; len(e.in) == 0 || e.in[len(e.in)-1] != num(i) {
				e.in = append(e.in, num(i))
			}
		}
	}
}

// lists returns what the keys name, all in one piece of memory.
func (l *loader) lists() [][]ref {
	sizes, all := make([]uint32, len(l.keys)), 0
	for _, list := range l.refs {
		for _, p := range list {
			sizes[p.at]++
		}
		all += len(list)
	}
	memory, lists := make([]ref, all), make([][]ref, len(l.keys))
	for at, size := range sizes {
		lists[at], memory = memory[:0:size], memory[size:]
	}
	for as, list := range l.refs {
		for _, p := range list {
			r, have := refTo(p.n, role(as)), lists[p.at]
			if len(have) == 0 || have[len(have)-1] != r {
				lists[p.at] = append(have, r)
			}
		}
	}
	return lists
}

// resolve resolves all links and returns what they lead to.
func (l *loader) resolve() []num {
	out := make([]num, len(l.links))
	starts := make([]int, len(l.counts)) // of the links of each note
	at := 0
	for i, count := range l.counts {
		starts[i] = at
		if end := at + int(count); end > at {
			l.x.list[i].out = out[at:end:end]
			at = end
		}
	}
	placeless := l.resolvePlaceless()
	onAll(len(starts), func(from, to int) {
		r := resolver{x: l.x}
		for n := from; n < to; n++ {
			e := &l.x.list[n]
			for i, at := range l.links[starts[n]:][:len(e.out)] {
				switch {
				case at == own:
					e.out[i] = num(n)
				case placeless != nil && e.note.placeless():
					e.out[i] = placeless[at]
				default:
					e.out[i] = r.resolveFold(l.keys[at], l.x.refs[at], num(n))
				}
			}
		}
	})
	return out
}

// placeless reports whether the meaning of links in a note does not depend on
// where it lies.
func (n *Note) placeless() bool { return n.Path == "" && n.Folder == "" && n.Vault == "" }

// resolvePlaceless returns what each key means in a placeless note, nil when there
// is none: many links share a key, and in the order of keys all that is looked at
// lies together.
func (l *loader) resolvePlaceless() []num {
	from := slices.IndexFunc(l.x.list, func(e entry) bool { return e.note.placeless() })
	if from < 0 {
		return nil
	}
	out := make([]num, len(l.keys))
	onAll(len(l.keys), func(begin, end int) {
		for at := begin; at < end; at++ {
			out[at] = nowhere
			if list := l.x.refs[at]; len(list) > 0 && list[len(list)-1].role() == byLink {
				out[at] = l.x.resolveFold(l.keys[at], list, num(from)).to
			}
		}
	})
	return out
}

// onAll calls work with parts of what is from 0 up to n, on all processors.
func onAll(n int, work func(from, to int)) {
	var parts sync.WaitGroup
	size := n/runtime.GOMAXPROCS(0) + 1
	for from := 0; from < n; from += size {
		parts.Go(func() { work(from, min(from+size, n)) })
	}
	parts.Wait()
}
