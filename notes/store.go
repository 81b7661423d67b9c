package notes

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
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
	// PrivateFolders are patterns as in .gitignore: notes whose paths match are
	// private, whatever they say themselves.
	PrivateFolders []string
	// Loaded is what Load has read of the store; nil, or read before the last change:
	// Open reads it.
	Loaded *Loaded
}

// Store keeps notes, their names and their links. Open makes one.
type Store struct {
	db   *kv.Store
	ents *entities.Store
	opts Options

	private gitignore.Matcher // of PrivateFolders

	ahead kv.Ahead[map[*Note]*names] // of large commits on their way

	mu    kv.ViewLock // guards everything below; at first only the notes by id and the counts are loaded
	index *index
	names *entities.NameIndex // of the live notes
	tags  map[string]*Tag
	live  int
	text  int64 // bytes of all texts
	gen   uint64
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
		private: privateFolders(opts.PrivateFolders),
		names:   entities.NewNameIndex(), tags: make(map[string]*Tag),
	}
	if err := s.hide(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	ents.SetResolver(entities.Resolver{Resolve: s.resolveRef, Keys: refKeys, Private: s.isPrivate, Makes: makes})
	db.OnPrepare(s.prepare)
	db.OnCommit(s.commit)
	return s, nil
}

// LoadRest loads what Open leaves for later: names, tags and links. Calls that need
// them see to it themselves and wait; it is for when there is time.
func (s *Store) LoadRest() { s.mu.LoadRest() }

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
	ahead := s.ahead.Take(cs.Seq)
	s.mu.Lock()
	defer s.mu.Unlock()
	again := stale{whole: make(map[num]*names), keys: make(map[string]struct{})}
	var gone []string
	for _, ch := range cs.Changes {
		_, now, ok := Records.Of(ch)
		if !ok {
			continue
		}
		s.gen++
		changed = append(changed, ch.ID)
		old, renamed := s.index.get(ch.ID), false
		if old != nil {
			if renamed = !sameNames(old, now); renamed {
				again.renamed(namesOf(old))
			}
			s.leave(old, now)
		}
		switch {
		case now != nil:
			names := ahead[now]
			if names == nil {
				names = namesOf(now)
			}
			if renamed || old == nil {
				again.renamed(names)
			}
			again.whole[s.enter(now, names)] = names
		case old != nil:
			gone = append(gone, ch.ID)
			n := s.index.byID[ch.ID]
			again.whole[n] = nil
			for _, from := range s.index.list[n].in {
				if _, known := again.whole[from]; !known {
					again.whole[from] = nil
				}
			}
		}
	}
	s.index.relink(again)
	for _, id := range gone {
		s.index.release(id)
	}
	return slices.Sorted(maps.Keys(again.keys)), changed
}

// renamed notes the links that may mean a note with these names, or did so.
func (s *stale) renamed(of *names) {
	for _, name := range of.own {
		if name.as != byPath { // its file name is a key of every link with a path
			s.keys[name.key] = struct{}{}
		}
	}
}

// sameNames reports whether links find two versions of a note alike.
func sameNames(a, b *Note) bool {
	return a != nil && b != nil && a.Title == b.Title && a.Path == b.Path && a.Vault == b.Vault &&
		a.EntityID == b.EntityID && a.Live() == b.Live() && slices.Equal(a.Aliases, b.Aliases)
}

// enter puts a note into every index but the resolved links, which need all
// notes.
func (s *Store) enter(n *Note, as *names) num {
	s.text += int64(len(n.Body))
	if n.Live() {
		s.live++
		s.names.Put(entities.NameRecord{ID: n.ID, Changed: n.UpdatedAt}, append([]string{n.Title}, n.Aliases...)...)
		s.countTags(n)
	}
	return s.index.put(n, as)
}

func (s *Store) countTags(n *Note) {
	for _, name := range n.Tags {
		key := entities.Fold(name)
		if s.tags[key] == nil {
			s.tags[strings.Clone(key)] = &Tag{Name: strings.Clone(name)} // else they keep the record that they are parts of
		}
		s.tags[key].Count++
	}
}

// leave takes a note out of every index but the resolved links. Its names stay when
// a live version follows: they mostly are the same.
func (s *Store) leave(n, next *Note) {
	s.text -= int64(len(n.Body))
	if n.Live() {
		s.live--
		if !next.Live() {
			s.names.Delete(n.ID)
		}
		for _, name := range n.Tags {
			key := entities.Fold(name)
			if s.tags[key].Count--; s.tags[key].Count == 0 {
				delete(s.tags, key)
			}
		}
	}
	s.index.remove(s.index.byID[n.ID])
}

// resolveRef finds what a link in a field of an entity means.
func (s *Store) resolveRef(link, from string) (noteID, entityID string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if to := s.index.resolve(targetOf(link), s.index.numberOf(from)).to; to != nowhere {
		n := s.index.list[to].note
		return n.ID, n.EntityID
	}
	return "", ""
}

func (s *Store) isPrivate(id string) bool {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	n := s.index.get(id)
	return n != nil && n.Private
}

func makes(tx *kv.Tx, noteID, entityID string) (bool, error) {
	n, err := Records.Get(tx, noteID)
	return n != nil && n.EntityID == entityID, err
}

func refKeys(link string) []string { return linkKeys(targetOf(link)) }

// Get returns the note of that id, also an archived one, or nil. O(1).
func (s *Store) Get(id string) *Note {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.index.get(id)
}

// All yields every note, archived ones included, in no order. The store is
// locked for writing meanwhile: take what is needed and leave.
func (s *Store) All() iter.Seq[*Note] {
	return func(yield func(*Note) bool) {
		s.mu.Early().RLock()
		defer s.mu.Early().RUnlock()
		for i := range s.index.list {
			if n := s.index.list[i].note; n != nil && !yield(n) {
				return
			}
		}
	}
}

// Count returns the number of live and of all notes, and the bytes of all
// texts.
func (s *Store) Count() (live, all int, bytes int64) {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.live, len(s.index.byID), s.text
}

// Gen counts the changes of notes.
func (s *Store) Gen() uint64 {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.gen
}

// Complete returns the live notes that typed may mean (see
// entities.NameIndex.Complete).
func (s *Store) Complete(typed string, limit int) []entities.Hit {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.Complete(typed, nil, limit)
}

// Resolve finds the note that the text between the brackets of a wikilink
// means, in a note of id from, or with no place of its own when from is "".
func (s *Store) Resolve(link, from string) Resolution {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m := s.index.resolve(targetOf(link), s.index.numberOf(from))
	r := Resolution{Tier: m.tier, Candidates: s.index.ids(m.several)}
	if m.to != nowhere {
		r.ID = s.index.list[m.to].note.ID
	}
	return r
}
