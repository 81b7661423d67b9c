package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/page/pagetest"
	"github.com/ctxd/ctxd/entities/record"
)

var start = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// scored is an event by which an outcome changed the score of a memory, and that of another one.
func scored(id, outcome string, day int, was, now float64) record.LearnedEvent {
	return record.LearnedEvent{
		At: start.AddDate(0, 0, day), Kind: record.LearnedOutcome, Outcome: outcome, Signal: "explicit", IDs: []string{"other", id},
		Before: []record.LearnedMemory{{ID: "other", Score: ptr(0.5)}, {ID: id, Score: &was}},
		After:  []record.LearnedMemory{{ID: "other", Score: ptr(0.7)}, {ID: id, Score: &now}},
	}
}

// hostileLife is a life in which every text is hostile.
func hostileLife() *page.LifeDocument {
	pick := func(k int) string { return pagetest.Hostile[k%len(pagetest.Hostile)] }
	d := &page.LifeDocument{
		Memory: &record.Memory{MemoryRecord: record.MemoryRecord{
			ID: "m", Number: 42, Handle: pick(1), Status: pick(2), Tier: pick(3), Kind: pick(4), Statement: pick(0), Evidence: pagetest.Hostile,
			Pinned: true, AlwaysInject: true, Private: true,
		}, Use: record.MemoryUse{Worked: 2, Failed: 1, LastOutcome: pick(5), LastUsedAt: &start}},
		Rank:   &page.MemoryRank{Position: 1, Score: 0.5, Signals: map[string]float64{}},
		Names:  map[string]string{},
		Events: []record.LearnedEvent{scored("m", "worked", 1, 0.5, 0.7)}, Earlier: true, Remote: true, Made: start,
	}
	for i, text := range pagetest.Hostile {
		d.Versions = append(d.Versions, record.MemoryVersion{Version: i, Statement: text})
		d.Facts = append(d.Facts, [2]string{"name", text})
		d.Source = append(d.Source, [2]string{"name", text})
		d.Related = append(d.Related, page.RelatedMemory{How: "says it too", Name: text, Statement: text})
		d.Open = append(d.Open, page.ConflictingMemory{Name: text, Statement: text, State: text, Why: text})
		d.Rank.Signals[text] = float64(i)
		d.Names["n"+pick(i)] = text
		d.Events = append(
			d.Events,
			record.LearnedEvent{Kind: text, Outcome: text, Signal: text, At: start},
			record.LearnedEvent{Kind: record.LearnedMerged, IDs: []string{"m", "n" + text, text}},
			record.LearnedEvent{
				Kind: record.LearnedPromoted, IDs: []string{"m"}, Before: []record.LearnedMemory{{ID: "m", Tier: &text}},
				After: []record.LearnedMemory{{ID: "m", Tier: &text, Score: ptr(7.0)}},
			},
		)
	}
	return d
}

// Nothing that was written elsewhere is markup of the page, and a browser runs and loads nothing.
func TestThePageHoldsHostileTextsAsText(t *testing.T) {
	text, err := page.RenderLife(hostileLife())
	if err != nil {
		t.Fatal(err)
	}
	count := pagetest.Harmless(t, text, "html head meta title style body a header div span h1 h2 h3 ul ol li b nav main section p dl dt dd code svg rect line polyline ellipse figure figcaption table thead tbody tr th td footer")
	if count["section"] != 7 {
		t.Errorf("%d sections", count["section"])
	}
	for _, want := range []string{"日本語", "javascript:alert(1)", "there were events before these", "prefers-color-scheme: dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// The score is drawn from what it was before the first outcome on, at even distances, and outcomes of others are not.
func TestTheScoreIsDrawnOverTime(t *testing.T) {
	d := &page.LifeDocument{
		Memory: &record.Memory{MemoryRecord: record.MemoryRecord{ID: "m", Number: 1, Status: "active", CreatedAt: start}},
		Events: []record.LearnedEvent{
			scored("m", "worked", 1, 0.5, 0.7), scored("m", "failed", 2, 0.7, 0.4), scored("m", "worked", 3, 0.4, 0.6),
			scored("m", "worked", 4, 0.6, 1),
		},
		Made: start,
	}
	text, err := page.RenderLife(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`points="0.00,20.00 25.00,12.00 50.00,24.00 75.00,16.00 100.00,0.00"`, "Score 0.5 on ", ", 1 on ", "failed, score 0.70 → 0.40",
		"Learning has not moved it.", "No other memory says the same or something else.", "Its own words do not find it.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "0.50 → 0.70, score") || strings.Count(text, "<ellipse") != 5 {
		t.Errorf("%d points, or the outcome of another memory", strings.Count(text, "<ellipse"))
	}
	d.Events = nil
	if text, err = page.RenderLife(d); err != nil || strings.Contains(text, "<polyline") || !strings.Contains(text, "Learning has done nothing to it yet.") {
		t.Errorf("a page of no events: %v", err)
	}
}

func TestWhatAnEventSaysOfOneMemory(t *testing.T) {
	e := scored("m", "worked", 0, 0.5, 0.8)
	if got := strings.Join(page.EventChanges(&e), ", "); got != "worked, score 0.50 → 0.70, score 0.50 → 0.80" {
		t.Errorf("of all: %s", got)
	}
	if got := strings.Join(page.MemoryChanges(&e, "m"), ", "); got != "worked, score 0.50 → 0.80" {
		t.Errorf("of one: %s", got)
	}
	if got := page.OtherMemories(&e, "m"); got != nil {
		t.Errorf("an outcome is with %v", got)
	}
	supported := record.LearnedEvent{
		Kind: record.LearnedEvidence, IDs: []string{"m"}, Before: []record.LearnedMemory{{ID: "m", Confidence: ptr(0.7)}},
		After: []record.LearnedMemory{{ID: "m", Confidence: ptr(0.715), EvidenceCount: ptr(2)}},
	}
	if got := strings.Join(page.MemoryChanges(&supported, "m"), ", "); got != "confidence 0.70 → 0.71, supported 0 → 2" &&
		got != "confidence 0.70 → 0.72, supported 0 → 2" {
		t.Errorf("evidence: %s", got)
	}
	merged := record.LearnedEvent{Kind: record.LearnedMerged, IDs: []string{"a", "m", "b"}}
	if got := page.OtherMemories(&merged, "m"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a merge is with %v", got)
	}
}
