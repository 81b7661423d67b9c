package past

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/entities/kv"
)

// Kind tells what a name was to a record.
type Kind byte

// Kinds. They are parts of what is hashed, and must not change.
const (
	NoteName     Kind = 'n' // title or alias of a note, folded
	NotePath     Kind = 'p' // path of a note without its ending, or an end of it, folded
	NoteID       Kind = 'i'
	EntityName   Kind = 'e' // name or alias of an entity, folded
	EntityHandle Kind = 'h' // as names.Handle makes it
	EntityID     Kind = 'j'

	Handle         Kind = 'm' // of a memory, a context or a conversation, as handle.Fold makes it
	ContextName    Kind = 'k' // as groups.NameKey makes it
	MemoryID       Kind = 'o'
	ContextID      Kind = 'x'
	ConversationID Kind = 'v'
)

// Name is something by which a text may refer to a record.
type Name struct {
	Kind Kind
	Text string
}

// keptName is what is stored of a name beside its hash.
type keptName struct {
	Length int `json:"length,omitempty"` // as lengthOf says
}

// salt is what the hashes of a store begin with.
type salt struct {
	Salt []byte `json:"salt"`
}

var (
	kept  = kv.NewCollection[keptName]("private-past") // by hash of the owner, /, hash of the name
	salts = kv.NewCollection[salt]("private-past-salt")
)

const (
	saltID   = "salt" // of the one record of salts
	saltSize = 16
)

// hash stands for a name.
type hash [16]byte

func (s salt) hash(n Name) hash {
	const most = 256 // longer texts are seldom
	b := append(make([]byte, 0, most), s.Salt...)
	b = append(b, byte(n.Kind))
	b = append(b, n.Text...)
	sum := sha256.Sum256(b)
	return hash(sum[:len(hash{})])
}

var encoding = base64.RawURLEncoding

func (h hash) String() string { return encoding.EncodeToString(h[:]) }

// lengthStep is what lengths are rounded up to: a name is not told by its length.
const lengthStep = 16

// lengthOf returns at least how many bytes a name has that mentions may have, 0 of others.
func lengthOf(n Name) int {
	switch n.Kind {
	case EntityName, NoteName, NotePath, ContextName:
	default:
		return 0
	}
	return (len(n.Text) + lengthStep - 1) / lengthStep * lengthStep
}

// Lost returns the names of a record before a change that it does not have after it. It
// reuses before.
func Lost(before, after []Name) []Name {
	return slices.DeleteFunc(before, func(n Name) bool { return slices.Contains(after, n) })
}

// KeepTx keeps names of a private record, which owner names by its id.
func KeepTx(tx *kv.Tx, owner Name, names []Name) error {
	if len(names) == 0 {
		return nil
	}
	s, err := salts.Get(tx, saltID)
	if err != nil {
		return err
	}
	if s == nil {
		s = &salt{make([]byte, saltSize)}
		_, _ = rand.Read(s.Salt) // it never fails
		if err := salts.Put(tx, saltID, s); err != nil {
			return err
		}
	}
	prefix := s.hash(owner).String() + "/"
	for _, n := range names {
		if err := kept.Put(tx, prefix+s.hash(n).String(), &keptName{lengthOf(n)}); err != nil {
			return err
		}
	}
	return nil
}

// ForgetTx forgets all names that were kept of a record: it is public now.
func ForgetTx(tx *kv.Tx, owner Name) error {
	s, err := salts.Get(tx, saltID)
	if err != nil || s == nil {
		return err
	}
	var ids []string
	for id := range kept.All(tx, s.hash(owner).String()+"/") {
		ids = append(ids, id)
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, id := range ids {
		if err := kept.Delete(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// Names are the names that are kept. Open makes them.
type Names struct {
	count atomic.Int64

	mu      sync.RWMutex // guards everything below
	salt    salt
	owners  map[hash]int32 // how many records had a name
	lengths map[int]int    // how many names are of a length
	longest int
}

// Open reads the names that are kept in db, and keeps them current from then on. What
// has to know of them in a commit is to be opened after them.
func Open(db *kv.Store) (*Names, error) {
	p := empty()
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		s, err := salts.Get(tx, saltID)
		if err != nil || s == nil {
			return err
		}
		p.salt = *s
		for id, n := range kept.All(tx, "") {
			p.add(id, n, 1)
		}
		return tx.Err()
	})
	db.OnCommit(p.commit)
	return p, err
}

func empty() *Names { return &Names{owners: make(map[hash]int32), lengths: make(map[int]int)} }

func (p *Names) commit(cs *kv.ChangeSet) {
	for _, ch := range cs.Changes {
		_, s, ok := salts.Of(ch)
		if ok && s != nil {
			p.mu.Lock()
			p.salt = *s
			p.mu.Unlock()
			continue
		}
		old, now, ok := kept.Of(ch)
		if !ok || old != nil && now != nil {
			continue
		}
		p.mu.Lock()
		if now != nil {
			p.add(ch.ID, now, 1)
		} else if old != nil {
			p.add(ch.ID, old, -1)
		}
		p.mu.Unlock()
	}
}

// add counts a name by the id of its record. One that is no id of ours counts nothing.
func (p *Names) add(id string, n *keptName, by int32) {
	_, name, _ := strings.Cut(id, "/")
	raw, err := encoding.DecodeString(name)
	if err != nil || len(raw) != len(hash{}) {
		return
	}
	key := hash(raw)
	p.count.Add(int64(by))
	p.owners[key] += by
	if p.owners[key] <= 0 {
		delete(p.owners, key)
	}
	if n.Length == 0 {
		return
	}
	p.lengths[n.Length] += int(by)
	if p.lengths[n.Length] > 0 {
		p.longest = max(p.longest, n.Length)
		return
	}
	delete(p.lengths, n.Length)
	p.longest = 0
	for length := range p.lengths {
		p.longest = max(p.longest, length)
	}
}

// Len returns how many names are kept. It takes no lock.
func (p *Names) Len() int64 { return p.count.Load() }

// Has reports whether a private record had a name. It costs one hash of the text.
func (p *Names) Has(kind Kind, text string) bool {
	if p.Len() == 0 {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.owners[p.salt.hash(Name{kind, text})] > 0
}

// Longest returns how many bytes the longest name that mentions may have has at most.
func (p *Names) Longest() int {
	if p.Len() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.longest
}

// Forgotten returns the names that a commit has taken away, nil for none. It is to be
// asked in the commit, after Names has taken its part in it.
func (p *Names) Forgotten(cs *kv.ChangeSet) *Names {
	var gone *Names
	for _, ch := range cs.Changes {
		old, now, ok := kept.Of(ch)
		if !ok || old == nil || now != nil {
			continue
		}
		if gone == nil {
			gone = empty()
			p.mu.RLock()
			gone.salt = p.salt
			p.mu.RUnlock()
		}
		gone.add(ch.ID, old, 1)
	}
	return gone
}
