package jsonrpc_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

func TestIdleWatch(t *testing.T) {
	const after = 10 * time.Minute
	for _, c := range []struct {
		name string
		do   func(w *jsonrpc.IdleWatch, wait func(time.Duration), busy *atomic.Bool)
		want time.Duration // until it is told; 0: never
	}{
		{"nobody ever", func(*jsonrpc.IdleWatch, func(time.Duration), *atomic.Bool) {}, after},
		{"one that stays", func(w *jsonrpc.IdleWatch, _ func(time.Duration), _ *atomic.Bool) { w.Enter() }, 0},
		{"one that goes", func(w *jsonrpc.IdleWatch, wait func(time.Duration), _ *atomic.Bool) {
			wait(9 * time.Minute)
			w.Enter()
			wait(time.Hour)
			w.Leave()
		}, 69*time.Minute + after},
		{"two, one of whom stays", func(w *jsonrpc.IdleWatch, wait func(time.Duration), _ *atomic.Bool) {
			w.Enter()
			w.Enter()
			w.Leave()
			wait(time.Hour)
		}, 0},
		{"probes", func(w *jsonrpc.IdleWatch, wait func(time.Duration), _ *atomic.Bool) {
			for range 10 {
				wait(9 * time.Minute)
				w.Enter()
				w.Leave()
			}
		}, 90*time.Minute + after},
		{"a job goes on", func(_ *jsonrpc.IdleWatch, wait func(time.Duration), busy *atomic.Bool) {
			busy.Store(true)
			wait(25 * time.Minute)
			busy.Store(false)
		}, 30 * time.Minute},
		{"the end for another reason", func(w *jsonrpc.IdleWatch, _ func(time.Duration), _ *atomic.Bool) { w.Stop() }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var busy atomic.Bool
				var told []time.Duration
				w := jsonrpc.NewIdleWatch(after, func() { told = append(told, time.Since(began)) }, busy.Load)
				c.do(w, func(d time.Duration) { time.Sleep(d); synctest.Wait() }, &busy) //nolint:forbidigo // the clock is not the real one
				time.Sleep(24 * time.Hour)                                               //nolint:forbidigo // likewise
				synctest.Wait()
				w.Stop()
				if c.want == 0 && len(told) > 0 || c.want > 0 && (len(told) != 1 || told[0] != c.want) {
					t.Errorf("told after %v, want %v", told, c.want)
				}
			})
		})
	}
}
