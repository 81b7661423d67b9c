package wql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/yield"
)

// yielder is called at each yield.Point.
type yielder func()

func (y yielder) Yield(context.Context) { y() }

// TestREL7_NobodyWaitsForAQuery writes between the steps of queries that look at long
// texts. A query with a lock that writers need would wait for them for ever.
func TestREL7_NobodyWaitsForAQuery(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	list := things(200)
	for i := range list {
		list[i].Fields["s"] = strings.Repeat("\u00e4x", 1000)
	}
	w.put(list...)
	for _, query := range []string{
		"SELECT t FROM Thing WHERE t.s LIKE '%" + strings.Repeat("x", 20) + "%'",
		"SELECT t FROM Thing WHERE t.s CONTAINS 'nothing'",
		"SELECT t FROM Thing WHERE upper(lower(t.s)) = 'x' OR t.n >= 0",
		"SELECT t FROM Thing WHERE t.n >= 0 AND t.s LIKE '%y%'",
		"SELECT t FROM Thing WHERE t.n >= 0 ORDER BY upper(t.s)",
	} {
		writes := 0
		ctx := context.WithValue(t.Context(), yield.Key{}, yielder(func() {
			if writes == 3 {
				return
			}
			writes++
			written := make(chan error, 1)
			go func() {
				_, err := w.store.Put(t.Context(), entities.Entity{ID: "other", Type: "Thing", Name: "x"}, nil)
				written <- err
			}()
			select {
			case err := <-written:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(20 * time.Second): // only when it fails
				t.Errorf("%s: a writer waits", query)
			}
		}))
		if _, err := w.wql.Query(ctx, query, wql.QueryOptions{}); err != nil || writes == 0 {
			t.Errorf("%s: %d writes between its steps, error %v", query, writes, err)
		}
	}
}
