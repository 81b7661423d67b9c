package chat

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Sizes. Over them a write is a Limit error that names the field. Those that Limits has are the
// defaults of its members.
const (
	MaxMany     = 100     // messages of one call
	MaxContent  = 1 << 20 // bytes of a message
	maxMessages = 100_000 // messages of a conversation

	titleLength  = 60 // code points of a title that is made of a message
	roleOfTitles = record.RoleUser
)

// Limits are the sizes that can be configured. A zero member stands for its default.
type Limits struct {
	Content  int // bytes of a message
	Messages int // messages of a conversation
}

// Options are what a Store needs from elsewhere. The zero value works.
type Options struct {
	Now    func() time.Time // nil: time.Now
	NewID  func() string    // nil: random UUIDs
	Limits Limits
	// Pins is kept current. Memories that were opened before have it unpin what they delete. nil: nobody else has it.
	Pins *Pins
	// Memories are what conversations name and pin. nil: there are none.
	Memories Memories
	// Books are told of conversations that become private. nil: there are none.
	Books Books
	// Remote is the View of remote readers. Whoever has private notes or memories gives it.
	Remote *audience.View
}

// Memories are what conversations ask of memories, and tell them. It is memory.Store, but for what of it reads without a
// View (PRIV-2).
type Memories interface {
	MemoryLookup
	// HandleTaken tells whether a memory or a context has a handle, inside a transaction.
	HandleTaken(tx *kv.Tx, folded string) (bool, error)
	// Numbered returns the number of a memory that a reader sees, 0 for none.
	Numbered(v *audience.View, id string) int64
	// HideConversation is called in the transaction that makes a conversation private, for what was made from it.
	HideConversation(tx *kv.Tx, id string) error
	// HideSaid is called in the transaction that makes messages private, which are given by their conversations.
	HideSaid(tx *kv.Tx, messages map[string][]string) error
}

// Books are what conversations tell books. It is books.Store, but for what of it reads without a View (PRIV-2).
type Books interface {
	// HideConversation is called in the transaction that makes a conversation private, for the books that it has.
	HideConversation(tx *kv.Tx, id string) error
	// IsPrivate reports whether a book is private, inside a transaction, or is gone.
	IsPrivate(tx *kv.Tx, id string) (bool, error)
}

// Store keeps conversations and messages. Open makes one.
type Store struct {
	db        *kv.Store
	opts      Options
	follower  Follower   // nil: none
	summarise Summarizer // nil: references have no summary
	counters  nameCounters
	lapses    tools.ExpiredActions

	mu       sync.RWMutex // guards everything below
	byID     map[string]*conversation
	byHandle map[string]string // fold of a handle to the id
	hidden   map[string]bool   // ids of messages that have become private since the store was opened
	// hiddenConversations are those that have become private as a whole since then, and still are.
	hiddenConversations map[string]bool
}

// SummariseBy has references say what their notes are about. Call it before anybody writes.
func (s *Store) SummariseBy(f Summarizer) { s.summarise = f }

// Limits returns the sizes that hold.
func (s *Store) Limits() Limits { return s.opts.Limits }

// Open loads the conversations of db and keeps them current from then on. In a store that has lost
// transactions it mends what conversations and messages are looked up by.
func Open(db *kv.Store, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.NewString
	}
	if opts.Pins == nil {
		opts.Pins = new(Pins)
	}
	opts.Limits.Content = cmp.Or(opts.Limits.Content, MaxContent)
	opts.Limits.Messages = cmp.Or(opts.Limits.Messages, maxMessages)
	s := &Store{
		db: db, opts: opts, byID: make(map[string]*conversation), byHandle: make(map[string]string), hidden: make(map[string]bool), hiddenConversations: make(map[string]bool),
	}
	if db.Unmended() {
		if err := db.Update(context.Background(), s.mend); err != nil {
			return nil, err
		}
	}
	left := false
	err := db.View(context.Background(), func(tx *kv.Tx) error {
		left = anyParts(tx)
		return tx.Err()
	})
	if err == nil && left {
		err = db.Update(context.Background(), s.finishParts)
	}
	if err := cmp.Or(err, s.standOnTraces(context.Background())); err != nil {
		return nil, err
	}
	err = db.View(context.Background(), func(tx *kv.Tx) error {
		for _, c := range Conversations.All(tx, "") {
			s.put(nil, c)
		}
		return tx.Err()
	})
	if err != nil {
		return nil, err
	}
	db.OnCommit(s.commit)
	return s, nil
}

