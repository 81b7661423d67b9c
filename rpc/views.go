package rpc

// This file compares what the rooms of a store say of every record at two times: before and after the store was opened
// anew. A view that differs was not what is made of the records. admin.check calls it while nobody else is in the
// rooms.

import (
	"context"
	"hash/maphash"
	"math"
	"slices"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/learn/concepts"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

var viewEncoder = jsonrpc.NewEncoder(nil)

// viewDeps are the rooms that are asked.
type viewDeps struct {
	Notes    *notes.Store
	Entities *entities.Store
	Graph    *graph.Graph
	Audience *audience.Views
	Memory   *memory.Store
	Chat     *chat.Store
	Cites    *cites.Index
	Concepts *concepts.Index // nil: it is not compared
	Books    *books.Store
}

// viewNames are the views that are compared.
var viewNames = [...]string{
	protocol.ViewNotes, protocol.ViewLinks, protocol.ViewTags, protocol.ViewTypes, protocol.ViewEntities,
	protocol.ViewGraph, protocol.ViewMemories, protocol.ViewChats, protocol.ViewCited, protocol.ViewConcepts, protocol.ViewBooks,
}

// storeView has a checksum of what a room says about each record.
type storeView map[string]uint64

// storeViews are the views of a store, in the order of names.
type storeViews [len(viewNames)]storeView

// newStoreViews asks the rooms about every record. Views with the same seed can be compared. O(records).
func newStoreViews(ctx context.Context, r viewDeps, seed maphash.Seed) (all storeViews, err error) {
	for i := range all {
		all[i] = storeView{}
	}
	add := func(to storeView, key string, answers ...any) {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, a := range answers {
			if text, ok := a.(string); ok {
				_, _ = h.WriteString(text) // most of it all: not worth encoding
				continue
			}
			enc, failed := viewEncoder.Encode(a)
			if failed != nil {
				err = failed
				return
			}
			_, _ = h.Write(enc.Bytes())
			enc.Release()
		}
		to[key] += h.Sum64() // a note and an entity may have the same id
	}
	notes, links, tags, types := all[0], all[1], all[2], all[3]
	ents, edges, memories, chats, cites := all[4], all[5], all[6], all[7], all[8]
	for n := range r.Notes.All() {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		head := *n
		head.Body = ""
		add(notes, n.ID, &head, n.Body)
		add(links, n.ID, r.Notes.Targets(n.ID), r.Notes.Linking(n.ID))
		add(edges, n.ID, r.Graph.Referrers(graph.Key{Kind: graph.Note, ID: n.ID}))
	}
	for _, t := range r.Notes.Tags("") {
		add(tags, t.Name, t.Count)
	}
	for _, t := range r.Entities.Types() {
		add(types, entities.TypeKey(t), t, r.Entities.CountOf(t))
	}
	for e := range r.Entities.All() {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		add(ents, e.ID, e)
		add(edges, e.ID, r.Graph.References(e.ID), r.Graph.Referrers(graph.Key{Kind: graph.Entity, ID: e.ID}))
	}
	local := r.Audience.View(audience.Local)
	remembered, _, _, failed := r.Memory.List(ctx, local, memory.Filter{Status: record.MemoryStatuses}, nil, math.MaxInt)
	if failed != nil {
		return all, failed
	}
	for _, m := range remembered {
		add(memories, m.ID, m)
	}
	for _, c := range r.Memory.AllContexts(local) {
		add(memories, c.ID, c)
	}
	for _, archived := range []bool{false, true} {
		list, _, failed := r.Chat.List(ctx, local, archived, nil, math.MaxInt)
		if failed != nil {
			return all, failed
		}
		for _, c := range list {
			add(chats, c.ID, c)
		}
	}
	for id, known := range r.Cites.Known() {
		add(cites, id, known)
	}
	if r.Concepts == nil {
		return all, err
	}
	spoken, failed := r.Concepts.Known(ctx)
	if failed != nil {
		return all, failed
	}
	for id, known := range spoken {
		add(all[9], id, known)
	}
	for b := range r.Books.All() {
		add(all[9], b.ID, b)
	}
	return all, err
}

// changedKeys returns the keys under which two views are not the same, in order.
func changedKeys(a, b storeView) (keys []string) {
	for key, sum := range a {
		if other, ok := b[key]; !ok || other != sum {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// viewDifference are the records about which two views say something else.
type viewDifference struct {
	View string // as protocol names it
	IDs  []string
}

// compareViews returns in what two states differ, by view.
func compareViews(before, after storeViews) (list []viewDifference) {
	for i, name := range viewNames {
		if ids := changedKeys(before[i], after[i]); len(ids) > 0 {
			list = append(list, viewDifference{name, ids})
		}
	}
	return list
}
