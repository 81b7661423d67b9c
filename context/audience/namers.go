package audience

import (
	"strings"
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
	rooms  *Views
	all    func(yield func(id string, texts []string) bool)
	named  references
	ofPast kv.Ahead[map[string]bool] // of the records that name what private ones were called
}

// Namers returns an index of what records name whose texts all gives. Call it before the store is
// in use.
func (r *Views) Namers(db *kv.Store, all func(yield func(id string, texts []string) bool)) *Namers {
	n := &Namers{rooms: r, all: all}
	n.named.over(db)
	r.namers = append(r.namers, n)
	db.OnPrepare(n.prepare)
	return n
}

// prepare reads, before a commit that will ask for it, what records name, and looks for those that name what
// private ones were called and what from this commit on need not be hidden. O(all texts), for such a commit alone,
// and for the first one that changes what a private record is called.
func (n *Namers) prepare(cs *kv.ChangeSet) {
	if len(n.called(cs)) > 0 {
		n.named.makeAndWait(n.noteAll)
	}
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

func (n *Namers) called(cs *kv.ChangeSet) map[uint32]bool {
	changed := make(map[uint32]bool)
	for _, ch := range cs.Changes {
		n.rooms.remote.called(ch, changed)
	}
	return changed
}

// read reads what all records may name, once.
func (n *Namers) read() { n.named.make(n.noteAll) }

func (n *Namers) noteAll(note func(string, func() []uint32)) {
	for id, texts := range n.all {
		note(id, keysOfTexts(texts))
	}
}

// Set takes in what the texts of a record name now; none of one that is gone. They are read behind it. O(1).
func (n *Namers) Set(id string, texts []string) { n.named.changed(id, keysOfTexts(texts)) }

// keysOfTexts is keysIn for when there is time; nil for none.
func keysOfTexts(texts []string) func() []uint32 {
	if len(texts) == 0 {
		return nil
	}
	return func() []uint32 { return keysIn(texts) }
}

// Revealed returns the ids of the records that name, in whatever form, what a commit makes private
// or public, or calls otherwise, and of those that nobody has read yet. O(names that changed). It is asked in the
// commit, once.
func (n *Namers) Revealed(cs *kv.ChangeSet) map[string]bool {
	ids := n.ofPast.Take(cs.Seq)
	changed := n.called(cs)
	if ids == nil {
		ids = make(map[string]bool) // the caller adds to it
	}
	if len(changed) == 0 {
		return ids
	}
	n.read()
	for _, id := range n.named.of(changed) {
		ids[id] = true
	}
	return ids
}

// keysIn returns the keys of all that texts may name, in order, each once.
func keysIn(texts []string) []uint32 {
	return keysFound(func(visit naming) { eachNamedIn(texts, visit) })
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
