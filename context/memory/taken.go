package memory

// A StatementIndex knows which numbers memories have, and what they say, for transactions that must not choose the
// same: what is committed, and what transactions have chosen that are not committed yet.
//
// The Store owns one and calls it: in Claim and End for each of its transactions, in Commit for what was committed.
// What the index says of statements is a hint: records that were changed since still stand in it, and a caller reads
// the record. Nothing of it is stored; it is made of the memories at the start.
//
// All methods are safe for concurrent use.

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// TierStatement is what is said in a tier: the same for all statements that fold alike.
type TierStatement struct{ Tier, Fold string }

// onFold is called before a statement is folded in a commit, which takes longer for a longer one.
var onFold = func() {}

// NewTierStatement returns what a memory says. O(statement).
func NewTierStatement(m *record.MemoryRecord) TierStatement {
	return TierStatement{m.Tier, audience.FoldStatement(m.Statement)}
}

// StatementIndex knows what is taken. New makes one.
type StatementIndex struct {
	seed maphash.Seed

	mu     sync.Mutex          // guards everything below
	said   map[uint64][]string // ids of memories by the hash of what they say, in whatever tier
	of     map[string]uint64   // that hash, by their ids
	last   int64               // the last number that was given and committed
	claims []claim             // of transactions that are under way, a few at a time
}

// claim is a number and a statement that a transaction gives to a memory.
type claim struct {
	tx     *kv.Tx
	id     string
	number int64
	said   uint64
	text   string // the statement, as it was given; "" when that is not known
}

// NewStatementIndex returns an Index without anything.
func NewStatementIndex() *StatementIndex {
	return &StatementIndex{seed: maphash.MakeSeed(), said: make(map[uint64][]string), of: make(map[string]uint64)}
}

func (x *StatementIndex) hash(s TierStatement) uint64 { return maphash.String(x.seed, s.Fold) }

// Commit replaces a memory; nil is none.
func (x *StatementIndex) Commit(old, now *record.MemoryRecord) {
	if old != nil && now != nil && old.Statement == now.Statement {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if old != nil {
		h := x.of[old.ID]
		delete(x.of, old.ID)
		x.said[h] = slices.DeleteFunc(x.said[h], func(id string) bool { return id == old.ID })
		if len(x.said[h]) == 0 {
			delete(x.said, h)
		}
	}
	if now != nil {
		h, id := x.saidBy(now), strings.Clone(now.ID) // it may be a part of a record
		x.said[h], x.of[id] = append(x.said[h], id), h
		x.last = max(x.last, now.Number)
	}
}

// saidBy returns the hash of what a memory says, which its transaction has worked out before its turn. The caller has
// the lock.
func (x *StatementIndex) saidBy(m *record.MemoryRecord) uint64 {
	for i := range x.claims {
		if c := &x.claims[i]; c.id == m.ID && c.text == m.Statement {
			return c.said
		}
	}
	onFold()
	return x.hash(NewTierStatement(m))
}

// Raise has numbers be given behind one.
func (x *StatementIndex) Raise(last int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = max(x.last, last)
}

// Claim says what a transaction gives to a memory: a number, or one behind which others are given, and what it says,
// as it is given and as that folds.
func (x *StatementIndex) Claim(tx *kv.Tx, id string, number int64, statement string, s TierStatement) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.claims = append(x.claims, claim{tx, id, number, x.hash(s), statement})
}

// End says that a transaction is committed, or never will be.
func (x *StatementIndex) End(tx *kv.Tx) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.claims = slices.DeleteFunc(x.claims, func(c claim) bool { return c.tx == tx })
}

// Last returns the last number that was given and committed, 0 for none.
func (x *StatementIndex) Last() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last
}

// Next returns the number behind all that are given.
func (x *StatementIndex) Next() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	last := x.last
	for i := range x.claims {
		last = max(last, x.claims[i].number)
	}
	return last + 1
}

// Claimed reports whether a transaction that is under way has given a number.
func (x *StatementIndex) Claimed(number int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.claims, func(c claim) bool { return c.number == number && c.id != "" })
}

// Said returns the ids of the memories that may say something, in order, and maybe of others.
func (x *StatementIndex) Said(s TierStatement) []string {
	h := x.hash(s)
	x.mu.Lock()
	defer x.mu.Unlock()
	list := slices.Clone(x.said[h])
	for i := range x.claims {
		if c := &x.claims[i]; c.said == h && c.id != "" && !slices.Contains(list, c.id) {
			list = append(list, c.id)
		}
	}
	slices.Sort(list)
	return list
}
