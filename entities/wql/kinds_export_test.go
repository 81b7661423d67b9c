package wql

import (
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/datum"
)

// HasKind reports whether values of an order are of a kind.
func HasKind(o record.Order) bool { return kindOfOrder[o] != datum.Null }
