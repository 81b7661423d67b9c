package memory

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

type (
	// Use counts how a memory was used.
	Use = record.MemoryUse
	// Version is what a memory said before.
	Version = record.MemoryVersion
	// Context is a part of a life that memories belong to.
	Context = record.Context
)

// Record is a memory as it is stored.
type Record StoredMemory

// The collections that the records lie in.
var (
	Records = kv.NewCollection("memory", kv.Codec[Record]{
		Encode: func(m *Record) (string, error) { return encodeStored((*StoredMemory)(m)) },
		Decode: func(text string) (*Record, error) {
			m, err := decodeStored(text)
			return (*Record)(m), err
		},
	})

	uses       = kv.NewCollection[Use]("memory-use")                    // by id of the memory
	versions   = kv.NewCollection[Version]("memory-version")            // by id of the memory and version
	numbers    = kv.NewCollection("memory-number", usedNumberCodec)     // those of deleted memories, by number
	lastNumber = kv.NewCollection("memory-lastnumber", lastNumberCodec) // one record
)

// Limits are the sizes that can be configured. A zero member stands for its default.
type Limits struct {
	Bank    int           // active memories of the tier memoryBank
	Working time.Duration // how long a memory of the tier working lives
	History time.Duration // and one of the tier history
}

// Defaults of Limits.
const (
	MaxBank     = 1000
	WorkingLife = 24 * time.Hour
	HistoryLife = 30 * 24 * time.Hour
)

// Options are what a Store needs from elsewhere. The zero value works.
type Options struct {
	Now    func() time.Time // nil: time.Now
	NewID  func() string    // nil: random UUIDs
	Random io.Reader        // of what handles end with; nil: that of crypto/rand
	Limits Limits
	// Source tells whether a note is there and whether it is private, or was when it was deleted,
	// inside a transaction.
	// nil: no note is.
	Source func(tx *kv.Tx, noteID string) (private, found bool, err error)
	// Conversation is Source for a conversation, of which some messages may be named: it is private
	// when one of them is. nil: there is none.
	Conversation func(tx *kv.Tx, id string, messageIDs []string) (private, found bool, err error)
	// Entity tells whether an entity is there. nil: none is.
	Entity func(tx *kv.Tx, id string) (found bool, err error)
	// HandleTaken tells whether something else than a memory or a context has a handle,
	// inside a transaction. nil: nothing has.
	HandleTaken func(tx *kv.Tx, folded string) (bool, error)
	// Hide is called in the transaction that makes memories private, for the messages that stand on them: it makes
	// those private, and returns their ids by the ids of their conversations. nil: nothing stands on a memory.
	Hide func(tx *kv.Tx, ids []string) (messages map[string][]string, err error)
	// Machine returns the name of this machine in a store of several, which what is written here says. "": the store is
	// this machine's alone, as it is for nil.
	Machine func() string
	// Deleted is called in the transaction that deletes memories, for what names them elsewhere.
	// nil: nothing does.
	Deleted func(tx *kv.Tx, ids []string) error
}

// Store keeps memories and contexts. Open makes one.
type Store struct {
	db   *kv.Store
	opts Options

	names handleClaims // of handles
	tree  *contextTree

	mu        sync.RWMutex // guards everything below
	byID      map[string]*Record
	standing  map[string]*Record       // of byID: what is in prompts without a search
	inOrder   atomic.Pointer[standing] // of it; nil when it has changed
	retracted map[string]bool          // of byID
	use       map[string]*Use
	byNumber  map[int64]string
	byHandle  map[string]handleOwner
	contexts  map[string]*StoredContext
	text      int64 // bytes of all statements and summaries
	bank      int   // active memories of the tier memoryBank
	kept      int   // of these, what may not be archived
	synonyms  *synonymView
	groups    *audience.GroupIndex

	taken *StatementIndex // guards itself
}

// Open loads the memories and contexts of db and keeps them current from then on. In a store that has
// lost transactions it mends what memories are looked up by.
func Open(db *kv.Store, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	if opts.Random == nil {
		opts.Random = rand.Reader
	}
	if opts.Machine == nil {
		opts.Machine = func() string { return "" }
	}
	opts.Limits = opts.Limits.withDefaults()
	s := &Store{
		db: db, opts: opts, names: handleClaims{Elsewhere: opts.HandleTaken},
		byID: make(map[string]*Record), standing: make(map[string]*Record), retracted: make(map[string]bool), use: make(map[string]*Use),
		byNumber: make(map[int64]string), byHandle: make(map[string]handleOwner),
		contexts: make(map[string]*StoredContext),
		synonyms: newSynonymView(), groups: audience.NewGroupIndex(), taken: NewStatementIndex(),
	}
	s.tree = &contextTree{
		DB: db, Names: s.names, Now: s.now, NewID: opts.NewID, Random: opts.Random,
		Memory: func(tx *kv.Tx, v *audience.View, id string) error {
			_, err := s.findTx(tx, v, id)
			return err
		},
		Unseen: s.ownedUnseen,
	}
	if db.Unmended() {
		if err := db.Update(context.Background(), s.mend); err != nil {
			return nil, err
		}
	}
	if err := db.View(context.Background(), s.load); err != nil {
		return nil, err
	}
	db.OnCommit(s.commit)
	return s, nil
}

