package chat

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Question is what a user says to be answered.
type Question struct {
	ConversationID  string // empty: a new one, unless ClientMessageID is that of a message
	Content         string
	ClientMessageID string
	Private         bool // keep the message, and with it the answer, from remote readers

	// Replaces is the id of a message of a user in whose place this one is said, in a branch of its own.
	Replaces string
	// ParentID is the id of the message that this one follows; empty: the last one of the newest branch.
	ParentID string
	// Regenerate is the id of a message of a user that is to be answered anew, or of its answer. Nothing else
	// is said then.
	Regenerate string

	// Public tells that a remote model is to answer: a question that is private is then refused with ErrPrivate.
	Public bool
	// Links are what Content refers to, and Told says how a model is told of it; nil: that is not kept, or not told.
	Links *ReferenceLists
	Told  *ReferenceNotice
	// Empty tells that Content may be empty, since something else is asked about.
	Empty bool

	// NewID and ID are those of a new conversation and of the message; empty: they are made. At is when it was said;
	// zero: now.
	NewID, ID string
	At        time.Time
}

// ErrPrivate is why a question is not stored that a remote model is to answer: it is private, or its conversation is.
var ErrPrivate = errors.New("the question is private")

// Turn is a question that is stored, and the place of its answer.
type Turn struct {
	Conversation *record.Conversation
	Question     *record.ChatMessage
	Answer       *record.ChatMessage // that is there already, since the question is a repeat; nil: none
	AnswerID     string              // of the answer to come
	Fresh        bool                // the conversation was made for the question

	index int             // of the question, for all readers
	links *ReferenceLists // of the question, if it was stored now
}

// Answer is what came of a turn.
type Answer struct {
	Content      string
	Reasoning    string
	ToolCalls    []record.ChatToolCall
	Actions      []record.ChatAction
	Warnings     []record.ChatWarning
	Finish       string
	Usage        *record.ChatUsage
	Provider     string
	Model        string
	Memories     []string // ids of those that the model was shown
	UsedMemories []string // those of them on which the answer stands, see Store.Refer
	StandsOn     record.StandsOn
	Private      bool      // something private went into it
	At           time.Time // when it was given; zero: now

	Trace *Trace // how it was given; nil: that is not kept

	Refs ReferenceLists // to notes, see Store.Refer
}

func (a *Answer) draft(id string) Draft {
	return Draft{
		Role: record.RoleAssistant, Content: a.Content, Private: a.Private, ID: id, finish: a.Finish, memories: a.Memories, usedMemories: a.UsedMemories, stands: a.StandsOn,
		refs: a.Refs, CreatedAt: a.At,
		details: details{
			Reasoning: a.Reasoning, ToolCalls: a.ToolCalls, Actions: a.Actions, Warnings: a.Warnings, Usage: a.Usage,
			Provider: a.Provider, Model: a.Model,
		},
	}
}

func (s *Store) checkQuestion(q *Question) error {
	text := strings.TrimSpace(q.Content)
	switch {
	case !utf8.ValidString(q.Content):
		return fault.Field("text", "text is not UTF-8").WithHint("give text in UTF-8")
	case q.ParentID != "" && (q.Replaces != "" || q.Regenerate != ""):
		return fault.Field("parentId", "parentId says which message this one follows, and so do replaces and regenerate").
			WithHint("give one of them")
	case q.Regenerate != "" && (text != "" || q.Replaces != "" || q.ClientMessageID != ""):
		return fault.Field("regenerate", "regenerate says which message is to be answered anew, and the call says another one").
			WithHint("leave out text, replaces and clientMessageId; to say something else, give replaces instead")
	case (q.Regenerate != "" || q.Replaces != "" || q.ParentID != "") && q.ConversationID == "":
		return fault.Field("conversationId", "conversationId is absent").WithHint("name the conversation of the message")
	case text == "" && !q.Empty && q.Regenerate == "":
		return fault.Field("text", "text is empty").WithHint("say something, or attach a note, an image or a file")
	case len(q.Content) > s.opts.Limits.Content:
		return fault.TooLarge("text", len(q.Content), s.opts.Limits.Content, "bytes").
			WithHint("give a shorter text, or attach it as a file")
	}
	return checkClientID("clientMessageId", q.ClientMessageID)
}

// Ask stores a question, in a new conversation where none is named. A question with the client id of one that is
// there stores nothing; its answer is in the turn, if it has one. The errors are Invalid, NotFound and Limit.
func (s *Store) Ask(ctx context.Context, v *audience.View, q Question) (t *Turn, err error) {
	if err := s.checkQuestion(&q); err != nil {
		return nil, err
	}
	d := Draft{
		Role: record.RoleUser, Content: q.Content, ClientMessageID: q.ClientMessageID, Private: q.Private, told: q.Told,
		ID: q.ID, CreatedAt: q.At,
	}
	if q.Links != nil {
		d.refs = *q.Links
	}
	err = s.db.Update(ctx, func(tx *kv.Tx) (err error) {
		t, err = s.askTx(tx, v, &q, d)
		return err
	})
	if t != nil {
		t.links = q.Links
	}
	return t, err
}

