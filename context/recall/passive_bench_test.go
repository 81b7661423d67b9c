package recall_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
)

// filled opens a house with 10,000 memories and as many messages, by the built-in table.
func filled(b *testing.B, opts recall.PassiveOptions) *passiveHouse {
	b.Helper()
	e, err := embed.BuiltinTable()
	mustPassive(b, err)
	h := openOver(b, searchtest.Open(b, kv.InMemory), e, opts)
	var drafts []memory.Draft
	var said []chat.Draft
	for d := range fixtures.StandardDocuments(10_000) {
		drafts = append(drafts, factDraft(fmt.Sprint("m", len(drafts)), d.Title+" is what I think of"))
		said = append(said, chat.Draft{Role: record.Roles[len(said)%2], Content: "What of " + d.Title + " in the garden?"})
	}
	for part := range slices.Chunk(drafts, memory.MaxMany) {
		h.remember(part...)
	}
	for part := range slices.Chunk(said, chat.MaxMany) {
		h.append(chat.AppendRequest{Messages: part})
	}
	h.settle()
	return h
}

const (
	asked    = "What do I think of the garden by the river, and of what grows there in spring?"
	answered = "You think that the garden by the river is wet in spring, and that what grows there grows late."
)

// BenchmarkMEM42_Turn stores turns by turns of two stores, of which one has passive recall, at its usual pace: what
// a turn costs more with it is added-ns.
func BenchmarkMEM42_Turn(b *testing.B) {
	with := filled(b, recall.PassiveOptions{Rest: recall.DefaultPassiveRest})
	without := filled(b, recall.PassiveOptions{})
	without.chat.Follow(nil)
	ids := map[*passiveHouse]string{with: with.say("", asked, answered), without: without.say("", asked, answered)}
	took := make(map[*passiveHouse][]time.Duration)
	for i := 0; b.Loop(); i++ {
		for _, h := range []*passiveHouse{with, without} {
			began := time.Now()
			h.say(ids[h], fmt.Sprint(asked, i), fmt.Sprint(answered, i))
			took[h] = append(took[h], time.Since(began))
		}
		if len(took[with])%10_000 == 0 {
			ids = map[*passiveHouse]string{with: with.say("", asked, answered), without: without.say("", asked, answered)}
		}
	}
	mean := func(list []time.Duration) float64 {
		var sum time.Duration
		for _, d := range list {
			sum += d
		}
		return float64(sum.Nanoseconds()) / float64(len(list))
	}
	at := func(list []time.Duration, share float64) float64 {
		slices.Sort(list)
		return float64(list[int(share*float64(len(list)-1))].Nanoseconds())
	}
	b.ReportMetric(mean(took[with])-mean(took[without]), "added-ns")
	b.ReportMetric(at(took[with], 0.5)-at(took[without], 0.5), "added-p50-ns")
	b.ReportMetric(at(took[with], 0.99), "with-p99-ns")
	b.ReportMetric(at(took[without], 0.99), "without-p99-ns")
}

// BenchmarkMEM42_Work is what the worker does for a turn, for both audiences, and the storing of it.
func BenchmarkMEM42_Work(b *testing.B) {
	h := filled(b, recall.PassiveOptions{})
	id := h.say("", asked, answered)
	before := h.looked.Load()
	for i := 0; b.Loop(); i++ {
		h.say(id, fmt.Sprint(asked, i), fmt.Sprint(answered, i))
		untilPassive(h, "the work", h.passive.Idle)
	}
	b.ReportMetric(float64(h.looked.Load()-before)/float64(b.N), "looks")
}

// BenchmarkMEM42_Waiting is what a prompt waits for.
func BenchmarkMEM42_Waiting(b *testing.B) {
	h := filled(b, recall.PassiveOptions{})
	id := h.say("", asked, answered)
	untilPassive(h, "the work", h.passive.Idle)
	hits := 0
	for b.Loop() {
		hits = len(h.passive.Waiting(b.Context(), h.remote, id).Hits)
	}
	b.ReportMetric(float64(hits), "hits")
}
