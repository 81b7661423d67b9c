package wql

import (
	"slices"

	"github.com/ctxd/ctxd/entities"
)

// changedFields returns the folds of what differs between two entities, and
// whether one of them came, went, or moved to another type.
func changedFields(old, now *entities.Entity, hidden func(*entities.Entity) bool) (names []string, existence bool) {
	if old == nil || now == nil || old.Live() != now.Live() || old.Type != now.Type || hidden(old) != hidden(now) {
		return nil, true
	}
	if old == now {
		return nil, false
	}
	if old.Name != now.Name {
		names = append(names, "name")
	}
	if !old.CreatedAt.Equal(now.CreatedAt) {
		names = append(names, "createdat")
	}
	if !old.UpdatedAt.Equal(now.UpdatedAt) {
		names = append(names, "updatedat")
	}
	for name, value := range old.Fields {
		if other, ok := now.Fields[name]; !ok || !sameValue(value, other) {
			names = append(names, entities.Fold(name))
		}
	}
	for name := range now.Fields {
		if _, ok := old.Fields[name]; !ok {
			names = append(names, entities.Fold(name))
		}
	}
	return names, false
}

func sameValue(a, b any) bool {
	x, isList := a.([]string)
	y, isList2 := b.([]string)
	if isList || isList2 {
		return isList && isList2 && slices.Equal(x, y)
	}
	return a == b
}
