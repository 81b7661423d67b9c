package chat

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
)

// Forgotten is what ForgetAbout deletes.
type Forgotten struct {
	Messages      []string // their keys, in order
	Conversations []string // ids of those that are gone with them
	Titles        []string // ids of those that have another title, handle or system prompt
}

// Subject tells what is to be forgotten.
type Subject interface {
	In(texts ...string) bool // all of them together
}

// forgettable is a conversation of which something is to be forgotten.
type forgettable struct {
	id        string
	gone      []int // indexes of messages
	whole     bool
	retitling bool
}

// About returns which messages are about a subject and were said in its time, and of which conversations a title, a handle or
// a system prompt is, as far as the reader sees them. A message counts with all that is kept beside it. O(messages).
func (s *Store) About(ctx context.Context, v *audience.View, subject Subject, within func(said time.Time) bool) (out *Forgotten, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		list, err := findAbout(tx, v, subject, within)
		out = summed(list)
		return err
	})
	return out, err
}

// ForgetAbout deletes what About returns: in one transaction for each conversation. A conversation of which no message is left
// goes as a whole; another one keeps the numbers of its messages, and is called after what is left.
func (s *Store) ForgetAbout(ctx context.Context, v *audience.View, subject Subject, within func(said time.Time) bool) (out *Forgotten, err error) {
	var list []forgettable
	err = s.db.View(ctx, func(tx *kv.Tx) (err error) {
		list, err = findAbout(tx, v, subject, within)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		err := s.db.Update(ctx, func(tx *kv.Tx) error {
			c, err := Conversations.Get(tx, f.id)
			if err != nil || c == nil {
				return err
			}
			if f.whole {
				return deleteTx(tx, c)
			}
			return s.forgetIn(tx, c, f, subject)
		})
		if err != nil {
			return nil, err
		}
	}
	return summed(list), nil
}

func summed(list []forgettable) *Forgotten {
	out := &Forgotten{}
	for _, f := range list {
		for _, index := range f.gone {
			out.Messages = append(out.Messages, messageKey(f.id, index))
		}
		switch {
		case f.whole:
			out.Conversations = append(out.Conversations, f.id)
		case f.retitling:
			out.Titles = append(out.Titles, f.id)
		}
	}
	return out
}

// findAbout is About, by conversations.
func findAbout(tx *kv.Tx, v *audience.View, subject Subject, within func(said time.Time) bool) (list []forgettable, err error) {
	for id, c := range Conversations.All(tx, "") {
		if !sees(v, c) {
			continue
		}
		f := forgettable{id: id, retitling: subject.In(c.said()...)}
		left := 0
		for index := 1; index <= c.All.Messages; index++ {
			m, err := Messages.Get(tx, messageKey(id, index))
			if err != nil {
				return nil, err
			}
			switch {
			case m == nil:
			case v.Sees(m.private()) && within(m.CreatedAt) && m.about(subject):
				f.gone = append(f.gone, index)
			default:
				left++
			}
		}
		f.whole = left == 0 && len(f.gone) > 0
		if len(f.gone) > 0 || f.retitling {
			list = append(list, f)
		}
	}
	return list, tx.Err()
}

// said are the texts of a conversation itself. Handles are words with _ between them.
func (c *conversation) said() []string {
	list := []string{c.Title, c.HandleTitle, c.SystemPrompt}
	for _, m := range c.Made {
		list = append(list, m.Text)
	}
	for _, h := range append([]string{c.Handle}, c.Aliases...) {
		list = append(list, strings.ReplaceAll(h, "_", " "))
	}
	return list
}

func (m *message) about(subject Subject) bool {
	texts := []string{m.Content}
	for _, value := range m.Members {
		texts = append(texts, stringsOf(value)...)
	}
	return subject.In(texts...)
}

// stringsOf returns the strings in a JSON value.
func stringsOf(value json.RawMessage) (list []string) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return []string{string(value)}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			list = append(list, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return list
}

// forgetIn deletes messages of a conversation, and calls it anew where its title or its handle tells of the subject.
func (s *Store) forgetIn(tx *kv.Tx, c *conversation, f forgettable, subject Subject) error {
	var left []kept
	seen := false
	for index := 1; index <= c.All.Messages; index++ {
		m, err := Messages.Get(tx, messageKey(c.ID, index))
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if !slices.Contains(f.gone, index) {
			left = append(left, kept{index: m.Index, public: m.PublicIndex, role: m.Role, added: m.AddedAt})
			continue
		}
		seen = seen || !m.private()
		if err := deleteMessage(tx, c, m); err != nil {
			return err
		}
		if err := DeleteTrace(tx, c.ID, m.ID); err != nil {
			return err
		}
		if err := deleteParts(tx, nameKey(c.ID, m.ID)+"/"); err != nil {
			return err
		}
	}
	c.All, c.Public = counted(c.All.Messages, left, false), counted(c.Public.Messages, left, true)
	c.Made = slices.DeleteFunc(slices.Clone(c.Made), func(m madeTitle) bool {
		return subject.In(m.Text) || slices.Contains(f.gone, m.Question) || slices.Contains(f.gone, m.Answer)
	})
	if subject.In(c.Title) {
		c.Title = ""
	}
	if subject.In(c.SystemPrompt) {
		c.SystemPrompt = ""
	}
	if err := s.callWithout(tx, c, subject); err != nil {
		return err
	}
	c.changed(c.changeTime(s.now(tx)), seen || f.retitling)
	return Conversations.Put(tx, c.ID, c)
}

// callWithout takes the handles from a conversation that tell of a subject, and gives it another one where it has none left.
func (s *Store) callWithout(tx *kv.Tx, c *conversation, subject Subject) error {
	tells := func(handle string) bool { return subject.In(strings.ReplaceAll(handle, "_", " ")) }
	for _, former := range c.Aliases {
		if tells(former) {
			if err := handles.Delete(tx, refs.FoldHandle(former)); err != nil {
				return err
			}
		}
	}
	c.Aliases = slices.DeleteFunc(slices.Clone(c.Aliases), tells)
	if !tells(c.Handle) && !subject.In(c.HandleTitle) {
		return nil
	}
	if err := handles.Delete(tx, refs.FoldHandle(c.Handle)); err != nil {
		return err
	}
	open := c.OpenHandles.Has(c.Handle)
	title := c.Title
	c.HandleTitle, c.HandleMessage = title, 0
	first := c.Public.User
	if c.Private {
		first = c.All.User
	}
	if title == "" && first > 0 {
		m, err := Messages.Get(tx, messageKey(c.ID, first))
		if err != nil {
			return err
		}
		if m != nil {
			title, c.HandleMessage = TitleOf(m.Content), m.Index
		}
	}
	if err := s.callNew(tx, c, title); err != nil {
		return err
	}
	if open {
		c.OpenHandles = append(slices.Clip(c.OpenHandles), refs.FoldHandle(c.Handle))
	}
	return audience.KeepClosedTx(tx, c.Handled(), c.Aliases, c.OpenHandles)
}
