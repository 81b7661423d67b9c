package cites

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/yield"
)

// byTalk has the citations of each conversation by the ids of their notes.
type byTalk map[string]map[string][]*citation

func (b byTalk) add(noteID string, c *citation) {
	if b[c.conversation] == nil {
		b[c.conversation] = make(map[string][]*citation)
	}
	b[c.conversation][noteID] = append(b[c.conversation][noteID], c)
}

func (b byTalk) remove(noteID string, c *citation) {
	if c == nil {
		return
	}
	of := b[c.conversation]
	list := of[noteID]
	if i := slices.Index(list, c); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if of[noteID] = list; len(list) == 0 {
		delete(of, noteID)
	}
	if len(of) == 0 {
		delete(b, c.conversation)
	}
}

// ReferencedNote is a note that the messages of a conversation refer to.
type ReferencedNote struct {
	NoteID string
	Stood  bool // a message names it, or a model has read of it
	index  int  // of the last message that refers to it, as the reader counts
}

// In returns the notes that a conversation refers to for a reader: those of its last messages first, and of one message
// by id. O(its references).
func (x *Index) In(v *audience.View, conversationID string) []ReferencedNote {
	if !x.seesTalk(v, conversationID) {
		return nil
	}
	var out []ReferencedNote
	for id, list := range x.notesOf(conversationID) {
		if v.HidesNote(id) {
			continue
		}
		r := ReferencedNote{NoteID: id}
		for _, c := range x.seen(list, &shownLinks{view: v, noteID: id}) {
			r.Stood = r.Stood || c.stood()
			if v.Hides() {
				c.index = c.public
			}
			r.index = max(r.index, c.index)
		}
		if r.index > 0 {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b ReferencedNote) int { return cmp.Or(b.index-a.index, strings.Compare(a.NoteID, b.NoteID)) })
	return out
}

// notesOf copies the citations of a conversation.
func (x *Index) notesOf(conversationID string) map[string][]citation {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make(map[string][]citation, len(x.byTalk[conversationID]))
	for id, list := range x.byTalk[conversationID] {
		copied := make([]citation, len(list))
		for i, c := range list {
			copied[i] = *c
		}
		out[id] = copied
	}
	return out
}

// CoCitedNote is a note that other conversations stood on that also stood on some of a list of notes.
type CoCitedNote struct {
	NoteID        string
	Shared        int // the sum over these conversations of how many of the list they stood on
	Conversations int
	With          int // place in the list of the first note that one of them stood on
	Last          time.Time
}

// maxOthers is how many other conversations are looked at: those that share most.
const maxOthers = 100

// other is another conversation.
type other struct {
	id     string
	shared int
	with   int // place of the first note that it shares
	last   time.Time
}

// stake is what another conversation says of a note.
type stake struct {
	*other
	cites []*citation
}

// Together returns up to limit notes that other conversations than one stood on together with notes of a list, as a
// reader is shown it: those of the highest Shared first, then of most conversations, then the newest, then by id. Notes
// for which skip is true are left out. The error is that of a context that has ended.
func (x *Index) Together(ctx context.Context, v *audience.View, conversationID string, list []string, limit int,
	skip func(noteID string) bool,
) ([]CoCitedNote, error) {
	others, err := x.sharing(ctx, v, conversationID, list)
	if err != nil {
		return nil, err
	}
	stakes := x.stakes(others)
	// To find out what a reader is shown takes most of the time. It only lessens what counts, so notes are looked at by
	// what all citations would count, until no other one can come before those that there are.
	most := make([]CoCitedNote, 0, len(stakes))
	for id, of := range stakes {
		most = append(most, counted(id, of, (*citation).mayHaveStood))
	}
	slices.SortFunc(most, CoCitedNote.order)
	out := make([]CoCitedNote, 0, limit)
	for i := range most {
		if len(out) == limit && out[limit-1].order(most[i]) < 0 {
			break
		}
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		id := most[i].NoteID
		if skip(id) || v.HidesNote(id) {
			continue
		}
		links := shownLinks{view: v, noteID: id}
		t := counted(id, stakes[id], func(c *citation) bool { return v.Sees(c.public == 0) && links.of(c).stood() })
		if t.Conversations == 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, t, CoCitedNote.order)
		if out = slices.Insert(out, at, t); len(out) > limit {
			out = out[:limit]
		}
	}
	return out, nil
}

// order is that of Index.Together.
func (t CoCitedNote) order(o CoCitedNote) int {
	return cmp.Or(o.Shared-t.Shared, o.Conversations-t.Conversations, o.Last.Compare(t.Last), strings.Compare(t.NoteID, o.NoteID))
}

// stakes returns what conversations say of notes, by the ids of these.
func (x *Index) stakes(others []*other) map[string][]stake {
	out := make(map[string][]stake)
	for _, o := range others {
		x.mu.RLock()
		for id, cites := range x.byTalk[o.id] {
			out[id] = append(out[id], stake{o, slices.Clone(cites)})
		}
		x.mu.RUnlock()
	}
	return out
}

// counted counts the conversations that stood on a note.
func counted(noteID string, stakes []stake, stood func(*citation) bool) CoCitedNote {
	t := CoCitedNote{NoteID: noteID}
	for _, s := range stakes {
		uses := false
		for _, c := range s.cites {
			if !stood(c) {
				continue
			}
			if uses = true; c.at.After(t.Last) {
				t.Last = c.at
			}
		}
		if !uses {
			continue
		}
		if t.Conversations == 0 || s.with < t.With {
			t.With = s.with
		}
		t.Shared += s.shared
		t.Conversations++
	}
	return t
}

// mayHaveStood reports whether there is a reader for whom the message named the note, or the model has read of it.
func (c *citation) mayHaveStood() bool {
	stood := func(l link) bool { return l.stood() }
	return slices.ContainsFunc(c.own, stood) || slices.ContainsFunc(c.remote, stood)
}

// sharing returns the other conversations that stood on notes of a list, those that share most first.
func (x *Index) sharing(ctx context.Context, v *audience.View, conversationID string, list []string) ([]*other, error) {
	others := make(map[string]*other)
	for i, id := range list {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		counted := make(map[string]bool)
		for _, c := range x.of(v, id) {
			if c.conversation == conversationID || !c.stood() {
				continue
			}
			o := others[c.conversation]
			if o == nil {
				o = &other{id: c.conversation, with: i}
				others[c.conversation] = o
			}
			if !counted[o.id] {
				counted[o.id] = true
				o.shared++
			}
			if c.at.After(o.last) {
				o.last = c.at
			}
		}
	}
	out := make([]*other, 0, len(others))
	for _, o := range others {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *other) int {
		return cmp.Or(b.shared-a.shared, b.last.Compare(a.last), strings.Compare(a.id, b.id))
	})
	return out[:min(len(out), maxOthers)], nil
}
