package cites

// An [Inspector] tells what a model got for an answer, and why: it finds the answer and shows its trace, which package
// chat keeps, to the reader of a View.
//
// It reads conversations as chat.get does, so a reader who does not see an answer is not told that it exists. A trace
// is read after its answer was: one that is deleted in between has none. An Inspector keeps nothing.

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Inspector shows answers with their traces. New makes one.
type Inspector struct {
	db     *kv.Store
	chats  *chat.Store
	traces *chat.TraceReader
}

// NewInspector returns the Inspector of a store.
func NewInspector(db *kv.Store, chats *chat.Store, memories chat.MemoryLookup, passages chat.PassageLookup) *Inspector {
	return &Inspector{db: db, chats: chats, traces: chat.NewTraceReader(memories, chats, passages)}
}

// Why a trace is absent.
const (
	notAnswered = "chat.send did not give this answer: it was appended or imported"
	notKept     = "the answer is from before traces were kept, or the daemon ended before the first part of it was stored"
)

// pageMessages is how many messages are read at a time.
const pageMessages = 200

// Inspect returns the answer with a number that the reader sees, or the newest answer to the message with it, or with 0
// the newest answer of the newest branch. The errors are NotFound, and Invalid for a message that is no part of a turn.
// O(1) for an answer that a conversation without branches has, else O(messages).
func (x *Inspector) Inspect(ctx context.Context, v *audience.View, ref string, index int) (*turn.ChatInspected, error) {
	c, err := x.chats.Get(ctx, v, ref)
	if err != nil {
		return nil, fault.Under("conversationId", err)
	}
	out := &turn.ChatInspected{Conversation: c}
	if index > 0 {
		out.Answer, err = x.answer(ctx, v, c, index)
	} else {
		out.Answer, err = x.newest(ctx, v, c)
	}
	if err != nil {
		return nil, err
	}
	if out.Question, err = x.question(ctx, v, c, out.Answer); err != nil {
		return nil, err
	}
	var t *chat.Trace
	err = x.db.View(ctx, func(tx *kv.Tx) (err error) {
		t, err = chat.GetTrace(tx, c.ID, out.Answer.ID)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case t == nil && out.Answer.Provider == "" && out.Answer.Model == "":
		out.Why = notAnswered
		return out, nil
	case t == nil:
		out.Why = notKept
		return out, nil
	}
	dropped := 0
	if t.History.Dropped {
		if dropped, err = x.before(ctx, v, c, out.Answer, t.History.First); err != nil {
			return nil, err
		}
	}
	if out.Trace, err = x.traces.Show(ctx, v, c.ID, t, dropped); err == nil {
		addLinks(ctx, v, out)
	}
	return out, err
}

// addLinks adds the notes that links of the question or of the answer name and that the model was not shown, also links
// that lead to none. What an answer cites it has used. The references of the answer have them; a trace does not.
func addLinks(ctx context.Context, v *audience.View, out *turn.ChatInspected) {
	reader := chat.NewReferenceReader(ctx, v, nil)
	for i := range out.Answer.References {
		r := &out.Answer.References[i]
		if r.MemoryID != "" || r.PassageID != "" || r.Kind != "" || r.EntityID != "" && r.NoteID == "" {
			continue
		}
		at := slices.IndexFunc(out.Trace.References, func(k turn.ChatTraceRef) bool {
			return k.Kind == prompt.KindNote && k.ID == r.NoteID && k.ID != ""
		})
		switch {
		case at >= 0:
			known := &out.Trace.References[at]
			known.Used = known.Used || r.Used
			if known.Title == "" { // it is gone
				known.Title = reader.Label(r)
			}
		case r.Type == record.ReferDirect && r.EntityID == "":
			out.Trace.References = append(out.Trace.References, linked(v, reader, r, out.Answer.CreatedAt))
		}
	}
}

// linked shows what a link names, as it is now.
func linked(v *audience.View, reader *chat.ReferenceReader, r *record.ChatReference, since time.Time) turn.ChatTraceRef {
	shown := turn.ChatTraceRef{
		Kind: prompt.KindNote, ID: r.NoteID, Title: reader.Label(r), Status: turn.TraceBroken, Origin: turn.OriginLink, Used: r.Used,
	}
	n := v.Note(r.NoteID)
	switch {
	case n != nil && n.UpdatedAt.After(since):
		shown.Title, shown.Status = v.TitleOf(n), turn.TraceChanged
	case n != nil:
		shown.Title, shown.Status = v.TitleOf(n), turn.TraceOK
	case r.NoteID != "":
		shown.Status = turn.TraceDeleted
		if v.Hides() {
			shown.ID = ""
		}
	}
	return shown
}

// answer returns the answer that a number leads to.
func (x *Inspector) answer(ctx context.Context, v *audience.View, c *record.Conversation, index int) (*record.ChatMessage, error) {
	m, err := x.at(ctx, v, c, index)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		err := fault.Missing("message", strconv.Itoa(index)).WithHint("the conversation has the messages 1 to %d", c.Messages)
		if c.Messages == 0 {
			err.Hint = "nothing was said in the conversation yet"
		}
		err.Field = "index"
		return nil, err
	case m.Role == record.RoleAssistant:
		return m, nil
	case m.Role != record.RoleUser:
		return nil, fault.Field("index", "message %d is neither an answer nor a message of the user", index).
			WithHint("give the number of an answer")
	}
	var answer, last *record.ChatMessage
	last = m
	err = x.each(ctx, v, c, chat.AllBranches, index, func(next *record.ChatMessage) bool {
		follows := next.ParentID == nil && last.ID == m.ID || next.ParentID != nil && *next.ParentID == m.ID
		if follows && next.Role == record.RoleAssistant {
			answer = next
		}
		last = next
		return true
	})
	if err == nil && answer == nil {
		return nil, unanswered("message " + strconv.Itoa(index) + " has no answer")
	}
	return answer, err
}

