package notes

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// Options are what a Store needs from elsewhere. The zero value works. The
// limits of names are those of the entities.
type Options struct {
	Now     func() time.Time // nil: time.Now
	NewID   func() string    // nil: random UUIDs
	MaxBody int              // bytes of the text of a note; 0: the constant of that name
}

// Store keeps notes, their names and their links. Open makes one.
type Store struct {
	db   *kv.Store
	ents *entities.Store
	opts Options

	mu    sync.RWMutex // guards everything below
	index *index
	names *entities.NameIndex
	tags  map[string]*Tag
	live  int
	text  int64 // bytes of all texts

	out    map[string][]string            // what the links of a note lead to, in the order of Note.Links; "" for nothing
	in     map[string]map[string]struct{} // ids of the notes that link to a note
	owners map[string]map[string]struct{} // link key to the ids of the notes with such a link
	gen    uint64
}

// memo keeps what links lead to while many of them are resolved at once.
type memo map[memoKey]string

type memoKey struct {
	target, vault, folder string
	path                  bool // the note has a path: links may count from there
}

// Tag is a tag and the number of live notes that have it.
type Tag struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Open loads the notes of db and keeps them current from then on. It makes
// itself the resolver of links in entities.
func Open(db *kv.Store, ents *entities.Store, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	opts.MaxBody = cmp.Or(opts.MaxBody, MaxBody)
	s := &Store{
		db: db, ents: ents, opts: opts,
		index: newIndex(), names: entities.NewNameIndex(), tags: make(map[string]*Tag),
		out: make(map[string][]string), in: make(map[string]map[string]struct{}),
		owners: make(map[string]map[string]struct{}),
	}
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		for _, n := range Records.All(tx, "") {
			s.enter(n)
		}
		return tx.Err()
	})
	if err != nil {
		return nil, err
	}
	memo := make(memo)
	for id := range s.index.notes {
		s.relink(id, memo)
	}
	ents.SetResolver(entities.Resolver{Resolve: s.resolveRef, Keys: refKeys, Private: s.isPrivate})
	db.OnCommit(s.commit)
	return s, nil
}

// MaxBody returns how many bytes the text of a note may have.
func (s *Store) MaxBody() int { return s.opts.MaxBody }

// maxName returns how many code points a title or alias may have.
func (s *Store) maxName() int { return s.ents.Limits().Name }

// commit is the Store's part in a commit.
func (s *Store) commit(cs *kv.ChangeSet) {
	affected, changed := s.take(cs)
	if len(changed) > 0 {
		// Outside s.mu: the entities store asks resolveRef, which locks it.
		s.ents.Relink(cs, affected, changed)
	}
}

// take takes the changed notes of cs in, resolves the links anew that may lead
// elsewhere now, and returns the keys of those links, sorted, and the ids of the
// changed notes.
func (s *Store) take(cs *kv.ChangeSet) (keysOut, changed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	affected := make(map[string]struct{})
	again := make(map[string]struct{})
	for _, ch := range cs.Changes {
		old, now, ok := Records.Of(ch)
		if !ok {
			continue
		}
		s.gen++
		changed = append(changed, ch.ID)
		if old != nil {
			s.leave(old)
		}
		if now != nil {
			s.enter(now)
			again[now.ID] = struct{}{}
		}
		if !sameNames(old, now) {
			for _, n := range []*Note{old, now} {
				if n == nil {
					continue
				}
				for _, key := range keys(n) {
					affected[key] = struct{}{}
				}
			}
		}
	}
	for key := range affected {
		for id := range s.owners[key] {
			again[id] = struct{}{}
		}
	}
	memo := make(memo)
	for id := range again {
		s.relink(id, memo)
	}
	return slices.Sorted(maps.Keys(affected)), changed
}

// sameNames reports whether links find two versions of a note alike.
func sameNames(a, b *Note) bool {
	return a != nil && b != nil && a.Title == b.Title && a.Path == b.Path && a.Vault == b.Vault &&
		a.EntityID == b.EntityID && a.Live() == b.Live() && slices.Equal(a.Aliases, b.Aliases)
}

