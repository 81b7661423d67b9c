package audience_test

import (
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
)

// stored is a store with the rooms over it and the Views of both readers.
type stored struct {
	db            *kv.Store
	notes         *notes.Store
	ents          *entities.Store
	rooms         *audience.Views
	local, remote *audience.View
}

// openRooms opens rooms in memory until the end of a test, without queries and a graph.
func openRooms(t testing.TB, opts notes.Options) *stored {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return openOver(db, openStores(t, db, opts))
}

// openStores opens the stores of records.
func openStores(t testing.TB, db *kv.Store, opts notes.Options) audience.Stores {
	t.Helper()
	ents, err := entities.Open(db, entities.Options{})
	must(t, err)
	ns, err := notes.Open(db, ents, opts)
	must(t, err)
	return audience.Stores{Entities: ents, Notes: ns}
}

// openAll opens rooms over a store, with queries and a graph.
func openAll(t testing.TB, db *kv.Store) *stored {
	t.Helper()
	s := openStores(t, db, notes.Options{})
	s.WQL = wql.New(s.Entities, wql.Options{Location: time.UTC})
	db.OnCommit(s.WQL.Apply)
	s.Graph = graph.Open(db, s.Entities, s.Notes, s.WQL)
	return openOver(db, s)
}

// openOver opens rooms over stores.
func openOver(db *kv.Store, s audience.Stores) *stored {
	r := audience.Open(db, s)
	return &stored{
		db: db, notes: s.Notes, ents: s.Entities, rooms: r,
		local: r.View(audience.Local), remote: r.View(audience.Remote),
	}
}
