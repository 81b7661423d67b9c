package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/transfer"
	"github.com/ctxd/ctxd/entities/fault"
)

// hostile are changes of talk that make it no export.
var hostile = []struct{ old, now string }{
	{`"format":"ctxd-chat"`, `"format":"ctxd-memory"`},
	{`"format":"ctxd-chat",`, ``},
	{`"format":"ctxd-chat"`, `"format":7`},
	{`"version":1`, `"version":2`},
	{`"version":1`, `"version":"1"`},
	{`"version":1,`, `"version":1,"audience":"remote",`},
	{`"conversation":{`, `"talk":{`},
	{`"messages":[` + "\n", `"messages":{`},
	{"\n]}\n", "\n" + `]`},
	{"\n]}\n", "\n" + `],"more":1}`},
	{"\n]}\n", "\n" + `]} x`},
	{"\n]}\n", "\n" + `]}` + talk},
	{`"id":"c1"`, `"id":"../c1"`},
	{`"id":"c1"`, `"id":7`},
	{`"id":"c1"`, `"ID":"c1"`},
	{`"id":"c1"`, `"id":"c1","id":"c2"`},
	{`"handle":"weekend_trip_k3x9"`, `"handle":"Weekend Trip"`},
	{`"aliases":["trip_of_may"]`, `"aliases":["weekend_trip_k3x9"]`},
	{`"aliases":["trip_of_may"]`, `"aliases":"trip"`},
	{`"aliases":["trip_of_may"]`, `"aliases":[null]`},
	{`"title":"Weekend trip"`, `"title":["Weekend trip"]`},
	{`"title":"Weekend trip"`, `"title":"` + strings.Repeat("x", 201) + `"`},
	{`"createdAt":"2026-03-04T08:00:00Z","changedAt"`, `"createdAt":"yesterday","changedAt"`},
	{`"createdAt":"2026-03-04T08:00:00Z","changedAt"`, `"createdAt":"0001-01-01T00:00:00Z","changedAt"`},
	{`"createdAt":"2026-03-04T08:00:00Z","changedAt"`, `"changedAt"`},
	{`"changedAt":"2026-03-04T08:30:00Z"`, `"changedAt":"2036-03-04T08:30:00Z"`},
	{`"version":3`, `"version":0`},
	{`"version":3`, `"version":3,"unseen":3`},
	{`"version":3`, `"version":3.5`},
	{`"pinnedNotes":["n1"]`, `"pinnedNotes":["a/b"]`},
	{`"pinnedMemories":["m1"]`, `"pinnedMemories":[` + strings.Repeat(`"m1",`, 100) + `"m1"]`},
	{`"handleTitle":"Weekend trip"`, `"handleMessage":3`},
	{`"all":{"messages":2`, `"all":{"messages":3`},
	{`"all":{"messages":2`, `"all":{"messages":1`},
	{`"all":{"messages":2`, `"all":{"messages":-2`},
	{`"all":{"messages":2`, `"all":{"messages":999999999999`},
	{`"all":{"messages":2`, `"all":{"messages":99999999999999999999`},
	{`"all":{"messages":2,"user":1`, `"all":{"messages":2,"user":2`},
	{`"all":{"messages":2,"user":1,"at":"2026-03-04T08:01:00Z"}`, `"all":[]`},
	{`"public":{"messages":1`, `"public":{"messages":2`},
	{`"colour":"red"`, `"clientId":"` + strings.Repeat("x", 201) + `"`},
	{`"colour":"red"`, `"temperature":3`},
	{`"colour":"red"`, `"maxContext":1`},
	{`"colour":"red"`, `"model":"a\u0007b"`},
	{`"colour":"red"`, `"provider":"a b"`},
	{`"colour":"red"`, `"systemPrompt":"` + strings.Repeat("x", 1<<16+1) + `"`},
	{`"colour":"red"`, `"colour":` + strings.Repeat("[", 600) + strings.Repeat("]", 600)},
	{`"colour":"red"`, `"colour":` + strings.Repeat("[", 20_000)},
	{`"colour":"red"`, "\"colour\":\"\xff\""},
	{`"id":"a2"`, `"id":"a1"`},
	{`"id":"a2"`, `"id":""`},
	{`"index":2`, `"index":1`},
	{`"index":2`, `"index":3`},
	{`"index":2`, `"index":-1`},
	{`"index":2`, `"index":4611686018427387904`},
	{`"index":2`, `"index":"2"`},
	{`"publicIndex":1`, `"publicIndex":2`},
	{`"publicIndex":0`, `"publicIndex":1`},
	{`"publicIndex":0`, `"publicIndex":-1`},
	{`"hash":"b3f20k"`, `"hash":"a3f20k"`},
	{`"hash":"b3f20k"`, `"hash":"123456"`},
	{`"hash":"b3f20k"`, `"hash":"a/b"`},
	{`"hash":"b3f20k"`, `"hash":""`},
	{`"role":"assistant"`, `"role":"tool"`},
	{`"role":"assistant"`, `"role":null`},
	{`"content":"By the river."`, `"content":{"text":"By the river."}`},
	{`"content":"By the river."`, "\"content\":\"By the \xff river.\""},
	{`"content":"By the river."`, `"content":"` + strings.Repeat("x", 1<<20+1) + `"`},
	{`"content":"By the river."`, `"content":"` + strings.Repeat("x", 17<<20) + `"`},
	{`"content":"By the river."`, `"content":"By the river.","Content":"By the sea."`},
	{`"content":"By the river."`, `"content":"By the river.","content":"By the sea."`},
	{`"createdAt":"2026-03-04T08:01:00Z"`, `"createdAt":"+2026"`},
	{`"addedAt":"2026-03-04T08:01:00Z"`, `"addedAt":"9999-12-31T23:59:59Z"`},
	{`"finish":"cancelled"`, `"finish":""`},
	{`"finish":"cancelled"`, `"finish":7`},
	{`"clientMessageId":""`, `"clientMessageId":"` + strings.Repeat("x", 201) + `"`},
	{`,"usage":`, `,{"usage":`},
	{`,"usage":`, ` "usage":`},
	{"]\n}", "]\x00}"},
	{`{"id":"a2"`, `null,{"id":"a2"`},
	{`{"id":"a2"`, `[],{"id":"a2"`},
	{`{"id":"a2"`, strings.Repeat(" ", 17<<20) + `{"id":"a2"`},
}

