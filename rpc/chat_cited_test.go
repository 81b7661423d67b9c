package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// citing are params of chat.import: a conversation of so many questions as there are lists of references to notes, an
// hour apart.
func citing(id, title string, at time.Time, private bool, messages ...[]record.ChatReference) string {
	counts, public := fmt.Sprintf(`{"messages":%d,"user":1,"at":%q}`, len(messages), at.UTC().Format(time.RFC3339)), 1
	all := counts
	if private {
		counts, public = "{}", 0
	}
	var said []string
	for i, refs := range messages {
		data, _ := json.Marshal(refs)
		said = append(said, fmt.Sprintf(`{"id":"%s-m%d","index":%d,"publicIndex":%d,"hash":"a%df20k","role":"user","content":"Message %d","createdAt":%q,"addedAt":%q,`+
			`"finish":"complete","clientMessageId":"","references":%s}`,
			id, i+1, i+1, public*(i+1), i+1, i+1, at.Add(time.Duration(i)*time.Hour).UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), data))
	}
	text := fmt.Sprintf(`{"format":"ctxd-chat","version":1,"conversation":{"id":%q,"handle":"%s_talk_k3x9","title":%q,"private":%v,"createdAt":%q,"changedAt":%q,`+
		`"version":1,"all":%s,"public":%s},"messages":[`, id, id, title, private, at.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339), all, counts) +
		strings.Join(said, ",") + "]}"
	return `{"data":` + quoted(text) + `}`
}

// standsOn is a list of references to notes: a link to each of links, and what the model has read of each of reads.
func standsOn(links, reads []string) (list []record.ChatReference) {
	for _, id := range links {
		list = append(list, record.ChatReference{NoteID: id, Type: record.ReferDirect, Status: record.ReferOK, Wikilink: "[[" + id + "]]"})
	}
	for _, id := range reads {
		list = append(list, record.ChatReference{
			NoteID: id, Type: record.ReferSearch, Status: record.ReferOK, Wikilink: "[[" + id + "]]", Used: true, Tools: []string{"read_note"},
		})
	}
	return list
}

// excerptsOf is a list of references to what the model was shown of notes, which had another text then.
func excerptsOf(notes ...string) (list []record.ChatReference) {
	for _, r := range standsOn(nil, notes) {
		r.Tools, r.Ranges, r.Hash = []string{"find_excerpts"}, [][2]int{{0, 6}}, strings.Repeat("0", 64)
		list = append(list, r)
	}
	return list
}

