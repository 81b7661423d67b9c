package wql

// A typeSchema is the declared types that a query is read by, as they were at one moment: which
// types a name stands for, of which each vault may have one, and how people and cycles call a
// field. It knows nothing of programs. It is not changed once it is made, so any number of
// goroutines may read it.

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
)

// typeSchema is the declared types at one moment.
type typeSchema struct {
	Types  []*entities.Type
	ByName map[string][]*entities.Type            // by fold
	Named  func(name string) *entities.NamedTypes // tells whose type an entity has; nil: nobody runs a query
}

// newSchema returns the schema of some types, with one put over them when a declaration is checked
// before it is stored, else nil.
func newSchema(types []*entities.Type, over *entities.Type) *typeSchema {
	s := &typeSchema{ByName: make(map[string][]*entities.Type, len(types)+1)}
	for _, t := range types {
		if over == nil || entities.TypeKey(t) != entities.TypeKey(over) {
			s.Types = append(s.Types, t)
		}
	}
	if over != nil {
		s.Types = append(s.Types, over)
	}
	for _, t := range s.Types {
		fold := entities.Fold(t.Name)
		s.ByName[fold] = append(s.ByName[fold], t)
	}
	return s
}

// Of returns the types of a name, compared without case.
func (s *typeSchema) Of(name string) []*entities.Type { return s.ByName[entities.Fold(name)] }

// TypeNames lists the names of the types.
func (s *typeSchema) TypeNames() []string {
	names := make([]string, len(s.Types))
	for i, t := range s.Types {
		names[i] = t.Name
	}
	return slices.Compact(names)
}

// fieldNames lists the fields of some types, the declared ones first.
func fieldNames(types []*entities.Type) []string {
	var names []string
	seen := make(map[string]bool)
	for _, t := range types {
		for _, f := range t.Fields {
			if key := entities.Fold(f.Name); !seen[key] {
				seen[key] = true
				names = append(names, f.Name)
			}
		}
	}
	return append(names, builtinNames...)
}

// fieldKey names a field of a type: the name that people know, and whose type it is.
func fieldKey(t *entities.Type, field string) string {
	if t.Vault == "" {
		return t.Name + "." + field
	}
	return t.Name + "." + field + "\n" + t.Vault
}

// formatCycle shows keys of fields that need each other by the names that people know.
func formatCycle(keys []string) string {
	for i, key := range keys {
		keys[i], _, _ = strings.Cut(key, "\n")
	}
	return strings.Join(keys, " → ")
}
