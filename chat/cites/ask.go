package cites

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/yield"
)

// Stats are figures over the notes that messages refer to.
type Stats struct {
	Notes  []turn.ChatNoteUse // those that were read most often first
	Total  int                // notes, those behind the limit included
	Months []turn.ChatPeriod  // the newest first
}

// Stats counts the references of the messages that were said since a time, of as many notes as limit allows. The error
// is that of a context that has ended.
func (x *Index) Stats(ctx context.Context, v *audience.View, since time.Time, limit int) (*Stats, error) {
	out := &Stats{Notes: []turn.ChatNoteUse{}, Months: []turn.ChatPeriod{}}
	months := make(map[int]*month)
	for _, id := range x.notes() {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		n := turn.ChatNoteUse{NoteID: id}
		in := make(map[string]bool)
		list := x.of(v, id)
		for i := range list {
			c := &list[i]
			if c.at.Before(since) {
				continue
			}
			monthOf(months, c.at).add(c, id)
			in[c.conversation] = true
			count(&n.Direct, c.direct)
			count(&n.Search, c.search)
			count(&n.Used, c.used)
			if c.at.After(n.Last) {
				n.Last = c.at
			}
		}
		if n.Conversations = len(in); n.Conversations > 0 {
			out.Notes = append(out.Notes, n)
		}
	}
	slices.SortFunc(out.Notes, func(a, b turn.ChatNoteUse) int {
		return cmp.Or(b.Used-a.Used, b.Direct-a.Direct, b.Search-a.Search, b.Last.Compare(a.Last), strings.Compare(a.NoteID, b.NoteID))
	})
	out.Total = len(out.Notes)
	out.Notes = out.Notes[:min(limit, out.Total)]
	for i := range out.Notes {
		n := &out.Notes[i]
		n.Title, n.Path = named(v, n.NoteID)
	}
	for _, m := range months {
		m.Conversations = len(m.conversations)
		out.Months = append(out.Months, m.ChatPeriod)
	}
	slices.SortFunc(out.Months, func(a, b turn.ChatPeriod) int { return strings.Compare(b.Month, a.Month) })
	return out, nil
}

// month counts the references of a month.
type month struct {
	turn.ChatPeriod
	conversations map[string]bool
	note          string // the last that was counted: notes come one after the other
}

// monthOf returns the month of a time.
func monthOf(months map[int]*month, at time.Time) *month {
	year, number, _ := at.Local().Date()
	key := 12*year + int(number)
	m := months[key]
	if m == nil {
		m = &month{conversations: make(map[string]bool)}
		m.Month = at.Local().Format("2006-01")
		months[key] = m
	}
	return m
}

func (m *month) add(c *citation, note string) {
	m.conversations[c.conversation] = true
	count(&m.Notes, m.note != note)
	m.note = note
	count(&m.Direct, c.direct)
	count(&m.Search, c.search)
	count(&m.Used, c.used)
}

func count(n *int, counts bool) {
	if counts {
		*n++
	}
}

// named returns what a reader is shown of a note, nothing for one that is gone.
func named(v *audience.View, id string) (title, path string) {
	if n := v.Note(id); n != nil {
		return v.TitleOf(n), n.Path
	}
	return "", ""
}

// Citation is a message that refers to a note, with its conversation, as the reader sees them.
type Citation struct {
	*chat.FoundMessage
	Direct, Search, Used bool
}

// CitationCursor is where a list goes on: behind the message with an index, as the reader counts, of a conversation.
type CitationCursor struct {
	At           time.Time
	Conversation string
	Index        int
}

// Text is where in a conversation a list goes on, for PlaceOf.
func (p *CitationCursor) Text() string { return p.Conversation + "/" + strconv.Itoa(p.Index) }

// NewCitationCursor returns the Place at a time (RFC 3339) with a Text; nil where these are of no Place.
func NewCitationCursor(at, text string) *CitationCursor {
	t, err := time.Parse(time.RFC3339Nano, at)
	id, number, ok := strings.Cut(text, "/")
	index, bad := strconv.Atoi(number)
	if err != nil || bad != nil || !ok {
		return nil
	}
	return &CitationCursor{At: t, Conversation: id, Index: index}
}

// Citations is a part of the messages that refer to a note.
type Citations struct {
	List          []Citation // newest first
	Total         int        // messages
	Conversations int
	Next          *CitationCursor // nil: there is nothing behind the list
}

