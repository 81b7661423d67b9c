package rpc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCHAT28_WhatAConversationStoodOn over the wire: page by page, of one message by its number or id, and as it is now.
func TestCHAT28_WhatAConversationStoodOn(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	for _, id := range []string{"alps", "plan", "lost", "only"} {
		d.do("notes.put", fmt.Sprintf(`{"id":%q,"title":"The %s","path":"docs/%[2]s.md","body":"x"}`, id, id))
	}
	only := record.ChatReference{NoteID: "only", Type: record.ReferSearch, Status: record.ReferOK, Wikilink: "[[The only]]", Tools: []string{"search_notes"}}
	at1 := time.Date(2026, 2, 4, 9, 0, 0, 0, time.UTC)
	d.do("chat.import", citing("one", "One", at1, false, standsOn([]string{"plan"}, []string{"alps"}), append(standsOn([]string{"lost"}, nil), only)))
	d.do("notes.delete", `{"id":"lost"}`)
	d.do("notes.patch", `{"id":"plan","title":"Moved","path":"far/moved.md"}`)

	whole := d.do("chat.references", `{"conversationId":"one"}`)
	for path, want := range map[string]any{
		"total": 3, "unused": 1, "items.0.label": "The alps", "items.0.uri": "ctxd://note/alps", "items.0.used": true, "items.0.clickable": true,
		"items.1.label": "Moved", "items.1.relativePath": "far/moved.md", "items.1.status": "ok", "items.1.messageIds.0": "one-m1",
		"items.2.label": "lost", "items.2.status": "deleted", "items.2.clickable": false, "items.2.spans": "[]",
	} {
		d.want(whole, path, want)
	}
	cursor := ""
	for i, label := range []string{"The alps", "Moved", "lost", "The only"} {
		page := d.do("chat.references", fmt.Sprintf(`{"conversationId":"@one_talk_k3x9","all":true,"limit":1,"cursor":%q}`, cursor))
		d.want(page, "items.0.label", label)
		d.want(page, "total", 4)
		cursor, _ = at(page, "nextCursor").(string)
		if last := i == 3; last != (cursor == "") {
			t.Fatalf("behind %s there is the cursor %q", label, cursor)
		}
	}
	for _, params := range []string{`{"conversationId":"one","index":2}`, `{"conversationId":"one","messageId":"one-m2"}`} {
		got := d.do("chat.references", params)
		d.want(got, "items.0.label", "lost")
		d.want(got, "total", 1)
		d.want(got, "unused", 1)
	}
	d.do("chat.delete", `{"id":"one"}`)
	d.wantRefused("chat.references", `{"conversationId":"one"}`, protocol.CodeNotFound, "conversationId")
}
