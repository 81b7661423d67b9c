package wql

import (
	"github.com/ctxd/ctxd/entities/record"
)

// HasKind reports whether values of an order are of a kind.
func HasKind(o record.Order) bool { return kindOfOrder[o] != kindNull }
