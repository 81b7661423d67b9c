//go:build linux

package learn_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// used is the time that the processors have worked for this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMEM61_Upkeep runs upkeep over 10,000 facts with 100,000 messages, for the first time and again. The vectors
// are made before.
func BenchmarkMEM61_Upkeep(b *testing.B) {
	facts, messages := 1000, 10_000
	if campaign.Full() {
		facts, messages = 10_000, 100_000
	}
	w := openKeeper(b)
	verbs := strings.Fields("like use keep repair visit remember own need borrow sell paint clean")
	things := strings.Fields("bike garden kettle tent piano laptop camera drawer ladder lamp coat boat oven sofa radio printer mirror hammer")
	of := strings.Fields("Anna Tom Berlin Leeds Oslo summer winter work school holiday choir club office village")
	text := func(i int) string {
		return fmt.Sprintf("I %s the %s of %s number %d.", verbs[i%len(verbs)], things[i/3%len(things)], of[i/7%len(of)], i)
	}
	var drafts []memory.Draft
	for i := range facts {
		drafts = append(drafts, memory.Draft{ID: fmt.Sprintf("f%05d", i), Statement: text(i), Source: record.MemorySource{Kind: "user"}})
		if len(drafts) == memory.MaxMany || i == facts-1 {
			_, err := w.mem.Add(context.Background(), w.local, drafts)
			w.must(err)
			drafts = nil
		}
	}
	known := make(map[string]learn.FactMessage)
	for i := range messages {
		m := learn.FactMessage{Key: fmt.Sprintf("m%06d", i), ID: fmt.Sprintf("m%06d", i), At: w.now.Add(time.Duration(i+1) * time.Second), Text: text(i * 13 % (3 * facts))}
		w.said, known[m.Key] = append(w.said, m), m
		vectors(func(string) (string, bool) { return m.Text, true }).Stored("")
	}
	for m := range w.mem.All() {
		vectors(func(string) (string, bool) { return m.Statement, true }).Stored("")
	}
	w.now = w.now.Add(time.Duration(messages+1) * time.Second)
	k := w.keeperOf(vectors(func(id string) (string, bool) { return known[id].Text, true }))
	for b.Loop() {
		begin := used()
		first, err := k.Run(context.Background(), learn.UpkeepRequest{})
		w.must(err)
		b.ReportMetric((used() - begin).Seconds(), "cpu-s/first")
		begin = used()
		_, err = k.Run(context.Background(), learn.UpkeepRequest{})
		w.must(err)
		b.ReportMetric((used() - begin).Seconds(), "cpu-s/again")
		b.ReportMetric(float64(len(first.Changes)), "changes")
		b.ReportMetric(float64(first.Queued), "queued")
	}
}
