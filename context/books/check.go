package books

import (
	"context"
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

// failIncomplete says of a book that has lost passages that it can't be read: its file is needed once more.
func (s *Store) failIncomplete(ctx context.Context) error {
	var lost []string
	err := s.db.View(ctx, func(tx *kv.Tx) error {
		for id, b := range Records.All(tx, "") {
			n, inOrder := 0, true
			for key := range Passages.All(tx, id+separator) {
				_, at := parseKey(key)
				inOrder = inOrder && at == n
				n++
			}
			if b.State == record.BookReady && (n != b.Passages || !inOrder) {
				lost = append(lost, id)
			}
		}
		return tx.Err()
	})
	for _, id := range lost {
		if err == nil {
			err = s.change(ctx, id, func(b *Record) bool {
				b.State, b.Reason = record.BookFailed, "some of its passages were lost: add its file once more"
				if b.Vault != "" {
					b.Hash = "" // so that it is read again
				}
				return true
			})
		}
		if err == nil {
			err = s.dropPassages(ctx, id)
		}
	}
	return err
}
