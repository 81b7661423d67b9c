package learn

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
)

// States of a pair.
const (
	PairQueued    = "queued"    // rules cannot decide
	PairContested = "contested" // they contradict each other
	BothHold      = "both"      // both hold: it is not raised again
	PairUndone    = "undone"    // what a run did with them was undone: it is not done again
	PairClosed    = "closed"    // one of them is no longer relied on
)

// Pair is what is known of two facts.
type Pair struct {
	State string    `json:"state"`
	Why   string    `json:"why,omitempty"`
	At    time.Time `json:"at"`
	RunID string    `json:"runId,omitempty"` // of the run that said so; "" for the person
	Was   *Pair     `json:"was,omitempty"`   // before that run
	// Halved are the ids of those of the two whose confidence was halved for it.
	Halved []string `json:"halved,omitempty"`
}

// lastRun is what is known of the last run.
type lastRun struct {
	RunID    string    `json:"runId"`
	At       time.Time `json:"at"`
	Steps    []string  `json:"steps,omitempty"`
	Done     bool      `json:"done"`
	Undoing  bool      `json:"undoing,omitempty"`
	LookedAt time.Time `json:"lookedAt"` // up to when messages were looked at
	// Before is LookedAt as it was before the run.
	Before time.Time `json:"before"`
}

var (
	pairRecords = kv.NewCollection[Pair]("learn-pair")
	pairsOf     = kv.NewCollection("learn-pair-of", kv.Codec[struct{}]{
		Encode: func(*struct{}) (string, error) { return "", nil },
		Decode: func(string) (*struct{}, error) { return new(struct{}), nil },
	})
	runs = kv.NewCollection[lastRun]("learn-upkeep")
)

const lastRunKey = "last"

// pairKey is that of a pair: its two ids in order.
type pairKey struct{ a, b string }

func keyOf(a, b string) pairKey {
	if b < a {
		a, b = b, a
	}
	return pairKey{a, b}
}

func (k pairKey) text() string  { return k.a + "/" + k.b }
func (k pairKey) other() string { return k.b + "/" + k.a }

func parse(text string) pairKey {
	a, b, _ := strings.Cut(text, "/")
	return pairKey{a, b}
}

// putPair writes what is known of two facts. Of one that was deleted meanwhile nothing is kept.
func putPair(tx *kv.Tx, k pairKey, p *Pair) error {
	for _, id := range []string{k.a, k.b} {
		if has, err := memory.Records.Has(tx, id); err != nil {
			return err
		} else if !has {
			return deletePair(tx, k)
		}
	}
	if err := pairRecords.Put(tx, k.text(), p); err != nil {
		return err
	}
	return pairsOf.Put(tx, k.other(), &struct{}{})
}

func deletePair(tx *kv.Tx, k pairKey) error {
	if err := pairRecords.Delete(tx, k.text()); err != nil {
		return err
	}
	return pairsOf.Delete(tx, k.other())
}

// pairsWith returns the pairs that a memory is of. O(those).
func pairsWith(tx *kv.Tx, id string) (list []pairKey, err error) {
	for text := range pairRecords.All(tx, id+"/") {
		list = append(list, parse(text))
	}
	for text := range pairsOf.All(tx, id+"/") {
		k := parse(text)
		list = append(list, pairKey{k.b, k.a})
	}
	return list, tx.Err()
}

// ForgetInPairs takes out what is known of memories that are deleted, in the transaction that deletes them. O(their pairs).
func ForgetInPairs(tx *kv.Tx, ids []string) error {
	for _, id := range ids {
		list, err := pairsWith(tx, id)
		if err != nil {
			return err
		}
		for _, k := range list {
			if err := deletePair(tx, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckPairs tells what does not fit together in the records of the room.
func CheckPairs(tx *kv.Tx) (problems []string, err error) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for text := range pairRecords.All(tx, "") {
		k := parse(text)
		for _, id := range []string{k.a, k.b} {
			if has, err := memory.Records.Has(tx, id); err != nil {
				return nil, err
			} else if !has {
				say("a pair of facts names memory %s, which is not there", id)
			}
		}
		if has, err := pairsOf.Has(tx, k.other()); err != nil {
			return nil, err
		} else if !has {
			say("the pair of facts %s and %s is not found by the second", k.a, k.b)
		}
	}
	for text := range pairsOf.All(tx, "") {
		k := parse(text)
		if has, err := pairRecords.Has(tx, k.other()); err != nil {
			return nil, err
		} else if !has {
			say("the pair of facts %s and %s is not there, and is found by the second", k.b, k.a)
		}
	}
	return problems, tx.Err()
}

// MendPairs has pairs fit the memories that are there, in a store that has lost transactions.
func MendPairs(tx *kv.Tx) error {
	var over, found []pairKey
	for text := range pairRecords.All(tx, "") {
		k := parse(text)
		for _, id := range []string{k.a, k.b} {
			if has, err := memory.Records.Has(tx, id); err != nil {
				return err
			} else if !has {
				over = append(over, k)
			}
		}
		found = append(found, k)
	}
	for text := range pairsOf.All(tx, "") {
		k := parse(text)
		if has, err := pairRecords.Has(tx, k.other()); err != nil {
			return err
		} else if !has {
			over = append(over, pairKey{k.b, k.a})
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, k := range found {
		if err := pairsOf.Put(tx, k.other(), &struct{}{}); err != nil {
			return err
		}
	}
	for _, k := range over {
		if err := deletePair(tx, k); err != nil {
			return err
		}
	}
	return nil
}
