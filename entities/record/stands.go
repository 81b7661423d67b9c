package record

import "slices"

// StandsOn says what something was made of, beside the notes and memories that it refers to (PRIV-13).
type StandsOn struct {
	Entities []string `json:"entities,omitempty"` // ids
	Types    []string `json:"types,omitempty"`    // of entities, which were too many to be named
	Messages []string `json:"messages,omitempty"` // ids; that of an insight may be the id of a memory
}

// Entity adds entities, each once; "" is none.
func (s *StandsOn) Entity(ids ...string) { s.Entities = addOnce(s.Entities, ids) }

// Message adds messages.
func (s *StandsOn) Message(ids ...string) { s.Messages = addOnce(s.Messages, ids) }

// All adds all of another one.
func (s *StandsOn) All(o StandsOn) {
	s.Entity(o.Entities...)
	s.Message(o.Messages...)
	s.Types = addOnce(s.Types, o.Types)
}

func addOnce(list, ids []string) []string {
	if len(ids) == 0 {
		return list
	}
	has := make(map[string]bool, len(list)+len(ids))
	has[""] = true
	for _, id := range list {
		has[id] = true
	}
	list = slices.Clip(list)
	for _, id := range ids {
		if !has[id] {
			has[id] = true
			list = append(list, id)
		}
	}
	return list
}

// Any reports whether there is anything.
func (s *StandsOn) Any() bool { return len(s.Entities)+len(s.Types)+len(s.Messages) > 0 }
