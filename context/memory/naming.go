package memory

// NamedEntities finds the entities that a text names without any mark: those that a memory is about when nobody says
// which. It looks through a View, holds nothing, and may be called concurrently.

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
)

// Bounds of what is looked for in a statement.
const (
	maxNameWords = 5  // of a name that is found in a statement
	maxNamed     = 20 // entities that are found in a statement
)

// NamedEntities returns the ids of the entities that a statement names, as far as the reader sees them: by a name
// or an alias of one word only as it is written, since a word may be a name as well; by one of
// several words in any case. What means several entities means none. The longest name counts.
// O(words).
func NamedEntities(v *audience.View, statement string) []string {
	words := wordsOf(statement)
	out := []string{}
	for i := 0; i < len(words) && len(out) < maxNamed; {
		e, n := entityAt(v, statement, words[i:])
		if e != nil && !slices.Contains(out, e.ID) {
			out = append(out, e.ID)
		}
		i += n
	}
	return out
}

// entityAt returns the entity whose name words begin with, nil for none, and how many words are done
// with that.
func entityAt(v *audience.View, statement string, words [][2]int) (found *entities.Entity, done int) {
	done = 1
	for n := 1; n <= min(maxNameWords, len(words)); n++ {
		called := statement[words[0][0]:words[n-1][1]]
		whole, beginning := v.MatchName(called)
		if !beginning { // of no name, and so no longer text is
			break
		}
		if !whole {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(v.Named(called)), func(e *entities.Entity) bool { return e.ArchivedAt != nil })
		if len(list) != 1 {
			continue
		}
		e := list[0]
		if n > 1 || e.Name == called || slices.Contains(e.Aliases, called) {
			found, done = e, n
		}
	}
	return found, done
}

// wordsOf returns where the words of a text are: letters, marks and digits, with hyphens and
// apostrophes between them.
func wordsOf(s string) (list [][2]int) {
	list = make([][2]int, 0, 1+strings.Count(s, " "))
	start := -1
	for i, r := range s {
		inside := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
		if start >= 0 && !inside && strings.ContainsRune("-'’", r) {
			continue
		}
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			list = append(list, trimmed(s, start, i))
			start = -1
		}
	}
	if start >= 0 {
		list = append(list, trimmed(s, start, len(s)))
	}
	return list
}

// trimmed is a word without what joins words at its end.
func trimmed(s string, start, end int) [2]int {
	word := strings.TrimRight(s[start:end], "-'’")
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
	return [2]int{start, start + len(word)}
}
