package document

import (
	"iter"
	"time"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/entities/record"
)

// OwnWords gives what the person said in conversations since a time, in no order. O(messages).
func OwnWords(s *Source) func(since time.Time) iter.Seq[learn.FactMessage] {
	return func(since time.Time) iter.Seq[learn.FactMessage] {
		return func(yield func(learn.FactMessage) bool) {
			for d := range s.each() {
				if d.m.Role != record.RoleUser || !d.m.CreatedAt.After(since) {
					continue
				}
				m := learn.FactMessage{Key: d.key, ID: d.m.ID, At: d.m.CreatedAt, Text: d.m.Content, Private: d.hidden || d.m.Hidden()}
				if !yield(m) {
					return
				}
			}
		}
	}
}
