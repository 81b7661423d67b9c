package disk

import (
	"slices"

	"github.com/ctxd/ctxd/entities/record"
)

// LossNote is what a start found missing, kept until a start has told so.
type LossNote struct {
	Report record.StoreRecovery `json:"report"`
	Aside  []string             `json:"aside"` // files that are to be set aside
}

// AnyLoss reports whether there is more to tell than the files will tell again.
func AnyLoss(r *record.StoreRecovery) bool {
	return r.Lost > 0 || r.LostPieces > 0 || r.Salvaged > 0 || r.Aside > 0
}

// UnreportedLoss returns what an earlier start noted, nil when there is nothing. A
// note that can't be read is none: it says nothing about the records.
func UnreportedLoss(fsys FS, dir string) (*LossNote, error) {
	var note LossNote
	ok, err := ReadNote(fsys, dir, LossName, &note)
	if err != nil || !ok {
		return nil, err
	}
	return &note, nil
}

// Recall adds what an earlier start had found. Nothing was written in between, so
// what both found is the same.
func (n *LossNote) Recall(earlier *LossNote) {
	r, e := &n.Report, &earlier.Report
	r.Lost, r.Salvaged = max(r.Lost, e.Lost), max(r.Salvaged, e.Salvaged)
	r.Aside, r.LostPieces = max(r.Aside, e.Aside), max(r.LostPieces, e.LostPieces)
	r.Clean = false
	for _, name := range earlier.Aside {
		if !slices.Contains(n.Aside, name) {
			n.Aside = append(n.Aside, name)
		}
	}
}
