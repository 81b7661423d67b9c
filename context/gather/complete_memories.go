package gather

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// MemorySource is the Source of memories and contexts, and of the tags and domains that active and
// contested memories have: a tag with those above it, so that work is one where work/alpha is.
type MemorySource struct {
	store  *memory.Store
	remote *audience.View

	labels  map[HandleKey]*carriers // of tags and domains
	labeled map[string][]HandleKey  // by memory
	from    map[string][]string     // ids of the memories that come from a note
	source  map[string]string       // the note that a memory comes from
}

// carriers are the memories that have a tag or a domain, with when they were used last.
type carriers struct {
	all, public times
}

// times are times with the last of them.
type times struct {
	of   map[string]time.Time
	last time.Time
}

// NewMemorySource returns the Source of a store.
func NewMemorySource(store *memory.Store, rooms *audience.Views) *MemorySource {
	return &MemorySource{store: store, remote: rooms.View(audience.Remote)}
}

// Kinds is that of Source.
func (s *MemorySource) Kinds() []refs.HandleKind {
	return []refs.HandleKind{refs.MemoryHandle, refs.ContextHandle, refs.TagHandle, refs.DomainHandle}
}

// Load is that of Source.
func (s *MemorySource) Load(ctx context.Context) ([]HandleKey, error) {
	s.labels, s.labeled = make(map[HandleKey]*carriers), make(map[string][]HandleKey)
	s.from, s.source = make(map[string][]string), make(map[string]string)
	var keys []HandleKey
	for m := range s.store.All() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		keys = append(keys, HandleKey{refs.MemoryHandle, m.ID})
		s.follow(m.ID)
	}
	for c := range s.store.StoredContexts() {
		keys = append(keys, HandleKey{refs.ContextHandle, c.ID})
	}
	for k := range s.labels {
		keys = append(keys, k)
	}
	return keys, nil
}

// Touched is that of Source.
func (s *MemorySource) Touched(cs *kv.ChangeSet) []HandleKey {
	var keys []HandleKey
	turned := memory.Turned(cs)
	for _, ch := range cs.Changes {
		memoryID, contextID := memory.Touched(ch)
		switch {
		case memoryID != "":
			keys = s.touch(keys, memoryID)
		case contextID != "":
			keys = append(keys, HandleKey{refs.ContextHandle, contextID})
		case len(s.from[ch.ID]) > 0 && ch.Collection == notes.Records.Name():
			for _, id := range slices.Clone(s.from[ch.ID]) { // which may be private now, or public
				keys = s.touch(keys, id)
				if turned == nil {
					turned = make(map[string]bool)
				}
				turned[id] = true
			}
		}
	}
	if len(turned) > 0 {
		for _, id := range s.store.Changed(func(by string) bool { return turned[by] }) {
			keys = s.touch(keys, id)
		}
	}
	return keys
}

func (s *MemorySource) touch(keys []HandleKey, id string) []HandleKey {
	return append(append(keys, HandleKey{refs.MemoryHandle, id}), s.follow(id)...)
}

// follow takes in what tags, domains and source a memory has now. It returns the tags and domains that it
// has, or had.
func (s *MemorySource) follow(id string) []HandleKey {
	touched := s.labeled[id]
	for _, k := range touched {
		c := s.labels[k]
		c.all.drop(id)
		c.public.drop(id)
		if len(c.all.of)+len(c.public.of) == 0 {
			delete(s.labels, k)
		}
	}
	delete(s.labeled, id)
	if note, ok := s.source[id]; ok {
		delete(s.source, id)
		s.from[note] = slices.DeleteFunc(s.from[note], func(other string) bool { return other == id })
		if len(s.from[note]) == 0 {
			delete(s.from, note)
		}
	}
	m := s.store.Stored(id)
	if m == nil {
		return touched
	}
	if note := m.Source.NoteID; note != "" {
		s.source[id], s.from[note] = note, append(s.from[note], id)
	}
	used, public := s.used(m)
	if used.IsZero() && public.IsZero() {
		return touched
	}
	for _, k := range labelsOf(m) {
		c := s.labels[k]
		if c == nil {
			c = new(carriers)
			s.labels[k] = c
		}
		if !used.IsZero() {
			c.all.put(id, used)
		}
		if !public.IsZero() {
			c.public.put(id, public)
		}
		s.labeled[id] = append(s.labeled[id], k)
	}
	for _, k := range s.labeled[id] {
		if !slices.Contains(touched, k) {
			touched = append(touched, k)
		}
	}
	return touched
}

