package entities

import (
	"strings"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
)

// Up to format 1 of the store an entity was JSON, as clients see it. Nothing
// writes that any more; Upgrade reads it.
//
// A record that is of today's format already is left as it is: what says of which
// format a store is may be lost.
var entityRecords1 = EntityRecords.With(kv.Codec[Entity]{
	Encode: encode,
	Decode: func(s string) (*Entity, error) {
		if !strings.HasPrefix(s, "{") {
			return decode(s)
		}
		e, err := kv.JSON[Entity]().Decode(s)
		if err != nil {
			return nil, err
		}
		then, err := kv.JSON[entity1]().Decode(s)
		if err == nil {
			e.ArchivedAt = then.TrashedAt
		}
		return e, err
	},
})

// entity1 is what the JSON of format 1 calls otherwise than clients do today.
type entity1 struct {
	TrashedAt *time.Time `json:"trashedAt"`
}

// Upgrade rewrites the entities of a store whose records are of format 1 or older.
// Types are JSON still.
func Upgrade(tx *kv.Tx) error {
	for id, e := range entityRecords1.All(tx, "") {
		if err := EntityRecords.Put(tx, id, e); err != nil {
			return err
		}
	}
	return tx.Err()
}
