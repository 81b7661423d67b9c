package wql_test

import (
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestEveryOrderOfValuesHasAKind: values of an order without one would all be NULL.
func TestEveryOrderOfValuesHasAKind(t *testing.T) {
	for o := range record.OrderCount {
		if wql.HasKind(o) == (o == record.NoOrder) {
			t.Errorf("order %d has a kind: %v", o, wql.HasKind(o))
		}
	}
}
