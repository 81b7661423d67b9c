package rpc

import (
	"fmt"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
)

// unresolvedNames collects the names that lead to no record in the fields of entities.
type unresolvedNames struct {
	list  []entities.Diagnostic
	total int
}

// maxDiagnostics is how many an answer has: the fields of one entity can hold ten thousands.
const maxDiagnostics = 100

// Add takes in the names of an entity, whose place in the params is at.
func (u *unresolvedNames) Add(v *audience.View, e *entities.Entity, at string) {
	list, total := v.UnresolvedIn(e, maxDiagnostics-len(u.list))
	u.total += total
	for _, n := range list {
		u.list = append(u.list, entities.Diagnostic{
			Field: at + n.Field, Line: 1, Column: 1, Message: fmt.Sprintf("%q leads to no record", n.Text),
			Hint:     "it will when one record alone has that name; an id leads to its record whatever the names are",
			Severity: record.SeverityWarning,
		})
	}
}

// Diagnostics returns them; the last says how many others there are.
func (u *unresolvedNames) Diagnostics() []entities.Diagnostic {
	if u.total > len(u.list) {
		u.list[len(u.list)-1] = entities.Diagnostic{
			Line: 1, Column: 1, Message: fmt.Sprintf("%d names more lead to no record", u.total-len(u.list)+1),
			Severity: record.SeverityWarning,
		}
	}
	return u.list
}