// commit takes in what a transaction changed.
func (s *Store) commit(cs *kv.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range cs.Changes {
		if old, now, ok := Messages.Of(ch); ok && old != nil && now != nil && !old.private() && now.private() {
			s.hidden[now.ID] = true
		}
		if old, now, ok := Conversations.Of(ch); ok {
			switch {
			case old == nil || now == nil || old.Private == now.Private:
			case now.Private:
				s.hiddenConversations[now.ID] = true
			default:
				delete(s.hiddenConversations, now.ID)
			}
			s.put(old, now)
			if s.follower != nil && old != nil && (now == nil || now.Private != old.Private) {
				s.follower.Dropped(old.ID)
			}
		}
	}
}

func (s *Store) put(old, now *conversation) {
	if old != nil {
		delete(s.byID, old.ID)
		s.opts.Pins.remove(old.ID, old.PinnedMemories)
		for _, h := range old.handlesOf() {
			delete(s.byHandle, h)
		}
	}
	if now != nil {
		s.byID[now.ID] = now
		s.opts.Pins.add(now.ID, now.PinnedMemories)
		for _, h := range now.handlesOf() {
			s.byHandle[h] = now.ID
		}
	}
}

// sees reports whether a conversation is there for a reader; nil is not.
func sees(v *audience.View, c *conversation) bool { return c != nil && v.Sees(c.Private) }

func missing(ref string) error {
	err := fault.Missing("conversation", ref)
	err.Hint = "give an id or a handle of a conversation"
	return err
}

// counted returns what a reader sees of the messages of a conversation in number.
func (c *conversation) counted(v *audience.View) *counts {
	if v.Hides() {
		return &c.Public
	}
	return &c.All
}

// Get returns a conversation by its id or handle. The error is NotFound.
func (s *Store) Get(ctx context.Context, v *audience.View, ref string) (out *record.Conversation, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := s.findToRead(tx, v, ref)
		if err == nil {
			out, err = s.shown(tx, v, c)
		}
		return err
	})
	return out, err
}

// find returns the conversation that a reader means by an id or a handle.
func (s *Store) find(tx *kv.Tx, v *audience.View, ref string) (*conversation, error) {
	ref = strings.TrimSpace(ref)
	c, err := Conversations.Get(tx, ref)
	if err != nil {
		return nil, err
	}
	if c == nil {
		by, err := handles.Get(tx, refs.FoldHandle(strings.TrimPrefix(ref, "@")))
		if err != nil || by == nil {
			return nil, cmp.Or(err, missing(ref))
		}
		if c, err = Conversations.Get(tx, by.ID); err != nil {
			return nil, err
		}
		if sees(v, c) {
			ok, err := showsHandle(tx, v, c)
			if err != nil || !ok || v.Hides() && !c.isCalled(strings.TrimPrefix(ref, "@")) {
				return nil, cmp.Or(err, missing(ref))
			}
		}
	}
	if !sees(v, c) {
		return nil, missing(ref)
	}
	return c, nil
}

// findToRead is find, and takes the beginning of an id as well.
func (s *Store) findToRead(tx *kv.Tx, v *audience.View, ref string) (*conversation, error) {
	c, err := s.find(tx, v, ref)
	if fault.KindOf(err) != fault.NotFound || err == nil {
		return c, err
	}
	began, several := audience.ByIDPrefix(ref, func(yield func(*conversation) bool) {
		for _, c := range Conversations.All(tx, ref) {
			if !yield(c) {
				return
			}
		}
	}, func(c *conversation) (string, bool) { return c.ID, sees(v, c) })
	if began != nil || several != nil {
		return began, several
	}
	return nil, cmp.Or(tx.Err(), err)
}

