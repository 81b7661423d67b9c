package chat

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// remembers reports whether a reader sees a memory.
func (s *Store) remembers(v *audience.View, id string) bool {
	return s.Numbered(v, id) > 0
}

func (s *Store) rememberedBy(v *audience.View) func(id string) bool {
	return func(id string) bool { return s.remembers(v, id) }
}

func (s *Store) numberedBy(v *audience.View) func(id string) int64 {
	return func(id string) int64 { return s.Numbered(v, id) }
}

// Numbered is Memories.Numbered, for a store without memories too.
func (s *Store) Numbered(v *audience.View, id string) int64 {
	if s.opts.Memories == nil {
		return 0
	}
	return s.opts.Memories.Numbered(v, id)
}

// Put makes a conversation without messages, of an id or of a new one for "", or changes the one that has the id. The
// errors are Invalid, NotFound for what is pinned and does not exist, Conflict for another version, and Limit.
func (s *Store) Put(ctx context.Context, v *audience.View, id string, ch Change) (out *record.Conversation, err error) {
	set := &ch.Settings
	if id != "" {
		if err := entities.CheckID("id", id); err != nil {
			return nil, err
		}
	}
	if err := set.Check(v, s.rememberedBy(v)); err != nil {
		return nil, err
	}
	said := AppendRequest{NewID: id, Title: deref(set.Title), Private: deref(set.Private)}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		there, err := Conversations.Get(tx, id)
		if err != nil {
			return err
		}
		if there != nil {
			out, err = s.updateTx(tx, v, id, &ch)
			return err
		}
		if ch.IfVersion != nil && *ch.IfVersion != 0 {
			return missing(id)
		}
		c, err := s.create(tx, &said, s.now(tx))
		if err != nil {
			return err
		}
		s.set(v, c, set)
		if err := Conversations.Put(tx, c.ID, c); err != nil {
			return err
		}
		out, err = s.shown(tx, v, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// set sets what is given. changed tells whether anything is another than before, and seen whether it is for
// a remote reader.
func (s *Store) set(v *audience.View, c *conversation, set *Settings) (changed, seen bool) {
	assign(&c.Title, trimmed(set.Title), &seen)
	if set.Title != nil {
		had, shown := c.forgetMade()
		changed, seen = had, seen || shown
	}
	assign(&c.Private, set.Private, &seen)
	assign(&c.SystemPrompt, set.SystemPrompt, &seen)
	assign(&c.Provider, set.Provider, &seen)
	assign(&c.Model, trimmed(set.Model), &seen)
	tokens := set.MaxContext
	if set.UsualContext {
		tokens = new(int)
	}
	assign(&c.MaxContext, tokens, &seen)
	if t := set.Temperature; t != nil {
		had := c.Temperature
		c.Temperature = t
		if math.IsNaN(*t) {
			c.Temperature = nil
		}
		seen = seen || (had == nil) != (c.Temperature == nil) || had != nil && *had != *c.Temperature
	}
	changed = changed || seen
	replacePins(&c.PinnedNotes, set.PinnedNotes, func(id string) bool { return v.Note(id) != nil }, v, &changed)
	replacePins(&c.PinnedMemories, set.PinnedMemories, s.rememberedBy(v), v, &changed)
	return changed, seen
}

func trimmed(text *string) *string {
	if text == nil {
		return nil
	}
	t := strings.TrimSpace(*text)
	return &t
}

// assign sets a member to a value, unless that is nil.
func assign[T comparable](member, value *T, changed *bool) {
	if value != nil && *value != *member {
		*member, *changed = *value, true
	}
}

// changed counts a change. seen tells whether it changes anything for a remote reader.
func (c *conversation) changed(now time.Time, seen bool) {
	if c.SeenAt.IsZero() && !seen {
		c.SeenAt = c.ChangedAt
	}
	c.ChangedAt = now
	c.Version++
	if seen {
		c.SeenAt = time.Time{}
	} else {
		c.Unseen++
	}
}

// PublicChangedAt is when something was changed of the conversation itself that remote readers see.
func (c *conversation) PublicChangedAt() time.Time {
	if c.SeenAt.IsZero() {
		return c.ChangedAt
	}
	return c.SeenAt
}

// pinsSeen reports whether remote readers see other pins of a conversation than before.
func (s *Store) pinsSeen(before, now *conversation) bool {
	if s.opts.Remote == nil {
		return true
	}
	v := s.opts.Remote
	note := func(id string) bool { return v.Note(id) != nil }
	memory := func(id string) bool { return s.remembers(v, id) }
	return !slices.Equal(filterStrings(before.PinnedNotes, note), filterStrings(now.PinnedNotes, note)) ||
		!slices.Equal(filterStrings(before.PinnedMemories, memory), filterStrings(now.PinnedMemories, memory))
}

// versionFor returns the version that a reader is told.
func (c *conversation) versionFor(v *audience.View) int {
	if v.Hides() {
		return c.Version - c.Unseen
	}
	return c.Version
}