// ForNote returns up to limit messages that name a note or for which a model has read of it, with all those, too, for
// which it was only found, behind a place when after is not nil. The error is NotFound for an id of a note that is not
// there and that no such message refers to.
func (x *Index) ForNote(ctx context.Context, v *audience.View, noteID string, all bool, after *CitationCursor, limit int) (*Citations, error) {
	if err := entities.CheckID("noteId", noteID); err != nil {
		return nil, err
	}
	list := x.of(v, noteID)
	if len(list) == 0 && v.Note(noteID) == nil {
		err := fault.Missing("note", noteID)
		err.Field, err.Hint = "noteId", "give the id of a note; notes.resolve finds it by its title"
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c citation) bool { return !all && !c.stood() })
	place := func(c citation) CitationCursor {
		if v.Hides() {
			return CitationCursor{c.at, c.conversation, c.public}
		}
		return CitationCursor{c.at, c.conversation, c.index}
	}
	slices.SortFunc(list, func(a, b citation) int { return order(place(a), place(b)) })
	out := &Citations{List: []Citation{}, Total: len(list)}
	in := make(map[string]bool)
	for _, c := range list {
		in[c.conversation] = true
	}
	out.Conversations = len(in)
	if after != nil {
		begin, same := slices.BinarySearchFunc(list, *after, func(c citation, p CitationCursor) int { return order(place(c), p) })
		if same {
			begin++
		}
		list = list[begin:]
	}
	if len(list) > limit {
		list = list[:limit]
		last := place(list[limit-1])
		out.Next = &last
	}
	keys := make([]string, len(list))
	for i, c := range list {
		keys[i] = c.key
	}
	shown, err := x.chats.Found(ctx, v, keys)
	if err != nil {
		return nil, err
	}
	for i, m := range shown {
		if m != nil { // it was not deleted or hidden meanwhile
			out.List = append(out.List, Citation{m, list[i].direct, list[i].search, list[i].used})
		}
	}
	return out, nil
}

// order puts the newest first; what was said at one time in one conversation, the last first.
func order(a, b CitationCursor) int {
	return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Conversation, b.Conversation), b.Index-a.Index)
}

// Graph is which conversations stood on which notes.
type Graph struct {
	Nodes []turn.ChatGraphNode // the heaviest first
	Edges []turn.ChatGraphEdge // the heaviest first
	More  bool                 // whether something is left out
}

// Graph returns the heaviest edges, with at most so many nodes. What was only found makes no edge. The error is that of
// a context that has ended.
func (x *Index) Graph(ctx context.Context, v *audience.View, nodes int) (*Graph, error) {
	type edge struct {
		turn.ChatGraphEdge
		last time.Time
	}
	var edges []edge
	weights := make(map[[2]string]int) // of nodes, by kind and id
	for _, id := range x.notes() {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		from := make(map[string]*edge)
		list := x.of(v, id)
		for i := range list {
			c := &list[i]
			if !c.stood() {
				continue
			}
			e := from[c.conversation]
			if e == nil {
				e = &edge{ChatGraphEdge: turn.ChatGraphEdge{From: c.conversation, To: id}}
				from[c.conversation] = e
			}
			e.Weight++
			count(&e.Used, c.used)
			if c.at.After(e.last) {
				e.last = c.at
			}
		}
		for conversation, e := range from {
			edges = append(edges, *e)
			weights[[2]string{turn.KindConversation, conversation}] += e.Weight
			weights[[2]string{turn.KindNote, id}] += e.Weight
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(b.Weight-a.Weight, b.Used-a.Used, b.last.Compare(a.last), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	out := &Graph{Nodes: []turn.ChatGraphNode{}, Edges: []turn.ChatGraphEdge{}}
	taken := make(map[[2]string]bool)
	for i := range edges {
		e := &edges[i]
		ends := [][2]string{{turn.KindConversation, e.From}, {turn.KindNote, e.To}}
		fresh := slices.DeleteFunc(slices.Clone(ends), func(end [2]string) bool { return taken[end] })
		if len(taken)+len(fresh) > nodes {
			out.More = true
			continue
		}
		for _, end := range fresh {
			taken[end] = true
			out.Nodes = append(out.Nodes, turn.ChatGraphNode{Kind: end[0], ID: end[1], Messages: weights[end]})
		}
		out.Edges = append(out.Edges, e.ChatGraphEdge)
	}
	return out, x.entitle(ctx, v, out)
}

// entitle gives the nodes their titles, and puts them into their order.
func (x *Index) entitle(ctx context.Context, v *audience.View, g *Graph) error {
	var ids []string
	for i := range g.Nodes {
		if g.Nodes[i].Kind == turn.KindConversation {
			ids = append(ids, g.Nodes[i].ID)
		}
	}
	titles, err := x.chats.Titles(ctx, v, ids)
	if err != nil {
		return err
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Kind == turn.KindConversation {
			n.Title, titles = titles[0], titles[1:]
			continue
		}
		n.Title, _ = named(v, n.ID)
	}
	slices.SortStableFunc(g.Nodes, func(a, b turn.ChatGraphNode) int {
		return cmp.Or(b.Messages-a.Messages, strings.Compare(a.Kind, b.Kind), strings.Compare(a.ID, b.ID))
	})
	return nil
}
