package memory

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/context/memory/contexts"
	"github.com/ctxd/ctxd/context/memory/owner"
	"github.com/ctxd/ctxd/entities/kv"
)

// Check tells what does not fit together in the records of the room.
func Check(tx *kv.Tx) (problems []string, err error) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	known := make(map[string]bool)
	said := make(map[string]bool)
	newest := int64(0)
	for id, m := range Records.All(tx, "") {
		known[id] = true
		said[joinKey(saidKey(m.Tier, m.Statement), id)] = true
		if m.ID != id {
			say("memory %s is filed as %s", m.ID, id)
		}
		by, err := numbers.Get(tx, numberKey(m.Number))
		if err != nil {
			return nil, err
		}
		if by == nil || by.ID != id {
			say("memory %s does not have its number %d", id, m.Number)
		}
		newest = max(newest, m.Number)
		if has, err := owner.Has(tx, owner.Owner{Kind: owner.Memory, ID: id}, m.Handle, m.Aliases); err != nil || !has {
			if err != nil {
				return nil, err
			}
			say("memory %s does not have its handle", id)
		}
		if has, err := statements.Has(tx, joinKey(saidKey(m.Tier, m.Statement), id)); err != nil || !has {
			if err != nil {
				return nil, err
			}
			say("memory %s is not found by what it says", id)
		}
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	if last, err := lastNumber.Get(tx, lastKey); err != nil {
		return nil, err
	} else if newest > 0 && (last == nil || *last < newest) {
		say("a memory has the number %d, which is not known to be given", newest)
	}
	knownContexts := make(map[string]bool)
	for id, c := range contexts.Records.All(tx, "") {
		knownContexts[id] = true
		if has, err := owner.Has(tx, owner.Owner{Kind: owner.Context, ID: id}, c.Handle, c.Aliases); err != nil || !has {
			if err != nil {
				return nil, err
			}
			say("context %s does not have its handle", id)
		}
	}
	for _, keys := range []struct {
		what string
		all  func(func(string, bool) bool)
	}{
		{"counters", keysOf(tx, uses)}, {"a former version", keysOf(tx, versions)},
	} {
		for key := range keys.all {
			if id, _ := cutKey(key); !known[id] {
				say("%s of memory %s, which is not there", keys.what, id)
			}
		}
	}
	for key := range contexts.Members.All(tx, "") {
		c, m := contexts.CutKey(key)
		if !knownContexts[c] || !known[m] {
			say("memory %s belongs to context %s, and one of them is not there", m, c)
		}
	}
	for id, set := range synonymSets.All(tx, "") {
		if set.ID != id || len(set.Words) < 2 {
			say("synonyms %s are filed as %s, with %d words", set.ID, id, len(set.Words))
		}
	}
	for key := range statements.All(tx, "") {
		if !said[key] {
			_, id := cutKey(key)
			say("memory %s is found by what it does not say", id)
		}
	}
	for _, by := range owner.Handles.All(tx, "") {
		if by.Kind == owner.Memory && !known[by.ID] || by.Kind == owner.Context && !knownContexts[by.ID] {
			say("a handle leads to %s %s, which is not there", by.Kind, by.ID)
		}
	}
	for key, by := range numbers.All(tx, "") {
		if by.ID != "" && !known[by.ID] {
			say("the number %s leads to memory %s, which is not there", strings.TrimLeft(key, "0"), by.ID)
		}
	}
	return problems, tx.Err()
}

func keysOf[T any](tx *kv.Tx, c kv.Collection[T]) func(func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for key := range c.All(tx, "") {
			if !yield(key, true) {
				return
			}
		}
	}
}
