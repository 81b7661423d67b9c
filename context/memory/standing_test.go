package memory_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// standingOf is what a reader has in prompts without a search, found in the list of all memories.
func (w *world) standingOf(v *audience.View) (profile, pinned []string) {
	w.Helper()
	all, _, _, err := w.mem.List(w.Context(), v, memory.Filter{}, nil, 1000)
	must(w, err)
	known := slices.DeleteFunc(slices.Clone(all), func(m *record.Memory) bool {
		kinds := []string{record.MemoryIdentity, record.MemoryPreference, record.MemoryGoal, record.MemoryProject}
		return m.Status != record.MemoryActive || !m.AlwaysInject && (m.Tier != record.TierBank || !slices.Contains(kinds, m.Kind))
	})
	last := map[bool]int{false: 1}
	slices.SortFunc(known, func(a, b *record.Memory) int {
		return cmp.Or(cmp.Compare(last[a.AlwaysInject], last[b.AlwaysInject]), cmp.Compare(b.Quality, a.Quality),
			b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.Number, b.Number))
	})
	for _, m := range known[:min(len(known), memory.MaxProfile)] {
		profile = append(profile, m.ID)
	}
	for _, m := range all { // the last changed first
		if m.Pinned {
			pinned = append(pinned, m.ID)
		}
	}
	return profile, pinned
}

// TestMEM41_WhatStandsInPromptsFollowsCommits: the order that is kept is that of the records after each change, and
// each reader is shown what he sees of them. What a remote reader is shown changes no record.
func TestMEM41_WhatStandsInPromptsFollowsCommits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t, memory.Limits{})
		defer func() { _ = w.db.Close() }()
		ctx := t.Context()
		_, err := w.notes.Put(ctx, notes.Draft{Title: "Secret Plan", Private: true}, nil)
		must(t, err)
		source, err := w.notes.Put(ctx, notes.Draft{Title: "Source"}, nil)
		must(t, err)
		ids := []string{"none"}
		one := func(rt *rapid.T) string { return rapid.SampledFrom(ids).Draw(rt, "id") }
		done := func(err error) {
			switch fault.KindOf(err) {
			case fault.NotFound, fault.Conflict, fault.Invalid:
			default:
				must(t, err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				importance := float64(rapid.IntRange(1, 3).Draw(rt, "importance")) / 4
				d := memory.Draft{
					Statement: "statement " + time.Duration(len(ids)).String() + rapid.SampledFrom([]string{"", " of [[Secret Plan]]"}).Draw(rt, "of"),
					Kind:      rapid.SampledFrom([]string{record.MemoryFact, record.MemoryGoal, record.MemoryIdentity}).Draw(rt, "kind"),
					Pinned:    rapid.Bool().Draw(rt, "pinned"), Private: rapid.Bool().Draw(rt, "private"), Importance: &importance,
				}
				if rapid.Bool().Draw(rt, "from a note") {
					d.Source.NoteID = source.ID
				}
				d.AlwaysInject = d.Kind == record.MemoryIdentity && rapid.Bool().Draw(rt, "always")
				ids = append(ids, w.add(d).ID)
			},
			"pin": func(rt *rapid.T) {
				w.pass(time.Second)
				_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: one(rt), Pinned: ptr(rapid.Bool().Draw(rt, "pinned"))}, nil)
				done(err)
			},
			"weigh": func(rt *rapid.T) {
				_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: one(rt), Importance: ptr(0.6)}, nil)
				done(err)
			},
			"contest": func(rt *rapid.T) {
				_, err := w.mem.Update(ctx, w.local, memory.Patch{ID: one(rt), Status: ptr(record.MemoryContested)}, nil)
				done(err)
			},
			"archive": func(rt *rapid.T) {
				_, err := w.mem.Archive(ctx, w.local, one(rt), nil)
				done(err)
			},
			"restore": func(rt *rapid.T) {
				_, err := w.mem.Restore(ctx, w.local, one(rt), 0, nil)
				done(err)
			},
			"delete": func(rt *rapid.T) { done(w.mem.Delete(ctx, w.local, one(rt), true, nil)) },
			"hide the note": func(rt *rapid.T) {
				_, err := w.notes.Patch(ctx, notes.Patch{ID: source.ID, Private: ptr(rapid.Bool().Draw(rt, "private"))}, nil)
				must(t, err)
			},
			"": func(rt *rapid.T) {
				before := told(t, w.mem.Seen(w.local, ids))
				for _, v := range []*audience.View{w.remote, w.local} {
					profile, pinned, more := w.mem.Standing(v, 1000)
					wantProfile, wantPinned := w.standingOf(v)
					if !slices.Equal(profile, wantProfile) || !slices.Equal(pinned, wantPinned) || more {
						rt.Fatalf("profile %q, pinned %q; want %q and %q", profile, pinned, wantProfile, wantPinned)
					}
					if _, first, more := w.mem.Standing(v, 1); len(pinned) > 1 && (!more || !slices.Equal(first, pinned[:1])) {
						rt.Fatalf("the first is %q of %q, more: %v", first, pinned, more)
					}
					seen, shown := w.mem.Seen(v, ids), w.mem.Shown(v, ids)
					for i := range ids {
						var want *record.MemoryRecord
						if shown[i] != nil {
							want = &shown[i].MemoryRecord
						}
						if got := told(t, seen[i]); got != told(t, want) {
							rt.Fatalf("%s is seen as %s, shown as %s", ids[i], got, told(t, want))
						}
					}
				}
				if now := told(t, w.mem.Seen(w.local, ids)); now != before {
					rt.Fatalf("to show them to readers made %s of %s", now, before)
				}
			},
		})
	})
}