// newest returns the newest answer of the newest branch.
func (x *Inspector) newest(ctx context.Context, v *audience.View, c *record.Conversation) (answer *record.ChatMessage, err error) {
	for end := c.Messages; end > 0 && answer == nil; end -= pageMessages {
		err := x.each(ctx, v, c, "", max(end-pageMessages, 0), func(m *record.ChatMessage) bool {
			if m.Role == record.RoleAssistant {
				answer = m
			}
			return m.Index < end
		})
		if err != nil {
			return nil, err
		}
	}
	if answer == nil {
		return nil, unanswered("the conversation has no answer")
	}
	return answer, nil
}

func unanswered(what string) error {
	err := fault.New(fault.NotFound, "%s", what).WithHint("chat.send has a message answered")
	err.Field = "index"
	return err
}

// question returns the message that an answer follows, nil for none of a user that the reader sees.
func (x *Inspector) question(ctx context.Context, v *audience.View, c *record.Conversation, answer *record.ChatMessage,
) (q *record.ChatMessage, err error) {
	if answer.ParentID != nil && *answer.ParentID == "" {
		return nil, nil
	}
	if answer.ParentID == nil {
		const near = 16 // numbers of lost messages lie between
		err = x.each(ctx, v, c, chat.AllBranches, max(answer.Index-1-near, 0), func(m *record.ChatMessage) bool {
			if m.Index < answer.Index {
				q = m
			}
			return m.Index < answer.Index-1
		})
	} else {
		err = x.each(ctx, v, c, chat.AllBranches, 0, func(m *record.ChatMessage) bool {
			if m.ID == *answer.ParentID {
				q = m
			}
			return q == nil && m.Index < answer.Index
		})
	}
	if q != nil && q.Role != record.RoleUser {
		q = nil
	}
	return q, err
}

// before counts the messages that the reader sees of the branch of an answer before one with an id, and before the
// question where there is none.
func (x *Inspector) before(ctx context.Context, v *audience.View, c *record.Conversation, answer *record.ChatMessage, first string) (n int, err error) {
	err = x.each(ctx, v, c, answer.ID, 0, func(m *record.ChatMessage) bool {
		if m.ID == first || m.ID == answer.ID {
			return false
		}
		n++
		return true
	})
	if first == "" && n > 0 {
		n-- // the question
	}
	return n, err
}

// at returns the message with a number, nil for none.
func (x *Inspector) at(ctx context.Context, v *audience.View, c *record.Conversation, index int) (m *record.ChatMessage, err error) {
	page, err := x.chats.Messages(ctx, v, c.ID, chat.AllBranches, index-1, 1)
	if err == nil && len(page.Messages) > 0 && page.Messages[0].Index == index {
		m = page.Messages[0]
	}
	return m, err
}

// each gives the messages of a branch behind a number until yield says that it has enough.
func (x *Inspector) each(ctx context.Context, v *audience.View, c *record.Conversation, of string, after int,
	yield func(*record.ChatMessage) (more bool),
) error {
	for {
		page, err := x.chats.Messages(ctx, v, c.ID, of, after, pageMessages)
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			if !yield(m) {
				return nil
			}
			after = m.Index
		}
		if !page.More || len(page.Messages) == 0 {
			return nil
		}
	}
}
