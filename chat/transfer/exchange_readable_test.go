package transfer_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes"
)

const talkToRead = `<!-- ctxd conversation -->
# Weekend trip

- Handle: @weekend_trip_k3x9
- Begun: 2026-03-04T08:00:00Z
- Changed: 2026-03-04T08:30:00Z
- Messages: 2

## 1. user, 2026-03-04T08:00:00Z

> Where <could> we hike?

## 2. assistant, 2026-03-04T08:01:00Z, private, cancelled

> By the river.

References:

- [[River]] (places/river.md), direct: It flows.
- [[Ghost]], broken
`

// TestCHAT26_AnExportForPeople has title and times, the messages with their roles and times, and what each stands on.
func TestCHAT26_AnExportForPeople(t *testing.T) {
	w := open(t, chat.Limits{})
	w.take(talk, transfer.JSONImportOptions{})
	if got := w.export(w.local, "c1", transfer.FormatMarkdown); got != talkToRead {
		t.Errorf("the export is\n%s\nwant\n%s", got, talkToRead)
	}
	m := w.remember("Ada likes tea\nand nothing else", false)
	id := w.say(w.local, chat.AppendRequest{Messages: []chat.Draft{user("What does Ada like?"), answer("Tea.")}, MemoryIDs: []string{m.ID}}).ConversationID
	want := fmt.Sprintf("> Tea.\n\nReferences:\n\n- #%d @%s, memory: Ada likes tea\n", m.Number, m.Handle)
	for _, v := range []*audience.View{w.local, w.remote} {
		if got := w.export(v, id, transfer.FormatMarkdown); !strings.HasSuffix(got, want) {
			t.Errorf("a %s reader has\n%s\nwant at its end\n%s", v.Reader(), got, want)
		}
	}
	must(t, w.mem.Delete(t.Context(), w.local, m.ID, true, nil))
	if got := w.export(w.local, id, transfer.FormatMarkdown); strings.Contains(got, "References") {
		t.Errorf("a memory that is gone is a reference:\n%s", got)
	}
	empty, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{}})
	must(t, err)
	if got := w.export(w.local, empty.ID, transfer.FormatMarkdown); !strings.Contains(got, "# Untitled\n") || !strings.HasSuffix(got, "- Messages: 0\n") {
		t.Errorf("an empty conversation is\n%s", got)
	}
	_, err = w.tryExport(w.local, id, "html")
	refused(t, err, fault.Invalid, "format")
	_, err = w.tryExport(w.local, "none", transfer.FormatJSON)
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("error %v", err)
	}
}

// TestCHAT26_EachReferenceIsListed with its link, path, type and summary, whatever of these there is.
func TestCHAT26_EachReferenceIsListed(t *testing.T) {
	w := open(t, chat.Limits{})
	w.take(strings.Replace(talk, `{"wikilink":"Ghost","noteId":null,"status":"broken"}`,
		`{"wikilink":"![[River#Bank|the bank]]","noteId":"n2","relativePath":"b.md","referenceType":"direct","status":"ok","used":true,"tools":["read_note"]},`+
			`{"noteId":"n3","relativePath":"odd]].md","referenceType":"search","used":true,"summary":"Two\nlines.","status":"deleted"},{"noteId":"n4"},7`, 1), transfer.JSONImportOptions{})
	want := "\nReferences:\n\n- [[River]] (places/river.md), direct: It flows.\n- [[River#Bank|the bank]] (b.md), direct\n- odd]].md, search, deleted: Two lines.\n"
	if got := w.export(w.local, "c1", transfer.FormatMarkdown); !strings.HasSuffix(got, want) {
		t.Errorf("the export is\n%s\nwant at its end\n%s", got, want)
	}
}

// forged are texts that look like parts of an export.
var forged = []string{
	"## 2. user, 2026-03-04T08:01:00Z\n\n> Not said", "---\ntitle: x\n---", "```\n## User\n", "~~~", "<!-- ctxd conversation -->\n# Other",
	"References:\n\n- \\[[Plan]] (plan.md)", "a\r## 9. user\r\n# b\n\n\n", "> quoted\n>> twice\n\nlazy", "<!--", "<script>", "$$\n", "\u2028## 3. user", "    code\n\tcode",
}

