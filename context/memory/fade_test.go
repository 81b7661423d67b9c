package memory_test

import (
	"math"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

func TestMEM56_ConfidenceFadesByWholeDays(t *testing.T) {
	since := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	of := func(source, kind string, pinned bool) *record.MemoryRecord {
		return &record.MemoryRecord{
			Kind: kind, Pinned: pinned, Confidence: 0.7, ConfidenceAt: since, Source: record.MemorySource{Kind: source},
		}
	}
	for _, c := range []struct {
		m     *record.MemoryRecord
		after time.Duration
		want  float64
	}{
		{of("extraction", record.MemoryFact, false), 0, 0.7},
		{of("extraction", record.MemoryFact, false), -time.Hour, 0.7},
		{of("extraction", record.MemoryFact, false), 24*time.Hour - 1, 0.7},
		{of("extraction", record.MemoryFact, false), 24 * time.Hour, 0.693035},
		{of("assistant", record.MemoryPreference, false), 10 * 24 * time.Hour, 0.633386},
		{of("extraction", record.MemoryFact, false), 365 * 24 * time.Hour, 0.018194},
		{of("extraction", record.MemoryIdentity, false), 365 * 24 * time.Hour, 0.7},
		{of("extraction", record.MemoryValue, false), 365 * 24 * time.Hour, 0.7},
		{of("extraction", record.MemoryFact, true), 365 * 24 * time.Hour, 0.7},
		{of("user", record.MemoryFact, false), 365 * 24 * time.Hour, 0.7},
		{of("client", record.MemoryFact, false), 365 * 24 * time.Hour, 0.7},
		{of("import", record.MemoryFact, false), 365 * 24 * time.Hour, 0.7},
	} {
		if got := memory.ConfidenceAt(c.m, since.Add(c.after)); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s %s after %v: %v, want %v", c.m.Source.Kind, c.m.Kind, c.after, got, c.want)
		}
	}
}