// TestCHAT26_WhatIsNoExportChangesNothing, and the error says at which byte it is wrong.
func TestCHAT26_WhatIsNoExportChangesNothing(t *testing.T) {
	w := open(t, chat.Limits{})
	try := func(name, text string) {
		t.Helper()
		_, err := w.tryTake(text, transfer.JSONImportOptions{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid && f.Kind != fault.Limit || f.Field != "path" || f.Hint == "" {
			t.Errorf("%.80s: error %v", name, err)
			return
		}
		if !strings.Contains(f.Msg, "at byte ") && !strings.Contains(f.Msg, "counts other messages") {
			t.Errorf("%.80s: the error does not say where: %v", name, err)
		}
		if strings.Contains(f.Msg, "river") || strings.Contains(f.Msg, "trip") {
			t.Errorf("%.80s: the error tells of the file: %v", name, err)
		}
	}
	for _, h := range hostile {
		text := strings.Replace(talk, h.old, h.now, 1)
		if text == talk && h.old != "]\n}" {
			t.Errorf("%.80s is not in the export", h.old)
			continue
		}
		if text != talk {
			try(h.now, text)
		}
	}
	for n := range len(talk) - 1 {
		try(fmt.Sprintf("cut at %d", n), talk[:n])
	}
	if n := len(w.all()); n > 0 {
		t.Errorf("%d conversations were imported", n)
	}
	w.sound(t)
	if out := w.take("\ufeff \n"+talk, transfer.JSONImportOptions{}); out.Messages != 2 {
		t.Errorf("imported %+v", out)
	}
}

// endless is a message that does not end.
type endless struct{ begin string }

func (e endless) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(e.begin)) {
		n = copy(p, e.begin[at:])
	}
	for ; n < len(p); n++ {
		p[n] = 'x'
	}
	return n, nil
}

// TestCHAT26_AMessageOfAGigabyteIsRefused without being held.
func TestCHAT26_AMessageOfAGigabyteIsRefused(t *testing.T) {
	w := open(t, chat.Limits{})
	before, _, _ := strings.Cut(talk, "By the river.")
	runtime.GC()
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	_, err := transfer.ImportJSON(t.Context(), w.chat, w.local, endless{before}, 1<<30, transfer.JSONImportOptions{})
	runtime.ReadMemStats(&is)
	refused(t, err, fault.Limit, "path")
	if !strings.HasPrefix(err.Error(), "message 2 of the file at byte ") {
		t.Errorf("error %v", err)
	}
	if n := (is.TotalAlloc - was.TotalAlloc) >> 20; n > 100 {
		t.Errorf("%d MiB were taken", n)
	}
}

