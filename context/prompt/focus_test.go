package prompt_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/prompt"
)

// TestCTX41_TheFocusTakesOnlyWhatIsLeft: what the message is about is as it is without what the conversation is about, whatever
// room there is, and all fits.
func TestCTX41_TheFocusTakesOnlyWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		focus := func(rest, i int) prompt.Focus {
			if i < rest {
				return ""
			}
			return prompt.NewFocus(prompt.FocusNamed, i-rest+1)
		}
		list := func(kind string, most int) (out []prompt.Note) {
			n := rapid.IntRange(0, most).Draw(t, kind)
			rest := rapid.IntRange(0, n).Draw(t, kind+" of the message")
			for i := range n {
				size := rapid.IntRange(0, 300).Draw(t, "words")
				out = append(out, prompt.Note{
					ID: fmt.Sprint(kind, i), Title: fmt.Sprint(kind, i), Body: prompt.NewNoteBody(strings.Repeat("word. ", size), 0), Reason: "why", Focus: focus(rest, i),
				})
			}
			return out
		}
		in := prompt.Input{
			Format: rapid.SampledFrom([]prompt.Format{prompt.Markdown, prompt.XML}).Draw(t, "format"), Secret: []byte("secret"), Budgets: prompt.DefaultBudgets,
			Pinned: list("pinned", 5), Linked: list("linked", 3), Found: list("found", 8),
			Actions: []prompt.Action{{ID: "a", Text: strings.Repeat("call ", rapid.IntRange(1, 30).Draw(t, "action"))}},
		}
		in.Budgets.Total = rapid.IntRange(0, 12_000).Draw(t, "total")
		entities := rapid.IntRange(0, 6).Draw(t, "entities")
		first := rapid.IntRange(0, entities).Draw(t, "of the message")
		for i := range entities {
			to := rapid.IntRange(0, entities-1).Draw(t, "leads to")
			id := func(i int) string { return fmt.Sprint("e", i) }
			fields := []prompt.Field{
				{Name: "text", Text: strings.Repeat("x", rapid.IntRange(0, 400).Draw(t, "field"))},
				{Name: "to", Refs: []prompt.Ref{{Kind: prompt.KindEntity, ID: id(to), Name: id(to)}}},
			}
			e := prompt.Entity{
				Card: prompt.NewCard(in.Format, id(i), "T", id(i), fields), Expanded: true, Follows: i >= first, Depth: rapid.IntRange(0, 1).Draw(t, "depth"),
				Links: []prompt.Link{{To: int32(to)}},
			}
			if i > 0 && i < first {
				e.Depth = max(e.Depth, in.Entities[i-1].Depth)
			}
			if e.Follows && e.Depth == 0 {
				e.Focus = prompt.NewFocus(prompt.FocusNamed, 2)
			}
			in.Entities = append(in.Entities, e)
		}
		rest := in
		without := func(list []prompt.Note) (out []prompt.Note) {
			for _, n := range list {
				if n.Focus == "" {
					out = append(out, n)
				}
			}
			return out
		}
		rest.Pinned, rest.Linked, rest.Found = without(in.Pinned), without(in.Linked), without(in.Found)
		rest.Entities = nil
		for _, e := range in.Entities[:first] {
			if int(e.Links[0].To) >= first {
				e.Links = nil
			}
			rest.Entities = append(rest.Entities, e)
		}
		got, want := prompt.Build(in), prompt.Build(rest)
		if got.Report.Chars > in.Budgets.Total || prompt.Chars(got.System) != got.Report.Chars {
			t.Fatalf("%d characters, reported %d, of %d", prompt.Chars(got.System), got.Report.Chars, in.Budgets.Total)
		}
		in1 := make(map[string]prompt.Item)
		for _, s := range got.Report.Sections {
			for _, item := range s.Items {
				in1[s.Name+"/"+item.ID] = item
			}
		}
		for _, s := range want.Report.Sections {
			for _, item := range s.Items {
				now := in1[s.Name+"/"+item.ID]
				if now.Chars < item.Chars || !reflect.DeepEqual(now.Cut, item.Cut) {
					t.Fatalf("%s/%s has %d characters, cut %v; without a focus %d, cut %v", s.Name, item.ID, now.Chars, now.Cut, item.Chars, item.Cut)
				}
			}
		}
		for _, n := range append(append([]prompt.Note{}, in.Pinned...), in.Found...) {
			shown := in1["pinned/"+n.ID].ID != "" || in1["search/"+n.ID].ID != ""
			dropped := false
			for _, d := range got.Report.Dropped {
				dropped = dropped || d.ID == n.ID
			}
			if shown == dropped {
				t.Fatalf("%s is shown %v and dropped %v", n.ID, shown, dropped)
			}
		}
	})
}