func (s *Store) askTx(tx *kv.Tx, v *audience.View, q *Question, d Draft) (*Turn, error) {
	said := AppendRequest{ConversationID: q.ConversationID, NewID: q.NewID, Messages: []Draft{d}}
	c, err := s.target(tx, v, &said)
	if err != nil {
		return nil, err
	}
	t := &Turn{AnswerID: s.opts.NewID(), Fresh: c == nil}
	if t.Fresh {
		if c, err = s.create(tx, &said, s.now(tx)); err != nil {
			return nil, err
		}
	}
	var m *message
	if !t.Fresh {
		if m, err = s.asked(tx, v, c, q, t); err != nil {
			return nil, err
		}
	}
	if m == nil {
		if err := follows(tx, v, c, q, &d); err != nil {
			return nil, err
		}
		if q.Public && (d.Private || c.Private) {
			return nil, ErrPrivate
		}
		if m, err = s.add(tx, c, &d, false, s.now(tx)); err != nil {
			return nil, err
		}
		if err := Conversations.Put(tx, c.ID, c); err != nil {
			return nil, err
		}
	}
	if q.Public && t.Answer == nil && (m.private() || c.Private) {
		return nil, ErrPrivate
	}
	if t.Answer == nil && s.full(v, c) {
		return nil, fullOf(s.opts.Limits.Messages)
	}
	t.index = m.Index
	return t, s.showTurn(tx, v, c, m, t)
}

// follows has a message follow the one that its question says.
func follows(tx *kv.Tx, v *audience.View, c *conversation, q *Question, d *Draft) error {
	switch {
	case q.ParentID != "":
		parent, err := messageOf(tx, v, c, "parentId", q.ParentID)
		if err != nil {
			return err
		}
		d.after = &parent.Index
	case q.Replaces != "":
		former, err := messageOf(tx, v, c, "replaces", q.Replaces)
		if err != nil {
			return err
		}
		if former.Role != record.RoleUser {
			return fault.Field("replaces", "the message %q is none of a user", q.Replaces).
				WithHint("to have a question answered anew, give regenerate")
		}
		after := c.Forks.Parent(former.Index)
		d.after, d.Private = &after, d.Private || former.private()
	}
	return nil
}

// Repeat returns the turn of a question that was asked before, by its client id, and answered; nil for another. It
// stores nothing.
func (s *Store) Repeat(ctx context.Context, v *audience.View, q Question) (t *Turn, err error) {
	if q.ClientMessageID == "" || q.Regenerate != "" {
		return nil, nil
	}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		said := AppendRequest{ConversationID: q.ConversationID, Messages: []Draft{{ClientMessageID: q.ClientMessageID}}}
		c, err := s.target(tx, v, &said)
		if c == nil || err != nil {
			return err
		}
		found := &Turn{}
		m, err := s.asked(tx, v, c, &q, found)
		if m == nil || err != nil || found.Answer == nil {
			return err
		}
		t = found
		return s.showTurn(tx, v, c, m, t)
	})
	return t, err
}

// Anew returns the message of a user that a question asks about anew, as it was written; nil for another question. The
// errors are those of Ask.
func (s *Store) Anew(ctx context.Context, v *audience.View, q Question) (m *record.ChatMessage, err error) {
	if q.Regenerate == "" {
		return nil, nil
	}
	if err := s.checkQuestion(&q); err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := s.find(tx, v, q.ConversationID)
		if err != nil {
			return fault.Under("conversationId", err)
		}
		t := &Turn{}
		found, err := s.asked(tx, v, c, &q, t)
		if err != nil {
			return err
		}
		m = &record.ChatMessage{ID: found.ID, Content: found.Content, Private: found.private() || c.Private}
		return nil
	})
	return m, err
}

// asked returns the message that a question repeats, or asks about anew; nil for none.
func (s *Store) asked(tx *kv.Tx, v *audience.View, c *conversation, q *Question, t *Turn) (*message, error) {
	if q.Regenerate == "" {
		m, err := repeated(tx, v, q.ClientMessageID, c.ID)
		if m == nil || err != nil {
			return nil, err
		}
		if m.Role != record.RoleUser {
			return nil, fault.Field("clientMessageId", "the message with this id is none of a user").
				WithHint("give each message an id of its own")
		}
		return m, s.answered(tx, v, c, m, t)
	}
	m, err := messageOf(tx, v, c, "regenerate", q.Regenerate)
	if err != nil {
		return nil, err
	}
	if m.Role == record.RoleAssistant {
		m, err = c.parentSeen(tx, v, m.Index)
	}
	if err == nil && (m == nil || m.Role != record.RoleUser) {
		return nil, fault.Field("regenerate", "the message %q answers none of a user", q.Regenerate).
			WithHint("name a message of a user, or its answer")
	}
	return m, err
}