func (l Limits) withDefaults() Limits {
	if l.Bank == 0 {
		l.Bank = MaxBank
	}
	if l.Working == 0 {
		l.Working = WorkingLife
	}
	if l.History == 0 {
		l.History = HistoryLife
	}
	return l
}

func (s *Store) load(tx *kv.Tx) error {
	for _, m := range Records.All(tx, "") {
		s.put(nil, m)
	}
	if last, err := lastNumber.Get(tx, lastKey); err != nil {
		return err
	} else if last != nil {
		s.taken.Raise(*last)
	}
	for id, u := range uses.All(tx, "") {
		s.use[id] = u
	}
	for _, c := range StoredContexts.All(tx, "") {
		s.putContext(nil, c)
	}
	for key := range contextMembers.All(tx, "") {
		s.link(key, true)
	}
	for _, set := range synonymSets.All(tx, "") {
		s.synonyms.Put(nil, set)
	}
	return tx.Err()
}

// commit takes in what a transaction changed.
func (s *Store) commit(cs *kv.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range cs.Changes {
		if old, now, ok := Records.Of(ch); ok {
			s.put(old, now)
		} else if _, now, ok := uses.Of(ch); ok {
			if now == nil {
				delete(s.use, ch.ID)
			} else {
				s.use[ch.ID] = now
			}
		} else if old, now, ok := StoredContexts.Of(ch); ok {
			s.putContext(old, now)
		} else if _, now, ok := contextMembers.Of(ch); ok {
			s.link(ch.ID, now != nil)
		} else if old, now, ok := synonymSets.Of(ch); ok {
			s.synonyms.Put(old, now)
		} else if _, now, ok := lastNumber.Of(ch); ok && now != nil {
			s.taken.Raise(*now)
		}
	}
}

// put replaces a memory in the view.
func (s *Store) put(old, now *Record) {
	s.taken.Commit(old.plain(), now.plain())
	if old != nil {
		s.countBank(old, -1)
		s.text -= old.size()
		s.groups.Put(&old.MemoryRecord, nil)
		delete(s.byID, old.ID)
		s.stands(old, false)
		delete(s.retracted, old.ID)
		delete(s.byNumber, old.Number)
		for _, h := range handleFolds(old.Handle, old.Aliases) {
			delete(s.byHandle, h)
		}
	}
	if now != nil {
		s.countBank(now, 1)
		s.text += now.size()
		s.groups.Put(nil, &now.MemoryRecord)
		s.byID[now.ID] = now
		s.stands(now, true)
		if now.Status == record.MemoryRetracted {
			s.retracted[now.ID] = true
		}
		s.byNumber[now.Number] = now.ID
		for _, h := range handleFolds(now.Handle, now.Aliases) {
			s.byHandle[h] = handleOwner{Kind: KindMemory, ID: now.ID}
		}
	}
}

// plain is a memory as other rooms know it, nil for none.
func (m *Record) plain() *record.MemoryRecord {
	if m == nil {
		return nil
	}
	return &m.MemoryRecord
}

func (s *Store) countBank(m *Record, by int) {
	if !inBank(m) {
		return
	}
	s.bank += by
	if m.Pinned || m.AlwaysInject {
		s.kept += by
	}
}

func (s *Store) putContext(old, now *StoredContext) {
	if old != nil {
		delete(s.contexts, old.ID)
		s.groups.PutContext(old.ID, old.ParentID, old.Name, false)
		for _, h := range handleFolds(old.Handle, old.Aliases) {
			delete(s.byHandle, h)
		}
	}
	if now != nil {
		s.contexts[now.ID] = now
		s.groups.PutContext(now.ID, now.ParentID, now.Name, true)
		for _, h := range handleFolds(now.Handle, now.Aliases) {
			s.byHandle[h] = handleOwner{Kind: KindContext, ID: now.ID}
		}
	}
}

func (s *Store) link(key string, is bool) {
	contextID, memoryID := cutMemberKey(key)
	s.groups.Link(contextID, memoryID, is)
}