func told(t *testing.T, memories any) string {
	t.Helper()
	data, err := json.Marshal(memories)
	must(t, err)
	return string(data)
}

// TestMEM56_ListsAndProfileRankByWhatIsSureNow: what a model took out of a conversation falls behind as it fades, without a
// change of any record, and pages by quality have each memory once.
func TestMEM56_ListsAndProfileRankByWhatIsSureNow(t *testing.T) {
	w := open(t, memory.Limits{})
	sure, half, less := 0.9, 0.65, 0.6
	w.add(memory.Draft{ID: "said", Statement: "I like tea", Kind: record.MemoryPreference, Confidence: &less})
	w.add(memory.Draft{
		ID: "taken", Statement: "I prefer the window seat", Kind: record.MemoryPreference, Confidence: &sure,
		Source: record.MemorySource{Kind: "extraction"},
	})
	w.add(memory.Draft{
		ID: "guessed", Statement: "I walk to work", Kind: record.MemoryPreference, Confidence: &half,
		Source: record.MemorySource{Kind: "extraction"},
	})
	want := func(order string) {
		t.Helper()
		f := memory.Filter{Sort: memory.ByQuality}
		var listed, known []string
		var after *memory.Place
		for {
			page, _, more, err := w.mem.List(w.Context(), w.local, f, after, 1)
			must(t, err)
			for _, m := range page {
				listed = append(listed, m.ID)
				after = &memory.Place{Quality: m.Quality, Number: m.Number}
			}
			if !more || len(listed) > 9 {
				break
			}
		}
		for _, m := range w.mem.Profile(w.local, 9) {
			known = append(known, m.ID)
		}
		if strings.Join(listed, " ") != order || strings.Join(known, " ") != order {
			t.Errorf("listed %v, profile %v, want %s", listed, known, order)
		}
	}
	want("taken guessed said")
	w.pass(24*time.Hour - 1)
	want("taken guessed said")
	w.pass(20 * 24 * time.Hour)
	want("taken said guessed")
	w.pass(50 * 24 * time.Hour)
	want("said taken guessed")
	w.pass(-50 * 24 * time.Hour) // a clock that was set back
	want("taken said guessed")
}
