package cites_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

// export returns the whole export of a conversation as JSON.
func (w *sourcesWorld) export(id string) string {
	w.Helper()
	var b strings.Builder
	for after := (transfer.ExportCursor{}); ; {
		p, err := w.exporter.Export(w.ctx, w.local, id, transfer.FormatJSON, after)
		w.must(err)
		b.WriteString(p.Text)
		if !p.More {
			return b.String()
		}
		after = p.End
	}
}

func (w *sourcesWorld) take(text string) {
	w.Helper()
	_, err := transfer.ImportJSON(w.ctx, w.chats, w.local, strings.NewReader(text), int64(len(text)), transfer.JSONImportOptions{})
	w.must(err)
}

var titles = []string{"Plan", "Trip", "Params", "Old", "Moved"}

// fill puts the notes of a vault into a store.
func (w *sourcesWorld) fill() {
	w.Helper()
	for i, title := range titles {
		w.put(notes.Draft{ID: fmt.Sprint("n", i), Title: title, Path: fmt.Sprintf("docs/%s.md", title), Body: "# Goals\n\nAbout " + title})
	}
}

// later changes the notes of a store: what was there is renamed, archived and deleted.
func (w *sourcesWorld) later() {
	w.Helper()
	w.put(notes.Draft{ID: "n4", Title: "Moved away", Path: "far/away.md"})
	_, err := w.notes.Archive(w.ctx, "n3", nil)
	w.must(err)
	_, err = w.notes.Delete(w.ctx, "n2", nil)
	w.must(err)
}

// aReference is one that a message may have, also one of another program.
func aReference(rt *rapid.T) record.ChatReference {
	note := rapid.IntRange(0, len(titles)+1).Draw(rt, "note")
	r := record.ChatReference{
		Type: rapid.SampledFrom([]string{record.ReferDirect, record.ReferSearch}).Draw(rt, "type"), Used: rapid.Bool().Draw(rt, "used"),
		Status: rapid.SampledFrom([]string{record.ReferOK, record.ReferDeleted}).Draw(rt, "status"), NoteID: fmt.Sprint("n", note),
		Wikilink: rapid.SampledFrom([]string{"[[Plan]]", "![[Trip#Goals|x]]", "[[docs/Params]]", "[[Ghost]]", ""}).Draw(rt, "link"),
		Summary:  rapid.SampledFrom([]string{"", "About it.", "\x1b[31m \u2028 \U0001F375"}).Draw(rt, "summary"),
		Snippet:  rapid.SampledFrom([]string{"", "Retrieved via read_note"}).Draw(rt, "snippet"),
		Tools:    rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"read_note", "search_notes", "find_excerpts"}), 0, 3, rapid.ID).Draw(rt, "tools"),
		Path:     "docs/then.md",
	}
	if len(r.Tools) == 0 {
		r.Tools = nil
	}
	if r.Type == record.ReferDirect && rapid.Bool().Draw(rt, "broken") {
		r.NoteID, r.Path, r.Wikilink, r.Status = "", "", "[[Ghost]]", record.ReferBroken
	}
	if rapid.Bool().Draw(rt, "places") {
		r.Spans = [][2]int{{0, 8}, {9, 17}}
		r.Ranges, r.Hash = [][2]int{{0, 5}}, strings.Repeat("a", 64)
	}
	return r
}

// talk makes a conversation with links, references of tools, and members that this program does not know.
func (w *sourcesWorld) talk(rt *rapid.T) (conversation string, messages []string) {
	w.Helper()
	for range rapid.IntRange(1, 6).Draw(rt, "messages") {
		text := rapid.SampledFrom([]string{
			"hello", "[[Plan]] and [[plan#Goals|goals]]", "🍵 [[Ghost]] [[GHOST|x]] [[Trip]]", "![[docs/Params]] `[[Old]]` [[Moved]] [[Old]]", "[[#Goals]] [[]] [[Plan#None]]",
		}).Draw(rt, "text")
		var added []string
		conversation, added = w.say(conversation, text)
		messages = append(messages, added...)
		if rapid.Bool().Draw(rt, "by tools") {
			list := rapid.SliceOfN(rapid.Custom(aReference), 0, 6).Draw(rt, "references")
			later := map[string]any{"noteId": "n1", "referenceType": "direct", "status": "ok", "wikilink": "[[Trip]]", "used": true, "weight": 1.5}
			all := []any{later}
			for _, r := range list {
				all = append(all, r)
			}
			w.keep(conversation, added[0], map[string]any{"references": all, "colour": "red"})
		}
	}
	return conversation, messages
}

// withoutNow leaves of items what does not depend on the notes that are there.
func withoutNow(items []turn.ChatShownReference) []turn.ChatShownReference {
	items = slices.Clone(items)
	for i := range items {
		r := &items[i]
		r.Label, r.Status, r.Reason, r.Clickable, r.Path = "", "", "", false, ""
	}
	return items
}

// TestCHAT26_ReferencesGoThroughAnExport: of any conversation the export of what was imported is the same byte for byte,
// and where the same notes are the same is shown of it. Where they are not, their status tells.
func TestCHAT26_ReferencesGoThroughAnExport(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, empty, same := openSources(t, rt), openSources(t, rt), openSources(t, rt)
		w.fill()
		conversation, messages := w.talk(rt)
		text := w.export(conversation)
		same.fill()
		for _, o := range []*sourcesWorld{empty, same} {
			o.now = w.now
			o.take(text)
			if got := o.export(conversation); got != text {
				rt.Fatalf("the export is\n%s\nand was\n%s", got, text)
			}
		}
		asked := []cites.SourceRequest{{Conversation: conversation}, {Conversation: conversation, All: true}}
		for _, m := range messages {
			asked = append(asked, cites.SourceRequest{Conversation: conversation, Message: m, All: true})
		}
		for _, q := range asked {
			want, _ := w.show(w.local, q)
			got, _ := empty.show(empty.local, q)
			for i := range got {
				if got[i].Clickable || got[i].Status == record.ReferOK {
					rt.Errorf("%s is shown where no note is", line(got[i]))
				}
			}
			if !reflect.DeepEqual(withoutNow(got), withoutNow(want)) {
				rt.Errorf("%+v: without notes\n%+v\nand with them\n%+v", q, got, want)
			}
		}
		w.later()
		same.later()
		for _, q := range asked {
			want, _ := w.show(w.local, q)
			if got, _ := same.show(same.local, q); !reflect.DeepEqual(got, want) {
				rt.Errorf("%+v: imported\n%s\nand there\n%s", q, strings.Join(lines(got), "\n"), strings.Join(lines(want), "\n"))
			}
		}
		if got := w.export(conversation); got != text {
			rt.Errorf("what became of the notes has changed what was said:\n%s\nwas\n%s", got, text)
		}
	})
}