// enter puts a note into every index but the links, which need all notes.
func (s *Store) enter(n *Note) {
	s.index.put(n)
	s.text += int64(len(n.Body))
	if n.Live() {
		s.live++
		s.names.Put(n.ID, "", n.UpdatedAt, append([]string{n.Title}, n.Aliases...)...)
		for _, name := range n.Tags {
			key := entities.Fold(name)
			if s.tags[key] == nil {
				s.tags[key] = &Tag{Name: name}
			}
			s.tags[key].Count++
		}
	}
	for _, l := range n.Links {
		for _, key := range linkKeys(l.Target) {
			if s.owners[key] == nil {
				s.owners[key] = make(map[string]struct{})
			}
			s.owners[key][n.ID] = struct{}{}
		}
	}
}

// leave takes a note out of every index.
func (s *Store) leave(n *Note) {
	s.index.remove(n)
	s.text -= int64(len(n.Body))
	if n.Live() {
		s.live--
		s.names.Delete(n.ID)
		for _, name := range n.Tags {
			key := entities.Fold(name)
			if s.tags[key].Count--; s.tags[key].Count == 0 {
				delete(s.tags, key)
			}
		}
	}
	s.unlink(n.ID)
	delete(s.out, n.ID)
	for _, l := range n.Links {
		for _, key := range linkKeys(l.Target) {
			if delete(s.owners[key], n.ID); len(s.owners[key]) == 0 {
				delete(s.owners, key)
			}
		}
	}
}

// unlink takes the resolved links of a note back.
func (s *Store) unlink(id string) {
	for _, to := range s.out[id] {
		if delete(s.in[to], id); len(s.in[to]) == 0 {
			delete(s.in, to)
		}
	}
}

// relink resolves the links of a note.
func (s *Store) relink(id string, memo memo) {
	n := s.index.notes[id]
	if n == nil {
		return
	}
	s.unlink(id)
	if len(n.Links) == 0 {
		return
	}
	targets := make([]string, len(n.Links))
	for i, l := range n.Links {
		key := memoKey{l.Target, n.Vault, n.Folder, n.Path != ""}
		to, known := memo[key]
		if l.Target == "" {
			to = id
		} else if !known {
			to = s.index.resolve(l.Target, n).ID
			memo[key] = to
		}
		targets[i] = to
		if to != "" {
			if s.in[to] == nil {
				s.in[to] = make(map[string]struct{})
			}
			s.in[to][id] = struct{}{}
		}
	}
	s.out[id] = targets
}

// resolveRef finds what a link in a field of an entity means.
func (s *Store) resolveRef(link, from string) (noteID, entityID string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := s.index.resolve(targetOf(link), s.index.notes[from])
	if n := s.index.notes[r.ID]; n != nil {
		return n.ID, n.EntityID
	}
	return "", ""
}

func (s *Store) isPrivate(id string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := s.index.notes[id]
	return n != nil && n.Private
}

func refKeys(link string) []string { return linkKeys(targetOf(link)) }

// Get returns the note of that id, also an archived one, or nil. O(1).
func (s *Store) Get(id string) *Note {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.notes[id]
}

// All yields every note, archived ones included, in no order. The store is
// locked for writing meanwhile: take what is needed and leave.
func (s *Store) All() iter.Seq[*Note] {
	return func(yield func(*Note) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		for _, n := range s.index.notes {
			if !yield(n) {
				return
			}
		}
	}
}

// Count returns the number of live and of all notes, and the bytes of all
// texts.
func (s *Store) Count() (live, all int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.live, len(s.index.notes), s.text
}

// Gen counts the changes of notes.
func (s *Store) Gen() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.gen
}

// Complete returns the live notes that typed may mean (see
// entities.NameIndex.Complete).
func (s *Store) Complete(typed string, limit int) []entities.Hit {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.Complete(typed, limit, func(string, string) bool { return true })
}

// Resolve finds the note that the text between the brackets of a wikilink
// means, in a note of id from, or with no place of its own when from is "".
func (s *Store) Resolve(link, from string) Resolution {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index.resolve(targetOf(link), s.index.notes[from])
}
