package rpc

// This file compares what the rooms of a store say of every record at two times: before and after the store was opened
// anew. A view that differs was not what is made of the records. admin.check calls it while nobody else is in the
// rooms.

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

var viewEncoder = jsonrpc.NewEncoder(nil)

// viewReaders ask the rooms about every record of a view. A reader calls add with a key of the record and what the
// rooms say about it; what is added to a key twice counts twice. The vectors are not here: checkVectors compares them
// with their documents.
var viewReaders = map[record.StoreView]func(ctx context.Context, r *Deps, add addAnswers) error{
	record.ViewNotes: func(ctx context.Context, r *Deps, add addAnswers) error {
		return eachNote(ctx, r, func(n *notes.Note) {
			head := *n
			head.Body = ""
			add(n.ID, &head, n.Body)
		})
	},
	record.ViewLinks: func(ctx context.Context, r *Deps, add addAnswers) error {
		return eachNote(ctx, r, func(n *notes.Note) { add(n.ID, r.Notes.Targets(n.ID), r.Notes.Linking(n.ID)) })
	},
	record.ViewTags: func(_ context.Context, r *Deps, add addAnswers) error {
		for _, t := range r.Notes.Tags("") {
			add(t.Name, t.Count)
		}
		return nil
	},
	record.ViewTypes: func(_ context.Context, r *Deps, add addAnswers) error {
		for _, t := range r.Entities.Types() {
			add(entities.TypeKey(t), t, r.Entities.CountOf(t))
		}
		return nil
	},
	record.ViewEntities: func(ctx context.Context, r *Deps, add addAnswers) error {
		return eachEntity(ctx, r, func(e *entities.Entity) { add(e.ID, e) })
	},
	record.ViewGraph:    readEdges,
	record.ViewMemories: readMemories,
	record.ViewChats:    readChats,
	record.ViewCited: func(_ context.Context, r *Deps, add addAnswers) error {
		for id, known := range r.Cites.Known() {
			add(id, known)
		}
		return nil
	},
	record.ViewConcepts: func(ctx context.Context, r *Deps, add addAnswers) error {
		if r.Concepts == nil {
			return nil
		}
		known, err := r.Concepts.Known(ctx)
		for id, concepts := range known {
			add(id, concepts)
		}
		return err
	},
	record.ViewBooks: func(_ context.Context, r *Deps, add addAnswers) error {
		for b := range r.Books.All() {
			add(b.ID, b)
		}
		return nil
	},
}

// addAnswers takes what the rooms say about a record.
type addAnswers func(key string, answers ...any)

func eachNote(ctx context.Context, r *Deps, do func(*notes.Note)) error {
	for n := range r.Notes.All() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		do(n)
	}
	return nil
}

func eachEntity(ctx context.Context, r *Deps, do func(*entities.Entity)) error {
	for e := range r.Entities.All() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		do(e)
	}
	return nil
}

// readEdges adds those of notes and of entities, which may have the same id.
func readEdges(ctx context.Context, r *Deps, add addAnswers) error {
	err := eachNote(ctx, r, func(n *notes.Note) {
		add(n.ID, r.Graph.Referrers(graph.Key{Kind: graph.Note, ID: n.ID}))
	})
	if err != nil {
		return err
	}
	return eachEntity(ctx, r, func(e *entities.Entity) {
		add(e.ID, r.Graph.References(e.ID), r.Graph.Referrers(graph.Key{Kind: graph.Entity, ID: e.ID}))
	})
}

// readMemories adds memories and contexts.
func readMemories(ctx context.Context, r *Deps, add addAnswers) error {
	local := r.Audience.View(audience.Local)
	list, _, _, err := r.Memory.List(ctx, local, memory.Filter{Status: record.MemoryStatuses}, nil, math.MaxInt)
	for _, m := range list {
		add(m.ID, m)
	}
	for _, c := range r.Memory.AllContexts(local) {
		add(c.ID, c)
	}
	return err
}

// readChats adds conversations, archived ones included.
func readChats(ctx context.Context, r *Deps, add addAnswers) error {
	for _, archived := range []bool{false, true} {
		list, _, err := r.Chat.List(ctx, r.Audience.View(audience.Local), archived, nil, math.MaxInt)
		if err != nil {
			return err
		}
		for _, c := range list {
			add(c.ID, c)
		}
	}
	return nil
}

// storeView has a checksum of what the rooms say about each record.
type storeView map[string]uint64

// storeViews are the views of a store that are compared.
type storeViews map[record.StoreView]storeView

// newStoreViews asks the rooms about every record. Views with the same seed can be compared. O(records).
func newStoreViews(ctx context.Context, r *Deps, seed maphash.Seed) (storeViews, error) {
	all := storeViews{}
	for name, read := range viewReaders {
		view := storeView{}
		all[name] = view
		var failed error
		err := read(ctx, r, func(key string, answers ...any) {
			sum, err := sumOf(seed, answers)
			view[key] += sum
			failed = cmp.Or(failed, err)
		})
		if err = cmp.Or(err, failed); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sumOf returns the checksum of answers.
func sumOf(seed maphash.Seed, answers []any) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, a := range answers {
		if text, ok := a.(string); ok {
			_, _ = h.WriteString(text) // most of it all: not worth encoding
			continue
		}
		enc, err := viewEncoder.Encode(a)
		if err != nil {
			return 0, err
		}
		_, _ = h.Write(enc.Bytes())
		enc.Release()
	}
	return h.Sum64(), nil
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
	View record.StoreView
	IDs  []string
}

// compareViews returns in what two states differ, by view.
func compareViews(before, after storeViews) (list []viewDifference) {
	for _, name := range record.StoreViews {
		if ids := changedKeys(before[name], after[name]); len(ids) > 0 {
			list = append(list, viewDifference{name, ids})
		}
	}
	return list
}
