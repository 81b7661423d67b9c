package cites

// A SourceLister shows what messages stood on as it is now: for each note and memory that one message, or the newest
// branch of a conversation, refers to, what to call it, where it can be opened, and whether it is still there
// (CHAT-28).
//
// What a message refers to is read as the reader sees the message, and all that is said of now is looked up with his
// View: he is told nothing that chat.get and notes.get would not tell him.
//
// Places are half-open and in UTF-16 code units of the message as the reader sees it. The errors are those of the store
// of conversations, NotFound if the message does not exist, and that of a context that has ended.
//
// Nothing is kept. A message by its number takes O(its references), one by its id is looked for from the end, and a
// conversation takes O(its messages). A heading is looked for in a note only for what is on the page.

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
	"github.com/ctxd/ctxd/entities/yield"
)

// SourceLister shows what messages stood on. New makes one.
type SourceLister struct {
	chats    *chat.Store
	memories chat.MemoryLookup
	passages chat.PassageLookup // nil: no book is looked at
}

// NewSourceLister returns the Shower of stores of conversations and of the memories and passages that they name.
func NewSourceLister(chats *chat.Store, memories chat.MemoryLookup, passages chat.PassageLookup) *SourceLister {
	return &SourceLister{chats, memories, passages}
}

// SourceRequest says what is to be shown: of one message by its id or its number, else of the newest branch.
type SourceRequest struct {
	Conversation string        // id or handle
	Message      string        // id; "": none
	Index        int           // number as the reader counts; 0: none
	All          bool          // also what was found and not used
	After        *SourceCursor // behind this one; nil: from the beginning
	Limit        int
}

// SourceCursor is where a list goes on: behind what stands first at a place of a message.
type SourceCursor struct {
	Rank     int // see the constants
	Index, N int // of the message, and in its list
}

// Ranks of what messages stood on.
const (
	used         = iota // a model has read of it
	linkedSource        // a person or a model has named it
	unused              // it was found
)

// SourcePage is a part of what messages stood on.
type SourcePage struct {
	List   []turn.ChatShownReference // what was used first, then what was linked, each in the order of the messages
	Total  int                       // of all pages
	Unused int                       // those that were found and not used: they are in Total with Request.All only
	Next   *SourceCursor             // nil: there is nothing behind the list
}

// Pages of messages that are read: small ones from the end of a conversation, where a message is looked for.
const (
	sourcePageMessages = 200
	lastMessages       = 32
)

// References returns what messages stood on as it is now.
func (x *SourceLister) References(ctx context.Context, v *audience.View, q SourceRequest) (*SourcePage, error) {
	found := &collection{reader: chat.NewReferenceReader(ctx, v, nil), at: make(map[string]int)}
	switch {
	case q.Message != "" && q.Index > 0:
		return nil, fault.Field("index", "messageId and index cannot be combined").WithHint("give one of them")
	case q.Message != "" || q.Index > 0:
		m, err := x.message(ctx, v, &q)
		if err != nil {
			return nil, err
		}
		found.spans = true
		found.add(m)
	default:
		if err := x.branch(ctx, v, q.Conversation, found.add); err != nil {
			return nil, err
		}
	}
	return x.page(ctx, v, found, &q)
}

// message returns the message that is asked for.
func (x *SourceLister) message(ctx context.Context, v *audience.View, q *SourceRequest) (*record.ChatMessage, error) {
	c, err := x.chats.Get(ctx, v, q.Conversation)
	if err != nil {
		return nil, fault.Under("conversationId", err)
	}
	if q.Message == "" {
		return x.numbered(ctx, v, c, q.Index)
	}
	for end := c.Messages; end > 0; end -= lastMessages {
		if err := yield.Point(ctx); err != nil {
			return nil, err
		}
		page, err := x.chats.Messages(ctx, v, c.ID, chat.AllBranches, max(end-lastMessages, 0), lastMessages)
		if err != nil {
			return nil, err
		}
		for _, m := range page.Messages {
			if m.ID == q.Message {
				return m, nil
			}
		}
	}
	missing := fault.Missing("message", q.Message).WithHint("give the id of a message of the conversation, as chat.get has it")
	missing.Field = "messageId"
	return nil, missing
}

