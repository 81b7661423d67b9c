package audience

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
)

// Handled is a record of a room to the right, as texts refer to it: a memory, a context or a conversation.
type Handled struct {
	Kind    refs.HandleKind // refs.MemoryHandle, refs.ContextHandle or refs.ConversationHandle
	ID      string
	Handles []string // its own one, and former ones
	Name    string   // of a context, which an @ finds by it as well
	Private bool
	NoteID  string   // of a memory: the note that it comes from; who may not know of that may not know of it
	Labels  []string // of a memory: the handles of its tags and domains, and of those that they lie below
}

// SetHandled gives the Rooms the records that have handles: all that there are, and what a change makes of one. Call it
// before anybody has a View, and before an index of texts is opened. O(records).
func (r *Views) SetHandled(all iter.Seq[Handled], of func(ch kv.Change) (old, now *Handled, ok bool)) {
	r.handled.of = of
	for h := range all {
		r.handled.put(nil, &h, r.remote.entities.Past())
	}
}

// CalledBy returns the handles by which texts call a record: those of a public one that are not open are what a private
// record was called.
func CalledBy(private bool, own string, former []string, open refs.OpenHandles) []string {
	if !private {
		former, _ = open.Part(former)
	}
	return append([]string{own}, former...)
}

// KeepClosedTx keeps the former handles of a record that becomes public which stay private.
func KeepClosedTx(tx *kv.Tx, h Handled, former []string, open refs.OpenHandles) error {
	_, closed := open.Part(former)
	list := make([]entities.PastName, len(closed))
	for i, own := range closed {
		list[i] = entities.PastName{Kind: entities.PastHandle, Text: refs.FoldHandle(own)}
	}
	return entities.KeepPastTx(tx, h.past(), list)
}

// KeepHandledTx keeps what a record is called that a transaction deletes if it is private: that stays private (PRIV-4).
func KeepHandledTx(tx *kv.Tx, h Handled) error {
	if !h.Private {
		return nil
	}
	owner := h.past()
	list := []entities.PastName{owner}
	for _, own := range h.Handles {
		list = append(list, entities.PastName{Kind: entities.PastHandle, Text: refs.FoldHandle(own)})
	}
	if h.Name != "" {
		list = append(list, h.pastName())
	}
	return entities.KeepPastTx(tx, owner, list)
}

// RenameHandledTx keeps the name that a private context loses, and forgets those that it lost when it becomes public.
func RenameHandledTx(tx *kv.Tx, old, now Handled) error {
	switch {
	case !old.Private:
		return nil
	case !now.Private:
		return entities.ForgetPastTx(tx, now.past())
	}
	return entities.KeepPastTx(tx, old.past(), entities.LostNames([]entities.PastName{old.pastName()}, []entities.PastName{now.pastName()}))
}

// past is the record itself, by its id.
func (h *Handled) past() entities.PastName {
	kind := entities.PastMemoryID
	switch h.Kind {
	case refs.ContextHandle:
		kind = entities.PastContextID
	case refs.ConversationHandle:
		kind = entities.PastConversationID
	}
	return entities.PastName{Kind: kind, Text: h.ID}
}

func (h *Handled) pastName() entities.PastName {
	return entities.PastName{Kind: entities.PastContextName, Text: nameKey(h.Name)}
}

// nameKey is the form in which names of contexts are compared.
func nameKey(name string) string { return strings.TrimRight(ContextNameKey(name), "_") }

// called is what texts call a record. A reference by its id, and one to a message, begins with a word that all such
// references begin with.
func (h *Handled) called(hidden bool) called {
	list := append(slices.Concat(h.Handles, h.Labels), h.ID)
	switch h.Kind {
	case refs.MemoryHandle:
		list = append(list, "memory:"+h.ID, "mem:"+h.ID)
	case refs.ContextHandle:
		list = append(list, h.Name)
	case refs.ConversationHandle:
		list = append(list, "conversation_"+h.Handles[0], "conv_"+h.Handles[0])
	}
	return called{names: list, private: hidden, live: true}
}

// handledRecords know the records that have handles and may be hidden, and what they are called: those that are
// private, those that come from a note, all contexts, and those that have what a private record had. While a record is
// none of these, no text is looked at for it. It is the last lock that anybody takes: rooms ask while they hold theirs.
type handledRecords struct {
	of      func(ch kv.Change) (old, now *Handled, ok bool) // nil: there are none
	private atomic.Int64                                    // those that are private by themselves

	mu       sync.RWMutex // guards everything below
	byKey    map[handledKey]*Handled
	byHandle map[string]*Handled   // by fold
	byNote   map[string][]*Handled // those that are not private by themselves
	named    map[string][]*Handled // contexts by the key of their name
	keys     []string              // of named, those of private contexts, sorted
	labelled map[string]*labelled  // by the fold of a label's handle
}

// labelled are the memories with a label: those that may be hidden, and how many others there are.
type labelled struct {
	maybe map[string]*Handled // by id
	open  int
}

func (h *Handled) maybeHidden() bool { return h.Private || h.NoteID != "" }

