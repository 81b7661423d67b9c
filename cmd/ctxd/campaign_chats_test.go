//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// chatKnown is a conversation as a talker knows it.
type chatKnown struct {
	ID       string // "": not known yet
	Private  bool
	Archived bool
	Said     []string // role and text of each message, in order
}

// spoken are the conversations of a talker, by their titles, which never change.
type spoken map[string]chatKnown

// talker is a client that keeps conversations of its own, and talks in one that all talkers share.
type talker struct {
	id      int
	rng     *rand.Rand
	made    int // conversations
	spoken  int // messages
	is      spoken
	pending *saying // that was not answered

	shared string         // id of the conversation of all
	heard  map[int]string // messages there that were acknowledged, by index
	handle map[string]string
}

// saying is a call of a talker, and what it has once that is acknowledged.
type saying struct {
	method string
	params any
	title  string // of the conversation that it is about; "": the shared one
	after  spoken
	shared []string // texts for the shared one
}

func newTalker(id int, shared string) *talker {
	return &talker{
		id: id, rng: rand.New(rand.NewPCG(uint64(id), 11)), is: make(spoken), shared: shared,
		heard: make(map[int]string), handle: make(map[string]string),
	}
}

// drafts are one to four new messages, with what a conversation holds of them.
func (w *talker) drafts() (list []protocol.ChatMessageDraft, said []string) {
	for range 1 + w.rng.IntN(4) {
		w.spoken++
		d := protocol.ChatMessageDraft{
			Role:    []string{record.RoleUser, record.RoleAssistant}[w.rng.IntN(2)],
			Content: fmt.Sprintf("token t%d-%d %s", w.id, w.spoken, strings.TrimSpace(strings.Repeat("words ", w.rng.IntN(60)))),
			Private: w.rng.IntN(5) == 0, ClientMessageID: fmt.Sprintf("t%d-%d", w.id, w.spoken),
		}
		list = append(list, d)
		said = append(said, d.Role+" "+d.Content)
	}
	return list, said
}

// mostTalks is how many conversations a talker has at a time.
const mostTalks = 12

// choose returns the next call.
func (w *talker) choose() *saying {
	s := &saying{after: maps.Clone(w.is)}
	list, said := w.drafts()
	titles := slices.Sorted(maps.Keys(w.is))
	what := w.rng.IntN(10)
	if len(titles) == 0 {
		what = 0
	}
	switch what {
	case 0, 1:
		w.made++
		s.title = fmt.Sprintf("Talk %d of talker %d", w.made, w.id)
		first := protocol.ChatAppend{Title: s.title, Messages: list, Private: w.rng.IntN(4) == 0}
		s.method, s.params = "chat.append", first
		s.after[s.title] = chatKnown{Private: first.Private || !slices.ContainsFunc(list, func(d protocol.ChatMessageDraft) bool { return !d.Private }), Said: said}
		return s
	case 2, 3:
		s.method, s.params = "chat.append", protocol.ChatAppend{ConversationID: w.shared, Messages: list}
		s.shared = said
		return s
	}
	s.title = titles[w.rng.IntN(len(titles))]
	t := w.is[s.title]
	switch {
	case what == 4:
		private := true
		s.method, s.params = "chat.patch", protocol.ChatPatch{ID: t.ID, Private: &private}
		t.Private = true
	case what == 5 && t.Archived:
		s.method, s.params = "chat.restore", protocol.ChatID{ID: t.ID}
		t.Archived = false
	case what == 5:
		s.method, s.params = "chat.archive", protocol.ChatID{ID: t.ID}
		t.Archived = true
	case what == 6 && len(titles) > mostTalks:
		s.method, s.params = "chat.delete", protocol.ChatID{ID: t.ID}
		delete(s.after, s.title)
		return s
	default:
		s.method, s.params = "chat.append", protocol.ChatAppend{ConversationID: t.ID, Messages: list}
		t.Said = slices.Concat(t.Said, said)
	}
	s.after[s.title] = t
	return s
}

