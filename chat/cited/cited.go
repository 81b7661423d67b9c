package cited

import (
	"encoding/json"
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

	direct, search, used bool
}

// stood reports whether the message named the note, or the model has read of it: it was not only found.
func (c *citation) stood() bool { return c.direct || c.used }

// Index knows the references of all messages. Open makes one.
type Index struct {
	chats *chat.Store

	mu     sync.RWMutex                    // guards what follows
	byNote map[string]map[string]*citation // by id of the note and key of the message
}

// Open returns the Index of the messages of a store, given once by their keys, and keeps it current from then on.
// Nothing may be written to the store meanwhile. O(messages).
func Open(db *kv.Store, chats *chat.Store, messages iter.Seq2[string, *chat.Message]) *Index {
	x := &Index{chats: chats, byNote: make(map[string]map[string]*citation)}
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
		for id := range notesOf(old) {
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
	for id, c := range notesOf(m) {
		c.key, c.conversation = key, chat.ConversationOf(key)
		c.index, c.public, c.at = m.Index, m.PublicIndex, m.CreatedAt
		if x.byNote[id] == nil {
			x.byNote[id] = make(map[string]*citation)
		}
		x.byNote[id][key] = c
	}
}

// reference is what is read of a stored reference.
type reference struct {
	NoteID string `json:"noteId"`
	Type   string `json:"referenceType"`
	Used   bool   `json:"used"`
}

// referencesMember is the member of a message that has its references.
const referencesMember = "references"

// notesOf returns what a message says of notes, by their ids; of several references to one note all. nil has none.
func notesOf(m *chat.Message) map[string]*citation {
	if m == nil || len(m.Members[referencesMember]) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(m.Members[referencesMember], &list) != nil {
		return nil
	}
	var notes map[string]*citation
	for _, raw := range list {
		var r reference
		if json.Unmarshal(raw, &r) != nil || entities.CheckID("noteId", r.NoteID) != nil {
			continue
		}
		if notes == nil {
			notes = make(map[string]*citation)
		}
		c := notes[r.NoteID]
		if c == nil {
			c = &citation{}
			notes[r.NoteID] = c
		}
		c.direct = c.direct || r.Type == record.ReferDirect
		c.search = c.search || r.Type == record.ReferSearch
		c.used = c.used || r.Used
	}
	return notes
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
	return slices.DeleteFunc(list, func(c citation) bool {
		in := x.chats.Record(c.conversation)
		return in == nil || !v.Sees(in.Private) || !v.Sees(c.public == 0)
	})
}

// Known gives what the index knows of each note, by ids of notes in order: to compare it with another one.
func (x *Index) Known() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for _, id := range x.notes() {
			x.mu.RLock()
			var list []string
			for key, c := range x.byNote[id] {
				text, _ := json.Marshal([]any{key, c.index, c.public, c.at, c.direct, c.search, c.used})
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
