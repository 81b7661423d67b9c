package chat

import (
	"context"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// madeTitle is a title that a model made of a turn. It stands where none is set, for a reader whose first turn that is.
type madeTitle struct {
	Text     string `json:"text,omitempty"` // empty: it was asked once, and nothing came of it
	Private  bool   `json:"private,omitempty"`
	Question int    `json:"question"` // index of a message
	Answer   int    `json:"answer"`
}

// maxMade is how many turns are given a title: the first one for either reader, and again where the answer to it was
// private and another one is not.
const maxMade = 3

// FirstTurn is a turn that may give a conversation its title.
type FirstTurn struct {
	Question, Answer string // what a local reader is shown
	Private          bool   // something in it is kept from remote readers

	question, answer     int
	questionID, answerID string
}

// there reports whether the messages of a turn are.
func (t *FirstTurn) there(tx *kv.Tx, conversationID string) (bool, error) {
	q, err := Messages.Get(tx, messageKey(conversationID, t.question))
	if err != nil || q == nil || q.ID != t.questionID {
		return false, err
	}
	a, err := Messages.Get(tx, messageKey(conversationID, t.answer))
	return a != nil && a.ID == t.answerID, err
}

// Untold returns the turn of an answer if a title is to be made of it: it is the first one for some reader, no title is
// set, and none was asked for it before. nil for any other one, and for what is gone. public is what remote readers see.
func (s *Store) Untold(ctx context.Context, v, public *audience.View, id, answerID string) (t *FirstTurn, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		t = nil
		c, err := Conversations.Get(tx, id)
		if err != nil || c == nil || c.Title != "" || len(c.Made) >= maxMade {
			return err
		}
		for _, first := range []int{c.All.User, c.Public.User} {
			if t, err = untold(tx, v, public, c, first, answerID); t != nil || err != nil {
				return err
			}
		}
		return nil
	})
	return t, err
}

func untold(tx *kv.Tx, v, public *audience.View, c *conversation, first int, answerID string) (*FirstTurn, error) {
	if first == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	q, err := Messages.Get(tx, messageKey(c.ID, first))
	if q == nil || err != nil {
		return nil, err
	}
	var a *message
	for _, m := range Messages.All(tx, messagePrefix(c.ID)) {
		if m.ID == answerID && m.Index > first && c.Forks.Parent(m.Index) == first && m.Role == record.RoleAssistant {
			a = m
		}
	}
	if err := tx.Err(); a == nil || err != nil {
		return nil, err
	}
	t := &FirstTurn{
		Question: v.TextOf("", q.Content), Answer: v.TextOf("", a.Content),
		question: q.Index, answer: a.Index, questionID: q.ID, answerID: a.ID,
	}
	t.Private = c.Private || !told(public, q) || !told(public, a)
	if c.tried(t) {
		return nil, nil //nolint:nilnil // there is none
	}
	return t, nil
}

// told reports whether a reader is shown a message as it is.
func told(v *audience.View, m *message) bool {
	return v.Sees(m.private()) && v.TextOf("", m.Content) == m.Content
}

// tried reports whether a title was asked for a turn that remote readers see as much of.
func (c *conversation) tried(t *FirstTurn) bool {
	return slices.ContainsFunc(c.Made, func(m madeTitle) bool {
		return m.Question == t.question && (t.Private || !m.Private)
	})
}

// Entitle keeps what a model called a turn; "" says that it found nothing. It changes nothing where a title was set
// meanwhile, or where something else has become of the turn.
func (s *Store) Entitle(ctx context.Context, id string, t *FirstTurn, title string) error {
	if err := checkTitle(title); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *kv.Tx) error {
		c, err := Conversations.Get(tx, id)
		if err != nil || c == nil || c.Title != "" || len(c.Made) >= maxMade || c.tried(t) {
			return err
		}
		if there, err := t.there(tx, id); err != nil || !there {
			return err
		}
		c.Made = append(c.Made, madeTitle{Text: title, Private: t.Private, Question: t.question, Answer: t.answer})
		if title != "" {
			c.changed(c.changeTime(s.now(tx)), !t.Private)
		}
		return Conversations.Put(tx, c.ID, c)
	})
}

// titleUnset returns what a conversation without a title is called for a reader: what a model called its first turn,
// else the beginning of its first message. "" where no message names it.
func titleUnset(tx *kv.Tx, v *audience.View, c *conversation) (string, error) {
	for _, m := range slices.Backward(c.Made) {
		if m.Text == "" || m.Question != c.counted(v).User || !v.Sees(m.Private) {
			continue
		}
		shown, err := m.shows(tx, v, c)
		if err != nil {
			return "", err
		}
		if shown {
			return v.TextOf("", m.Text), nil
		}
	}
	return titleOfMessage(tx, v, c)
}

// shows reports whether a reader is still shown all that a title was made of.
func (t *madeTitle) shows(tx *kv.Tx, v *audience.View, c *conversation) (bool, error) {
	if !v.Hides() {
		return true, nil
	}
	for _, index := range []int{t.Question, t.Answer} {
		m, err := Messages.Get(tx, messageKey(c.ID, index))
		if err != nil || m == nil || !told(v, m) {
			return false, err
		}
	}
	return true, nil
}

// forgetMade drops what models called a conversation, since a person has set a title or wants none. seen tells whether
// remote readers may have seen one.
func (c *conversation) forgetMade() (had, seen bool) {
	c.Made = slices.Clone(c.Made)
	for i := range c.Made {
		m := &c.Made[i]
		had, seen = had || m.Text != "", seen || m.Text != "" && !m.Private
		m.Text = ""
	}
	return had, seen
}
