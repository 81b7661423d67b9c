package chat

import (
	"encoding/json"
	"fmt"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// referencesMember is the member of a stored message that says what it stands on. It lies among the members
// that programs keep without knowing them, since a message is never changed: what a later program says of a
// reference stays.
const referencesMember = "references"

// reference is what this program says and knows of one.
type reference struct {
	MemoryID string `json:"memoryId"`
}

// MaxShown is how many memories a client says that it showed for an answer.
const MaxShown = 100

// standsOn says which answer of a call the memories of it were shown for: the last one. The answer is private
// when one of them is. said is changed, but not the list of messages that it was given.
func (s *Store) standsOn(v *audience.View, said *Said) error {
	if len(said.MemoryIDs) == 0 {
		return nil
	}
	if n := len(said.MemoryIDs); n > MaxShown {
		return fault.TooLarge("memoryIds", n, MaxShown, "items").WithHint("give those that the prompt showed")
	}
	answer := -1
	for i := range said.Messages {
		if said.Messages[i].Role == record.RoleAssistant {
			answer = i
		}
	}
	if answer < 0 {
		return fault.Field("memoryIds", "no message of the call is an answer").
			WithHint("give memoryIds with the message of the role assistant that the memories were shown for")
	}
	drafts := append([]Draft{}, said.Messages...)
	seen := make(map[string]bool)
	for i, id := range said.MemoryIDs {
		at := fmt.Sprintf("memoryIds[%d]", i)
		if err := entities.CheckID(at, id); err != nil {
			return err
		}
		if !s.remembers(v, id) {
			err := fault.Missing("memory", id).WithHint("leave it out")
			err.Field = at
			return err
		}
		if s.opts.Remote != nil && !s.remembers(s.opts.Remote, id) {
			drafts[answer].Private = true
		}
		if !seen[id] {
			seen[id] = true
			drafts[answer].memories = append(drafts[answer].memories, id)
		}
	}
	said.Messages = drafts
	return nil
}

// refer has a message say which memories it stands on.
func (m *message) refer(memories []string) error {
	if len(memories) == 0 {
		return nil
	}
	list := make([]reference, len(memories))
	for i, id := range memories {
		list[i].MemoryID = id
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	m.keep(referencesMember, data)
	return nil
}

// references returns what a reader sees of what a message stands on. What this program does not understand
// of it, and what is gone, is left out.
func (s *Store) references(v *audience.View, m *message) []record.ChatReference {
	out := []record.ChatReference{}
	var list []reference
	if json.Unmarshal(m.Members[referencesMember], &list) != nil {
		return out
	}
	for _, r := range list {
		if number := s.numbered(v, r.MemoryID); number > 0 {
			out = append(out, record.ChatReference{MemoryID: r.MemoryID, Ref: fmt.Sprint("#", number)})
		}
	}
	return out
}
