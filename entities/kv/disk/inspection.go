package disk

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// Inspection is what a look at the folder of a store has found.
type Inspection struct {
	Dir   string                      `json:"dir"`
	Files []record.StoreInspectedFile `json:"files"` // in the order of their names
	// Condition is Whole, Torn or Damaged, of all that a start reads.
	Condition string `json:"condition"`
	// Refused says why a start would refuse the store, with Hint; "" when it
	// would not. The members after them are then empty.
	Refused     string         `json:"refused,omitempty"`
	Hint        string         `json:"hint,omitempty"`
	Format      int            `json:"format"` // of the records
	Seq         uint64         `json:"seq"`
	Records     int            `json:"records"`
	Collections map[string]int `json:"collections"`
	// Start is what a start would report; Damaged in it is empty.
	Start record.StoreRecovery `json:"start"`
}

// InspectFolder looks at every file of a store and changes nothing. What a start would do is still to
// be found out: the store seems whole and empty. The error is of kind NotFound when no store is there,
// and Unavailable when a file can't be read.
func InspectFolder(ctx context.Context, fsys FS, dir string) (*Inspection, error) {
	inv, err := TakeInventory(fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Unreadable(err)
	}
	if err != nil || !inv.Store() {
		return nil, fault.Wrap(fault.NotFound, err, "there is no store in %q", dir).WithHint(HintFolder)
	}
	out := &Inspection{Dir: dir, Files: []record.StoreInspectedFile{}, Condition: Whole, Collections: map[string]int{}}
	slices.Sort(inv.All)
	for _, name := range inv.All {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := Inspect(fsys, dir, name)
		if err != nil {
			return nil, Unreadable(err)
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}
