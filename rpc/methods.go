package rpc

import (
	"time"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Rooms are the domain rooms that the methods call. All of them must be set.
type Rooms struct {
	KV       *kv.Store
	Entities *entities.Store
	Notes    *notes.Store
	WQL      *wql.Engine
	Graph    *graph.Graph
	Gather   *gather.Gatherer
	Vaults   *watch.Importer
	Events   *Events // nil: Methods makes them

	Info    protocol.ServerInfo
	DataDir string           // for admin.health; "" when there is none
	Stop    func()           // ends the daemon; called on a goroutine of its own
	Now     func() time.Time // nil: time.Now
}

// Methods returns the method table over the given rooms: every method of the
// contract, and no other.
func Methods(r Rooms) []Method {
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Events == nil {
		r.Events = NewEvents(r.KV)
	}
	r.Events.assess = r.health
	list := r.table()
	for i, m := range list {
		list[i] = r.Events.tellsOfTrouble(m)
	}
	return list
}

// table has a line for each method.
func (r *Rooms) table() []Method {
	return []Method{
		method("initialize", r.initialize),
		method("shutdown", shutdown),

		method("notes.put", r.notesPut),
		method("notes.patch", r.notesPatch),
		method("notes.putMany", r.notesPutMany),
		method("notes.get", r.notesGet),
		method("notes.list", r.notesList),
		method("notes.archive", r.notesArchive),
		method("notes.unarchive", r.notesUnarchive),
		method("notes.delete", r.notesDelete),
		method("notes.complete", r.notesComplete),
		method("notes.resolve", r.notesResolve),
		method("notes.search", r.notesSearch),
		method("notes.links", r.notesLinks),
		method("tags.list", r.tagsList),

		method("types.put", r.typesPut),
		method("types.get", r.typesGet),
		method("types.list", r.typesList),
		method("types.delete", r.typesDelete),

		method("entities.put", r.entitiesPut),
		method("entities.patch", r.entitiesPatch),
		method("entities.putMany", r.entitiesPutMany),
		method("entities.get", r.entitiesGet),
		method("entities.list", r.entitiesList),
		method("entities.trash", r.entitiesTrash),
		method("entities.restore", r.entitiesRestore),
		method("entities.delete", r.entitiesDelete),
		method("entities.complete", r.entitiesComplete),

		method("wql.query", r.wqlQuery),
		method("wql.check", r.wqlCheck),

		method("graph.neighbors", r.graphNeighbors),
		method("graph.path", r.graphPath),
		method("graph.stats", r.graphStats),

		method("context.assemble", r.contextAssemble),
		method("context.recent", r.contextRecent),

		method("vault.import", r.vaultImport),
		method("vault.list", r.vaultList),
		method("vault.status", r.vaultStatus),
		method("vault.forget", r.vaultForget),

		method("events.subscribe", r.eventsSubscribe),
		method("events.unsubscribe", r.eventsUnsubscribe),

		method("admin.health", r.adminHealth),
		method("admin.stats", r.adminStats),
		method("admin.connections", r.adminConnections),
		method("admin.stop", r.adminStop),
		method("rpc.discover", discover),
	}
}
