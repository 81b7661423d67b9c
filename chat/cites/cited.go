package cites

// An Index knows which messages refer to which notes: how often a note was named, found and read (CHAT-30), where it
// was used (CHAT-34), and which conversations share notes (CHAT-32).
//
// It has of each reference of a stored message the note, the link, and whether it is a find and was read, as the
// message says it for people and for remote readers (chat.ReferenceLists). It is made of the messages when the stores
// open and kept by commits, so what a call writes or deletes is there or gone in the next one. What of a reference this
// program does not understand is passed over.
//
// Every count, order and cursor is made of what the reader is shown: messages that are not private, of conversations
// that are not, and of their references those that chat.RenderReferences shows him. Titles are those of now, as the
// reader sees them.
//
// A lock is held for the references of one note at a time. Figures over all notes take O(references), those about one
// note O(its references · log).

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// citation is what one message says of one note.
type citation struct {
	key          string // of the message
	conversation string // its id
	index        int    // of the message
	public       int    // its index among those that are not private; 0: it is private
	at           time.Time

	own, remote []link // the second for remote readers

	kinds // of those that the reader is shown; set by Index.of
}

// link is one reference, with what decides who is shown it.
type link struct {
	text string // as it was typed
	kinds
}

// kinds is how a message refers to a note.
type kinds struct{ direct, search, used bool }

// stood reports whether the message named the note, or the model has read of it: it was not only found.
func (k kinds) stood() bool { return k.direct || k.used }

func (k kinds) or(o kinds) kinds {
	return kinds{k.direct || o.direct, k.search || o.search, k.used || o.used}
}

// Index knows the references of all messages. Open makes one.
type Index struct {
	chats *chat.Store

	mu     sync.RWMutex                    // guards what follows
	byNote map[string]map[string]*citation // by id of the note and key of the message
	byTalk byTalk
	ids    ids
}

// OpenIndex returns the Index of the messages of a store, given once by their keys, and keeps it current from then on.
// Nothing may be written to the store meanwhile. O(messages).
func OpenIndex(db *kv.Store, chats *chat.Store, messages iter.Seq2[string, *chat.Message]) *Index {
	x := &Index{chats: chats, byNote: make(map[string]map[string]*citation), byTalk: make(byTalk), ids: newIDs()}
	for key, m := range messages {
		x.add(key, m)
	}
	db.OnCommit(x.commit)
	return x
}

// commit takes in what a transaction changed.
func (x *Index) commit(cs *kv.ChangeSet) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, ch := range cs.Changes {
		old, now, ok := chat.Messages.Of(ch)
		if !ok {
			continue
		}
		if old != nil {
			x.ids.remove(old.ID, ch.ID)
		}
		for id := range citationsOf(old) {
			x.byTalk.remove(id, x.byNote[id][ch.ID])
			delete(x.byNote[id], ch.ID)
			if len(x.byNote[id]) == 0 {
				delete(x.byNote, id)
			}
		}
		x.add(ch.ID, now)
	}
}

// add takes in a message. The caller has the lock.
func (x *Index) add(key string, m *chat.Message) {
	if m != nil {
		x.ids.add(m.ID, key)
	}
	for id, c := range citationsOf(m) {
		c.key, c.conversation = key, chat.ConversationOf(key)
		c.index, c.public, c.at = m.Index, m.PublicIndex, m.CreatedAt
		if x.byNote[id] == nil {
			x.byNote[id] = make(map[string]*citation)
		}
		x.byNote[id][key] = c
		x.byTalk.add(id, c)
	}
}

// citationsOf returns what a message says of notes, by their ids. nil says nothing.
func citationsOf(m *chat.Message) map[string]*citation {
	if m == nil || len(m.Members[chat.ReferencesMember])+len(m.Members[chat.PublicReferencesMember]) == 0 {
		return nil
	}
	all := make(map[string]*citation)
	of := func(id string) *citation {
		if all[id] == nil {
			all[id] = &citation{}
		}
		return all[id]
	}
	public, differs := m.Members[chat.PublicReferencesMember]
	for _, r := range toNotes(m.Members[chat.ReferencesMember]) {
		c := of(r.NoteID)
		c.own = append(c.own, r.link())
		if !differs {
			c.remote = c.own
		}
	}
	for _, r := range toNotes(public) {
		c := of(r.NoteID)
		c.remote = append(c.remote, r.link())
	}
	return all
}

// reference is what is read of a stored reference.
type reference struct {
	NoteID   string `json:"noteId"`
	Type     string `json:"referenceType"`
	Wikilink string `json:"wikilink"`
	Used     bool   `json:"used"`
}

