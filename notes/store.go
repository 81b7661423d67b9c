package notes

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/names"
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
	Hide           func(tx *kv.Tx, id string, fresh bool) error // a note, which fresh says is new, becomes private; nil: nobody asks
	// Loaded is what Load has read of the store; nil, or read before the last change:
	// Open reads it.
	Loaded *Loaded
}

// Store keeps notes, their names and their links. Open makes one.
type Store struct {
	db   *kv.Store
	ents *entities.Store
	opts Options

	private privateFolders // of Options.PrivateFolders

	caseMu    sync.RWMutex         // guards caseRules
	caseRules map[string]*caseRule // by vault

	sourcesMu sync.RWMutex                 // guards sources
	sources   map[string]*typeSourceRecord // by entities.TypeKey

	ahead kv.Ahead[map[*Note]*noteNames] // of large commits on their way

	mu    kv.LoadLock // guards everything below; at first only the notes by id and the counts are loaded
	index *index
	names *names.Index // of the live notes
	// Titles, aliases, files and paths of the private notes, the archived ones included.
	privateNames *names.Index
	tags         TagCounts
	attachments  Attachments
	former       formerNames
	live         int
	text         int64 // bytes of all texts
	gen          uint64

	privates atomic.Int64 // private notes
}

// Open loads the notes of db and keeps them current from then on. It makes
// itself the resolver of links in entities. See HideAnew for what is to be done next.
func Open(db *kv.Store, ents *entities.Store, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	if opts.Hide == nil {
		opts.Hide = func(*kv.Tx, string, bool) error { return nil }
	}
	opts.MaxBody = cmp.Or(opts.MaxBody, MaxBody)
	s := &Store{
		db: db, ents: ents, opts: opts,
		private: newPrivateFolders(opts.PrivateFolders),
		names:   names.New(), privateNames: names.New(), tags: TagCounts{},
	}
	if err := s.loadCaseRules(); err != nil {
		return nil, err
	}
	if err := mendSummaries(db); err != nil {
		return nil, err
	}
	if err := s.loadSources(); err != nil {
		return nil, err
	}
	if err := s.loadNames(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	ents.SetResolver(entities.Resolver{
		Resolve: s.resolveRef, Former: s.resolveFormer, Keys: refKeys, Private: s.isPrivate, Source: SourceTx,
		Makes: makes, Note: func(id string) bool { return s.Get(id) != nil },
	})
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
	s.takeSources(cs)
	s.takeCaseRules(cs)
	affected, changed := s.take(cs)
	if len(affected)+len(changed) > 0 {
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
	s.attachments.Take(cs)
	again := stale{whole: make(map[num]*noteNames), keys: make(map[string]struct{})}
	s.former.Take(cs, again.keys)
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
			renamed = !sameNames(old, now)
			if renamed {
				again.renamed(ownNamesOf(old))
			}
			if renamed || old.Private != now.Private { // what chooses between those that were called so
				s.former.Keys(ch.ID, again.keys)
			}
			s.leave(old, now)
		}
		switch {
		case now != nil:
			names := ahead[now]
			if names == nil {
				names = namesOf(now, hashesOf(now))
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
func (s *stale) renamed(of *noteNames) {
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
func (s *Store) enter(n *Note, as *noteNames) num {
	s.text += int64(len(n.Body))
	if n.Private {
		s.privates.Add(1)
		s.privateNames.Put(names.Record{ID: n.ID}, allNames(n)...)
	}
	if n.Live() {
		s.live++
		s.names.Put(names.Record{ID: n.ID, Changed: n.UpdatedAt, Private: n.Private},
			append([]string{n.Title}, n.Aliases...)...)
		s.countTags(n)
	}
	return s.index.put(n, as)
}

func (s *Store) countTags(n *Note) {
	for _, name := range n.Tags {
		s.tags.Add(name, 1)
	}
}

// leave takes a note out of every index but the resolved links. Its names stay when
// a live version follows: they mostly are the same.
func (s *Store) leave(n, next *Note) {
	s.text -= int64(len(n.Body))
	if n.Private {
		s.privates.Add(-1)
		if next == nil || !next.Private {
			s.privateNames.Delete(n.ID)
		}
	}
	if n.Live() {
		s.live--
		if !next.Live() {
			s.names.Delete(n.ID)
		}
		for _, name := range n.Tags {
			s.tags.Add(name, -1)
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

// privateGone are the private notes that were deleted, so that who names one as a source
// in the moment in which it goes names a private one.
var privateGone = kv.NewCollection[struct{}]("note-private-gone") // by id

// SourceTx returns what a transaction sees of a note that a record names as its source.
func SourceTx(tx *kv.Tx, noteID string) (entities.Source, error) {
	n, err := Records.Get(tx, noteID)
	if err != nil || n != nil {
		return entities.Source{Private: n != nil && n.Private}, err
	}
	gone, err := privateGone.Has(tx, noteID)
	return entities.Source{Private: gone, Gone: gone}, err
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

// All yields every note that there is when it begins, archived ones included, in no order. The store may be used and changed
// meanwhile. O(notes).
func (s *Store) All() iter.Seq[*Note] {
	return func(yield func(*Note) bool) {
		s.mu.Early().RLock()
		all := slices.AppendSeq(make([]*Note, 0, len(s.index.byID)), World{index: s.index}.All())
		s.mu.Early().RUnlock()
		slices.Values(all)(yield)
	}
}

// Count returns the number of live and of all notes, and the bytes of all
// texts.
func (s *Store) Count() (live, all int, bytes int64) {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.live, len(s.index.byID), s.text
}

// Privates returns the number of private notes, the archived ones included. It takes
// no lock.
func (s *Store) Privates() int64 { return s.privates.Load() }

// CalledPrivate reports whether a private note has that text for its title or for an
// alias, compared without case.
func (s *Store) CalledPrivate(text string) bool {
	key := entities.Fold(strings.TrimSpace(text))
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range s.index.named(key) {
		if s.index.list[r.num()].note.Private && (r.role() == byTitle || r.role() == byAlias) {
			return true
		}
	}
	return false
}

// MatchPrivate reports whether fold is the fold of what a private note is called, and
// whether something that one is called begins with it: a title, an alias, a file name or
// a path, both without their endings.
func (s *Store) MatchPrivate(fold string) (whole, beginning bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.privateNames.Match(fold, nil)
}

// Gen counts the changes of notes.
func (s *Store) Gen() uint64 {
	s.mu.Early().RLock()
	defer s.mu.Early().RUnlock()
	return s.gen
}

// Complete returns the live notes that typed may mean (see
// names.Index.Complete). With publicOnly private ones do not exist.
func (s *Store) Complete(typed string, limit int, publicOnly bool) []names.Hit {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.Complete(typed, nil, limit, publicOnly)
}

// CompleteShown is Complete of public notes by the names that hides does not tell of (see names.Index.CompleteShown). hides
// must not ask the Store.
func (s *Store) CompleteShown(typed string, limit int, hides func(id, name string) bool) []names.Hit {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names.CompleteShown(typed, nil, limit, hides)
}

// Resolve finds the note that the text between the brackets of a wikilink
// means, in a note of id from, or with no place of its own when from is "".
func (s *Store) Resolve(link, from string, skip Skip) Resolution {
	s.mu.RLock()
	defer s.mu.RUnlock()
	place := s.index.numberOf(from)
	m := s.index.resolveWithout(targetOf(link), place, skip)
	r := Resolution{Tier: m.tier, Candidates: s.index.candidates(m.several, place), Among: m.among}
	if m.to != nowhere {
		r.ID = s.index.list[m.to].note.ID
	}
	if m.tier == TierName || m.tier == TierPath {
		r.Others = s.index.others(targetOf(link), m.to, place, skip)
	}
	return r
}

// ResolveFile finds the note that the destination of a Markdown link means in a note of
// id from: "" for none. target is a path without escapes.
func (s *Store) ResolveFile(target, from string) (id string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	file := entities.Fold(trimExt(strings.TrimSpace(target)))
	if m := s.index.resolveFile(file, s.index.numberOf(from), nil); m.to != nowhere {
		return s.index.list[m.to].note.ID
	}
	return ""
}