// Resume returns the turn of a question that is stored, for an answer that was given before.
func (s *Store) Resume(ctx context.Context, v *audience.View, conversationID, questionID, answerID string) (t *Turn, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := Conversations.Get(tx, conversationID)
		if err != nil || c == nil {
			return cmp.Or(err, missing(conversationID))
		}
		for _, m := range Messages.All(tx, messagePrefix(c.ID)) {
			if m.ID == questionID {
				t = &Turn{AnswerID: answerID, index: m.Index}
				return s.showTurn(tx, v, c, m, t)
			}
		}
		return cmp.Or(tx.Err(), error(fault.Missing("message", questionID)))
	})
	return t, err
}

// full reports whether a conversation has no room for an answer, as far as a reader may know.
func (s *Store) full(v *audience.View, c *conversation) bool {
	most := s.opts.Limits.Messages
	return c.Public.Messages >= most || !v.Hides() && c.All.Messages-c.Public.Messages >= most
}

func fullOf(most int) error {
	return fault.New(fault.Limit, "a conversation has at most %d messages", most).WithHint("begin another conversation")
}

// answered puts the newest answer to a message into a turn, if there is one.
func (s *Store) answered(tx *kv.Tx, v *audience.View, c *conversation, m *message, t *Turn) error {
	index := m.Index + 1
	for _, f := range c.Forks {
		if f.Parent == m.Index {
			index = f.Index
		}
	}
	if c.Forks.Parent(index) != m.Index {
		return nil
	}
	a, err := Messages.Get(tx, messageKey(c.ID, index))
	if err != nil || a == nil || a.Role != record.RoleAssistant || !v.Sees(a.private()) {
		return err
	}
	t.Answer, err = s.shownAlone(tx, v, c, a)
	return err
}

// messageOf returns the message of a conversation that has an id.
func messageOf(tx *kv.Tx, v *audience.View, c *conversation, field, id string) (*message, error) {
	for _, m := range Messages.All(tx, messagePrefix(c.ID)) {
		if m.ID == id && v.Sees(m.private()) {
			return m, nil
		}
	}
	if err := tx.Err(); err != nil {
		return nil, err
	}
	err := fault.Missing("message", id).WithHint("give the id of a message of the conversation")
	err.Field = field
	return nil, err
}

func (s *Store) showTurn(tx *kv.Tx, v *audience.View, c *conversation, m *message, t *Turn) (err error) {
	if t.Conversation, err = s.shown(tx, v, c); err != nil {
		return err
	}
	t.Question, err = s.shownAlone(tx, v, c, m)
	return err
}

// shownAlone is shownMessage for a message that is not one of a page.
func (s *Store) shownAlone(tx *kv.Tx, v *audience.View, c *conversation, m *message) (*record.ChatMessage, error) {
	handleShown, err := showsHandle(tx, v, c)
	if err != nil {
		return nil, err
	}
	out := s.shownMessage(v, c, handleShown, m)
	out.ParentID, err = c.parentOf(tx, v, m)
	return out, err
}

// Answered stores the answer of a turn in the place of its parts. The error is NotFound when the conversation was
// deleted meanwhile, and Limit when it is full.
func (s *Store) Answered(ctx context.Context, v *audience.View, t *Turn, a *Answer) (out *record.ChatMessage, err error) {
	public := false
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		c, err := Conversations.Get(tx, t.Conversation.ID)
		if err != nil {
			return err
		}
		if c == nil {
			return missing(t.Conversation.ID)
		}
		if err := deleteParts(tx, partPrefix(c.ID, t.AnswerID)); err != nil {
			return err
		}
		d := a.draft(t.AnswerID)
		d.after = &t.index
		if d.Private, err = a.Refs.Hides(tx, d.Private); err != nil {
			return err
		}
		if d.Private, err = s.hides(tx, a, d.Private); err != nil {
			return err
		}
		m, err := s.add(tx, c, &d, false, s.now(tx))
		if err != nil {
			return err
		}
		public = !m.private() && !c.Private
		if err := Conversations.Put(tx, c.ID, c); err != nil {
			return err
		}
		if a.Trace != nil {
			if err := PutTrace(tx, c.ID, m.ID, a.Trace); err != nil {
				return err
			}
		}
		out, err = s.shownAlone(tx, v, c, m)
		return err
	})
	if err == nil && s.follower != nil {
		s.follower.Said(t.Conversation.ID, public)
	}
	return out, err
}