// label enters a memory under its labels, or takes it out.
func (x *handledRecords) label(h *Handled, in bool) {
	for _, l := range h.Labels {
		fold := refs.FoldHandle(l)
		of := x.labelled[fold]
		if of == nil {
			if x.labelled == nil {
				x.labelled = make(map[string]*labelled)
			}
			of = &labelled{maybe: make(map[string]*Handled)}
			x.labelled[fold] = of
		}
		switch {
		case !h.maybeHidden() && in:
			of.open++
		case !h.maybeHidden():
			of.open--
		case in:
			of.maybe[h.ID] = h
		default:
			delete(of.maybe, h.ID)
		}
		if of.open == 0 && len(of.maybe) == 0 {
			delete(x.labelled, fold)
		}
	}
}

// hiddenLabel reports whether a label is only that of memories that hides says are hidden. hides must not lock x.
func (x *handledRecords) hiddenLabel(fold string, hides func(*Handled) bool) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of := x.labelled[fold]
	if of == nil || of.open > 0 {
		return false
	}
	for _, h := range of.maybe {
		if !hides(h) {
			return false
		}
	}
	return true
}

type handledKey struct {
	kind refs.HandleKind
	id   string
}

func (h *Handled) key() handledKey { return handledKey{h.Kind, h.ID} }

// change returns what a change makes of a record that has handles.
func (x *handledRecords) change(ch kv.Change) (old, now *Handled, ok bool) {
	if x.of == nil {
		return nil, nil, false
	}
	return x.of(ch)
}

func (x *handledRecords) commit(cs *kv.ChangeSet, in *entities.PastNames) {
	for _, ch := range cs.Changes {
		old, now, ok := x.change(ch)
		if ok {
			x.put(old, now, in)
		}
	}
}

// put takes a record in, or out.
func (x *handledRecords) put(old, now *Handled, in *entities.PastNames) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old != nil {
		x.label(old, false)
		x.remove(old.key())
	}
	if now != nil {
		x.label(now, true)
	}
	if now == nil || !now.Private && now.NoteID == "" && now.Kind != refs.ContextHandle && !now.wasCalled(in) {
		return
	}
	x.add(now)
}

// wasCalled reports whether a record has the id or a handle of a private one that is gone.
func (h *Handled) wasCalled(in *entities.PastNames) bool {
	owner := h.past()
	return in.Len() > 0 && (in.Has(owner.Kind, owner.Text) ||
		slices.ContainsFunc(h.Handles, func(own string) bool { return in.Has(entities.PastHandle, refs.FoldHandle(own)) }))
}

func (x *handledRecords) add(h *Handled) {
	if x.byKey == nil {
		x.byKey, x.byHandle = make(map[handledKey]*Handled), make(map[string]*Handled)
		x.byNote, x.named = make(map[string][]*Handled), make(map[string][]*Handled)
	}
	key := h.key()
	x.byKey[key] = h
	for _, own := range h.Handles {
		x.byHandle[refs.FoldHandle(own)] = h
	}
	if h.Private {
		x.private.Add(1)
	} else if h.NoteID != "" {
		x.byNote[h.NoteID] = append(x.byNote[h.NoteID], h)
	}
	if h.Kind != refs.ContextHandle {
		return
	}
	name := nameKey(h.Name)
	x.named[name] = append(x.named[name], h)
	at, known := slices.BinarySearch(x.keys, name)
	if h.Private && !known && name != "" {
		x.keys = slices.Insert(x.keys, at, name)
	}
}

func (x *handledRecords) remove(key handledKey) {
	h := x.byKey[key]
	if h == nil {
		return
	}
	delete(x.byKey, key)
	for _, own := range h.Handles {
		if fold := refs.FoldHandle(own); x.byHandle[fold] == h {
			delete(x.byHandle, fold)
		}
	}
	if h.Private {
		x.private.Add(-1)
	} else if h.NoteID != "" {
		dropHandled(x.byNote, h.NoteID, h)
	}
	if h.Kind != refs.ContextHandle {
		return
	}
	name := nameKey(h.Name)
	dropHandled(x.named, name, h)
	at, known := slices.BinarySearch(x.keys, name)
	if known && !slices.ContainsFunc(x.named[name], func(h *Handled) bool { return h.Private }) {
		x.keys = slices.Delete(x.keys, at, at+1)
	}
}

func dropHandled(from map[string][]*Handled, text string, h *Handled) {
	from[text] = slices.DeleteFunc(from[text], func(other *Handled) bool { return other == h })
	if len(from[text]) == 0 {
		delete(from, text)
	}
}

// withHandle returns the record that has a handle, by its fold, if it is known here.
func (x *handledRecords) withHandle(fold string) *Handled {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byHandle[fold]
}

// withID is withHandle for an id.
func (x *handledRecords) withID(kind refs.HandleKind, id string) *Handled {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.byKey[handledKey{kind, id}]
}

// fromNote returns the records that come from a note and are private only if that is.
func (x *handledRecords) fromNote(id string) []*Handled {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Clone(x.byNote[id])
}

