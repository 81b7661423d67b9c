package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// BenchmarkScale is a daemon over 100,000 memories and 200,000 messages, a hundredth with -short: its start, every
// method that reads, for both readers, and upkeep. Everything is logged; what is reported is the longest wait.
func BenchmarkScale(b *testing.B) {
	s := scale{100_000, 200_000}
	if testing.Short() {
		s = scale{1000, 2000}
	}
	dir := filepath.Join(b.TempDir(), "data")
	began := time.Now()
	if err := os.CopyFS(dir, os.DirFS(scaleStore(b, s))); err != nil {
		b.Fatal(err)
	}
	b.Logf("made or copied in %v", time.Since(began))
	program := buildProgram(b)
	p := startProgram(b, program, dir, s.settings()...)
	p.settle(b) // the vectors are made once
	p.end(b)
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			p = startProgram(b, program, dir, s.settings()...)
			p.call(b, "memory.search", map[string]any{"query": "garden"}, nil)
			b.StopTimer()
			p.end(b)
			b.StartTimer()
		}
	})
	p = startProgram(b, program, dir, s.settings()...)
	defer func() { p.end(b) }()
	p.settle(b)
	b.ReportMetric(float64(p.status(b, "VmRSS"))/(1<<20), "opened-MiB")
	for _, audience := range []string{protocol.Local, protocol.Remote} {
		b.Run(audience, func(b *testing.B) {
			for b.Loop() {
				all := readAll(b, p, s, audience, 4)
				first, later := longest(all)
				b.ReportMetric(float64(first.Milliseconds()), "first-ms")
				b.ReportMetric(float64(later.Milliseconds()), "longest-ms")
				for _, t := range all {
					if t.method == "concepts.list" && t.params == "" {
						b.ReportMetric(float64(t.longest.Microseconds())/1e3, "concepts-ms")
					}
				}
				b.Log(table(all))
			}
		})
	}
	b.ReportMetric(float64(p.status(b, "VmRSS"))/(1<<20), "read-MiB")
	for _, job := range []string{"admin.check", "memory.upkeep", "again", "memory.promote"} {
		b.Run(job, func(b *testing.B) {
			for b.Loop() {
				work(b, p, strings.ReplaceAll(job, "again", "memory.upkeep"))
			}
		})
	}
}

// table are calls and how long they took, the longest first.
func table(all []took) string {
	var text strings.Builder
	for _, t := range all[:min(len(all), 30)] {
		fmt.Fprintf(&text, "\n%10v first %10v later %8v cpu  %s %s", t.first.Round(time.Millisecond),
			t.longest.Round(time.Millisecond), t.cpu, t.method, t.params)
	}
	return text.String()
}

// work has a job done, and reports its processor time, and the most memory beyond that of the daemon before.
func work(b *testing.B, p *measured, method string) {
	b.Helper()
	c, err := client.Dial(b.Context(), p.socket, client.Options{Name: "benchmark"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
	before, cpu := p.status(b, "VmRSS"), p.cpu(b)
	var result struct {
		record.Upkept
	}
	if err := c.Call(b.Context(), method, map[string]any{}, &result); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric((p.cpu(b) - cpu).Seconds(), "cpu-s")
	b.ReportMetric(float64(p.status(b, "VmHWM")-before)/(1<<20), "more-MiB")
	b.ReportMetric(float64(p.status(b, "VmHWM"))/(1<<20), "peak-MiB")
	b.Logf("%d facts, %d pairs, %d changes, %d merged, %d queued, skipped %q", result.Facts, result.Pairs, result.Total, result.Merged, result.Queued, result.Skipped)
}
