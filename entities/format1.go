package entities

import (
	"strings"

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
		if strings.HasPrefix(s, "{") {
			return kv.JSON[Entity]().Decode(s)
		}
		return decode(s)
	},
})

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
