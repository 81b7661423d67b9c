package chat_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// TestCTX43_ACitationLeadsToWhatWasGiven: among the notes that the model was given first, then among all.
func TestCTX43_ACitationLeadsToWhatWasGiven(t *testing.T) {
	w := openReferences(t)
	w.put(notes.Draft{ID: "near", Path: "Lighthouse.md", Body: "x"})
	w.put(notes.Draft{ID: "deep", Path: "Projects/2026/Lighthouse.md", Body: "x"})
	w.put(notes.Draft{ID: "deeper", Path: "Archive/Projects/2025/Lighthouse.md", Body: "x"})
	w.put(notes.Draft{ID: "sharp", Path: "notes/cs.md", Body: "# C# notes\n\nx"})
	w.put(notes.Draft{ID: "c", Path: "C.md", Body: "x"})
	w.put(notes.Draft{ID: "m1", Path: "Days/1.md", Body: "# Standup\n\nx"})
	w.put(notes.Draft{ID: "m2", Path: "Days/2.md", Body: "# Standup\n\nx"})
	w.put(notes.Draft{ID: "secret", Path: "Secret/Plan.md", Body: "---\nprivate: true\n---\nx"})
	w.put(notes.Draft{ID: "plan", Path: "Deep/Down/Plan.md", Body: "x"})
	for _, c := range []struct {
		given      []string
		link, want string
	}{
		{nil, "[[Lighthouse]]", "near ok"},
		{[]string{"deep", "c"}, "[[Lighthouse]]", "deep ok"},
		{[]string{"deep"}, "[[lighthouse#Goals|it]]", "deep ok The note has no heading Goals"},
		{[]string{"deep"}, "[[Archive/Projects/2025/Lighthouse]]", "deeper ok"},
		{[]string{"deep", "deeper"}, "[[Lighthouse]]", "deep ok Several notes are called so: Archive/Projects/2025/Lighthouse.md"},
		{[]string{"deep", "deeper"}, "[[2025/Lighthouse]]", "deeper ok"},
		{[]string{"c"}, "[[Lighthouse]]", "near ok"},
		{[]string{"sharp"}, "[[C# notes]]", "sharp ok"},
		{[]string{"deep"}, "[[C# notes]]", "c ok The note has no heading notes"},
		{nil, "[[Standup]]", " ambiguous Several notes are called so: Days/1.md, Days/2.md"},
		{[]string{"m2"}, "[[Standup]]", "m2 ok"},
		{[]string{"m1", "m2"}, "[[Standup]]", " ambiguous Several notes are called so: Days/1.md, Days/2.md"},
		{[]string{"secret"}, "[[Plan]]", "secret ok"},
		{[]string{"m1"}, "[[nowhere]]", " broken Document not found"},
	} {
		var items []prompt.Item
		for _, id := range c.given {
			items = append(items, prompt.Item{Kind: prompt.KindNote, ID: id})
		}
		shown := &chat.AnswerContext{Report: &prompt.Report{Sections: []prompt.SectionReport{{Name: prompt.SectionSearch, Items: items}}}}
		for _, v := range []*audience.View{w.local, w.remote} {
			if v == w.remote && slices.Contains(c.given, "secret") {
				c.want = "plan ok" // nobody gave it to him
			}
			x := chat.NewReferenceReader(t.Context(), v, nil)
			x.Give(nil, shown)
			list, _ := x.Links("see " + c.link)
			r := list[0]
			if got := fmt.Sprint(r.NoteID, " ", r.Status); got != c.want && got+" "+r.Reason != c.want {
				t.Errorf("given %v, %s leads to %s %s, want %s", c.given, c.link, got, r.Reason, c.want)
			}
		}
	}
	// what the question names goes before what was found
	first := chat.Reference{}
	first.NoteID = "deeper"
	asked := chat.NewReferenceReader(t.Context(), w.local, nil)
	asked.Give([]chat.Reference{first}, &chat.AnswerContext{Tools: []record.ToolReference{{NoteID: "deep"}, {NoteID: "near"}}})
	if list, _ := asked.Links("[[Lighthouse]]"); list[0].NoteID != "deeper" || list[0].Reason != "" {
		t.Errorf("%+v", list)
	}
	// what tools showed, and the question links to, is given as well
	x := chat.NewReferenceReader(t.Context(), w.local, nil)
	question := chat.Reference{}
	question.NoteID = "m1"
	x.Give([]chat.Reference{question}, &chat.AnswerContext{Tools: []record.ToolReference{{NoteID: "deeper"}}})
	list, _ := x.Links("[[Standup]] and [[Lighthouse]]")
	if list[0].NoteID != "m1" || list[1].NoteID != "deeper" {
		t.Errorf("%+v", list)
	}
}
