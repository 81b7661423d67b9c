package chat_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// anyReference draws a reference to one of a few records, as a link, a tool or a prompt makes it.
func anyReference(rt *rapid.T) (r chat.Reference) {
	n := rapid.IntRange(0, 4).Draw(rt, "record")
	kind := rapid.SampledFrom([]string{"link", "broken", "excerpt", "read", "search", "prompt", "memory"}).Draw(rt, "kind")
	r.NoteID, r.Path, r.Status, r.Type = fmt.Sprint("n", n), fmt.Sprint(n, ".md"), record.ReferOK, record.ReferSearch
	r.Wikilink = fmt.Sprintf("[[found %d]]", n)
	switch kind {
	case "link", "broken":
		r.Type, r.Wikilink = record.ReferDirect, fmt.Sprintf("[[link %d|x]]", n)
		if kind == "broken" {
			r.NoteID, r.Path, r.Status, r.Reason = "", "", record.ReferBroken, "Document not found"
		}
		at := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 4).Draw(rt, "places")
		slices.Sort(at)
		for _, i := range slices.Compact(at) {
			r.Spans = append(r.Spans, [2]int{10 * i, 10*i + 8})
		}
	case "excerpt":
		i := rapid.IntRange(0, 9).Draw(rt, "range")
		r.Tools, r.Used, r.Ranges, r.Hash, r.Snippet = []string{"find_excerpts"}, true, [][2]int{{i, i + 5}}, "h", "an excerpt"
	case "read":
		r.Tools, r.Used, r.Snippet = []string{"read_note"}, true, "Retrieved via read_note"
	case "search":
		r.Tools, r.Snippet = []string{"search_notes"}, "Found via semantic search"
	case "prompt":
		r.Used, r.Snippet = rapid.Bool().Draw(rt, "used"), "Given with the message"
	case "memory":
		r = chat.Reference{}
		r.MemoryID = fmt.Sprint("m", n)
	}
	return r
}

// inOrder makes lists comparable of which the order says only what came first.
func inOrder(list []chat.Reference) string {
	slices.SortFunc(list, func(a, b chat.Reference) int {
		return cmp.Or(cmp.Compare(a.NoteID, b.NoteID), cmp.Compare(a.Wikilink, b.Wikilink), cmp.Compare(a.MemoryID, b.MemoryID))
	})
	for i := range list {
		slices.Sort(list[i].Tools)
	}
	data, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		panic(err)
	}
	return string(data)
}

// TestCHAT12_WhatIsMergedDoesNotDependOnTheOrder: references are merged in any order and in any parts; each record is
// there once, with all its places in order.
func TestCHAT12_WhatIsMergedDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(anyReference), 0, 20).Draw(rt, "references")
		whole, left := chat.MergeReferences(all)
		if left {
			rt.Fatal("some are left out")
		}
		seen := make(map[string]bool)
		for _, r := range whole {
			key := r.NoteID + "/" + r.MemoryID
			if key == "/" {
				key = r.Wikilink
			}
			if seen[key] {
				rt.Fatalf("%s is there twice", key)
			}
			seen[key] = true
			if !slices.IsSortedFunc(r.Spans, func(a, b [2]int) int { return a[0] - b[0] }) {
				rt.Fatalf("places %v", r.Spans)
			}
		}
		for _, r := range all {
			i := slices.IndexFunc(whole, func(o chat.Reference) bool {
				return o.NoteID == r.NoteID && o.MemoryID == r.MemoryID && (r.NoteID+r.MemoryID != "" || o.Wikilink == r.Wikilink)
			})
			if i < 0 {
				rt.Fatalf("%+v is lost", r)
			}
			o := &whole[i]
			for _, s := range r.Spans {
				if !slices.Contains(o.Spans, s) {
					rt.Fatalf("a place of %+v is lost", r)
				}
			}
			if r.Used && !o.Used || r.Type == record.ReferDirect && o.Type != record.ReferDirect || len(r.Tools) > 0 && !slices.Contains(o.Tools, r.Tools[0]) {
				rt.Fatalf("%+v became %+v", r, o)
			}
		}
		mixed := rapid.Permutation(all).Draw(rt, "mixed")
		cut := rapid.IntRange(0, len(mixed)).Draw(rt, "cut")
		first, _ := chat.MergeReferences(mixed[:cut])
		second, _ := chat.MergeReferences(mixed[cut:])
		parts, _ := chat.MergeReferences(first, second)
		if got, want := inOrder(parts), inOrder(whole); got != want {
			rt.Fatalf("in another order\n%s\ninstead of\n%s", got, want)
		}
	})
}

