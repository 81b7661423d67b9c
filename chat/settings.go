package chat

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/chat/llm"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Sizes of what can be set of a conversation.
const (
	MaxSystemPrompt = 64 << 10 // bytes
	MaxModel        = 200      // code points of the name of a model
	MaxPins         = 100      // notes, and memories, that a call pins

	DefaultMaxContext = 32_768 // tokens
	minContext        = 1_000
	maxContext        = 10_000_000
	maxTemperature    = 2
)

// Settings are what can be set of a conversation; what is nil stays.
type Settings struct {
	Title        *string // empty: that of the first message of a user again, also where a model had made one
	Private      *bool
	SystemPrompt *string  // empty: none
	Provider     *string  // empty: the one that is configured
	Model        *string  // empty: the one that is configured
	MaxContext   *int     // tokens
	UsualContext bool     // DefaultMaxContext again
	Temperature  *float64 // NaN: that of the model

	// Pins replace those that the reader sees. Each id counts once.
	PinnedNotes    *[]string
	PinnedMemories *[]string
}

// check refuses what a conversation can't have, and what a reader does not see.
func (s *Store) check(v *audience.View, set *Settings) error {
	if set.Title != nil {
		if err := checkTitle(*set.Title); err != nil {
			return err
		}
	}
	if err := set.checkModel(); err != nil {
		return err
	}
	err := checkPins("pinnedNoteIds", "note", set.PinnedNotes, func(id string) bool { return v.Note(id) != nil })
	if err != nil {
		return err
	}
	return checkPins("pinnedMemoryIds", "memory", set.PinnedMemories, func(id string) bool { return s.remembers(v, id) })
}

// checkModel checks what is said of the model and to it.
func (set *Settings) checkModel() error {
	if set.SystemPrompt != nil {
		switch p := *set.SystemPrompt; {
		case !utf8.ValidString(p):
			return fault.Field("systemPrompt", "systemPrompt is not UTF-8").WithHint("give text in UTF-8")
		case len(p) > MaxSystemPrompt:
			return fault.TooLarge("systemPrompt", len(p), MaxSystemPrompt, "bytes").WithHint("give a shorter text")
		}
	}
	if err := cmp.Or(checkNoKey("provider", set.Provider), checkNoKey("model", set.Model)); err != nil {
		return err
	}
	if set.Provider != nil && *set.Provider != "" {
		if err := entities.CheckID("provider", *set.Provider); err != nil {
			return err
		}
	}
	if set.Model != nil {
		m := *set.Model
		if !utf8.ValidString(m) || strings.ContainsFunc(m, unicode.IsControl) {
			return fault.Field("model", "model is no name in one line").WithHint("give the name by which its provider knows it")
		}
		if n := utf8.RuneCountInString(m); n > MaxModel {
			return fault.TooLarge("model", n, MaxModel, "characters").WithHint("give the name by which its provider knows it")
		}
	}
	if n := set.MaxContext; n != nil && (*n < minContext || *n > maxContext) {
		return fault.Field("maxContext", "maxContext is %d", *n).
			WithHint("give a number of tokens from %d to %d", minContext, maxContext)
	}
	if t := set.Temperature; t != nil && (*t < 0 || *t > maxTemperature) {
		return fault.Field("temperature", "temperature is %g", *t).WithHint("give a number from 0 to %d", maxTemperature)
	}
	return nil
}

// checkNoKey refuses a name that looks like a key, which is then neither kept nor shown.
func checkNoKey(field string, name *string) error {
	if name == nil || !llm.LooksLikeKey(*name) {
		return nil
	}
	return fault.Field(field, "%s looks like a key, and is no name", field).
		WithHint("chat.providers.NAME.key in the configuration says where a key is found; replace one that was shown")
}

func checkPins(field, sort string, ids *[]string, seen func(id string) bool) error {
	if ids == nil {
		return nil
	}
	if n := len(*ids); n > MaxPins {
		return fault.TooLarge(field, n, MaxPins, "items").WithHint("pin less: a prompt has room for few")
	}
	for i, id := range *ids {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := entities.CheckID(at, id); err != nil {
			return err
		}
		if !seen(id) {
			err := fault.Missing(sort, id).WithHint("leave it out")
			err.Field = at
			return err
		}
	}
	return nil
}

// remembers reports whether a reader sees a memory.
func (s *Store) remembers(v *audience.View, id string) bool {
	return s.numbered(v, id) > 0
}

// numbered is Options.Memory, for a store without one too.
func (s *Store) numbered(v *audience.View, id string) int64 {
	if s.opts.Memory == nil {
		return 0
	}
	return s.opts.Memory(v, id)
}

// only returns what of a list passes a test.
func only(list []string, test func(string) bool) []string {
	out := make([]string, 0, len(list))
	for _, x := range list {
		if test(x) {
			out = append(out, x)
		}
	}
	return out
}

// Create makes a conversation without messages. The errors are Invalid, NotFound for what is pinned and not
// there, and Limit.
func (s *Store) Create(ctx context.Context, v *audience.View, set Settings) (out *record.Conversation, err error) {
	if err := s.check(v, &set); err != nil {
		return nil, err
	}
	said := Said{Title: deref(set.Title), Private: deref(set.Private)}
	err = s.db.Update(ctx, func(tx *kv.Tx) error {
		c, err := s.create(tx, &said, s.now(tx))
		if err != nil {
			return err
		}
		s.set(v, c, &set)
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
	s.pin(&c.PinnedNotes, set.PinnedNotes, func(id string) bool { return v.Note(id) != nil }, v, &changed)
	s.pin(&c.PinnedMemories, set.PinnedMemories, func(id string) bool { return s.remembers(v, id) }, v, &changed)
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

// pin replaces pins. Those that a reader does not see stay, behind the others, when there are records that are
// kept from him.
func (s *Store) pin(pins, ids *[]string, sees func(string) bool, v *audience.View, changed *bool) {
	if ids == nil {
		return
	}
	var now []string
	for _, id := range *ids {
		if !slices.Contains(now, id) {
			now = append(now, id)
		}
	}
	for _, id := range *pins {
		if v.Hides() && !sees(id) && !slices.Contains(now, id) {
			now = append(now, id)
		}
	}
	if !slices.Equal(*pins, now) {
		*pins, *changed = now, true
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
	return !slices.Equal(only(before.PinnedNotes, note), only(now.PinnedNotes, note)) ||
		!slices.Equal(only(before.PinnedMemories, memory), only(now.PinnedMemories, memory))
}

// versionFor returns the version that a reader is told.
func (c *conversation) versionFor(v *audience.View) int {
	if v.Hides() {
		return c.Version - c.Unseen
	}
	return c.Version
}
