package notes

import (
	"strings"

	"github.com/ctxd/ctxd/entities/kv"
)

// UpgradeLinks adds the places of Markdown links to the notes of a store whose records are
// of format 5 or older. Those of format 5 have the places of links to notes, and not of
// those to other files.
func UpgradeLinks(tx *kv.Tx) error {
	for id, n := range Records.All(tx, "") {
		if !mayLinkFiles(n.Body) {
			continue
		}
		at := read(n.Body).places
		if at == n.Places {
			continue
		}
		linked := *n
		linked.Places = at
		if err := Records.Put(tx, id, &linked); err != nil {
			return err
		}
	}
	return tx.Err()
}

// mayLinkFiles reports whether a text may have a Markdown link to a file, without reading
// it.
func mayLinkFiles(body string) bool {
	return strings.Contains(body, "](") || strings.Contains(body, "]:")
}