// shown returns a conversation as a reader may see it.
func (s *Store) shown(tx *kv.Tx, v *audience.View, c *conversation) (*record.Conversation, error) {
	n := c.counted(v)
	out := &record.Conversation{
		ID: c.ID, Handle: c.Handle, Aliases: append([]string{}, c.Aliases...), Title: v.TextOf("", c.Title), Private: c.Private, Messages: n.Messages, Lost: n.Lost,
		ArchivedAt: c.ArchivedAt, CreatedAt: c.CreatedAt, UpdatedAt: c.updatedAt(v), Version: c.versionFor(v),
		SystemPrompt: v.TextOf("", c.SystemPrompt), Provider: c.Provider, Model: c.Model,
		MaxContext: cmp.Or(c.MaxContext, DefaultMaxContext), UsualContext: c.MaxContext == 0, Temperature: c.Temperature,
		PinnedNoteIDs:   filterStrings(c.PinnedNotes, func(id string) bool { return v.Note(id) != nil }),
		PinnedMemoryIDs: filterStrings(c.PinnedMemories, func(id string) bool { return s.remembers(v, id) }),
	}
	if c.Title == "" {
		var err error
		if out.Title, err = titleUnset(tx, v, c); err != nil {
			return nil, err
		}
	}
	ok, err := showsHandle(tx, v, c)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		out.Handle, out.Aliases = "", []string{}
	case v.Hides():
		out.Aliases, _ = c.OpenHandles.Part(c.Aliases)
	}
	return out, nil
}

func (c *conversation) updatedAt(v *audience.View) time.Time {
	changed := c.ChangedAt
	if v.Hides() {
		changed = c.PublicChangedAt()
	}
	if at := c.counted(v).At; at.After(changed) {
		return at
	}
	return changed
}

// showsHandle reports whether what the handle was made of says nothing that a reader may not see.
func showsHandle(tx *kv.Tx, v *audience.View, c *conversation) (bool, error) {
	if !v.Hides() {
		return true, nil
	}
	if c.HandleMessage == 0 {
		return v.TextOf("", c.HandleTitle) == c.HandleTitle, nil
	}
	m, err := Messages.Get(tx, messageKey(c.ID, c.HandleMessage))
	if err != nil || m == nil || m.private() {
		return false, err
	}
	return v.TextOf("", m.Content) == m.Content, nil
}

// TitleOf makes a title of a message: its beginning, in one line. A message may be long, of which it reads no more
// than it needs.
func TitleOf(s string) string {
	const enough = 4096 // bytes: no title has a longer word
	if len(s) > enough {
		s = strings.ToValidUTF8(s[:enough], "")
	}
	b := make([]byte, 0, 4*titleLength) // on the stack, with room for most
	length := 0
	for word := range strings.FieldsSeq(s) {
		if length > 0 {
			b = append(b, ' ')
			length++
		}
		b = append(b, word...)
		length += utf8.RuneCountInString(word)
		if length > titleLength {
			return strings.TrimRight(text.Prefix(string(b), titleLength-1), " ") + "…"
		}
	}
	return string(b)
}

// Page is a part of the messages of a branch of a conversation.
type Page struct {
	Conversation *record.Conversation
	Messages     []*record.ChatMessage
	More         bool // whether there are messages behind it
	Branches     []Branch
}

// Branch is where another branch begins than that of a page.
type Branch struct {
	Message  *record.ChatMessage // its first one
	ParentID string              // the message that it follows, empty for none
}

