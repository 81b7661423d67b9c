package rpc_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc"
)

// TestREL16_BackgroundWorkBesideDeletions deletes memories and conversations while facts are kept in order, memories are
// shown, scored and moved between the tiers, and conversations are searched. Whatever was first, the check finds the store
// whole, and mends nothing.
func TestREL16_BackgroundWorkBesideDeletions(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	say := []string{
		"I live in Leeds.", "I moved to York.", "I have 25 days of leave.", "I have 28 days of leave.", "I can't stand loud restaurants.",
		"I hate loud restaurants.", "I eat meat.", "I do not eat meat.", "My sister is called Anna.", "My sister's name is Anna.",
	}
	const memories = 24
	for round := range campaign.Figure[uint64](1, 5) {
		for i := range memories {
			tier := []string{"memoryBank", "memoryBank", "working"}[i%3]
			d.do("memory.add", fmt.Sprintf(`{"id":"m%d-%d","statement":%q,"tier":%q}`, round, i, fmt.Sprintf("%s Or so %d.", say[i%len(say)], round*100+uint64(i)), tier))
		}
		for i := range 6 {
			d.do("chat.put", fmt.Sprintf(`{"id":"c%d-%d"}`, round, i))
			d.do("chat.append", fmt.Sprintf(`{"conversationId":"c%d-%d","messages":[{"role":"user","content":%q},{"role":"assistant","content":"So it is."}],"memoryIds":["m%d-%d"]}`,
				round, i, say[i], round, i))
		}
		done := make(chan struct{})
		var all sync.WaitGroup
		beside := func(stream uint64, do func(rng *rand.Rand)) {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(round, stream))
				for {
					select {
					case <-done:
						return
					default:
						do(rng)
					}
				}
			})
		}
		talk := func(rng *rand.Rand) string { return fmt.Sprintf("c%d-%d", round, rng.IntN(6)) }
		beside(1, func(*rand.Rand) { _, _ = d.try("memory.upkeep", `{}`) })
		beside(2, func(*rand.Rand) { _, _ = d.try("memory.promote", `{}`) })
		beside(3, func(rng *rand.Rand) {
			_, _ = d.try("memory.search", fmt.Sprintf(`{"query":%q,"conversationId":%q}`, say[rng.IntN(len(say))], talk(rng)))
		})
		beside(4, func(rng *rand.Rand) {
			_, _ = d.try("memory.outcome", fmt.Sprintf(`{"outcome":"worked","conversationId":%q,"takeaway":"It went well %d."}`, talk(rng), rng.IntN(9)))
		})
		rng := rand.New(rand.NewPCG(round, 5))
		for i, at := range rng.Perm(memories) {
			d.do("memory.delete", fmt.Sprintf(`{"id":"m%d-%d","force":true}`, round, at))
			if i%4 == 0 {
				d.do("chat.delete", fmt.Sprintf(`{"id":"c%d-%d"}`, round, i/4))
			}
		}
		close(done)
		all.Wait()
		out := d.do("admin.check", `{}`)
		d.want(out, "ok", true)
		d.want(out, "problems", "[]")
		d.want(out, "mended", "[]")
	}
}
