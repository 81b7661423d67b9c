package books

import (
	"fmt"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Check tells what does not fit together in the records of the room.
func Check(tx *kv.Tx) (problems []string, err error) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	ready := make(map[string]int)
	for id, b := range Records.All(tx, "") {
		if b.ID != id {
			say("book %s is filed as %s", b.ID, id)
		}
		if b.State == record.BookReady {
			ready[id] = b.Passages
		}
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	have := make(map[string]int)
	for key := range Passages.All(tx, "") {
		id, n := parseKey(key)
		if _, ok := ready[id]; ok && n != have[id] {
			say("book %s has no passage %d", id, have[id])
		}
		have[id]++
	}
	for id, n := range ready {
		if have[id] != n {
			say("book %s has %d passages of %d", id, have[id], n)
		}
	}
	return problems, tx.Err()
}