func (x *SourceLister) numbered(ctx context.Context, v *audience.View, c *record.Conversation, index int) (*record.ChatMessage, error) {
	page, err := x.chats.Messages(ctx, v, c.ID, chat.AllBranches, index-1, 1)
	if err != nil {
		return nil, err
	}
	if len(page.Messages) == 0 || page.Messages[0].Index != index {
		err := fault.Missing("message", strconv.Itoa(index)).WithHint("the conversation has the messages 1 to %d", c.Messages)
		if c.Messages == 0 {
			err.Hint = "nothing was said in the conversation yet"
		}
		err.Field = "index"
		return nil, err
	}
	return page.Messages[0], nil
}

// branch gives the messages of the newest branch.
func (x *SourceLister) branch(ctx context.Context, v *audience.View, ref string, each func(*record.ChatMessage)) error {
	for after := 0; ; {
		if err := yield.Point(ctx); err != nil {
			return err
		}
		page, err := x.chats.Messages(ctx, v, ref, "", after, sourcePageMessages)
		if err != nil {
			return fault.Under("conversationId", err)
		}
		for _, m := range page.Messages {
			each(m)
			after = m.Index
		}
		if !page.More || len(page.Messages) == 0 {
			return nil
		}
	}
}

// collection has each record once that messages refer to.
type collection struct {
	reader *chat.ReferenceReader
	spans  bool // places are those of the one message
	list   []entry
	at     map[string]int // places in list, by key
}

type entry struct {
	record.ChatReference
	place    SourceCursor
	messages []string
}

// add takes in what a message refers to.
func (c *collection) add(m *record.ChatMessage) {
	for i := range m.References {
		r := m.References[i]
		if r.NoteID == "" && r.Wikilink != "" {
			r = c.reader.Now(r) // it may lead to a note by now that others lead to
		}
		key := chat.ReferenceKey(&r)
		at, known := c.at[key]
		if !known {
			c.at[key] = len(c.list)
			c.list = append(c.list, entry{r, SourceCursor{Rank: rankOf(&r), Index: m.Index, N: i}, []string{m.ID}})
			continue
		}
		e := &c.list[at]
		e.join(&r)
		if e.messages[len(e.messages)-1] != m.ID {
			e.messages = append(e.messages, m.ID)
		}
	}
}

// join takes in what a later message says of the same record: a link wins over what was found, and the newest summary
// stands.
func (e *entry) join(r *record.ChatReference) {
	if r.Type == record.ReferDirect && e.Type != record.ReferDirect {
		e.Type, e.Wikilink, e.Heading, e.Block, e.Alias, e.Embed = r.Type, r.Wikilink, r.Heading, r.Block, r.Alias, r.Embed
	}
	e.EntityID, e.Ref = cmp.Or(e.EntityID, r.EntityID), cmp.Or(e.Ref, r.Ref)
	e.Summary, e.Path = cmp.Or(r.Summary, e.Summary), cmp.Or(r.Path, e.Path)
	if r.Used && !e.Used || e.Snippet == "" {
		e.Snippet = cmp.Or(r.Snippet, e.Snippet)
	}
	e.Used = e.Used || r.Used
	e.place.Rank = rankOf(&e.ChatReference)
	for _, tool := range r.Tools {
		if !slices.Contains(e.Tools, tool) {
			e.Tools = append(slices.Clip(e.Tools), tool)
		}
	}
}

func rankOf(r *record.ChatReference) int {
	switch {
	case r.Used:
		return used
	case r.Type == record.ReferSearch, r.MemoryID != "":
		return unused
	}
	return linkedSource
}

// compareCursors puts what was used first.
func compareCursors(a, b SourceCursor) int { return cmp.Or(a.Rank-b.Rank, a.Index-b.Index, a.N-b.N) }

// page returns what of a collection is asked for.
func (x *SourceLister) page(ctx context.Context, v *audience.View, found *collection, q *SourceRequest) (*SourcePage, error) {
	list := found.list
	read, err := x.readable(ctx, v, list, q.Conversation)
	if err != nil {
		return nil, err
	}
	if v.Hides() { // what he does not see is not there
		list = slices.DeleteFunc(list, func(e entry) bool { return e.PassageID != "" && read[e.PassageID] == nil })
	}
	out := &SourcePage{List: []turn.ChatShownReference{}}
	for i := range list {
		if list[i].place.Rank == unused {
			out.Unused++
		}
	}
	if !q.All {
		list = slices.DeleteFunc(list, func(e entry) bool { return e.place.Rank == unused })
	}
	out.Total = len(list)
	slices.SortFunc(list, func(a, b entry) int { return compareCursors(a.place, b.place) })
	if q.After != nil {
		begin, same := slices.BinarySearchFunc(list, *q.After, func(e entry, p SourceCursor) int { return compareCursors(e.place, p) })
		if same {
			begin++
		}
		list = list[begin:]
	}
	if len(list) > q.Limit {
		list = list[:q.Limit]
		next := list[q.Limit-1].place
		out.Next = &next
	}
	memories := x.named(v, list)
	for i := range list {
		e := &list[i]
		switch {
		case e.MemoryID != "":
			out.List = append(out.List, renderMemory(e, memories[e.MemoryID]))
		case e.PassageID != "":
			out.List = append(out.List, found.passage(e, read[e.PassageID], x.passages != nil))
		default:
			out.List = append(out.List, found.note(e))
		}
	}
	return out, nil
}

