package calls

import (
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// Reader is for whom a call reads and writes.
type Reader struct {
	View   *audience.View
	Client string // the name that the program gave at initialize
}

// ChosenID is what a remote reader is told who chooses the id of a new record: whether a private one has it shall not show.
func ChosenID(what, id, field string) error {
	if err := entities.CheckID(field, id); err != nil {
		return err
	}
	err := fault.New(fault.NotFound, "no %s with id %q, and a remote connection cannot choose the id of a new one", what, id).
		WithRef(id).
		WithHint("leave out the id, and the record gets one")
	err.Field = field
	return err
}
