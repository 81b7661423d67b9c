package llm_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/ctxd/ctxd/chat/llm"
)

// TestREL16_AStopAmidALongQueue ends the job that is done, and begins no other one.
func TestREL16_AStopAmidALongQueue(t *testing.T) {
	for range 50 {
		q := llm.NewQueue(llm.QueueOptions{Log: slog.New(slog.DiscardHandler), What: "tests"})
		var begun atomic.Int64
		first := make(chan struct{})
		added := 0
		for q.Add(func(ctx context.Context) error {
			if begun.Add(1) == 1 {
				close(first)
			}
			<-ctx.Done()
			return ctx.Err()
		}) {
			added++
		}
		<-first
		q.Close()
		if n := begun.Load(); n != 1 || added < 256 {
			t.Fatalf("%d of %d jobs were begun", n, added)
		}
	}
}
