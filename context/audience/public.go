package audience

import (
	"context"
	"hash/maphash"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// Public is a note as a remote reader sees it: the note itself where nothing in it is
// hidden, else another one each time; nil of a private one. It is meant for rooms that
// keep what they make of texts, as the index of notes does (notedoc.Options): the words
// of Public may find for everybody, the others, which stand in places that lead to
// private records, only for who sees those; vectors are made of Public alone (PRIV-8).
// O(text).
func (r *Views) Public(n *notes.Note) *notes.Note {
	v := &r.remote
	if !v.SeesNote(n) {
		return nil
	}
	if !v.masks() {
		return n
	}
	shown, _ := v.ShownNote(context.Background(), n) // which does not end
	if shown.Body == n.Body && shown.Title == n.Title && shown.EntityID == n.EntityID &&
		slices.Equal(shown.Aliases, n.Aliases) && slices.Equal(shown.Tags, n.Tags) {
		return n
	}
	return shown
}

// Revealed returns the ids of notes of which Public may give another text after a
// commit, beside those that the commit changes itself: of those that name, in whatever
// form, what became private or public, or is called otherwise. It costs nothing while no
// record is private; O(names that changed, and the notes that name them) for a commit
// that changes what private records there are or whom their names mean, and for the first
// of those O(all texts), in OnPrepare. It is asked in the commit, after the stores have
// taken their part in it, and may be asked again for the same.
func (r *Views) Revealed(cs *kv.ChangeSet) []string {
	r.revealed.mu.Lock()
	defer r.revealed.mu.Unlock()
	if r.revealed.seq != cs.Seq {
		r.revealed.seq, r.revealed.ids = cs.Seq, r.reveal(cs)
		for _, ch := range cs.Changes { // behind it: those are told anyway
			if _, now, ok := notes.Records.Of(ch); ok {
				r.named.changed(ch.ID, keysOfNote(now))
			}
		}
	}
	return r.revealed.ids
}

// revealed is what Revealed has returned last: several indexes ask.
type revealed struct {
	mu  sync.Mutex // guards what follows
	seq uint64     // of the commit; 0: none
	ids []string
}

func (r *Views) reveal(cs *kv.ChangeSet) []string {
	changed := make(map[uint32]bool)
	for _, ch := range cs.Changes {
		r.remote.called(ch, changed)
	}
	past := r.ofPast.Take(cs.Seq)
	if len(changed) == 0 {
		return past
	}
	r.readNotes()
	ids := append(r.named.of(changed), past...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// prepare reads what notes may name before a commit that will ask for it, while reads go
// on.
func (r *Views) prepare(cs *kv.ChangeSet) {
	forgotten := r.remote.entities.Past().Forgotten(cs)
	if forgotten != nil {
		r.ofPast.Put(cs.Seq, r.remote.namingPast(forgotten))
	}
	changed := make(map[uint32]bool)
	for _, ch := range cs.Changes {
		r.remote.called(ch, changed)
		if len(changed) > 0 {
			r.named.makeAndWait(r.noteAll)
			return
		}
	}
}

// ReadReferences reads what records may name if that can be asked for, so that the first
// commit that does so need not, and what has changed since. O(all texts). It is for when there is time.
func (r *Views) ReadReferences() {
	if !r.remote.masks() {
		return
	}
	r.readNotes()
	r.named.settle()
	for _, n := range r.namers {
		n.read()
		n.named.settle()
	}
}

// readNotes reads what all notes may name, once.
func (r *Views) readNotes() { r.named.make(r.noteAll) }

func (r *Views) noteAll(note func(string, func() []uint32)) {
	for _, n := range slices.Collect(r.remote.notes.All()) { // nothing else is done while All holds its lock
		note(n.ID, keysOfNote(n))
	}
}

// keysOfNote is namedIn for when there is time; nil for nil.
func keysOfNote(n *notes.Note) func() []uint32 {
	if n == nil {
		return nil
	}
	return func() []uint32 { return namedIn(n) }
}

// called adds the names of a record that a commit changes in a way that may matter.
func (v *View) called(ch kv.Change, keys map[uint32]bool) {
	if !v.masks() && !entityPrivacy(ch) && !notePrivacy(ch) && !v.handledPrivacy(ch) {
		return
	}
	v.calledFromNote(ch, keys)
	before, after := v.calledBy(ch)
	switch {
	case before.same(after):
		return
	case before.private || after.private:
	case !slices.ContainsFunc(slices.Concat(before.names, after.names), v.meansPrivate):
		return // what is public beside nothing private reveals nothing
	}
	addKeys(slices.Concat(before.names, after.names), keys)
}

// addKeys adds the keys of what texts may name by names.
func addKeys(names []string, keys map[uint32]bool) {
	add := func(key uint32) { keys[key] = true }
	for _, name := range names {
		eachKey(name, add)
		mentionKeys(name, add)
	}
}

// calledBy returns what the record of a change is called before and after it.
func (v *View) calledBy(ch kv.Change) (before, after called) {
	if old, now, ok := notes.Records.Of(ch); ok {
		return noteCalled(old), noteCalled(now)
	}
	if old, now, ok := entities.EntityRecords.Of(ch); ok {
		return entityCalled(old), entityCalled(now)
	}
	if old, now, ok := v.rooms.handled.change(ch); ok {
		return v.handledCalled(old), v.handledCalled(now)
	}
	return before, after
}

// meansPrivate reports whether a private record is or was called so, maybe beside others.
func (v *View) meansPrivate(name string) bool {
	if v.calledPrivate(name) || v.meansPast(name) {
		return true
	}
	res := v.notes.Resolve(name, "", nil)
	return slices.ContainsFunc(append(res.Candidates, res.ID), func(id string) bool {
		n := v.notes.Get(id)
		return n != nil && n.Private
	})
}

// called is what a record is called, and who sees it.
type called struct {
	names   []string
	private bool
	live    bool
}

func (c called) same(other called) bool {
	return c.private == other.private && c.live == other.live && slices.Equal(c.names, other.names)
}

func noteCalled(n *notes.Note) (c called) {
	if n == nil {
		return c
	}
	c.names = append([]string{n.Title, n.ID, n.Path, path.Base(n.Path)}, n.Aliases...)
	c.private, c.live = n.Private, n.Live()
	return c
}

func entityCalled(e *entities.Entity) (c called) {
	if e == nil {
		return c
	}
	c.names = append([]string{e.Name, e.ID, names.Handle(e.Name, e.Type)}, e.Aliases...)
	c.private, c.live = e.Private, e.Live()
	return c
}

func (v *View) handledCalled(h *Handled) (c called) {
	if h == nil {
		return c
	}
	return h.called(v.hidesHandled(h))
}

// namedIn returns the keys of all that a note may name, in order, each once.
func namedIn(n *notes.Note) []uint32 {
	return keysFound(func(visit naming) { eachNamed(n, visit) })
}

// keysFound returns the keys of all that each visits, in order, each once.
func keysFound(each func(visit naming)) (keys []uint32) {
	seen := make(map[uint32]struct{})
	add := func(key uint32) { seen[key] = struct{}{} }
	each(naming{
		name:    func(name string) { eachKey(name, add) },
		mention: func(text string) { mentionKeys(text, add) },
	})
	return slices.Sorted(maps.Keys(seen))
}

// naming takes what a note may name: names, paths and targets of links, and the texts
// behind an @, each of which begins with a name.
type naming struct {
	name, mention func(text string)
}

// eachNamed visits all that a note may name.
func eachNamed(n *notes.Note, visit naming) {
	visit.references(n.Body)
	for _, name := range slices.Concat([]string{n.Title}, n.Aliases, n.Tags) {
		visit.name(name)
		visit.references(name)
	}
	markdown.InlineFields(n.Body, func(f markdown.InlineField) {
		visit.name(f.Key)
		visit.value(f.Raw)
		visit.value(f.Value)
	})
	block, _ := markdown.SplitFrontmatter(n.Body)
	if front, err := markdown.ReadFrontmatter(n.Body[block.Start:block.End], 1); block.Found && err == nil {
		for _, f := range front.Fields {
			visit.value(f.Raw)
			visit.value(f.Value)
		}
	}
}

// references visits what the references of a text name. What many name is visited once: the uses
// of a label all have its targets.
func (v naming) references(text string) {
	type named struct {
		kind   markdown.RefKind
		target string
	}
	seen := make(map[named]bool)
	for r := range markdown.References(text) {
		if !r.Open() {
			name := named{r.Kind, r.Target}
			if seen[name] {
				continue
			}
			seen[name] = true
		}
		switch {
		case r.Open():
			v.mention(text[r.End:])
		case r.Kind == markdown.DecodedMentionRef:
			v.mention(r.Target)
		case r.Kind == markdown.MentionRef:
			v.name(strings.Trim(r.Target, nameMarks))
			v.mention(r.Target) // a context is found by its name in several forms
			fallthrough
		default:
			v.name(r.Target)
		}
	}
}

// value visits a value of frontmatter, which may be a name as a whole, or hold references
// that YAML writes in another way.
func (v naming) value(value any) {
	switch value := value.(type) {
	case string:
		v.name(value)
		v.references(value)
	case []any:
		for _, item := range value {
			v.value(item)
		}
	case map[string]any:
		for key, item := range value {
			v.name(key)
			v.value(item)
		}
	}
}

var keySeed = maphash.MakeSeed()

// eachKey adds the keys under which a name, a path or a link is found: of the whole
// and of its file name. Different names may share a key.
func eachKey(name string, add func(uint32)) {
	keysAsWritten(name, add)
	plain := spelling(name)
	if plain != name {
		keysAsWritten(plain, add)
	}
}

func keysAsWritten(name string, add func(uint32)) {
	if name == "" || len(name) > markdown.MaxMention {
		return
	}
	whole := withoutEnding(entities.Fold(strings.TrimSpace(name)))
	add(keyOf(whole))
	if base := path.Base(whole); base != whole {
		add(keyOf(base))
	}
	if !isASCII(name) { // handles are compared in another form
		add(keyOf(refs.FoldHandle(strings.TrimSpace(name))))
	}
}

func withoutEnding(name string) string {
	for _, ending := range [...]string{".md", ".markdown"} {
		if short, ok := strings.CutSuffix(name, ending); ok && short != "" {
			return short
		}
	}
	return name
}

func keyOf(text string) uint32 { return uint32(maphash.String(keySeed, text)) }

// mentionKeys adds the keys of what a mention may name: of the letters and digits that
// it begins with, as names are compared and as handles are.
func mentionKeys(text string, add func(uint32)) {
	const most = 128 // bytes of a word
	text = text[:min(len(text), most)]
	for len(text) > 0 && isNameMark[text[0]] { // there may be many mentions: as TrimLeft below, but fast
		text = text[1:]
	}
	text = strings.TrimLeft(text, nameMarks)
	for len(text) > 0 && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	add(mentionKey(entities.Fold(text)))
	if !isASCII(text) {
		add(mentionKey(refs.FoldHandle(text[:names.HandleLen(text)])))
	}
}

// isNameMark says of bytes whether they are a mark of nameMarks.
var isNameMark = func() (is [256]bool) {
	for _, r := range nameMarks {
		if r < utf8.RuneSelf {
			is[r] = true
		}
	}
	return is
}()

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// mentionKey is mentionKeys for a text in one of these forms.
func mentionKey(text string) uint32 {
	end := strings.IndexFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	if end >= 0 {
		text = text[:end]
	}
	return keyOf("@" + text)
}
