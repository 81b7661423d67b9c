package rpc

import (
	"context"
	"fmt"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// entityOf takes of an entity what a client may write. For a reader who does not see all
// types it has one that the reader sees.
func (c scope) entityOf(p protocol.EntityRecord) entities.Entity {
	e := entities.Entity{
		ID: p.ID, Type: p.Type, Name: p.Name, Aliases: p.Aliases, Fields: p.Fields, NoteID: p.NoteID,
		Private: p.Private,
	}
	if p.CreatedAt != nil {
		e.CreatedAt = *p.CreatedAt
	}
	if c.view.Hides() {
		if t := c.view.Type(p.Type); t != nil {
			e.Vault = t.Vault
		}
	}
	return e
}

func (c scope) entitiesPut(ctx context.Context, s *Session, p protocol.EntityPut) (*protocol.EntitySaved, error) {
	if err := c.newEntity(p.ID, p.NoteID, ""); err != nil {
		return nil, err
	}
	if err := c.typedAsSeen(p.ID, p.Type, p.Fields); err != nil {
		return nil, err
	}
	ctx, call := c.by(s).Begin(ctx, "entities.put", &p)
	made := c.entityOf(p.EntityRecord)
	made.ID, made.CreatedAt = call.ID(made.ID), call.Time(made.CreatedAt)
	call.OnlyNew("an entity", p.ID, func() bool { return c.view.Entity(p.ID) != nil })
	e, err := c.entities.Put(ctx, made, call.IfVersion(p.IfVersion))
	if err != nil {
		return nil, c.view.ShownTexts(err)
	}
	out := c.saved(e)
	out.Waits = c.by(s).Waits(e.ID)
	return out, nil
}

func (c scope) entitiesPatch(ctx context.Context, _ *Session, p protocol.EntityPatch) (*protocol.EntitySaved, error) {
	if err := c.hiddenEntity(p.ID); err != nil {
		return nil, err
	}
	if e := c.view.Entity(p.ID); e != nil { // one that is not there is told first
		if id := p.NoteID.Pointer(); id != nil {
			if err := c.sourceSeen(*id, "noteId"); err != nil {
				return nil, err
			}
		}
		if err := c.fieldsSeen(c.view.TypeOf(e), e.Type, p.Fields, e); err != nil {
			return nil, err
		}
	}
	e, err := c.entities.Patch(ctx, entities.Patch{
		ID: p.ID, Name: p.Name, Aliases: p.Aliases.Pointer(), Fields: p.Fields, NoteID: p.NoteID.Pointer(),
		Private: p.Private,
	}, p.IfVersion)
	if err != nil {
		return nil, c.view.ShownTexts(err)
	}
	return c.saved(e), nil
}

func (c scope) saved(e *entities.Entity) *protocol.EntitySaved {
	var found unresolvedNames
	found.Add(c.view, e, "")
	return &protocol.EntitySaved{Entity: *c.view.ShownEntity(e), Diagnostics: found.Diagnostics()}
}

func (c scope) entitiesPutMany(ctx context.Context, _ *Session, p protocol.EntityPutMany) (protocol.EntityList, error) {
	records := make([]entities.Entity, len(p.Entities))
	for i, e := range p.Entities {
		if err := c.newEntity(e.ID, e.NoteID, fmt.Sprintf("entities[%d].", i)); err != nil {
			return protocol.EntityList{}, err
		}
		if err := c.typedAsSeen(e.ID, e.Type, e.Fields); err != nil {
			return protocol.EntityList{}, fault.Under(fmt.Sprintf("entities[%d]", i), err)
		}
		records[i] = c.entityOf(e)
	}
	list, err := c.entities.PutMany(ctx, records)
	var found unresolvedNames
	for i, e := range list {
		found.Add(c.view, e, fmt.Sprintf("entities[%d].", i))
		list[i] = c.view.ShownEntity(e)
	}
	return protocol.EntityList{Entities: list, Diagnostics: found.Diagnostics()}, c.view.ShownTexts(err)
}

func (c scope) entitiesGet(ctx context.Context, _ *Session, p protocol.EntityGet) (*protocol.EntityFull, error) {
	if p.Type != "" && c.view.Type(p.Type) == nil {
		return nil, noType(p.Type)
	}
	e, err := c.view.FindEntity(p.Ref, p.Type)
	if err != nil {
		return nil, err
	}
	var found unresolvedNames
	found.Add(c.view, e, "")
	e = c.view.ShownEntity(e)
	out := &protocol.EntityFull{Entity: *e, Fields: e.Fields, Diagnostics: found.Diagnostics(), Waits: c.by(nil).Waits(e.ID)}
	if t := c.view.TypeOf(e); t != nil && c.view.TypesNamed(e.Type).OfVault(t.Vault) != nil { // the reader knows of it
		out.TypeVault = t.Vault
	}
	if p.Resolve > 0 {
		resolved, err := c.view.ResolveEntity(ctx, e.ID, p.Resolve)
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

func (c scope) entitiesList(_ context.Context, _ *Session, p protocol.EntityFilter) (protocol.EntityPage, error) {
	if p.Type != "" && c.view.Type(p.Type) == nil {
		return protocol.EntityPage{}, noType(p.Type)
	}
	all := c.view.Entities(p.Type, p.Archived)
	page, next, err := paginate(all, p.Page,
		func(e *entities.Entity) pageMark { return pageMark{Name: e.Name, ID: e.ID} },
		func(e *entities.Entity, m pageMark) int {
			return entities.CompareEntities(e, &entities.Entity{Name: m.Name, ID: m.ID})
		})
	heads := make([]protocol.EntityHead, len(page))
	for i, e := range page {
		heads[i].Entity = *e
		heads[i].Vault, heads[i].Path = c.view.PlaceOf(e.ID)
	}
	return protocol.EntityPage{Entities: heads, Total: len(all), NextCursor: next}, err
}

func (c scope) entitiesArchive(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	if err := c.hiddenEntity(p.ID); err != nil {
		return protocol.Versioned{}, err
	}
	return entityVersion(c.entities.Archive(ctx, p.ID, p.IfVersion))
}

func (c scope) entitiesRestore(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	if err := c.hiddenEntity(p.ID); err != nil {
		return protocol.Versioned{}, err
	}
	return entityVersion(c.entities.Restore(ctx, p.ID, p.IfVersion))
}

func entityVersion(e *entities.Entity, err error) (protocol.Versioned, error) {
	if err != nil {
		return protocol.Versioned{}, err
	}
	return protocol.Versioned{ID: e.ID, Version: e.Version}, nil
}

func (c scope) entitiesDelete(ctx context.Context, _ *Session, p protocol.ByID) (protocol.Versioned, error) {
	if err := c.hiddenEntity(p.ID); err != nil {
		return protocol.Versioned{}, err
	}
	version, err := c.entities.Delete(ctx, p.ID, p.IfVersion)
	return protocol.Versioned{ID: p.ID, Version: version}, err
}

func (c scope) entitiesComplete(_ context.Context, _ *Session,
	p protocol.EntityComplete,
) (protocol.EntityItems, error) {
	hits := c.view.CompleteEntities(p.Prefix, p.Types, p.Limit)
	items := make([]protocol.EntityItem, 0, len(hits))
	for _, hit := range hits {
		if e := c.view.Entity(hit.ID); e != nil {
			item := protocol.EntityItem{ID: hit.ID, Name: hit.Name, Type: e.Type, Match: hit.Match}
			item.Vault, item.Path = c.view.PlaceOf(e.ID)
			item.Insert = c.view.MentionOf(e, hit.Name)
			items = append(items, item)
		}
	}
	return protocol.EntityItems{Items: items}, nil
}