// TestCHAT12_WhatShowsMoreWins has of one note all ways in which it can come.
func TestCHAT12_WhatShowsMoreWins(t *testing.T) {
	w := openReferences(t)
	w.put(notes.Draft{ID: "a", Title: "Alpha", Path: "a.md", Body: "About a."})
	w.put(notes.Draft{ID: "b", Title: "Be [ta]", Path: "b.md", Body: "About b."})
	w.put(notes.Draft{ID: "c", Title: "Gamma", Path: "c.md", Body: "About c."})
	w.put(notes.Draft{ID: "s", Title: "Secret", Path: "s.md", Body: "x", Private: true})
	question := "See [[Alpha|it]] and [[Ghost]]"
	answer := "As [[Gamma]] and [[alpha]] say, not [[nothing]]."
	shown := &chat.AnswerContext{
		Report: &prompt.Report{Sections: []prompt.SectionReport{
			{Name: prompt.SectionPinned, Items: []prompt.Item{{Kind: prompt.KindNote, ID: "a", Title: "Alpha", Reason: prompt.PinnedByUser}}},
			{Name: prompt.SectionSearch, Items: []prompt.Item{
				{Kind: prompt.KindNote, ID: "b", Title: "Be [ta]"}, {Kind: prompt.KindNote, ID: "c", Title: "Gamma"}, {Kind: prompt.KindNote, ID: "s", Title: "Secret"},
			}},
			{Name: prompt.SectionEntities, Items: []prompt.Item{{Kind: prompt.KindEntity, ID: "e", Title: "E"}}},
		}},
		Tools: []record.ToolReference{
			{NoteID: "b", Title: "Be [ta]", Snippet: "Found via semantic search", How: record.ToolFound, Tools: []string{"search_notes"}},
			{NoteID: "gone", Title: "Gone", Path: "gone.md", Snippet: "cut in [[Gam", How: record.ToolExcerpt, Used: true, Tools: []string{"find_excerpts"}},
			{MemoryID: "m", How: record.ToolFound, Tools: []string{"search_memory"}},
		},
	}
	want := map[string]string{
		"local": `[[Alpha|it]] a ok alias=it direct used "Given with the message" "About a." [[17 26]] []
[[Ghost]] - broken (Document not found) direct "" "" [] []
[[Gamma]] c ok direct used "Found by the search for the message" "About c." [[3 12]] []
[[nothing]] - broken (Document not found) direct "" "" [[36 47]] []
[[b]] b ok search "Found via semantic search" "About b." [] [search_notes]
[[Gone]] gone deleted (The note was deleted meanwhile) search used "cut in…" "" [] [find_excerpts]
[[Secret]] s ok search "Found by the search for the message" "x" [] []
`,
	}
	want["remote"] = want["local"][:len(want["local"])-len("[[Secret]] s ok search \"Found by the search for the message\" \"x\" [] []\n")]
	for name, v := range map[string]*audience.View{"local": w.local, "remote": w.remote} {
		x := chat.NewReferenceReader(t.Context(), v, body)
		asked, _ := x.Links(question)
		links, _ := x.Links(answer)
		list, left := x.Answer(asked, links, shown)
		got := ""
		for _, r := range list {
			got += line(&r) + " " + r.Type
			if r.Used {
				got += " used"
			}
			got += fmt.Sprintf(" %q %q %v %v\n", r.Snippet, r.Summary, r.Spans, r.Tools)
		}
		if got != want[name] || left {
			t.Errorf("%s: got\n%swant\n%s", name, got, want[name])
		}
	}
	if !shown.StandsOn(w.remote.HidesNote) || shown.StandsOn(func(string) bool { return false }) {
		t.Error("what it stands on is not known")
	}
}

