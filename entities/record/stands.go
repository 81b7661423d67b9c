package record

import "slices"

// StandsOn says what something was made of, whether or not it refers to it (PRIV-13).
type StandsOn struct {
	Notes    []string `json:"notes,omitempty"`    // ids
	Memories []string `json:"memories,omitempty"` // ids
	Entities []string `json:"entities,omitempty"` // ids
	Types    []string `json:"types,omitempty"`    // of entities, which were too many to be named
	Messages []string `json:"messages,omitempty"` // ids; that of an insight may be the id of a memory
	Books    []string `json:"books,omitempty"`    // ids of those that passages were of

	most int // entities before Join looks for what is there twice
}

// Entity adds entities, each once; "" is none.
func (s *StandsOn) Entity(ids ...string) { s.Entities = addOnce(s.Entities, ids) }

// Note adds notes.
func (s *StandsOn) Note(ids ...string) { s.Notes = addOnce(s.Notes, ids) }

// Memory adds memories.
func (s *StandsOn) Memory(ids ...string) { s.Memories = addOnce(s.Memories, ids) }

// Message adds messages.
func (s *StandsOn) Message(ids ...string) { s.Messages = addOnce(s.Messages, ids) }

// Book adds books.
func (s *StandsOn) Book(ids ...string) { s.Books = addOnce(s.Books, ids) }

// All adds all of another one.
func (s *StandsOn) All(o StandsOn) {
	s.Note(o.Notes...)
	s.Memory(o.Memories...)
	s.Entity(o.Entities...)
	s.Message(o.Messages...)
	s.Book(o.Books...)
	s.Types = addOnce(s.Types, o.Types)
}

// Join is All that looks only now and then for what is there twice: who takes the whole by All does the rest.
func (s *StandsOn) Join(o StandsOn) {
	s.Notes = append(s.Notes, o.Notes...)
	s.Memories = append(s.Memories, o.Memories...)
	s.Entities = append(s.Entities, o.Entities...)
	s.Types = append(s.Types, o.Types...)
	s.Messages = append(s.Messages, o.Messages...)
	s.Books = append(s.Books, o.Books...)
	if len(s.Entities) > max(s.most, 4*MaxStanding) {
		var once StandsOn
		once.All(*s)
		once.most = 2 * len(once.Entities)
		*s = once
	}
}

// MaxStanding is how many entities are told apart.
const MaxStanding = 1000

// Bound names entities beyond MaxStanding by their types. typeOf returns the type of one, "" where its id is to be kept.
func (s *StandsOn) Bound(typeOf func(id string) string) {
	if len(s.Entities) <= MaxStanding {
		return
	}
	kept, rest := slices.Clone(s.Entities[:MaxStanding]), s.Entities[MaxStanding:]
	has := make(map[string]bool)
	var types []string
	for _, id := range rest {
		name := typeOf(id)
		switch {
		case name == "":
			kept = append(kept, id)
		case !has[name]:
			has[name] = true
			types = append(types, name)
		}
	}
	s.Entities, s.Types = kept, addOnce(s.Types, types)
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
func (s *StandsOn) Any() bool {
	return len(s.Notes)+len(s.Memories)+len(s.Entities)+len(s.Types)+len(s.Messages)+len(s.Books) > 0
}
