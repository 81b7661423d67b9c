package audience_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// TestREF3_GroupsOfAnyMemories are those of a search through all of them, whatever came and went before.
func TestREF3_GroupsOfAnyMemories(t *testing.T) {
	tags := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "a/b", "A/B/c", "a/bc", "x/y/z", "x-y-z", "ß", "ss"}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		x, now := audience.NewGroupIndex(), make(map[string]*record.MemoryRecord)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			id := rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "id")
			m := &record.MemoryRecord{ID: id, Tags: tags.Draw(t, "tags"), Domains: tags.Draw(t, "domains")}
			m.EntityIDs = rapid.SliceOfN(rapid.SampledFrom([]string{"e", "f"}), 0, 2).Draw(t, "entities")
			m.Source.ConversationID = rapid.SampledFrom([]string{"", "c"}).Draw(t, "conversation")
			if rapid.Bool().Draw(t, "gone") {
				m = nil
			}
			x.Put(now[id], m)
			now[id] = m
		}
		for _, key := range []string{"a", "a/b", "a/b/c", "a/bc", "x", "x/y", "x/y/z", "x-y-z", "ss", "nothing"} {
			for kind, labels := range map[audience.GroupKind]func(*record.MemoryRecord) []string{
				audience.GroupTag:    func(m *record.MemoryRecord) []string { return m.Tags },
				audience.GroupDomain: func(m *record.MemoryRecord) []string { return m.Domains },
			} {
				check(t, x, kind, key, now, func(m *record.MemoryRecord) bool {
					return slices.ContainsFunc(labels(m), func(label string) bool { return audience.LabelWithin(label, key) })
				})
			}
		}
		check(t, x, audience.GroupEntity, "e", now, func(m *record.MemoryRecord) bool { return slices.Contains(m.EntityIDs, "e") })
		check(t, x, audience.GroupConversation, "c", now, func(m *record.MemoryRecord) bool { return m.Source.ConversationID == "c" })
		for _, handle := range []string{"x_y_tag", "x_y_z_tag", "ss_tag"} {
			for _, fold := range x.Handled(audience.GroupTag, handle) {
				if next(x, fold) == "" {
					t.Fatalf("%q has the handle %q, and no memory", fold, handle)
				}
			}
		}
	})
}

func next(x *audience.GroupIndex, fold string) string {
	for id := range x.Members(audience.GroupTag, fold) {
		return id
	}
	return ""
}

func check(t *rapid.T, x *audience.GroupIndex, kind audience.GroupKind, key string, all map[string]*record.MemoryRecord,
	belongs func(*record.MemoryRecord) bool,
) {
	var want []string
	for id, m := range all {
		if m != nil && belongs(m) {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	got := slices.Compact(slices.Sorted(x.Members(kind, key)))
	if !slices.Equal(got, want) {
		t.Fatalf("%d %q: %v, want %v", kind, key, got, want)
	}
}

// TestREF8_DamagedTreesEnd: contexts that lie below themselves are looked at once.
func TestREF8_DamagedTreesEnd(t *testing.T) {
	x := audience.NewGroupIndex()
	x.PutContext("a", "c", "A", true)
	x.PutContext("b", "a", "B", true)
	x.PutContext("c", "b", "C", true)
	x.PutContext("self", "self", "Self", true)
	all := func(string) bool { return true }
	for start, want := range map[string]string{"a": "a0 b1 c2", "self": "self0"} {
		var got []string
		for id, depth := range x.Tree(start, all) {
			got = append(got, fmt.Sprint(id, depth))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("below %s: %v, want %s", start, got, want)
		}
	}
	if depth := x.Depth("a", 64, all); depth != 64 {
		t.Errorf("depth %d", depth)
	}
}

func TestREF7_NamesOfContextsFold(t *testing.T) {
	for text, want := range map[string]string{
		"My Health  Goals": "my_health_goals", "my-health_goals": "my_health_goals", " -_x": "x", "x -": "x_", "ＡＢ ß": "ab_ss",
		"José": "josé", "": "",
	} {
		if got := audience.ContextNameKey(text); got != want {
			t.Errorf("%q folds to %q, want %q", text, got, want)
		}
	}
	x := audience.NewGroupIndex()
	x.PutContext("1", "", "Go to Market", true)
	x.PutContext("2", "", "go-to_market", true)
	for key, want := range map[string]string{
		"go": "[] true", "go_": "[] true", "go_to_market": "[1 2] true", "go_to_market_": "[] false", "gx": "[] false",
	} {
		if got := fmt.Sprint(x.Called(key)); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
	x.PutContext("1", "", "Go to Market", false)
	x.PutContext("2", "", "go-to_market", false)
	if got := fmt.Sprint(x.Called("go")); got != "[] false" {
		t.Errorf("names that are gone: %s", got)
	}
}

// TestMEM9_PlainTextsFoldAsAllDo: what makes texts without accents quick makes nothing else of them.
func TestMEM9_PlainTextsFoldAsAllDo(t *testing.T) {
	plain := rapid.StringOf(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0, Hi: 0x7f, Stride: 1}}}))
	rapid.Check(t, func(t *rapid.T) {
		s := plain.Draw(t, "text")
		const accent = "é" // takes the long way
		if got, long := audience.FoldStatement(s+"x"), audience.FoldStatement(s+"x"+accent); got+accent != long {
			t.Fatalf("%q folds to %q, and with an accent to %q", s, got, long)
		}
	})
}
