//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// importedTalks are the conversations of an export of other programs, of which a daemon has some.
type importedTalks struct {
	file        string
	n, messages int
	there       map[int]string // ids of those that are imported, by their numbers in the file
}

// exportTalks writes an export of so many conversations of so many messages.
func exportTalks(t *testing.T, dir string, conversations, messages int) *importedTalks {
	t.Helper()
	file := filepath.Join(dir, "conversations.json")
	if err := os.WriteFile(file, []byte(exportedTalks(conversations, messages)), 0o600); err != nil {
		t.Fatal(err)
	}
	return &importedTalks{file: file, n: conversations, messages: messages, there: make(map[int]string)}
}

// take imports the file.
func (x *importedTalks) take(ctx context.Context, c *client.Client) (out protocol.ChatImported, err error) {
	err = c.Call(ctx, "chat.import", protocol.ChatImport{Path: x.file}, &out)
	return out, err
}

// wants reads all conversations that are imported: each is there once and whole, and those that were there before are
// so under their ids.
func (x *importedTalks) wants(t *testing.T, c *client.Client) {
	t.Helper()
	got := make(map[int]string)
	p := protocol.ChatList{Page: protocol.Page{Limit: 1000}}
	for {
		page := ask[protocol.Conversations](t, c, "chat.list", p)
		for _, in := range page.Conversations {
			var i int
			if _, err := fmt.Sscanf(in.Title, "Talk %d", &i); err != nil || in.Title != fmt.Sprintf("Talk %d", i) {
				continue // of somebody else
			}
			if other, twice := got[i]; twice {
				t.Fatalf("%s is there twice: %s and %s", in.Title, other, in.ID)
			}
			got[i] = in.ID
			x.wantWhole(t, c, i, in.ID)
		}
		if page.NextCursor == "" {
			break
		}
		p.Cursor = page.NextCursor
	}
	for i, id := range x.there {
		if got[i] != id {
			t.Fatalf("conversation %d was there as %s, and is there as %q", i, id, got[i])
		}
	}
	x.there = got
}

// wantWhole reads the messages of one conversation.
func (x *importedTalks) wantWhole(t *testing.T, c *client.Client, i int, id string) {
	t.Helper()
	said, err := saidIn(t.Context(), c, id)
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != x.messages {
		t.Fatalf("conversation %d has %d messages, want %d", i, len(said), x.messages)
	}
	for j, text := range said {
		if want := fmt.Sprintf(" token %d-%d", i, j); !strings.Contains(text+" ", want+" ") {
			t.Fatalf("message %d of conversation %d is %q", j+1, i, text)
		}
	}
}

// completes imports the file to its end, and then once more, which takes nothing in.
func (x *importedTalks) completes(t *testing.T, c *client.Client) {
	t.Helper()
	before := len(x.there)
	out, err := x.take(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if out.Unchanged != before || out.Conversations != x.n-before || out.Continued != 0 || out.Messages != (x.n-before)*x.messages {
		t.Errorf("of %d conversations %d were there: %+v", x.n, before, out)
	}
	again, err := x.take(t.Context(), c)
	if err != nil || again.Messages != 0 || again.Conversations != 0 || again.Unchanged != x.n {
		t.Errorf("imported again: %+v, %v", again, err)
	}
	x.wants(t, c)
	if len(x.there) != x.n {
		t.Errorf("%d of %d conversations are there", len(x.there), x.n)
	}
}

// TestCampaignREL1_KillsOverAnImport kills the daemon while it imports conversations and others talk. What others were
// told is there, what was imported stays, each conversation whole and once, and the next import goes on.
func TestCampaignREL1_KillsOverAnImport(t *testing.T) {
	opts := launchOptions{home: shortHome(t), args: []string{"--log-level", "info", "--set", "store.snapshotAfter=256KiB"}}
	p := serve(t, opts)
	x := exportTalks(t, p.home, figure(1800, 20000), 4)
	talkers, shared := sharedTalk(t, p.client(), 3)
	rng := rand.New(rand.NewPCG(7, 500))
	kills, during, acked := figure(3, 60), 0, 0
	for n := 0; n < kills || during == 0 && n < 5*kills; n++ { // on a busy machine an import may be over before the others were answered
		c := p.client()
		ended := make(chan error, 1)
		go func() {
			_, err := x.take(t.Context(), c)
			ended <- err
		}()
		acked += killed(t, p, talkers, 5+rng.IntN(60))
		if err := <-ended; err != nil {
			during++
			if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("an import of a daemon that is killed ends with %v", err)
			}
		}
		p = prepare(t, opts)
		p.launch()
		if h := p.await(); h.Store.Mode != "read-write" || h.Store.Recovered.Lost != 0 || len(h.Store.Recovered.Damaged) > 0 {
			t.Fatalf("%+v", h.Store)
		}
		c = p.client()
		wantTalks(t, c, talkers, shared)
		x.wants(t, c)
		if len(x.there) == x.n {
			for i := range x.n / 3 { // so that the next one has something to do
				ask[any](t, c, "chat.delete", protocol.ChatID{ID: x.there[i]})
				delete(x.there, i)
			}
		}
	}
	if during == 0 {
		t.Error("no import was killed, so the test shows nothing")
	}
	t.Logf("%d kills, %d of them during an import, after which %d of %d conversations are there; %d calls of others acknowledged",
		kills, during, len(x.there), x.n, acked)
	c := p.client()
	x.completes(t, c)
	wantTalks(t, c, talkers, shared)
}

// TestCampaignREL9_NoRoomForAnImport imports conversations until the disk is full: that is said, what was imported
// stays, and with room again the next import goes on.
func TestCampaignREL9_NoRoomForAnImport(t *testing.T) {
	home := shortHome(t)
	disk, data := smallDisk(t, home)
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3200<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := launchOptions{home: home, data: data, args: []string{"--set", "store.snapshotAfter=64KiB"}}
	p := serve(t, opts)
	c := p.client()
	x := exportTalks(t, home, 700, 4)
	for try := range 3 {
		_, err := x.take(t.Context(), c)
		wantNoRoom(t, err)
		x.wants(t, c)
		t.Logf("try %d: %d of %d conversations are there", try, len(x.there), x.n)
	}
	if len(x.there) == 0 || len(x.there) == x.n {
		t.Errorf("%d of %d conversations found room, so the test shows little", len(x.there), x.n)
	}
	wantChecked(t, c)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	// On a slow machine what stood on the disk before the snapshot may still be there.
	for try := 0; ; try++ {
		_, err := x.take(t.Context(), c)
		if err == nil {
			break
		}
		if try == 20 {
			t.Fatal(err)
		}
		wantNoRoom(t, err)
	}
	x.wants(t, c)
	p.kill()
	p = serve(t, opts)
	c = p.client()
	x.wants(t, c)
	x.completes(t, c)
	wantChecked(t, c)
}
