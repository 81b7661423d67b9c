package memory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
)

// Check tells what does not fit together in the records of the room.
func Check(tx *kv.Tx) (problems []string, err error) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	known := make(map[string]bool)
	numbered := make(map[int64]string)
	for id, m := range Records.All(tx, "") {
		known[id] = true
		if m.ID != id {
			say("memory %s is filed as %s", m.ID, id)
		}
		if other := numbered[m.Number]; other != "" {
			say("memories %s and %s have the number %d", other, id, m.Number)
		}
		numbered[m.Number] = id
		if has, err := ownsHandles(tx, handleOwner{Kind: KindMemory, ID: id}, m.Handle, m.Aliases); err != nil || !has {
			if err != nil {
				return nil, err
			}
			say("memory %s does not have its handle", id)
		}
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	knownContexts := make(map[string]bool)
	for id, c := range StoredContexts.All(tx, "") {
		knownContexts[id] = true
		if has, err := ownsHandles(tx, handleOwner{Kind: KindContext, ID: id}, c.Handle, c.Aliases); err != nil || !has {
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
	for key := range contextMembers.All(tx, "") {
		c, m := cutMemberKey(key)
		if !knownContexts[c] || !known[m] {
			say("memory %s belongs to context %s, and one of them is not there", m, c)
		}
	}
	for id, set := range synonymSets.All(tx, "") {
		if set.ID != id || len(set.Words) < 2 {
			say("synonyms %s are filed as %s, with %d words", set.ID, id, len(set.Words))
		}
	}
	for _, by := range handleOwners.All(tx, "") {
		if by.Kind == KindMemory && !known[by.ID] || by.Kind == KindContext && !knownContexts[by.ID] {
			say("a handle leads to %s %s, which is not there", by.Kind, by.ID)
		}
	}
	for key := range numbers.All(tx, "") {
		bare := strings.TrimLeft(key, "0")
		n, err := strconv.ParseInt(bare, 10, 64)
		if id := numbered[n]; err == nil && id != "" {
			say("the number %s is that of a deleted memory and of memory %s", bare, id)
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
