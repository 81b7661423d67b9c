//go:build linux

package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// A daemon is killed amid an answer. The next one has the question, and of the answer what was kept until then.
func TestCHAT25_KilledAmidAnAnswer(t *testing.T) {
	srv := provider.Start(func(_ *provider.Request, to *provider.Reply) {
		to.Text("The first words. ", strings.Repeat("more ", 2_000))
		<-to.Gone()
	})
	defer srv.Close()
	s := launchOptions{home: shortHome(t), env: []string{
		"CTXD_CHAT_PROVIDER=slow", "CTXD_CHAT_PROVIDERS_SLOW_BASE=" + srv.URL, "CTXD_CHAT_PROVIDERS_SLOW_MODEL=m",
	}}
	p := serve(t, s)
	c := p.client()
	said := ask[protocol.ChatAppended](t, c, "chat.append", protocol.ChatAppend{Messages: []protocol.ChatMessageDraft{
		{Role: record.RoleUser, Content: "hello"}, {Role: record.RoleAssistant, Content: "hi"},
	}})
	question := turn.ChatSend{ConversationID: said.ConversationID, Text: "go on", ClientMessageID: "m1"}
	failed := make(chan error, 1)
	go func() {
		failed <- c.Call(context.Background(), "chat.send", question, new(turn.ChatSent))
	}()
	for deadline := time.After(patience); !inFiles(t, p.data, "The first words."); {
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("nothing of the answer is kept\n%s", p.log())
		}
	}
	p.kill()
	if err := <-failed; err == nil {
		t.Error("the answer came")
	}
	c = serve(t, s).client()
	page := ask[protocol.ChatPage](t, c, "chat.get", protocol.ChatGet{Ref: said.ConversationID})
	if len(page.Messages) != 4 || page.Messages[2].Content != "go on" {
		t.Fatalf("there are %d messages", len(page.Messages))
	}
	a := page.Messages[3]
	if a.Finish != record.FinishInterrupted || !strings.HasPrefix(a.Content, "The first words. more ") || a.Role != record.RoleAssistant {
		t.Errorf("the answer is %s and says %.50q", a.Finish, a.Content)
	}
	again := ask[turn.ChatSent](t, c, "chat.send", question)
	if !again.Repeat || again.AssistantMessage.ID != a.ID {
		t.Errorf("the message sent again gives %+v", again)
	}
	wantSound(t, c)
}

func wantSound(t *testing.T, c *client.Client) {
	t.Helper()
	if found := ask[protocol.Checked](t, c, "admin.check", nil); len(found.Problems) > 0 {
		t.Errorf("problems: %v", found.Problems)
	}
}

// inFiles reports whether a text stands in a file of a folder.
func inFiles(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // the daemon removes files
		}
		data, err := os.ReadFile(path)
		found = found || err == nil && bytes.Contains(data, []byte(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
