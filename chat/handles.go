package chat

// A handleSource tells the Completer of context/gather of conversations: their handles, their titles and when somebody
// added to them. Archived conversations are not completed.
//
// A conversation without a title is called by the beginning of a message, which may be another one for a remote reader.
// The beginnings are read once, when the index of handles is made, and from the messages that commits bring: no message
// is read to complete something for a local reader.

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// handleSource is the Source of conversations.
type handleSource struct {
	store  *Store
	titles map[string]titles // of conversations that were given none, by id
}

// titles are what a conversation is called by its messages.
type titles struct{ all, public string }

// newHandleSource returns the Source of a store.
func newHandleSource(store *Store) *handleSource {
	return &handleSource{store: store, titles: make(map[string]titles)}
}

// Kinds is that of gather.HandleSource.
func (s *handleSource) Kinds() []refs.HandleKind { return []refs.HandleKind{refs.ConversationHandle} }

// Load is that of gather.HandleSource.
func (s *handleSource) Load(ctx context.Context) ([]gather.HandleKey, error) {
	s.titles = make(map[string]titles)
	var keys []gather.HandleKey
	for _, c := range s.store.Records() {
		keys = append(keys, gather.HandleKey{Kind: refs.ConversationHandle, ID: c.ID})
		if c.Title != "" {
			continue
		}
		all, public, err := s.store.Untitled(ctx, c)
		if err != nil {
			return nil, err
		}
		s.titles[c.ID] = titles{all, public}
	}
	return keys, nil
}

// Touched is that of gather.HandleSource.
func (s *handleSource) Touched(cs *kv.ChangeSet) []gather.HandleKey {
	var keys []gather.HandleKey
	for _, ch := range cs.Changes {
		if _, now, ok := Messages.Of(ch); ok && now != nil {
			s.said(ConversationOf(ch.ID), now)
		}
		if _, now, ok := Conversations.Of(ch); ok {
			keys = append(keys, gather.HandleKey{Kind: refs.ConversationHandle, ID: ch.ID})
			if now == nil {
				delete(s.titles, ch.ID)
			}
		}
	}
	return keys
}

// said takes in a message if a conversation is called by it.
func (s *handleSource) said(id string, m *Message) {
	c := s.store.Record(id)
	if c == nil {
		return
	}
	t := s.titles[id]
	if m.Index == c.All.User {
		t.all = TitleOf(m.Content)
	}
	if m.Index == c.Public.User {
		t.public = TitleOf(m.Content)
	}
	if t != (titles{}) {
		s.titles[id] = t
	}
}

// Entry is that of gather.HandleSource.
func (s *handleSource) Entry(k gather.HandleKey) (e refs.Entry, ok bool) {
	c := s.store.Record(k.ID)
	if c == nil || !c.Live() {
		return e, false
	}
	e = refs.Entry{
		Kind: refs.ConversationHandle, ID: c.ID, Handle: c.Handle, Label: c.Title, Used: later(c.ChangedAt, c.All.At),
	}
	e.Former, e.Names = c.OpenHandles.Part(c.Aliases)
	t := titles{c.Title, c.Title}
	if c.Title == "" {
		t = s.titles[c.ID]
		e.Label = t.all
	}
	if t.all != "" {
		e.Names = append(e.Names, t.all)
	}
	if !c.Private {
		e.Public = later(c.PublicChangedAt(), c.Public.At)
		if t.public != "" && t.public != t.all {
			e.Names = append(e.Names, t.public)
		}
	}
	return e, true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Show is that of gather.HandleSource.
func (s *handleSource) Show(ctx context.Context, v *audience.View, e *refs.Entry) (out gather.EntryVisibility, err error) {
	c, err := s.store.Get(ctx, v, e.ID)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = nil
		}
		return out, err
	}
	out = gather.EntryVisibility{Exists: true, Handle: c.Handle != "" && c.Handle == e.Handle, Label: c.Title}
	for _, name := range e.Names {
		out.Names = append(out.Names, name == c.Title)
	}
	return out, nil
}

// OpenCompleter returns the Handles of all kinds of records of a store. Open it after their rooms.
func OpenCompleter(db *kv.Store, rooms *audience.Views, ents *entities.Store, mem *memory.Store, chats *Store) *gather.Completer {
	return gather.OpenCompleter(db, gather.NewMemorySource(mem, rooms), gather.NewEntitySource(ents), newHandleSource(chats))
}
