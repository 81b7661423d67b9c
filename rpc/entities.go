package rpc

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// record takes of an entity what a client may write.
func record(p protocol.EntityRecord) entities.Entity {
	e := entities.Entity{
		ID: p.ID, Type: p.Type, Name: p.Name, Aliases: p.Aliases, Fields: p.Fields, NoteID: p.NoteID, Private: p.Private,
	}
	if p.CreatedAt != nil {
		e.CreatedAt = *p.CreatedAt
	}
	return e
}

func (r *Rooms) entitiesPut(ctx context.Context, _ *Session, p protocol.EntityPut) (*entities.Entity, error) {
	return r.Entities.Put(ctx, record(p.EntityRecord), p.IfVersion)
}

func (r *Rooms) entitiesPatch(ctx context.Context, _ *Session, p protocol.EntityPatch) (*entities.Entity, error) {
	return r.Entities.Patch(ctx, entities.Patch{
		ID: p.ID, Name: p.Name, Aliases: p.Aliases.Pointer(), Fields: p.Fields, NoteID: p.NoteID.Pointer(), Private: p.Private,
	}, p.IfVersion)
}

func (r *Rooms) entitiesPutMany(ctx context.Context, _ *Session, p protocol.EntityPutMany) (protocol.EntityList, error) {
	records := make([]entities.Entity, len(p.Entities))
	for i, e := range p.Entities {
		records[i] = record(e)
	}
	list, err := r.Entities.PutMany(ctx, records)
	return protocol.EntityList{Entities: list}, err
}

func (r *Rooms) entitiesGet(ctx context.Context, _ *Session, p protocol.EntityGet) (*protocol.EntityFull, error) {
	e := r.Entities.Get(p.ID)
	if e == nil {
		return nil, fault.Missing("entity", p.ID)
	}
	out := &protocol.EntityFull{Entity: *e, Fields: e.Fields}
	if p.Resolve > 0 {
		resolved, err := r.Graph.Resolve(ctx, p.ID, p.Resolve)
		if err != nil {
			return nil, err
		}
		out.Fields = resolved.Fields
	}
	if out.Fields == nil {
		out.Fields = map[string]any{}
	}
	return out, nil
}

func (r *Rooms) entitiesList(_ context.Context, _ *Session, p protocol.EntityFilter) (protocol.EntityPage, error) {
	if p.Type != "" && r.Entities.Type(p.Type) == nil {
		return protocol.EntityPage{}, fault.New(fault.NotFound, "there is no type %q", p.Type).
			WithRef(p.Type).WithHint("types.list shows the declared types")
	}
	page, next, err := paginate(r.listed(p), p.Page,
		func(e *entities.Entity) mark { return mark{e.Name, e.ID} },
		func(e *entities.Entity, m mark) int {
			return entities.CompareEntities(e, &entities.Entity{Name: m.name, ID: m.id})
		})
	return protocol.EntityPage{Entities: append([]*entities.Entity{}, page...), NextCursor: next}, err
}

// listed returns the chosen entities by name.
func (r *Rooms) listed(p protocol.EntityFilter) []*entities.Entity {
	if p.Type != "" && !p.Trashed {
		return r.Entities.OfType(p.Type)
	}
	var list []*entities.Entity
	kind := entities.Fold(p.Type)
	for e := range r.Entities.All() {
		if e.Live() != p.Trashed && (p.Type == "" || entities.Fold(e.Type) == kind) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, entities.CompareEntities)
	return list
}

func (r *Rooms) entitiesTrash(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	return entityVersion(r.Entities.Trash(ctx, p.ID, p.IfVersion))
}

func (r *Rooms) entitiesRestore(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	return entityVersion(r.Entities.Restore(ctx, p.ID, p.IfVersion))
}

func entityVersion(e *entities.Entity, err error) (protocol.Versioned, error) {
	if err != nil {
		return protocol.Versioned{}, err
	}
	return protocol.Versioned{ID: e.ID, Version: e.Version}, nil
}

func (r *Rooms) entitiesDelete(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	version, err := r.Entities.Delete(ctx, p.ID, p.IfVersion)
	return protocol.Versioned{ID: p.ID, Version: version}, err
}

func (r *Rooms) entitiesComplete(_ context.Context, _ *Session, p protocol.EntityComplete) (protocol.EntityItems, error) {
	hits := r.Entities.Complete(p.Prefix, p.Types, p.Limit)
	items := make([]protocol.EntityItem, 0, len(hits))
	for _, hit := range hits {
		if e := r.Entities.Get(hit.ID); e != nil {
			items = append(items, protocol.EntityItem{ID: hit.ID, Name: hit.Name, Type: e.Type, Match: hit.Match})
		}
	}
	return protocol.EntityItems{Items: items}, nil
}
