package vault

import (
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// UpgradeVaults gives the types and entities of a store whose records are of format 6 or
// older their vaults (see entities.UpgradeVaults).
func UpgradeVaults(tx *kv.Tx) error {
	of := make(map[string]string)                // the vaults of entities, by id
	for key, rest := range remains.All(tx, "") { // their files are gone
		if at := strings.LastIndex(key, "/"); at >= 0 {
			of[rest.EntityID] = key[:at]
		}
	}
	for _, n := range notes.Records.All(tx, "") {
		if n.Vault != "" && n.EntityID != "" {
			of[n.EntityID] = n.Vault
		}
	}
	if tx.Err() != nil {
		return tx.Err()
	}
	inferred, err := entities.UpgradeVaults(tx, of)
	if err != nil {
		return err
	}
	return notes.UpgradeTypeSources(tx, inferred)
}