// TestCHAT9_TheListBehindAMessage has its lines, its hint and its bound.
func TestCHAT9_TheListBehindAMessage(t *testing.T) {
	w := openReferences(t)
	w.put(notes.Draft{ID: "p", Title: "parameters reference", Path: "docs/params.md", Body: "One line,\n# of *text* [[x]]"})
	w.put(notes.Draft{ID: "n", Title: "No path", Body: ""})
	refs := shown(w.local, w.links(w.local, "![[parameters reference#Up|the]] [[gone]] [[No path]] [[#here]]"), "")
	want := "\n\nReferenced Documents:\n" +
		"- [[parameters reference#Up]] (docs/params.md): One line, # of *text* \\[\\[x\\]\\]\n" +
		"- [[gone]]: Warning - Document not found\n- [[No path]]\n- [[#here]]: Warning - No note is given"
	told := &chat.ReferenceNotice{Bytes: chat.MaxReferenceNotice}
	if got := told.List(refs); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	told.Tools = true
	if got := told.List(refs); got != want+"\n\nUse read_note for the full text of any of these." {
		t.Errorf("got %q", got)
	}
	told.Bytes = 220
	got := told.List(refs)
	if len(got) > told.Bytes+len("- and 3 others\n") || !slices.Contains([]string{got[len(got)-len(" of these."):]}, " of these.") {
		t.Errorf("got %q", got)
	}
	for _, t2 := range []*chat.ReferenceNotice{nil, {}, {Bytes: 90}} {
		if got := t2.List(refs); got != "" {
			t.Errorf("got %q", got)
		}
	}
	if got := told.List(nil); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestCHAT4_WhatIsKeptIsReadAgain, with what a later program says beside it.
func TestCHAT4_WhatIsKeptIsReadAgain(t *testing.T) {
	w := library(t)
	members := make(map[string]json.RawMessage)
	put := func(name string, value json.RawMessage) { members[name] = value }
	lists := chat.ReferenceLists{Own: w.links(w.local, "[[params]] [[Ghost]]")}
	mustRefer(t, lists.Keep([]chat.Reference{{ChatReference: record.ChatReference{MemoryID: "m1"}}}, put))
	if got := chat.StoredReferences(members, w.remote); len(got) != 1 || got[0].MemoryID != "m1" {
		t.Errorf("a remote reader has %+v", got)
	}
	if got := chat.StoredReferences(members, w.local); len(got) != 3 || got[0].NoteID != "params" || got[0].Summary == "" || got[2].MemoryID != "m1" {
		t.Errorf("%+v", got)
	}
	if got := chat.ReferencedMemories(members); !slices.Equal(got, []string{"m1"}) {
		t.Errorf("memories %q", got)
	}
	clear(members)
	mustRefer(t, (&chat.ReferenceLists{Same: true}).Keep([]chat.Reference{{ChatReference: record.ChatReference{MemoryID: "m1"}}}, put))
	if string(members[chat.ReferencesMember]) != `[{"memoryId":"m1"}]` || len(members) != 1 {
		t.Errorf("%s", members)
	}
	clear(members)
	mustRefer(t, (&chat.ReferenceLists{}).Keep(nil, put))
	if len(members) > 0 {
		t.Errorf("%s", members)
	}
	members[chat.ReferencesMember] = json.RawMessage(`[{"noteId":7},{"wikilink":"[[params]]","noteId":"params","referenceType":"direct","status":"ok","colour":"blue"},{"shape":"round"},"x"]`)
	if got := shown(w.local, chat.StoredReferences(members, w.local), ""); len(got) != 1 || got[0].NoteID != "params" {
		t.Errorf("%+v", got)
	}
}