func (r *reference) link() link {
	return link{r.Wikilink, kinds{r.Type == record.ReferDirect, r.Type == record.ReferSearch, r.Used}}
}

// toNotes reads the references of a message to notes. What this program does not understand of them is left out.
func toNotes(member json.RawMessage) (list []reference) {
	if len(member) == 0 {
		return nil
	}
	if json.Unmarshal(member, &list) != nil { // some of them may be readable
		var all []json.RawMessage
		list = nil
		if json.Unmarshal(member, &all) != nil {
			return nil
		}
		for _, raw := range all {
			var r reference
			if json.Unmarshal(raw, &r) == nil {
				list = append(list, r)
			}
		}
	}
	return slices.DeleteFunc(list, func(r reference) bool {
		return r.Type != record.ReferDirect && r.Type != record.ReferSearch || entities.CheckID("noteId", r.NoteID) != nil
	})
}

// notes returns the ids of the notes that messages refer to, in order.
func (x *Index) notes() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ids := make([]string, 0, len(x.byNote))
	for id := range x.byNote {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Refers reports whether a message refers to a note, whoever sees it.
func (x *Index) Refers(noteID string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.byNote[noteID]) > 0
}

// PubliclyUsed returns the ids of the notes that models have read of for messages that are not private, in order.
func (x *Index) PubliclyUsed() []string {
	return slices.DeleteFunc(x.notes(), func(id string) bool {
		x.mu.RLock()
		defer x.mu.RUnlock()
		for _, c := range x.byNote[id] {
			if c.public > 0 && slices.ContainsFunc(c.remote, func(l link) bool { return l.used }) {
				return false
			}
		}
		return true
	})
}

// of returns what a reader sees of the references to a note, in no order: nothing for a note that he may not know of.
func (x *Index) of(v *audience.View, noteID string) []citation {
	if v.HidesNote(noteID) {
		return nil
	}
	x.mu.RLock()
	list := make([]citation, 0, len(x.byNote[noteID]))
	for _, c := range x.byNote[noteID] {
		list = append(list, *c)
	}
	x.mu.RUnlock()
	return x.seen(list, &shownLinks{view: v, noteID: noteID})
}

// seen leaves of citations of a note what a reader sees, and says what it is for him.
func (x *Index) seen(list []citation, shown *shownLinks) []citation {
	kept := list[:0]
	for i := range list {
		c := &list[i]
		if !shown.view.Sees(c.public == 0) || !x.seesTalk(shown.view, c.conversation) {
			continue
		}
		if c.kinds = shown.of(c); c.kinds != (kinds{}) {
			kept = append(kept, *c)
		}
	}
	return kept
}

// seesTalk reports whether a reader sees a conversation.
func (x *Index) seesTalk(v *audience.View, id string) bool {
	in := x.chats.Record(id)
	return in != nil && v.Sees(in.Private)
}

// shownLinks tells which links to a note a reader is shown.
type shownLinks struct {
	view   *audience.View
	noteID string
	known  map[link]bool // of a remote reader
}

// of returns how a message refers to the note for the reader.
func (s *shownLinks) of(c *citation) (k kinds) {
	if !s.view.Hides() {
		for _, l := range c.own {
			k = k.or(l.kinds)
		}
		return k
	}
	for _, l := range c.remote {
		shown, known := s.known[l]
		if !known {
			shown = s.shows(l)
			if s.known == nil {
				s.known = make(map[link]bool)
			}
			s.known[l] = shown
		}
		if shown {
			k = k.or(l.kinds)
		}
	}
	return k
}

// shows asks package chat, which shows references.
func (s *shownLinks) shows(l link) bool {
	r := chat.Reference{ChatReference: record.ChatReference{NoteID: s.noteID, Type: record.ReferSearch, Wikilink: l.text, Used: l.used}}
	if l.direct {
		r.Type = record.ReferDirect
	}
	return len(chat.RenderReferences(s.view, []chat.Reference{r}, &chat.RenderedMessage{}, nil)) > 0
}

// Known gives what the index knows of each note, by ids of notes in order: to compare it with another one.
func (x *Index) Known() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, id := range x.notes() {
			x.mu.RLock()
			var list []string
			for key, c := range x.byNote[id] {
				text, _ := json.Marshal([]any{key, c.index, c.public, c.at, fmt.Sprint(c.own, c.remote)})
				list = append(list, string(text))
			}
			x.mu.RUnlock()
			slices.Sort(list)
			if !yield(id, list) {
				return
			}
		}
	}
}
