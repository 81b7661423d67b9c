package audience

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/graph"
)

// Entity returns the entity of that id as it is stored, or nil. What is shown of it
// goes through ShownEntity or Name.
func (v *View) Entity(id string) *entities.Entity {
	e := v.entities.Get(id)
	if !v.SeesEntity(e) {
		return nil
	}
	return e
}

// HidesEntity is HidesNote for entities.
func (v *View) HidesEntity(id string) bool {
	if !v.hides || id == "" {
		return false
	}
	e := v.entities.Get(id)
	if e == nil {
		return v.entities.WasPrivate(id)
	}
	return e.Private
}

// EntityByID is Entity, with an error for an id that no entity has.
func (v *View) EntityByID(id string) (*entities.Entity, error) {
	e := v.Entity(id)
	if e == nil {
		return nil, fault.Missing("entity", id)
	}
	return e, nil
}

// EntityByName returns the entity with a name or alias, of a type or of any for "": a
// live one, or an archived one when no live one has it. Of several the error is a Conflict
// with candidates. As NoteByTitle does it finds none by a name that names a private
// record with a link.
func (v *View) EntityByName(name, typeName string) (*entities.Entity, error) {
	list := v.entities.Named(strings.TrimSpace(name), v.skipOthers(typeName))
	if v.masks() {
		list = slices.DeleteFunc(list, func(e *entities.Entity) bool { return !v.openlyCalled(e, name) })
	}
	switch len(list) {
	case 0:
		return nil, &fault.Error{
			Kind: fault.NotFound, Field: "name", Msg: "no entity has that name",
			Hint: "entities.complete finds entities by the beginning of their name",
		}
	case 1:
		return list[0], nil
	}
	v.LikeliestFirst(list)
	several := &fault.Error{
		Kind: fault.Conflict, Reason: fault.Ambiguous, Field: "name", Msg: "several entities have that name",
		Hint: "give the id of one of the candidates",
	}
	for _, e := range list {
		c := fault.Candidate{ID: e.ID, Name: v.NameOf(e), Type: e.Type}
		c.Vault, c.Path = v.placeOf(e)
		several.Candidates = append(several.Candidates, c)
	}
	return nil, several
}

// skipOthers is skipEntity that leaves out entities of other types, too; "" is any type.
func (v *View) skipOthers(typeName string) entities.Skip {
	if typeName == "" {
		return v.skipEntity()
	}
	kind := entities.Fold(typeName)
	return func(e *entities.Entity) bool { return v.hides && e.Private || entities.Fold(e.Type) != kind }
}

// openlyCalled reports whether an entity has a name or alias that the reader is shown
// whole, or that is no more than what a private record is called.
func (v *View) openlyCalled(e *entities.Entity, name string) bool {
	key := entities.Fold(strings.TrimSpace(name))
	return slices.ContainsFunc(append([]string{e.Name}, e.Aliases...), func(own string) bool {
		if entities.Fold(own) != key {
			return false
		}
		shown, _ := v.nameWithoutLinks(e, own)
		return shown == own
	})
}

// ShownEntity returns an entity as the reader may see it: a reference to a private
// record shows as "(private)". One that the reader does not see is shown to the one who
// has just written it.
func (v *View) ShownEntity(e *entities.Entity) *entities.Entity {
	if !v.hides || e == nil {
		return e
	}
	out := v.named(e)
	out.Fields = v.graph.Stored(e)
	maps.DeleteFunc(out.Fields, func(name string, _ any) bool { return v.namesHidden(name) })
	return out
}

// named returns an entity with its names as the reader may see them.
func (v *View) named(e *entities.Entity) *entities.Entity {
	out := *e
	out.Name, out.Aliases = v.NameOf(e), v.shownAliases(e)
	if v.Note(e.NoteID) == nil {
		out.NoteID = ""
	}
	return &out
}

// shownAliases is shownTexts for the aliases of an entity.
func (v *View) shownAliases(e *entities.Entity) []string {
	if !v.masks() {
		return e.Aliases
	}
	out := make([]string, 0, len(e.Aliases))
	for _, alias := range e.Aliases {
		if shown, _ := v.nameOf(e, alias); shown != withheld {
			out = append(out, shown)
		}
	}
	return out
}

// Entities returns the entities of a type, or all of them for "", by name: those
// that are archived, or else the live ones. The list is not to be changed.
func (v *View) Entities(typeName string, archived bool) []*entities.Entity {
	list := v.stored(typeName, archived)
	if !v.hides {
		return list
	}
	out := make([]*entities.Entity, 0, len(list))
	for _, e := range list {
		if v.SeesEntity(e) {
			out = append(out, v.ShownEntity(e))
		}
	}
	slices.SortFunc(out, entities.CompareEntities)
	return out
}

func (v *View) stored(typeName string, archived bool) []*entities.Entity {
	if typeName != "" && !archived {
		return v.entities.OfType(typeName)
	}
	var list []*entities.Entity
	kind := entities.Fold(typeName)
	for e := range v.entities.All() {
		if e.Live() != archived && (typeName == "" || entities.Fold(e.Type) == kind) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, entities.CompareEntities)
	return list
}

// CompleteEntities is entities.Store.Complete. Names that say more than the reader is
// shown are not offered.
func (v *View) CompleteEntities(typed string, types []string, limit int) []names.Hit {
	if !v.masks() {
		return v.entities.Complete(typed, types, limit, v.hides)
	}
	return v.rooms.shown.Load().entities.complete(func(hides func(id, name string) bool) []names.Hit {
		return v.entities.CompleteShown(typed, types, limit, hides)
	}, v.hiddenEntityNames)
}

// hiddenEntityNames returns the names of an entity that are not shown as they are; all is true for an entity that is not shown.
func (v *View) hiddenEntityNames(id string) (list []string, all bool) {
	e := v.Entity(id)
	if e == nil {
		return nil, true
	}
	for _, name := range append([]string{e.Name}, e.Aliases...) {
		if shown, _ := v.nameOf(e, name); shown != name {
			list = append(list, name)
		}
	}
	return list, false
}

// Named returns the entities with that name or alias, as entities.Store.Named does.
func (v *View) Named(name string) []*entities.Entity {
	return v.entities.Named(name, v.skipEntity())
}

// MatchName reports whether a text is the name or an alias of an entity, and whether it is the beginning of
// one, as entities.Store.MatchName does of its fold.
func (v *View) MatchName(text string) (whole, beginning bool) {
	return v.entities.MatchName(entities.Fold(text), v.skipEntity())
}

// Handled returns the entities with that handle, as entities.Store.Handled does. One whose name the reader
// is not shown has none.
func (v *View) Handled(handle string) []*entities.Entity {
	list := v.entities.Handled(handle, v.skipEntity())
	if v.masks() {
		list = slices.DeleteFunc(slices.Clone(list), func(e *entities.Entity) bool { return v.NameOf(e) != e.Name })
	}
	return list
}

// UnresolvedIn is graph.Graph.Unresolved; without a graph nothing is known of references.
func (v *View) UnresolvedIn(e *entities.Entity, limit int) (list []graph.Name, total int) {
	if v.graph == nil {
		return nil, 0
	}
	return v.graph.Unresolved(e, limit)
}

// ResolveEntity is graph.Graph.Resolve.
func (v *View) ResolveEntity(ctx context.Context, id string, depth int) (*graph.Resolved, error) {
	return v.graph.Resolve(ctx, id, depth)
}
