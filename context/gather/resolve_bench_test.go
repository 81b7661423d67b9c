package gather_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/notes/markdown"
)

// timed reports the 99th percentile of the times of a call as p99-ns.
func timed(b *testing.B, call func()) {
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		call()
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
}

// BenchmarkResolveTree is a context with 1,000 memories in 40 contexts below it: under 1 ms.
func BenchmarkResolveTree(b *testing.B) {
	w := openResolver(b)
	w.context("root", "Root", "")
	for i := range 40 {
		w.context(fmt.Sprintf("c%d", i), fmt.Sprintf("Part %d", i), map[bool]string{true: "root", false: fmt.Sprintf("c%d", i/2)}[i < 2])
	}
	drafts := make([]memory.Draft, 1000)
	for i := range drafts {
		drafts[i] = memory.Draft{Statement: fmt.Sprintf("statement %d of many", i), Contexts: []string{fmt.Sprintf("c%d", i%40)}}
	}
	_, err := w.mem.Add(b.Context(), w.local, drafts)
	must(b, err)
	timed(b, func() {
		got, err := w.refs.Resolve(b.Context(), w.local, "@root_context", 100)
		if err != nil || got.Total != 1000 {
			b.Fatal(got, err)
		}
	})
}

// BenchmarkInMessage reads a message of ten references and 2 KB.
func BenchmarkInMessage(b *testing.B) {
	w := openResolver(b)
	w.life()
	const part = "What do @running and #2 say of @Alice Novak, and how does @health_goals fit the plan that we made on " +
		"Monday, of which nobody has heard since? Ask @nobody about it. There is nothing else in this part of the message.\n"
	text := part + part
	read := 0
	timed(b, func() {
		m := markdown.ReadMessage(text)
		for range w.refs.InMessage(b.Context(), w.local, &m) {
			read++
		}
	})
}