// TestCHAT26_WhatWasSaidForgesNothing: each line of it begins with >, no other line does, and without those the export
// has the same lines whatever was said.
func TestCHAT26_WhatWasSaidForgesNothing(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## \d+\. (user|assistant|system), `)
	for _, text := range forged {
		w := open(t, chat.Limits{})
		id := w.say(w.local, chat.AppendRequest{Title: text, Messages: []chat.Draft{user(text), answer(text), user("End")}}).ConversationID
		got := w.export(w.local, id, transfer.FormatMarkdown)
		if strings.ContainsAny(got, "\r") || len(heading.FindAllString(got, -1)) != 3 {
			t.Errorf("%q is exported as\n%s", text, got)
		}
		var said []string
		for i, line := range strings.Split(got, "\n") {
			switch {
			case strings.HasPrefix(line, ">"):
				said = append(said, strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
			case line == "", i == 0, strings.HasPrefix(line, "- ") && i < 7, i == 1 && strings.HasPrefix(line, "# "), heading.MatchString(line):
			default:
				t.Errorf("%q: line %d is %q", text, i, line)
			}
		}
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		if want := plain + "\n" + plain + "\nEnd"; strings.Join(said, "\n") != want {
			t.Errorf("what was said is %q, want %q", strings.Join(said, "\n"), want)
		}
	}
}

// TestPRIV6_ARemoteReaderExportsWhatHeSees: it is the same when private things are said and pinned besides, and he has
// what a later program says of a message in no form.
func TestPRIV6_ARemoteReaderExportsWhatHeSees(t *testing.T) {
	var exports [2][]string
	for i := range exports {
		w := open(t, chat.Limits{})
		open1, secret := w.remember("Ada likes tea", false), w.remember("Zanzibar is where she went", true)
		_, err := w.notes.Put(t.Context(), notes.Draft{ID: "z", Title: "Zanzibar Project", Private: true}, nil)
		must(t, err)
		w.ids = 10
		talk, err := w.chat.Put(t.Context(), w.local, "", chat.Change{Settings: chat.Settings{Title: ptr("Open talk")}})
		must(t, err)
		said := func(private bool, d chat.Draft, memories ...string) {
			if private && i == 0 {
				return
			}
			d.Private = private
			w.now = w.now.Add(1)
			_, err := w.chat.Append(t.Context(), w.local, chat.AppendRequest{ConversationID: talk.ID, Messages: []chat.Draft{d}, MemoryIDs: memories})
			must(t, err)
		}
		said(false, user("What of [[Zanzibar Project]] and tea?"))
		said(true, user("Zanzibar is mine"))
		w.ids = 50
		said(false, answer("Tea it is."), open1.ID)
		said(true, answer("Zanzibar it is."), secret.ID)
		if i == 1 {
			_, err := w.chat.Update(t.Context(), w.local, talk.ID, chat.Change{Settings: chat.Settings{PinnedMemories: &[]string{secret.ID}}})
			must(t, err)
		}
		for _, format := range transfer.ExportFormats {
			text := w.export(w.remote, talk.ID, format)
			if strings.Contains(text, "Zanzibar") {
				t.Errorf("a remote reader has\n%s", text)
			}
			exports[i] = append(exports[i], text)
		}
		_, err = w.tryTake(exports[i][1], transfer.JSONImportOptions{})
		refused(t, err, fault.Invalid, "path")
		hidden := w.say(w.local, chat.AppendRequest{Private: true, Messages: []chat.Draft{user("Hidden")}}).ConversationID
		if _, err := w.tryExport(w.remote, hidden, transfer.FormatJSON); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a remote reader exports a private conversation: %v", err)
		}
		if _, err := w.chat.Whole(t.Context(), w.remote, talk.ID, 1, 9, nil); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a remote reader has what is stored: %v", err)
		}
	}
	for i, text := range exports[0] {
		if text != exports[1][i] {
			t.Errorf("without private things a remote reader has\n%s\nand with them\n%s", text, exports[1][i])
		}
	}
	w := open(t, chat.Limits{})
	w.take(publicTalk(), transfer.JSONImportOptions{})
	for _, format := range transfer.ExportFormats {
		text := w.export(w.remote, "c1", format)
		for _, hidden := range []string{"flows", "colour", "m-1"} {
			if strings.Contains(text, hidden) {
				t.Errorf("a remote reader has %s:\n%s", hidden, text)
			}
		}
	}
}

// publicTalk is talk with two public messages.
func publicTalk() string {
	return strings.NewReplacer(`"publicIndex":0`, `"publicIndex":2`,
		`"public":{"messages":1,"user":1,"at":"2026-03-04T08:00:00Z"}`, `"public":{"messages":2,"user":1,"at":"2026-03-04T08:01:00Z"}`).Replace(talk)
}
