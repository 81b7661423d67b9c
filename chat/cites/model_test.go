package cites_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// seen is a message as package chat shows it to a reader, with what it refers to.
type seen struct {
	*record.ChatMessage
	refs map[string]citation // by id of the note
}

type citation struct{ direct, search, used bool }

// all are the messages that a reader sees, as package chat gives them.
func (w *world) all(v *audience.View) (list []seen) {
	w.Helper()
	for _, archived := range []bool{false, true} {
		conversations, _, err := w.chats.List(w.ctx, v, archived, nil, math.MaxInt)
		w.must(err)
		for _, c := range conversations {
			page, err := w.chats.Messages(w.ctx, v, c.ID, chat.AllBranches, 0, math.MaxInt)
			w.must(err)
			for _, m := range page.Messages {
				s := seen{m, make(map[string]citation)}
				for _, r := range m.References {
					if r.NoteID == "" {
						continue
					}
					c := s.refs[r.NoteID]
					c.direct = c.direct || r.Type == record.ReferDirect
					c.search = c.search || r.Type == record.ReferSearch
					c.used = c.used || r.Used
					s.refs[r.NoteID] = c
				}
				list = append(list, s)
			}
		}
	}
	return list
}

// compare compares all that an Index says with what is made of all messages.
func (w *world) compare(v *audience.View, since time.Time) {
	w.Helper()
	messages := w.all(v)
	uses := make(map[string]*turn.ChatNoteUse)
	weights := make(map[[2]string]int)
	conversations := make(map[[2]string]bool)
	byNote := make(map[string][]seen)
	for _, m := range messages {
		for id, c := range m.refs {
			if c.direct || c.used {
				byNote[id] = append(byNote[id], m)
				weights[[2]string{m.ConversationID, id}]++
			}
			if m.CreatedAt.Before(since) {
				continue
			}
			u := uses[id]
			if u == nil {
				u = &turn.ChatNoteUse{NoteID: id}
				uses[id] = u
			}
			for n, counts := range map[*int]bool{&u.Direct: c.direct, &u.Search: c.search, &u.Used: c.used, &u.Conversations: !conversations[[2]string{m.ConversationID, id}]} {
				if counts {
					*n++
				}
			}
			conversations[[2]string{m.ConversationID, id}] = true
			if m.CreatedAt.After(u.Last) {
				u.Last = m.CreatedAt
			}
		}
	}
	stats, err := w.index.Stats(w.ctx, v, since, math.MaxInt)
	w.must(err)
	if len(stats.Notes) != len(uses) || stats.Total != len(uses) {
		w.Errorf("for %s there are %d notes, %d in all, want %d", v.Reader(), len(stats.Notes), stats.Total, len(uses))
	}
	for _, n := range stats.Notes {
		want := uses[n.NoteID]
		if want == nil {
			w.Errorf("for %s there is %+v", v.Reader(), n)
			continue
		}
		if note := v.Note(n.NoteID); note != nil {
			want.Title = v.TitleOf(note)
		}
		if n != *want {
			w.Errorf("for %s there is %+v, want %+v", v.Reader(), n, *want)
		}
	}
	g, err := w.index.Graph(w.ctx, v, math.MaxInt)
	w.must(err)
	if len(g.Edges) != len(weights) {
		w.Errorf("for %s there are %d edges, want %d", v.Reader(), len(g.Edges), len(weights))
	}
	for _, e := range g.Edges {
		if want := weights[[2]string{e.From, e.To}]; e.Weight != want {
			w.Errorf("for %s there is %+v, want the weight %d", v.Reader(), e, want)
		}
	}
	for id, list := range byNote {
		slices.SortFunc(list, func(a, b seen) int {
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ConversationID, b.ConversationID), b.Index-a.Index)
		})
		got, page := w.list(v, id, false, 2)
		want := make([]string, len(list))
		for i, m := range list {
			want[i] = m.ID
		}
		if !slices.Equal(got, want) || page.Total != len(want) {
			w.Errorf("messages of %s for %s: %v of %d, want %v", id, v.Reader(), got, page.Total, want)
		}
	}
}

// reopened compares the Index with one that is made of what is stored now.
func (w *world) reopened() {
	w.Helper()
	all := func(x *cites.Index) (text string) {
		for id, known := range x.Known() {
			text += fmt.Sprintln(id, known)
		}
		return text
	}
	if got, want := all(w.index), all(cites.OpenIndex(w.db, w.chats, w.messages())); got != want {
		w.Errorf("after a start it would know\n%s, and knows\n%s", want, got)
	}
}

// TestCHAT34_RandomHistories compares an Index with a plain model after each of some random steps.
func TestCHAT34_RandomHistories(t *testing.T) {
	ids := []string{"n0", "n1", "n2", "n3"}
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		w := open(ctx, t)
		defer func() { _ = w.db.Close() }()
		start := w.now
		var conversations []string
		pick := func() string {
			if len(conversations) == 0 {
				return ""
			}
			return rapid.SampledFrom(conversations).Draw(t, "conversation")
		}
		refs := func() (list []record.ChatReference) {
			for range rapid.IntRange(0, 4).Draw(t, "references") {
				make := rapid.SampledFrom([]func(string) record.ChatReference{direct, read, found}).Draw(t, "kind")
				list = append(list, make(rapid.SampledFrom(ids).Draw(t, "note")))
			}
			return list
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				w.failer = t
				since := start.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "since")) * time.Hour)
				w.compare(w.local, since)
				w.compare(w.remote, since)
				w.reopened()
			},
			"say": func(t *rapid.T) {
				id := ""
				if rapid.Bool().Draw(t, "known") {
					id = pick()
				}
				w.now = w.now.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "later")) * time.Hour)
				made, m := w.said(id, rapid.Bool().Draw(t, "private"), refs()...)
				if rapid.Bool().Draw(t, "others for remote readers") {
					w.refer(made, m, chat.PublicReferencesMember, refs())
				}
				if id == "" {
					conversations = append(conversations, made)
				}
			},
			"delete": func(t *rapid.T) {
				if id := pick(); id != "" {
					_, err := w.chats.Delete(w.ctx, w.local, id)
					w.must(err)
					conversations = slices.DeleteFunc(conversations, func(other string) bool { return other == id })
				}
			},
			"hide or show": func(t *rapid.T) {
				if id := pick(); id != "" {
					private := rapid.Bool().Draw(t, "private")
					_, err := w.chats.Update(w.ctx, w.local, id, chat.Change{Settings: chat.Settings{Private: &private}})
					w.must(err)
				}
			},
			"note": func(t *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(t, "note")
				w.note(id, "Title of "+id, rapid.Bool().Draw(t, "private"))
			},
			"delete note": func(t *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(t, "note")
				if w.notes.Get(id) != nil {
					_, err := w.notes.Delete(w.ctx, id, nil)
					w.must(err)
				}
			},
		})
	})
}