// do makes one call. What was not answered is pending. An answer that is an error is returned.
func (w *talker) do(ctx context.Context, c *client.Client) error {
	s := w.choose()
	w.pending = s
	var answer json.RawMessage
	if err := c.Call(ctx, s.method, s.params, &answer); err != nil {
		return fmt.Errorf("%s: %w", s.method, err)
	}
	w.pending, w.is = nil, s.after
	if s.method != "chat.append" {
		return nil
	}
	var added protocol.ChatAppended
	if err := json.Unmarshal(answer, &added); err != nil {
		return err
	}
	if s.title != "" {
		t := w.is[s.title]
		t.ID = added.ConversationID
		w.is[s.title] = t
		return nil
	}
	for i, m := range added.Messages {
		if before, taken := w.heard[m.Index]; taken {
			return fmt.Errorf("message %d of the shared conversation is %q and %q", m.Index, before, s.shared[i])
		}
		w.heard[m.Index] = s.shared[i]
	}
	return nil
}

// saidIn reads all messages of a conversation. They are numbered from 1, and no two have one hash.
func saidIn(ctx context.Context, c *client.Client, id string) (said []string, err error) {
	hashes := make(map[string]bool)
	p := protocol.ChatGet{Ref: id, Limit: 100}
	for {
		var page protocol.ChatPage
		if err := c.Call(ctx, "chat.get", p, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Messages {
			said = append(said, m.Role+" "+m.Content)
			if m.Index != len(said) || hashes[m.Hash] || m.Hash == "" {
				return nil, fmt.Errorf("message %d of %s has the number %d and the hash %q", len(said), id, m.Index, m.Hash)
			}
			hashes[m.Hash] = true
		}
		if page.NextCursor == "" {
			if page.Conversation.Messages != len(said) {
				return nil, fmt.Errorf("%s counts %d messages, and has %d", id, page.Conversation.Messages, len(said))
			}
			return said, nil
		}
		p.Cursor = page.NextCursor
	}
}

// read returns what the daemon has of the conversations of a talker. A handle that was told once stays.
func (w *talker) read(ctx context.Context, c *client.Client) (spoken, error) {
	got := make(spoken)
	for _, archived := range []bool{false, true} {
		p := protocol.ChatList{Archived: archived}
		for {
			var page protocol.Conversations
			if err := c.Call(ctx, "chat.list", p, &page); err != nil {
				return nil, err
			}
			for _, in := range page.Conversations {
				if !strings.HasSuffix(in.Title, fmt.Sprintf(" of talker %d", w.id)) {
					continue
				}
				said, err := saidIn(ctx, c, in.ID)
				if err != nil {
					return nil, err
				}
				if was := w.handle[in.ID]; was != "" && was != in.Handle {
					return nil, fmt.Errorf("%s was called %s, and is called %s", in.ID, was, in.Handle)
				}
				w.handle[in.ID] = in.Handle
				if _, twice := got[in.Title]; twice {
					return nil, fmt.Errorf("there are two of %q", in.Title)
				}
				got[in.Title] = chatKnown{ID: in.ID, Private: in.Private, Archived: archived, Said: said}
			}
			if page.NextCursor == "" {
				break
			}
			p.Cursor = page.NextCursor
		}
	}
	return got, nil
}

// differs names a conversation that is not as it should be, "" for none.
func (t spoken) differs(got spoken) string {
	for title := range got {
		if _, ok := t[title]; !ok {
			return title + " should not be there"
		}
	}
	for title, want := range t {
		is := got[title]
		if want.ID == "" {
			want.ID = is.ID
		}
		if fmt.Sprintf("%+v", is) != fmt.Sprintf("%+v", want) {
			return fmt.Sprintf("%s is %+v, want %+v", title, is, want)
		}
	}
	return ""
}

// check reads all that the talker may have said. Each acknowledged call is there, and the one that was
// not answered is there as a whole or not at all. shared are the messages of the conversation of all.
func (w *talker) check(ctx context.Context, c *client.Client, shared []string) (unanswered bool, err error) {
	got, err := w.read(ctx, c)
	if err != nil {
		return false, err
	}
	wrong := w.is.differs(got)
	if wrong != "" && w.pending != nil {
		unanswered = true
		if other := w.pending.after.differs(got); other != "" {
			return false, fmt.Errorf("talker %d: not as before %s (%s), and not as after it (%s)", w.id, w.pending.method, wrong, other)
		}
	} else if wrong != "" {
		return false, fmt.Errorf("talker %d: %s", w.id, wrong)
	}
	w.is = got
	for index, text := range w.heard {
		if index > len(shared) || shared[index-1] != text {
			return false, fmt.Errorf("talker %d: message %d of the shared conversation is lost", w.id, index)
		}
	}
	if w.pending != nil && len(w.pending.shared) > 0 {
		if at := slices.Index(shared, w.pending.shared[0]); at >= 0 {
			unanswered = true
			for i, text := range w.pending.shared {
				if at+i >= len(shared) || shared[at+i] != text {
					return false, fmt.Errorf("talker %d: a half of what was not answered is in the shared conversation", w.id)
				}
				w.heard[at+i+1] = text
			}
		}
	}
	w.pending = nil
	return unanswered, nil
}

// sharedTalk makes the conversation of all talkers, and these.
func sharedTalk(t *testing.T, c *client.Client, n int) (list []*talker, shared string) {
	t.Helper()
	first := ask[protocol.ChatAppended](t, c, "chat.append", protocol.ChatAppend{
		Title: "What all say", Messages: []protocol.ChatMessageDraft{{Role: record.RoleUser, Content: "Go on."}},
	})
	for i := range n {
		list = append(list, newTalker(i, first.ConversationID))
	}
	return list, first.ConversationID
}

// wantTalks checks what all talkers have said, and how many calls are there that were not answered. What
// nobody said is not there.
func wantTalks(t *testing.T, c *client.Client, talkers []*talker, shared string) (unanswered int) {
	t.Helper()
	said, err := saidIn(t.Context(), c, shared)
	if err != nil {
		t.Fatal(err)
	}
	heard := 1
	for _, w := range talkers {
		there, err := w.check(t.Context(), c, said)
		if err != nil {
			t.Fatal(err)
		}
		if there {
			unanswered++
		}
		heard += len(w.heard)
	}
	if heard != len(said) {
		t.Fatalf("the shared conversation has %d messages, of which %d were said", len(said), heard)
	}
	wantChecked(t, c)
	return unanswered
}

// TestCampaignREL1_KillsOverConversations kills the daemon under clients that talk, each in conversations of
// its own and all of them in one, and that archive, hide and delete conversations. Each acknowledged message
// is there under its number, and each other call as a whole or not at all.
func TestCampaignREL1_KillsOverConversations(t *testing.T) {
	opts := launchOptions{home: shortHome(t), args: []string{"--log-level", "info", "--set", "store.snapshotAfter=256KiB"}}
	p := serve(t, opts)
	talkers, shared := sharedTalk(t, p.client(), 6)
	rng := rand.New(rand.NewPCG(3, 500))
	acked, unanswered, kills := 0, 0, figure(5, 60) // all messages are read after each
	for range kills {
		acked += killed(t, p, talkers, 150+rng.IntN(100))
		p = prepare(t, opts)
		p.launch()
		if h := p.await(); h.Store.Mode != "read-write" || h.Store.Recovered.Lost != 0 || len(h.Store.Recovered.Damaged) > 0 {
			t.Fatalf("%+v", h.Store)
		}
		unanswered += wantTalks(t, p.client(), talkers, shared)
	}
	t.Logf("%d kills; %d calls acknowledged by %d clients, %d more were there unanswered", kills, acked, len(talkers), unanswered)
}

// TestCampaignREL3_DiskErrorsOverConversations has the kernel refuse what the store asks of it while a client
// talks: what is refused changes nothing and leaves no half behind.
func TestCampaignREL3_DiskErrorsOverConversations(t *testing.T) {
	opts := launchOptions{home: shortHome(t)}
	p := serve(t, opts)
	c := p.client()
	talkers, shared := sharedTalk(t, c, 1)
	w := talkers[0]
	talks := func(calls int) {
		t.Helper()
		for range calls {
			if err := w.do(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	talks(60)
	heal := p.fails(p.journal(), "pwrite64", "ENOSPC")
	for range 6 {
		wantUnavailable(t, w.do(t.Context(), c), true)
		w.pending = nil
		wantTalks(t, c, talkers, shared)
	}
	if heal() == 0 {
		t.Fatal("no call failed, so the test shows nothing")
	}
	talks(30)
	p.kill()
	p = serve(t, opts)
	c = p.client()
	wantTalks(t, c, talkers, shared)
	talks(30)
	wantTalks(t, c, talkers, shared)
}
