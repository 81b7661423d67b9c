package notes

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// Matcher returns the test whether an entity has all words of a query: each at
// the beginning of a word of its name, its aliases, its fields of type text and
// text_list, or the note that it is made from, title and text. Words are taken
// as Search takes them.
// The error is Invalid for a query without a word.
//
// The test reads what the entity has, O(bytes of it). It is for one goroutine
// at a time.
func (s *Store) Matcher(query string) (func(*entities.Entity) bool, error) {
	terms := searchTerms(query)
	if len(terms) == 0 {
		return nil, fault.New(fault.Invalid, "there is no word in %q", query).WithHint("write the words to look for")
	}
	var text []byte
	return func(e *entities.Entity) bool {
		text = appendFold(text[:0], e.Name)
		for _, alias := range e.Aliases {
			text = appendFold(append(text, '\n'), alias)
		}
		if t := s.ents.Type(e.Type); t != nil {
			for _, f := range t.Fields {
				if f.Type == entities.Text || f.Type == entities.TextList {
					text = appendFold(append(text, '\n'), strings.Join(e.Strings(f.Name), "\n"))
				}
			}
		}
		if n := s.Get(e.NoteID); n != nil && n.Live() {
			text = appendFold(append(text, '\n'), n.Title)
			text = appendFold(append(text, '\n'), n.Body)
		}
		return !slices.ContainsFunc(terms, func(term string) bool { return countWords(text, term) == 0 })
	}, nil
}