// used is when a memory was last used or changed, as a local and as a remote reader knows it; zero for one who does not
// find it.
func (s *MemorySource) used(m *memory.Record) (all, public time.Time) {
	if m.Current() {
		all = s.store.LastUsed(m)
	}
	if seen := s.store.As(s.remote, m); seen != nil && seen.Current() {
		public = s.store.LastUsed(seen)
	}
	return all, public
}

// labelsOf returns the tags and domains of a memory, with those above them, each once.
func labelsOf(m *memory.Record) []HandleKey {
	var keys []HandleKey
	for _, of := range []struct {
		kind refs.HandleKind
		list []string
	}{{refs.TagHandle, m.Tags}, {refs.DomainHandle, m.Domains}} {
		for _, label := range of.list {
			label = audience.FoldStatement(label)
			for at := range len(label) + 1 {
				if at < len(label) && label[at] != '/' {
					continue
				}
				if k := (HandleKey{of.kind, label[:at]}); at > 0 && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
	}
	return keys
}

func (t *times) put(id string, at time.Time) {
	if t.of == nil {
		t.of = make(map[string]time.Time)
	}
	t.of[id] = at
	if at.After(t.last) {
		t.last = at
	}
}

func (t *times) drop(id string) {
	at, ok := t.of[id]
	if !ok {
		return
	}
	delete(t.of, id)
	if at.Before(t.last) {
		return
	}
	t.last = time.Time{}
	for _, other := range t.of {
		if other.After(t.last) {
			t.last = other
		}
	}
}

// Entry is that of Source.
func (s *MemorySource) Entry(k HandleKey) (refs.Entry, bool) {
	switch k.Kind {
	case refs.MemoryHandle:
		return s.memory(k.ID)
	case refs.ContextHandle:
		return s.context(k.ID)
	}
	c := s.labels[k]
	if c == nil {
		return refs.Entry{}, false
	}
	e := refs.Entry{
		Kind: k.Kind, ID: k.ID, Handle: refs.NewTagHandle(k.ID), Names: []string{k.ID}, Label: k.ID, Used: c.all.last, Public: c.public.last,
	}
	if k.Kind == refs.DomainHandle {
		e.Handle = refs.NewDomainHandle(k.ID)
	}
	return e, true
}

func (s *MemorySource) memory(id string) (e refs.Entry, ok bool) {
	m := s.store.Stored(id)
	if m == nil {
		return e, false
	}
	e = refs.Entry{Kind: refs.MemoryHandle, ID: m.ID, Handle: m.Handle, Number: uint64(m.Number), Label: labelOf(m)}
	e.Former, e.Names = m.OpenHandles.Part(m.Aliases) // a remote reader is shown none of the names
	e.Used, e.Public = s.used(m)
	return e, !e.Used.IsZero() || !e.Public.IsZero()
}

func labelOf(m *memory.Record) string { return cmp.Or(m.Summary, m.Statement) }

func (s *MemorySource) context(id string) (e refs.Entry, ok bool) {
	c := s.store.StoredContext(id)
	if c == nil {
		return e, false
	}
	e = refs.Entry{
		Kind: refs.ContextHandle, ID: c.ID, Handle: c.Handle, Label: c.Name, Used: c.UpdatedAt,
	}
	open, closed := c.OpenHandles.Part(c.Aliases)
	e.Former, e.Names = open, append([]string{c.Name}, closed...)
	if !c.Private {
		e.Public = e.Used
	}
	return e, true
}

// Show is that of Source.
func (s *MemorySource) Show(_ context.Context, v *audience.View, e *refs.Entry) (EntryVisibility, error) {
	switch e.Kind {
	case refs.MemoryHandle:
		m := s.store.As(v, s.store.Stored(e.ID))
		if m == nil || !m.Current() {
			return EntryVisibility{}, nil
		}
		return EntryVisibility{Exists: true, Handle: m.ShowsHandle(v), Label: v.TextOf(m.Source.NoteID, labelOf(m))}, nil
	case refs.ContextHandle:
		c := s.store.StoredContext(e.ID)
		if c == nil || !v.Sees(c.Private) {
			return EntryVisibility{}, nil
		}
		name := v.TextOf("", c.Name)
		same := name == c.Name && e.Names[0] == name
		return EntryVisibility{Exists: true, Handle: c.ShowsHandle(v), Names: []bool{same}, Label: name}, nil
	}
	if !v.Hides() && e.Used.IsZero() {
		return EntryVisibility{}, nil // of memories alone that are superseded for those who see more
	}
	plain := v.TextOf("", e.ID) == e.ID
	return EntryVisibility{Exists: plain, Handle: plain, Names: []bool{plain}, Label: e.ID}, nil
}
