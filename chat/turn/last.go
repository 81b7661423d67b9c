package turn

import (
	"slices"

	"github.com/ctxd/ctxd/entities/record"
)

// Last returns the last n turns of messages that have ended, the earlier first. A turn begins with a message of the user and
// goes on to the next one; it has ended when it was answered, or when the next has begun.
func Last(list []*record.ChatMessage, n int) (turns [][]*record.ChatMessage) {
	end := len(list)
	for begin := len(list) - 1; begin >= 0 && len(turns) < n; begin-- {
		if list[begin].Role != record.RoleUser && begin > 0 {
			continue
		}
		one := list[begin:end]
		ended := end < len(list) || one[len(one)-1].Role != record.RoleUser
		if ended {
			turns = append(turns, one)
		}
		end = begin
	}
	slices.Reverse(turns)
	return turns
}