// TestCHAT26_GapsAreThoseOfLostMessages: a conversation that counts them as lost comes back with them.
func TestCHAT26_GapsAreThoseOfLostMessages(t *testing.T) {
	w := open(t, chat.Limits{})
	text := strings.NewReplacer(`"all":{"messages":2`, `"all":{"messages":9,"lost":7`, `"index":2`, `"index":5`,
		`"public":{"messages":1`, `"public":{"messages":3,"lost":2`).Replace(talk)
	w.take(text, transfer.JSONImportOptions{})
	if got := w.export(w.local, "c1", transfer.FormatJSON); got != text {
		t.Errorf("the export is\n%s\nand was\n%s", got, text)
	}
	if got := w.export(w.local, "c1", transfer.FormatMarkdown); !strings.Contains(got, "- Messages: 2\n") || !strings.Contains(got, "\n## 5. assistant,") {
		t.Errorf("for people it is\n%s", got)
	}
	w.say(w.local, chat.AppendRequest{ConversationID: "c1", Messages: []chat.Draft{user("on")}})
	w.sound(t)
}

// TestCHAT26_AFileMayChangeBetweenItsReadings, and then nothing is changed.
func TestCHAT26_AFileMayChangeBetweenItsReadings(t *testing.T) {
	w := open(t, chat.Limits{})
	for _, now := range []string{
		strings.Replace(talk, "By the river.", "By the water.", 1), strings.Replace(talk, `"later":true`, `"later":null`, 1),
		talk[:strings.Index(talk, `,`+"\n"+`{"id":"a2"`)] + "\n]}\n",
	} {
		_, err := transfer.ImportJSON(t.Context(), w.chat, w.local, &twice{talk, now, 0}, int64(len(talk)), transfer.JSONImportOptions{})
		if k := fault.KindOf(err); k != fault.Conflict && k != fault.Invalid {
			t.Errorf("error %v", err)
		}
		if n := len(w.all()); n > 0 {
			t.Fatalf("%d conversations were imported", n)
		}
	}
}

// twice is a file that is another one when its beginning is read again.
type twice struct {
	first, second string
	begun         int
}

func (f *twice) ReadAt(p []byte, at int64) (int, error) {
	if at == 0 {
		f.begun++
	}
	text := f.first
	if f.begun > 1 {
		text = f.second
	}
	return strings.NewReader(text).ReadAt(p, at)
}

// TestCHAT26_AFileThatCannotBeReadIsNoExport: its error is another.
func TestCHAT26_AFileThatCannotBeReadIsNoExport(t *testing.T) {
	w := open(t, chat.Limits{})
	_, err := transfer.ImportJSON(t.Context(), w.chat, w.local, broken{}, 10, transfer.JSONImportOptions{})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = transfer.ImportJSON(ctx, w.chat, w.local, strings.NewReader(talk), int64(len(talk)), transfer.JSONImportOptions{})
	if fault.KindOf(err) != fault.Cancelled || len(w.all()) > 0 {
		t.Errorf("error %v", err)
	}
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// FuzzCHAT26_Import: what is imported at all leaves a store that fits together, and comes back from its export as it is.
func FuzzCHAT26_Import(f *testing.F) {
	f.Add(talk)
	f.Add(`{"format":"ctxd-chat","version":1,1e700`)
	for _, h := range hostile {
		if len(h.now) < 1000 {
			f.Add(strings.Replace(talk, h.old, h.now, 1))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := open(t, chat.Limits{Messages: 100})
		out, err := w.tryTake(text, transfer.JSONImportOptions{})
		w.sound(t)
		if err != nil {
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.Limit || len(w.all()) > 0 {
				t.Fatalf("error %v", err)
			}
			return
		}
		if !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
			t.Fatal("it was no JSON")
		}
		exported := w.export(w.local, out.ConversationID, transfer.FormatJSON)
		other := open(t, chat.Limits{Messages: 100})
		other.now = w.now.Add(time.Hour)
		other.take(exported, transfer.JSONImportOptions{})
		if got := other.export(other.local, out.ConversationID, transfer.FormatJSON); got != exported {
			t.Fatalf("the export is\n%s\nand was\n%s", got, exported)
		}
	})
}
