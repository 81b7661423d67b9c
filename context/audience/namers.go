package audience

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Namers know which records of another room may name what in their texts, for an index of them
// (text.Source.Revealed). Texts from before its making are read when it is asked for the first
// time. All methods may be called concurrently.
type Namers struct {
	rooms *Views
	all   func(yield func(id string, texts []string) bool)

	mu     sync.Mutex
	made   bool                       // whether all are read
	keys   map[string][]uint32        // what a record may name, by its id
	naming map[uint32]map[string]bool // the ids of the records that may name a thing, by its key
	ofPast kv.Ahead[map[string]bool]  // of the records that name what private ones were called
}

// Namers returns an index of what records name whose texts all gives. Call it before the store is
// in use.
func (r *Views) Namers(db *kv.Store, all func(yield func(id string, texts []string) bool)) *Namers {
	n := &Namers{rooms: r, all: all, keys: make(map[string][]uint32), naming: make(map[uint32]map[string]bool)}
	db.OnPrepare(n.prepare)
	return n
}

// prepare looks, before a commit, for the records that name what private ones were called and what
// from this commit on need not be hidden. O(all texts), for such a commit alone.
func (n *Namers) prepare(cs *kv.ChangeSet) {
	forgotten := n.rooms.remote.entities.Past().Forgotten(cs)
	if forgotten == nil {
		return
	}
	ids := make(map[string]bool)
	for id, texts := range n.all {
		if textsNamePast(texts, forgotten) {
			ids[id] = true
		}
	}
	n.ofPast.Put(cs.Seq, ids)
}

// Set takes in what the texts of a record name now; none of one that is gone. O(texts).
func (n *Namers) Set(id string, texts []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.set(id, texts)
}

func (n *Namers) set(id string, texts []string) {
	for _, key := range n.keys[id] {
		delete(n.naming[key], id)
		if len(n.naming[key]) == 0 {
			delete(n.naming, key)
		}
	}
	delete(n.keys, id)
	keys := keysIn(texts)
	if len(keys) == 0 {
		return
	}
	id = strings.Clone(id) // it may be a part of a record
	n.keys[id] = keys
	for _, key := range keys {
		if n.naming[key] == nil {
			n.naming[key] = make(map[string]bool)
		}
		n.naming[key][id] = true
	}
}

// Revealed returns the ids of the records that name, in whatever form, what a commit makes private
// or public, or calls otherwise. O(names that changed), and for the first commit that changes one
// O(all texts). It is asked in the commit, once.
func (n *Namers) Revealed(cs *kv.ChangeSet) map[string]bool {
	ids := n.ofPast.Take(cs.Seq)
	changed := make(map[uint32]bool)
	for _, ch := range cs.Changes {
		n.rooms.remote.called(ch, changed)
	}
	if len(changed) == 0 {
		return ids
	}
	if ids == nil {
		ids = make(map[string]bool)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.made {
		n.made = true
		for id, texts := range n.all {
			if n.keys[id] == nil {
				n.set(id, texts)
			}
		}
	}
	for key := range changed {
		for id := range n.naming[key] {
			ids[id] = true
		}
	}
	return ids
}

// keysIn returns the keys of all that texts may name, in order, each once.
func keysIn(texts []string) (keys []uint32) {
	add := func(key uint32) { keys = append(keys, key) }
	eachNamedIn(texts, naming{
		name:    func(name string) { eachKey(name, add) },
		mention: func(text string) { mentionKeys(text, add) },
	})
	slices.Sort(keys)
	return slices.Compact(keys)
}

func eachNamedIn(texts []string, visit naming) {
	for _, text := range texts {
		if mayBeName(text) {
			visit.name(text)
		}
		visit.references(text)
	}
}

// mostOfName is how many code points of a text a name, with the ending of a file, has at most.
const mostOfName = entities.MaxName + len(".markdown")

// mayBeName reports whether the whole of a text may be what a record is called, so that long texts are
// not folded. What it counts folding leaves apart: it composes letters with marks only, and the letters
// of Hangul with each other. O(longest name).
func mayBeName(text string) bool {
	if len(text) > markdown.MaxMention {
		return false
	}
	n := 0
	for _, r := range strings.TrimSpace(text) {
		if r < utf8.RuneSelf || unicode.IsLetter(r) && !unicode.Is(unicode.Hangul, r) {
			n++
			if n > mostOfName {
				return false
			}
		}
	}
	return true
}

func textsNamePast(texts []string, in *entities.PastNames) bool {
	look := pastLook{in: in}
	eachNamedIn(texts, look.naming())
	return look.found
}

// NoteSource tells whether a note that something comes from was hidden from remote readers before
// a commit, and whether it is behind it. It may be asked before the commit as well.
func (r *Views) NoteSource(cs *kv.ChangeSet, id string) (was, is bool) {
	if id == "" {
		return false, false
	}
	for _, ch := range cs.Changes {
		old, now, ok := notes.Records.Of(ch)
		if !ok || ch.ID != id {
			continue
		}
		gone := r.remote.notes.WasPrivate(id)
		was, is = gone, gone
		if old != nil {
			was, is = old.Private, old.Private
		}
		if now != nil {
			is = now.Private
		}
		return was, is
	}
	hides := r.remote.HidesNote(id)
	return hides, hides
}