// contextNamed reports whether there is a private context of a name, and whether there is a public one.
func (x *handledRecords) contextNamed(key string) (private, public bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, h := range x.named[key] {
		private, public = private || h.Private, public || !h.Private
	}
	return private, public
}

// contextAt returns the longest name of a private context that a text behind an @ begins with.
func (x *handledRecords) contextAt(text string) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(x.keys) == 0 {
		return ""
	}
	return LongestMatch(text, func(fold string) (whole, beginning bool) {
		key := ContextNameKey(fold)
		at, whole := slices.BinarySearch(x.keys, key)
		return whole, at < len(x.keys) && strings.HasPrefix(x.keys[at], key)
	})
}

// hidesHandled reports whether the reader may not know of a record.
func (v *View) hidesHandled(h *Handled) bool {
	return h.Private || h.NoteID != "" && v.HidesNote(h.NoteID)
}

// hidesHandle reports whether a handle is that of a record that the reader may not know of, or was that of a private one.
func (v *View) hidesHandle(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > mostOfHandle || names.HandleLen(text) != len(text) {
		return false
	}
	fold := refs.FoldHandle(text)
	if h := v.rooms.handled.withHandle(fold); h != nil {
		return v.hidesHandled(h)
	}
	if v.rooms.handled.hiddenLabel(fold, v.hidesHandled) {
		return true
	}
	return v.entities.Past().Has(entities.PastHandle, fold)
}

// mostOfHandle is how many bytes a handle is typed with at most.
const mostOfHandle = refs.MaxHandle * utf8.UTFMax * 4

// HidesMemory reports whether a memory is there, or was, that the reader may not know of.
func (v *View) HidesMemory(id string) bool {
	return v.hidesHandledID(refs.MemoryHandle, entities.PastMemoryID, id)
}

// hidesHandledID is hidesHandle for the id of a record of a kind.
func (v *View) hidesHandledID(kind refs.HandleKind, past entities.PastKind, id string) bool {
	if h := v.rooms.handled.withID(kind, id); h != nil {
		return v.hidesHandled(h)
	}
	return v.entities.Past().Has(past, id)
}

// hidesContext is hidesHandle for the name of a context. Beside a private one a public one of the name does not count:
// who may write could have made it to see what a text says.
func (v *View) hidesContext(name string) bool {
	key := nameKey(name)
	private, public := v.rooms.handled.contextNamed(key)
	return private || !public && v.entities.Past().Has(entities.PastContextName, key)
}

// hiddenAt returns how long what a text behind an @ begins with is if it refers to a memory, a context or a message that
// the reader may not know of; 0 for anything else. A number says nothing of a memory, so it is none that is hidden.
func (v *View) hiddenAt(text string) int {
	kind, size, id := refs.At(text[:min(len(text), mostOfHandle)])
	hidden := false
	switch kind {
	case refs.MemoryID:
		hidden = v.HidesMemory(id)
	case refs.Conversation:
		of, _, _ := refs.SplitMessageRef(id)
		hidden = v.hidesHandle(of)
	case refs.Handle:
		hidden = v.hidesHandle(id)
	}
	if !hidden {
		size = 0
	}
	return max(size, len(v.rooms.handled.contextAt(text)))
}

// wasReferred returns how long a reference is that a text behind an @ begins with, and that led to a private record that
// is gone; 0 for none.
func wasReferred(in *entities.PastNames, text string) int {
	kind, size, id := refs.At(text[:min(len(text), mostOfHandle)])
	was := false
	switch kind {
	case refs.MemoryID:
		was = in.Has(entities.PastMemoryID, id)
	case refs.Conversation:
		of, _, _ := refs.SplitMessageRef(id)
		was = in.Has(entities.PastHandle, refs.FoldHandle(of))
	case refs.Handle:
		was = in.Has(entities.PastHandle, refs.FoldHandle(id))
	}
	if !was {
		return 0
	}
	return size
}

// handledPrivacy is notePrivacy for the records that have handles.
func (v *View) handledPrivacy(ch kv.Change) bool {
	old, now, ok := v.rooms.handled.change(ch)
	if !ok {
		return false
	}
	was, is := old != nil && v.hidesHandled(old), now != nil && v.hidesHandled(now)
	return was != is || is && !sameHandled(old, now)
}

func sameHandled(old, now *Handled) bool {
	return old != nil && now != nil && old.Name == now.Name && old.NoteID == now.NoteID && slices.Equal(old.Handles, now.Handles) &&
		slices.Equal(old.Labels, now.Labels)
}

// renamesHandled is renames for the records that have handles.
func (v *View) renamesHandled(ch kv.Change) bool {
	old, now, ok := v.rooms.handled.change(ch)
	return ok && !sameHandled(old, now)
}

// calledFromNote adds the names of what comes from a note that may have become private or public.
func (v *View) calledFromNote(ch kv.Change, keys map[uint32]bool) {
	if !notePrivacy(ch) && !renames(ch) {
		return
	}
	for _, h := range v.rooms.handled.fromNote(ch.ID) {
		addKeys(h.called(true).names, keys)
	}
}