// TestCHAT34_WhereANoteWasUsed goes over the methods, and what deleting does to all of them.
func TestCHAT34_WhereANoteWasUsed(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("notes.put", `{"id":"alps","title":"Huts in the Alps","body":"x"}`)
	d.do("notes.put", `{"id":"plan","title":"Plan","body":"x"}`)
	d.want(d.do("chat.stats", `{}`), "notes", "[]")
	at1, at2 := time.Date(2026, 2, 4, 9, 0, 0, 0, time.UTC), time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	d.do("chat.import", citing("one", "One", at1, false, standsOn([]string{"alps"}, nil), standsOn([]string{"plan"}, []string{"alps"})))
	d.do("chat.import", citing("two", "Two", at2, false, standsOn(nil, []string{"alps"})))
	out := d.do("chat.stats", `{}`)
	d.want(out, "total", 2)
	d.want(out, "notes.0.noteId", "alps")
	d.want(out, "notes.0.title", "Huts in the Alps")
	d.want(out, "notes.0.direct", 1)
	d.want(out, "notes.0.used", 2)
	d.want(out, "notes.0.conversations", 2)
	d.want(out, "notes.0.last", "2026-03-04T09:00:00Z")
	d.want(out, "months.1.month", "2026-02")
	d.want(out, "months.1.conversations", 1)
	d.want(out, "spending.today", "[]")
	d.want(d.do("chat.stats", `{"since":"2026-03-01"}`), "total", 1)
	d.want(d.do("chat.stats", `{"audience":"remote"}`), "spending", nil)

	first := d.do("chat.citations", `{"noteId":"alps","limit":2}`)
	d.want(first, "total", 3)
	d.want(first, "conversations", 2)
	d.want(first, "messages.0.id", "two-m1")
	d.want(first, "messages.0.title", "Two")
	d.want(first, "messages.0.used", true)
	d.want(first, "messages.1.id", "one-m2")
	second := d.do("chat.citations", `{"noteId":"alps","limit":2,"cursor":"`+at(first, "nextCursor").(string)+`"}`)
	d.want(second, "messages.0.id", "one-m1")
	d.want(second, "messages.0.direct", true)
	d.want(second, "messages.0.preview", "Message 1")
	d.want(second, "nextCursor", nil)

	g := d.do("chat.graph", `{}`)
	d.want(g, "edges.0.from", "one")
	d.want(g, "edges.0.to", "alps")
	d.want(g, "edges.0.weight", 2)
	d.want(g, "text", nil)
	for format, has := range map[string]string{"dot": "digraph {", "svg": "<svg "} {
		text := at(d.do("chat.graph", `{"format":"`+format+`"}`), "text").(string)
		if !strings.Contains(text, has) || !strings.Contains(text, "Huts in the Alps") || !strings.Contains(text, "×2") {
			t.Errorf("%s: %.300s", format, text)
		}
	}
	d.want(d.do("admin.check", `{}`), "ok", true)
	d.want(d.do("chat.stats", `{}`), "total", 2) // after a start

	d.do("chat.delete", `{"id":"one"}`)
	d.want(d.do("chat.stats", `{}`), "total", 1)
	d.want(d.do("chat.citations", `{"noteId":"alps"}`), "total", 1)
	d.want(d.do("chat.citations", `{"noteId":"plan"}`), "messages", "[]")
	d.want(d.do("chat.graph", `{}`), "nodes.1.id", "alps")
	d.do("chat.delete", `{"id":"two"}`)
	d.want(d.do("chat.graph", `{}`), "nodes", "[]")
	d.do("notes.delete", `{"id":"alps"}`)
	d.wantRefused("chat.citations", `{"noteId":"alps"}`, protocol.CodeNotFound, "noteId")
}

// TestCHAT34_OfWhatChatStores: the references that chat.append and chat.send keep are those that are counted.
func TestCHAT34_OfWhatChatStores(t *testing.T) {
	d := answered(t, func(r *provider.Request, to *provider.Reply) {
		if strings.Contains(r.Last(), "Which hut?") {
			to.Call("read_note", `{"id":"alps"}`)
			return
		}
		to.Text("The upper one.")
	})
	d.do("notes.put", `{"id":"alps","title":"Huts in the Alps","body":"The upper hut is open."}`)
	d.do("notes.put", `{"id":"plan","title":"Plan","body":"x"}`)
	talk := at(d.do("chat.append", `{"messages":[{"role":"user","content":"See [[Plan]] and [[Plan|it]]."}]}`), "conversationId").(string)
	out := d.do("chat.citations", `{"noteId":"plan"}`)
	d.want(out, "total", 1)
	d.want(out, "messages.0.direct", true)
	d.want(out, "messages.0.used", false)
	d.do("chat.send", `{"text":"Which hut?","stream":false,"provider":"far","conversationId":"`+talk+`"}`)
	out = d.do("chat.citations", `{"noteId":"alps"}`)
	d.want(out, "total", 1)
	d.want(out, "messages.0.role", "assistant")
	d.want(out, "messages.0.used", true)
	d.want(out, "messages.0.search", true)
	d.want(d.do("chat.stats", `{}`), "notes.0.noteId", "alps")
	d.want(d.do("chat.graph", `{}`), "edges.1.weight", 1)
	d.do("memory.forget", `{"conversationId":"`+talk+`"}`)
	d.do("chat.delete", `{"id":"`+talk+`"}`)
	d.want(d.do("chat.stats", `{}`), "notes", "[]")
}
