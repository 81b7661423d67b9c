package main

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc"
)

// storeFormat is the version of the records in the store. A daemon refuses a
// store of a newer one, and upgrades one of an older.
const storeFormat = 2

// upgradeStore brings the records of an older format into today's. A store that
// names no format is of the first, or has lost the name to damage.
func upgradeStore(tx *kv.Tx, from int) error {
	if from >= 2 {
		return nil
	}
	if err := entities.Upgrade(tx); err != nil {
		return err
	}
	return notes.Upgrade(tx)
}

// indexFolder is where the index of words and the vectors are kept, in the folder of the store.
const indexFolder = "index"

// besideStore is what else lies in the folder of the store. The log may come
// first, and an index may be left when the store was moved elsewhere.
var besideStore = []string{"log/", indexFolder + "/"}

// openData opens the store in a folder. changed is called when its status is
// another.
func openData(dir string, conf storeConfig, log *slog.Logger, changed func()) (*kv.Store, error) {
	opts := conf.options()
	opts.Upgrade, opts.Logger, opts.OnStatus = upgradeStore, log, changed
	opts.Beside = besideStore
	setGC(gcOfLoading) // until roomsOver
	db, err := kv.Open(dir, opts)
	if err != nil {
		setGC(gcOfSmall)
	}
	return db, err
}

// openAsIs opens the store in a folder as it is, for what is in it to be replaced.
func openAsIs(dir string, conf storeConfig, log *slog.Logger) (*kv.Store, error) {
	opts := conf.options()
	opts.Logger, opts.Beside = log, besideStore
	return kv.Open(dir, opts)
}

// indexDir is where the index of a store is kept, "" for one in memory.
func indexDir(db *kv.Store) string {
	if db.Dir() == "" {
		return ""
	}
	return filepath.Join(db.Dir(), indexFolder)
}

// finding is how notes are found beside by their words.
type finding struct {
	embedder embed.Embedder // nil: in no other way; not closed by the rooms
	weights  search.Weights
	ahead    *search.Ahead // see readIndexAhead; nil: the index is read when the rooms open
}

// readIndexAhead begins to read the index of words, beside the opening of the store.
func readIndexAhead(dir string) *search.Ahead {
	if dir == kv.InMemory {
		return nil
	}
	return search.ReadAhead(filepath.Join(dir, indexFolder))
}

// roomsOver opens the rooms over a store, each before those that stand on it.
// Rooms register for change sets as they open, and see them in that order:
// entities, notes (which has entities resolve their links anew), the indexes of
// WQL, the graph, the indexes of words and of vectors, the cached blocks of gather; then the events
// for clients. What they leave for later is built in the background, once the index
// of words is read, or before that by the first who needs it.
//
// Close the store when no call runs any more; the other rooms need no closing.
func roomsOver(db *kv.Store, limits roomLimits, by finding, log *slog.Logger) (*rpc.Rooms, error) {
	var notesLoaded *notes.Loaded
	var notesErr error
	var beside sync.WaitGroup
	beside.Go(func() { notesLoaded, notesErr = notes.Load(db) })
	// A type can be put only when all rooms are open, so engine is set by then.
	var engine *wql.Engine
	ents, err := entities.Open(db, entities.Options{
		CheckQuery: func(t *entities.Type, f entities.Field) []entities.Diagnostic { return engine.CheckField(t, f) },
		Limits:     limits.entities,
	})
	beside.Wait()
	if err = cmp.Or(err, notesErr); err != nil {
		return nil, err
	}
	ns, err := notes.Open(db, ents, notes.Options{MaxBody: limits.maxBody, PrivateFolders: limits.vault.private, Loaded: notesLoaded})
	if err != nil {
		return nil, err
	}
	var index *search.Index // which comes later in the order, and before the first query
	engine = wql.New(ents, wql.Options{Match: func(ctx context.Context, words string) (func(string) bool, error) {
		return index.EntityTest(ctx, ents, words)
	}})
	db.OnCommit(engine.Apply)
	gr := graph.Open(db, ents, ns, engine)
	lean := keepLean(db, ns)
	whole := func() { // a search needs none of it, so what it does need is read first
		ents.LoadRest()
		ns.LoadRest()
		gr.LoadRest()
		lean()
	}
	index = search.Open(db, ns, search.Options{Dir: indexDir(db), Logger: log, Read: whole, Ahead: by.ahead, Embedder: by.embedder, Weights: by.weights})
	return &rpc.Rooms{
		KV:       db,
		Entities: ents,
		Notes:    ns,
		WQL:      engine,
		Graph:    gr,
		Search:   index,
		Gather:   gather.Open(db, ents, ns, engine, gr, gather.Options{Search: index, Reports: limits.reports}),
		Vaults:   watch.New(db, ents, ns, watch.Options{Exclude: limits.vault.exclude}),
	}, nil
}
