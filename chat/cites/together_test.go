package cites_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/cites"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/record"
)

// together tells what an Index says of the notes that others used with some, without times.
func (w *world) together(x *cites.Index, v *audience.View, conversation string, notes ...string) (out []string) {
	w.Helper()
	list, err := x.Together(w.ctx, v, conversation, notes, 10, func(id string) bool { return slices.Contains(notes, id) })
	w.must(err)
	for _, t := range list {
		out = append(out, fmt.Sprint(t.NoteID, " shared ", t.Shared, " in ", t.Conversations, " with ", t.With))
	}
	return out
}

func (w *world) wantTogether(v *audience.View, conversation string, notes []string, want ...string) {
	w.Helper()
	for _, x := range []*cites.Index{w.index, cites.OpenIndex(w.db, w.chats, w.messages())} {
		if got := w.together(x, v, conversation, notes...); !slices.Equal(got, want) {
			w.Errorf("for %s: %q, want %q", v.Reader(), got, want)
		}
	}
}

func (w *world) wantIn(v *audience.View, conversation string, want ...string) {
	w.Helper()
	for _, x := range []*cites.Index{w.index, cites.OpenIndex(w.db, w.chats, w.messages())} {
		var got []string
		for _, r := range x.In(v, conversation) {
			got = append(got, fmt.Sprint(r.NoteID, " ", r.Stood))
		}
		if !slices.Equal(got, want) {
			w.Errorf("in the conversation for %s: %q, want %q", v.Reader(), got, want)
		}
	}
}

func TestCHAT31_WhatConversationsUsedTogether(t *testing.T) {
	w := start(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		w.note(id, id, false)
	}
	w.note("p", "p", true)
	one, _ := w.said("", false, direct("a"), found("d"))
	w.said(one, false, direct("b"), direct("a"))
	w.said(one, true, direct("c"))
	w.now = w.now.Add(time.Hour)
	two, changed := w.said("", false, direct("a"), direct("b"), read("c"))
	w.now = w.now.Add(time.Hour)
	three, _ := w.said("", false, read("b"), direct("p"), found("d"))
	hidden, _ := w.said("", true, direct("a"), direct("d"))

	w.wantIn(w.local, one, "c true", "a true", "b true", "d false")
	w.wantIn(w.remote, one, "a true", "b true", "d false")
	w.wantIn(w.remote, three, "b true", "d false")
	w.wantIn(w.remote, hidden)
	w.wantIn(w.local, "none")
	both := []string{"a", "b"}
	w.wantTogether(w.local, one, both, "c shared 2 in 1 with 0", "d shared 1 in 1 with 0", "p shared 1 in 1 with 1")
	w.wantTogether(w.remote, one, both, "c shared 2 in 1 with 0")
	w.wantTogether(w.local, two, both, "c shared 2 in 1 with 0", "d shared 1 in 1 with 0", "p shared 1 in 1 with 1")
	w.wantTogether(w.remote, two, both)

	w.refer(two, changed, "references", []any{direct("d"), direct("a")}) // as a message that is changed
	w.wantIn(w.local, two, "a true", "d true")
	w.wantTogether(w.remote, one, both, "d shared 1 in 1 with 0")
	_, err := w.chats.Delete(w.ctx, w.local, two)
	w.must(err)
	w.wantIn(w.local, two)
	w.wantTogether(w.remote, one, both)
}

// TestCHAT31_TheBestAreTheBestOfAll: where only some notes are asked for, they are those that come first of all.
func TestCHAT31_TheBestAreTheBestOfAll(t *testing.T) {
	w := start(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		w.note(fmt.Sprint("n", i), "x", i%4 == 3)
	}
	var talks []string
	for range 80 {
		w.now = w.now.Add(time.Duration(rng.IntN(3)) * time.Minute)
		var refs []record.ChatReference
		for range 1 + rng.IntN(4) {
			id := fmt.Sprint("n", rng.IntN(12))
			refs = append(refs, []record.ChatReference{direct(id), read(id), found(id)}[rng.IntN(3)])
		}
		id := ""
		if len(talks) > 0 && rng.IntN(3) > 0 {
			id = talks[rng.IntN(len(talks))]
		}
		id, _ = w.said(id, id != "" && rng.IntN(3) > 0, refs...) // a conversation that begins with a private message is private
		talks = append(talks, id)
	}
	none := func(string) bool { return false }
	for _, v := range []*audience.View{w.local, w.remote} {
		all, err := w.index.Together(w.ctx, v, talks[0], []string{"n0", "n1", "n2"}, 100, none)
		w.must(err)
		if len(all) < 5 {
			t.Fatalf("%d notes for %s", len(all), v.Reader())
		}
		for limit := 1; limit < len(all); limit++ {
			some, err := w.index.Together(w.ctx, v, talks[0], []string{"n0", "n1", "n2"}, limit, none)
			w.must(err)
			if !slices.Equal(some, all[:limit]) {
				t.Errorf("%d for %s: %+v\nwant %+v", limit, v.Reader(), some, all[:limit])
			}
		}
	}
}
