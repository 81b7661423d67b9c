package document

import (
	"iter"
	"time"

	"github.com/ctxd/ctxd/context/learn/upkeep"
	"github.com/ctxd/ctxd/entities/record"
)

// OwnWords gives what the person said in conversations since a time, in no order. O(messages).
func OwnWords(s *Source) func(since time.Time) iter.Seq[upkeep.Message] {
	return func(since time.Time) iter.Seq[upkeep.Message] {
		return func(yield func(upkeep.Message) bool) {
			for d := range s.each() {
				if d.m.Role != record.RoleUser || !d.m.CreatedAt.After(since) {
					continue
				}
				m := upkeep.Message{Key: d.key, ID: d.m.ID, At: d.m.CreatedAt, Text: d.m.Content, Private: d.hidden || d.m.Hidden()}
				if !yield(m) {
					return
				}
			}
		}
	}
}
