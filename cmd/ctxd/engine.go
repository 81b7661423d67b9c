package main

import (
	"context"
	"log/slog"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// storeFormat is the version of the records in the store. A daemon refuses a
// store of a newer one.
const storeFormat = 1

// openRooms opens the rooms over the data in dir, each before those that stand
// on it. Rooms register for change sets as they open, and see them in that
// order: entities, notes (which has entities resolve their links anew), the
// indexes of WQL, the graph, the cached blocks of gather, the events for clients.
//
// Close the store when no call runs any more; the other rooms need no closing.
func openRooms(dir string, log *slog.Logger, limits recordLimits) (*rpc.Rooms, error) {
	db, err := kv.Open(dir, kv.Options{Format: storeFormat, Logger: log})
	if err != nil {
		return nil, err
	}
	rooms, err := roomsOver(db, dir, limits)
	if err != nil {
		_ = db.Close() // the first error is the one to report
		return nil, err
	}
	return rooms, nil
}

func roomsOver(db *kv.Store, dir string, limits recordLimits) (*rpc.Rooms, error) {
	// A type can be put only when all rooms are open, so engine is set by then.
	var engine *wql.Engine
	ents, err := entities.Open(db, entities.Options{
		CheckQuery: func(t *entities.Type, f entities.Field) []entities.Diagnostic { return engine.CheckField(t, f) },
		Limits:     limits.entities,
	})
	if err != nil {
		return nil, err
	}
	ns, err := notes.Open(db, ents, notes.Options{MaxBody: limits.maxBody})
	if err != nil {
		return nil, err
	}
	engine = wql.New(ents, wql.Options{})
	db.OnCommit(engine.Apply)
	gr := graph.Open(db, ents, ns, engine)
	return &rpc.Rooms{
		KV:       db,
		Entities: ents,
		Notes:    ns,
		WQL:      engine,
		Graph:    gr,
		Gather:   gather.Open(db, ents, ns, engine, gr, gather.Options{}),
		Vaults:   watch.New(db, ents, ns, watch.Options{}),
		Events:   rpc.NewEvents(db),
		Info:     protocol.ServerInfo{Name: "ctxd", Version: version(), Commit: commit()},
		DataDir:  dir,
	}, nil
}

// importVault reads a folder into the rooms of this process.
func importVault(ctx context.Context, rooms *rpc.Rooms, folder string, progress func(stage string, done, total int)) (*watch.Result, error) {
	return rooms.Import(ctx, watch.Request{Path: folder, Progress: progress})
}