// readable returns the passages of a list that the reader sees, by their ids.
func (x *SourceLister) readable(ctx context.Context, v *audience.View, list []entry, conversation string) (map[string]*record.Passage, error) {
	var ids []string
	for i := range list {
		if list[i].PassageID != "" {
			ids = append(ids, list[i].PassageID)
		}
	}
	if len(ids) == 0 || x.passages == nil {
		return nil, nil
	}
	c, err := x.chats.Get(ctx, v, conversation)
	if err != nil {
		return nil, err
	}
	found, err := x.passages.Found(ctx, v, c.ID, ids)
	out := make(map[string]*record.Passage, len(ids))
	for i, p := range found {
		out[ids[i]] = p
	}
	return out, err
}

// passage shows a reference to a passage of a book: by the title of now, the section and the page. p is nil for one that is gone;
// looked tells that it was looked for.
func (c *collection) passage(e *entry, p *record.Passage, looked bool) turn.ChatShownReference {
	out := c.shown(e, &e.ChatReference)
	out.Label = e.Ref
	switch {
	case p != nil:
		out.Label = strings.TrimSuffix(strings.TrimPrefix(p.Cite, "["), "]")
	case looked:
		out.Status, out.Reason = record.ReferDeleted, "The book was deleted, or read anew"
	}
	return out
}

// note shows a reference to a note.
func (c *collection) note(e *entry) turn.ChatShownReference {
	r := e.ChatReference
	if r.NoteID != "" && r.Reason != chat.NoteExistsNow {
		r = c.reader.Now(r)
	}
	out := c.shown(e, &r)
	if r.EntityID != "" {
		c.reader.EntityNow(&r)
		out.Label, out.URI, out.Status, out.Reason = c.reader.Label(&r), chat.ReferenceAddress(&r), r.Status, r.Reason
		out.Clickable = r.Status == record.ReferOK
	}
	return out
}

// shown shows a reference as it is now.
func (c *collection) shown(e *entry, r *record.ChatReference) turn.ChatShownReference {
	out := turn.ChatShownReference{
		EntityID: r.EntityID, PassageID: r.PassageID, Kind: r.Kind, Ref: r.Ref,
		Label: c.reader.Label(r), Summary: r.Summary, NoteID: r.NoteID, Path: r.Path, URI: chat.ReferenceAddress(r), Status: r.Status, Reason: r.Reason,
		Clickable: r.Status == record.ReferOK && r.NoteID != "", Spans: [][2]int{}, Used: r.Used, Type: r.Type, Tools: r.Tools,
		Wikilink: r.Wikilink, Snippet: r.Snippet, Messages: e.messages,
	}
	if c.spans && len(r.Spans) > 0 {
		out.Spans = r.Spans
	}
	return out
}

// named returns the memories that are on a page, by their ids.
func (x *SourceLister) named(v *audience.View, list []entry) map[string]*record.MemoryRecord {
	var ids []string
	for i := range list {
		if list[i].MemoryID != "" {
			ids = append(ids, list[i].MemoryID)
		}
	}
	out := make(map[string]*record.MemoryRecord, len(ids))
	for i, m := range x.memories.Seen(v, ids) {
		out[ids[i]] = m
	}
	return out
}

// labelLength is how long the label of a memory is, in code points.
const labelLength = 100

// renderMemory shows a reference to a memory; m is nil for one that was deleted meanwhile.
func renderMemory(e *entry, m *record.MemoryRecord) turn.ChatShownReference {
	out := turn.ChatShownReference{
		Label: e.Ref, Status: record.ReferOK, Spans: [][2]int{}, Used: e.Used, MemoryID: e.MemoryID, Ref: e.Ref, Messages: e.messages,
	}
	if m == nil {
		out.Status = record.ReferDeleted
		return out
	}
	out.Label, _ = text.Truncate(text.OneLine(cmp.Or(m.Summary, m.Statement)), labelLength)
	return out
}
