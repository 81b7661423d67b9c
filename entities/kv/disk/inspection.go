package disk

import "github.com/ctxd/ctxd/entities/record"

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
