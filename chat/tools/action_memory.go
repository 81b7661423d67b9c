package tools

import (
	"context"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// RememberArgs are the args of remember.
type RememberArgs struct {
	Statement      string `json:"statement" long:"32000" jsonschema:"one thing about the person or their world"`
	Kind           string `json:"kind,omitempty" enum:"fact,preference,identity,goal,value,project,skill,decision,task,event,lesson,solution" jsonschema:"what it is; fact when absent"`
	Summary        string `json:"summary,omitempty" long:"800" jsonschema:"of a long statement, in a line"`
	ConversationID string `json:"conversationId,omitempty" long:"64" jsonschema:"the conversation in which it was said"`
	MessageID      string `json:"messageId,omitempty" long:"64" jsonschema:"the message of it that says so"`
}

var remember = declare(record.ProposeRemember, "A memory is written down.", (*call).remember)

func (c *call) remember(a *RememberArgs) (*PreparedAction, error) {
	d := memory.Draft{Statement: a.Statement, Summary: a.Summary, Kind: a.Kind, Source: record.MemorySource{Kind: "user", ConversationID: a.ConversationID}}
	if a.MessageID != "" {
		d.Source.MessageIDs = []string{a.MessageID}
	}
	checked, err := d.Record()
	if err != nil {
		return nil, err
	}
	a.Statement, a.Summary, a.Kind = checked.Statement, checked.Summary, checked.Kind
	p := &PreparedAction{}
	if c.Memory == nil {
		return p, nil
	}
	adding, err := c.Memory.Adding(c.View, d)
	if err != nil {
		return nil, err
	}
	p.Do = adding.Add
	p.Ended = func(ctx context.Context) {
		_ = adding.Ended(ctx) // where there are too many then, the next one that is written down archives more
	}
	return p, nil
}

// ForgetArgs are the args of forget.
type ForgetArgs struct {
	MemoryID  string `json:"memoryId" long:"64" jsonschema:"id of the memory that is put away"`
	Statement string `json:"statement,omitempty" long:"32000" jsonschema:"what it says"`
}

var forget = declare(record.ProposeForget, "A memory is archived: it is found no more, and memory.restore brings it back.", (*call).forget)

func (c *call) forget(a *ForgetArgs) (*PreparedAction, error) {
	p := &PreparedAction{}
	if c.Memory == nil {
		return p, nil
	}
	m, err := c.Memory.Get(c.View, a.MemoryID)
	if fault.KindOf(err) == fault.NotFound {
		return nil, missing("memoryId", "memory", a.MemoryID)
	}
	if err != nil {
		return nil, err
	}
	if m.Status == record.MemoryArchived {
		p.Already = "the memory is archived already"
	} else if !c.seen && m.Version != c.version {
		return nil, fault.Clash(fault.Changed, "the memory was changed since this was proposed").WithRef(m.ID).
			WithHint("look at it with memory.get; to put it away as it is, confirm with args")
	}
	a.MemoryID, a.Statement, p.Version = m.ID, m.Statement, m.Version
	if p.Already == "" {
		p.Do = func(tx *kv.Tx) error { return c.Memory.ArchiveTx(tx, c.View, m.ID, &m.Version) }
	}
	return p, nil
}

// PinArgs are the args of pin: the note or the memory stands in every prompt of the conversation.
type PinArgs struct {
	ConversationID string `json:"conversationId" long:"64" jsonschema:"id of the conversation"`
	NoteID         string `json:"noteId,omitempty" long:"64" jsonschema:"id of a note"`
	MemoryID       string `json:"memoryId,omitempty" long:"64" jsonschema:"in its place: id of a memory"`
	Label          string `json:"label,omitempty" long:"32000" jsonschema:"its title, or what it says"`
}

var pin = declare(record.ProposePin, "A note or a memory stands in every prompt of the conversation from then on.", (*call).pin)

func (c *call) pin(a *PinArgs) (*PreparedAction, error) {
	switch {
	case (a.NoteID == "") == (a.MemoryID == ""):
		return nil, fault.Field("noteId", "what is pinned is either a note or a memory").WithHint("give either noteId or memoryId")
	case a.NoteID != "":
		n := c.View.Note(a.NoteID)
		if n == nil {
			return nil, missing("noteId", "note", a.NoteID)
		}
		a.Label = c.View.TitleOf(n)
	case c.Memory != nil:
		m, err := c.Memory.Get(c.View, a.MemoryID)
		if fault.KindOf(err) == fault.NotFound {
			return nil, missing("memoryId", "memory", a.MemoryID)
		}
		if err != nil {
			return nil, err
		}
		a.MemoryID, a.Label = m.ID, m.Statement
	}
	return &PreparedAction{Do: func(tx *kv.Tx) error {
		return c.Conversations.PinTx(tx, c.View, a.ConversationID, a.NoteID, a.MemoryID)
	}}, nil
}

// SearchArgs are the args of search.
type SearchArgs struct {
	Query string `json:"query" long:"4096" jsonschema:"what is searched"`
}

// searchAction is done by the client: it has a window for what is found.
var searchAction = declare(record.ProposeSearch, "The client searches the notes, and shows what is found.", (*call).search)

func (c *call) search(a *SearchArgs) (*PreparedAction, error) {
	a.Query = oneLine(a.Query)
	return &PreparedAction{}, nil
}