// Messages returns up to limit messages of the newest branch of a conversation behind the one with an index, 0 for
// the first ones, or of the newest branch that has the message with the id of, or of AllBranches. Indexes are those that the reader
// sees. The errors are NotFound. O(limit), in a conversation with branches O(messages).
func (s *Store) Messages(ctx context.Context, v *audience.View, ref, of string, after, limit int) (p *Page, err error) {
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		c, err := s.findToRead(tx, v, ref)
		if err != nil {
			return err
		}
		p = &Page{Messages: []*record.ChatMessage{}}
		if p.Conversation, err = s.shown(tx, v, c); err != nil {
			return err
		}
		spans, err := c.branchOf(tx, v, of)
		if err != nil {
			return err
		}
		total := p.Conversation.Messages
		index := max(after, 0)
		for index < total && len(p.Messages) < limit {
			index++
			m, err := at(tx, v, c.ID, index)
			if err != nil {
				return err
			}
			if m == nil || !inSpans(spans, m.Index) {
				continue
			}
			shown := s.shownMessage(v, c, p.Conversation.Handle != "", m)
			if shown.ParentID, err = c.parentOf(tx, v, m); err != nil {
				return err
			}
			p.Messages = append(p.Messages, shown)
		}
		p.More = index < total
		if after <= 0 {
			p.Branches, err = s.otherBranches(tx, v, c, spans, p.Conversation.Handle != "")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// at returns the message with an index that a reader sees, nil for none.
func at(tx *kv.Tx, v *audience.View, id string, index int) (*message, error) {
	if v.Hides() {
		p, err := public.Get(tx, messageKey(id, index))
		if err != nil || p == nil {
			return nil, err
		}
		index = p.Index
	}
	return Messages.Get(tx, messageKey(id, index))
}

// shownMessage returns a message as a reader may see it. Its hash tells the handle and the text to
// who can guess them.
func (s *Store) shownMessage(v *audience.View, c *conversation, handleShown bool, m *message) *record.ChatMessage {
	content, withheld := v.Masked(m.Content)
	out := &record.ChatMessage{
		ID: m.ID, ConversationID: c.ID, Index: m.Index, Hash: m.Hash, Role: m.Role,
		Content: content, Private: m.private() || c.Private, CreatedAt: m.CreatedAt, Finish: m.Finish,
		References: RenderReferences(v, StoredReferences(m.Members, v), &RenderedMessage{Content: m.Content, Places: withheld}, s.numberedBy(v)),
	}
	m.detailed(v, out)
	tools.RenderActions(v, out.Actions, &s.lapses, s.opts.Now)
	if v.Hides() {
		out.Index = m.PublicIndex
		if !handleShown || out.Content != m.Content || m.Index <= c.ClosedHashes {
			out.Hash = ""
		}
	}
	return out
}

// Listed says what a list begins behind.
type Listed struct {
	UpdatedAt time.Time
	ID        string
}

// List returns up to limit conversations that a reader sees, the one changed last first, behind
// one of them when after is not nil. Archived ones are a list of their own. O(conversations).
func (s *Store) List(ctx context.Context, v *audience.View, archived bool, after *Listed, limit int,
) (list []*record.Conversation, more bool, err error) {
	order := func(a, b Listed) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	}
	placeOf := func(c *conversation) Listed { return Listed{c.updatedAt(v), c.ID} }
	list = []*record.Conversation{}
	err = s.db.View(ctx, func(tx *kv.Tx) error {
		var all []*conversation
		s.mu.RLock()
		for _, c := range s.byID {
			if sees(v, c) && (c.ArchivedAt != nil) == archived && (after == nil || order(placeOf(c), *after) > 0) {
				all = append(all, c)
			}
		}
		s.mu.RUnlock()
		slices.SortFunc(all, func(a, b *conversation) int { return order(placeOf(a), placeOf(b)) })
		more = len(all) > limit
		for _, c := range all[:min(len(all), limit)] {
			out, err := s.shown(tx, v, c)
			if err != nil {
				return err
			}
			list = append(list, out)
		}
		return nil
	})
	return list, more, err
}

// State tells inside a transaction whether a conversation is there, and whether it is private or one of the
// messages that are named is. O(messages) for one with private messages.
func State(tx *kv.Tx, id string, messageIDs []string) (private, found bool, err error) {
	c, err := Conversations.Get(tx, id)
	if err != nil || c == nil {
		return false, false, err
	}
	if c.Private || len(messageIDs) == 0 || c.All.Messages == c.Public.Messages {
		return c.Private, true, nil
	}
	for _, m := range Messages.All(tx, messagePrefix(id)) {
		if m.private() && slices.Contains(messageIDs, m.ID) {
			return true, true, nil
		}
	}
	return false, true, tx.Err()
}

// HasHandle tells whether a conversation has a handle, by its fold, inside a transaction.
func HasHandle(tx *kv.Tx, folded string) (bool, error) { return handles.Has(tx, folded) }
