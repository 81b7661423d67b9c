package entities

// past*.go keep what private records were called: the names that one has lost, or had when it
// was deleted. A link by such a name leads nowhere, and would still tell a reader who sees no
// private record what that record was called (PRIV-4).
//
// # What is stored
//
// No name is stored in clear, so that the title of a deleted note is not left on the
// disk. A record of the collection "private-past" has for its id the hash of the record
// that had the name, a slash and the hash of the name: the first 16 bytes of a SHA-256
// over the salt of the store, the kind and the folded text, in base64. The salt is drawn
// when the first name is kept, and lies beside them ("private-past-salt"). Who has the
// store can still test a guess: that is what the hashes are for.
//
// Of names that mentions may have the length is stored too, rounded up, so that it is
// known how far to look.
//
// A name costs about 180 bytes of memory (BenchmarkNames), and 80 on the disk; a note has
// one for each title and alias, and one for each folder that its path ends with. Nothing takes one
// away but the publication of its record: who renames a private note a million times
// makes the store 200 MB larger.
//
// # Who may call it
//
// The stores of entities and of notes keep names in the transactions that take them from a
// record, and know which names refer to a record and how they are looked up (past.go of each);
// those of memories, contexts and conversations do so by what context/audience knows of theirs.
// A PastNames belongs to the store of entities, lives as long, and may be used concurrently; it
// takes no lock of others.

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

// PastKind tells what a name was to a record.
type PastKind byte

// Kinds. They are parts of what is hashed, and must not change.
const (
	PastNoteName     PastKind = 'n' // title or alias of a note, folded
	PastNotePath     PastKind = 'p' // path of a note without its ending, or an end of it, folded
	PastNoteID       PastKind = 'i'
	PastEntityName   PastKind = 'e' // name or alias of an entity, folded
	PastEntityHandle PastKind = 'h' // as names.Handle makes it
	PastEntityID     PastKind = 'j'

	PastHandle         PastKind = 'm' // of a memory, a context or a conversation, as refs.FoldHandle makes it
	PastContextName    PastKind = 'k' // as audience.ContextNameKey makes it
	PastMemoryID       PastKind = 'o'
	PastContextID      PastKind = 'x'
	PastConversationID PastKind = 'v'
)

// PastName is something by which a text may refer to a record.
type PastName struct {
	Kind PastKind
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

func (s salt) hash(n PastName) hash {
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
func lengthOf(n PastName) int {
	switch n.Kind {
	case PastEntityName, PastNoteName, PastNotePath, PastContextName:
	default:
		return 0
	}
	return (len(n.Text) + lengthStep - 1) / lengthStep * lengthStep
}

// LostNames returns the names of a record before a change that it does not have after it. It
// reuses before.
func LostNames(before, after []PastName) []PastName {
	return slices.DeleteFunc(before, func(n PastName) bool { return slices.Contains(after, n) })
}

// KeepPastTx keeps names of a private record, which owner names by its id.
func KeepPastTx(tx *kv.Tx, owner PastName, names []PastName) error {
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

// ForgetPastTx forgets all names that were kept of a record: it is public now.
func ForgetPastTx(tx *kv.Tx, owner PastName) error {
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

// PastNames are the names that are kept. Open makes them.
type PastNames struct {
	count atomic.Int64

	mu      sync.RWMutex // guards everything below
	salt    salt
	owners  map[hash]int32 // how many records had a name
	lengths map[int]int    // how many names are of a length
	longest int
}

// OpenPast reads the names that are kept in db, and keeps them current from then on. What
// has to know of them in a commit is to be opened after them.
func OpenPast(db *kv.Store) (*PastNames, error) {
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

func empty() *PastNames { return &PastNames{owners: make(map[hash]int32), lengths: make(map[int]int)} }

func (p *PastNames) commit(cs *kv.ChangeSet) {
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
func (p *PastNames) add(id string, n *keptName, by int32) {
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
func (p *PastNames) Len() int64 { return p.count.Load() }

// Has reports whether a private record had a name. It costs one hash of the text.
func (p *PastNames) Has(kind PastKind, text string) bool {
	if p.Len() == 0 {
		return false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.owners[p.salt.hash(PastName{kind, text})] > 0
}

// Longest returns how many bytes the longest name that mentions may have has at most.
func (p *PastNames) Longest() int {
	if p.Len() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.longest
}

// Forgotten returns the names that a commit has taken away, nil for none. It is to be
// asked in the commit, after Names has taken its part in it.
func (p *PastNames) Forgotten(cs *kv.ChangeSet) *PastNames {
	var gone *PastNames
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
