package document

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
)

// Options are what a Source needs from elsewhere. The zero value works.
type Options struct {
	Now func() time.Time // for the tiers of messages; nil: time.Now
}

// Source is the Source of messages.
type Source struct {
	opts   Options
	remote *audience.View
	naming *audience.Namers

	mu            sync.RWMutex // guards what follows
	conversations map[string]*conversation
	docs          int
	bytes         int64
	seq           uint64 // of the commit that Revealed was asked for last; 0: none
	revealed      []string
}

// conversation is what is known of a conversation.
type conversation struct {
	stored            bool // without a record nobody knows whether it is private
	private, archived bool
	messages          map[string]*chat.Message // by key
}

func (c *conversation) hidden() bool { return c == nil || !c.stored || c.private }

// New returns the Source of the messages of a store. Open the store and what it stands on before.
// O(messages).
func New(db *kv.Store, rooms *audience.Views, opts Options) (*Source, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Source{opts: opts, remote: rooms.View(audience.Remote), conversations: make(map[string]*conversation)}
	s.mu.Lock() // what messages name is read in the background meanwhile, and has to wait for all of them
	defer s.mu.Unlock()
	s.naming = rooms.Namers(db, func(yield func(string, []string) bool) {
		for key, m := range s.Messages() {
			if !yield(key, texts(m)) {
				return
			}
		}
	})
	if err := db.View(context.Background(), s.load); err != nil {
		return nil, err
	}
	db.OnCommit(s.commit)
	return s, nil
}

func (s *Source) load(tx *kv.Tx) error {
	for id, c := range chat.Conversations.All(tx, "") {
		known := s.of(id)
		known.stored, known.private, known.archived = true, c.Private, c.ArchivedAt != nil
	}
	type batch struct {
		keys     []string
		messages []*chat.Message
	}
	read := func(keys []string, messages []*chat.Message) batch { return batch{keys, messages} }
	for b := range kv.LoadAhead(tx, chat.Messages, read) {
		for i, key := range b.keys {
			s.put(key, nil, b.messages[i])
		}
	}
	return tx.Err()
}

// commit takes in what a transaction changed.
func (s *Source) commit(cs *kv.ChangeSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range cs.Changes {
		if old, now, ok := chat.Messages.Of(ch); ok {
			s.put(ch.ID, old, now)
		}
		if _, now, ok := chat.Conversations.Of(ch); ok {
			c := s.of(ch.ID)
			c.stored = now != nil
			if now != nil {
				c.private, c.archived = now.Private, now.ArchivedAt != nil
			}
			s.tidy(ch.ID, c)
		}
	}
}

// of returns a conversation that may be new. The caller has the lock.
func (s *Source) of(id string) *conversation {
	c := s.conversations[id]
	if c == nil {
		c = &conversation{messages: make(map[string]*chat.Message)}
		s.conversations[id] = c
	}
	return c
}

func (s *Source) put(key string, old, now *chat.Message) {
	id := chat.ConversationOf(key)
	c := s.of(id)
	if old != nil {
		s.docs--
		s.bytes -= int64(len(old.Content))
	}
	if now == nil {
		delete(c.messages, key)
		s.tidy(id, c)
		return
	}
	s.docs++
	s.bytes += int64(len(now.Content))
	c.messages[key] = now
}

// tidy forgets a conversation of which nothing is left.
func (s *Source) tidy(id string, c *conversation) {
	if !c.stored && len(c.messages) == 0 {
		delete(s.conversations, id)
	}
}

// Messages gives all messages by their keys, in no order.
func (s *Source) Messages() iter.Seq2[string, *chat.Message] {
	return func(yield func(string, *chat.Message) bool) {
		for d := range s.each() {
			if !yield(d.key, d.m) {
				return
			}
		}
	}
}

// each gives all documents, in no order. The lock is not held meanwhile.
func (s *Source) each() iter.Seq[doc] {
	return func(yield func(doc) bool) {
		s.mu.RLock()
		list := make([]doc, 0, s.docs)
		for _, c := range s.conversations {
			for key, m := range c.messages {
				list = append(list, doc{m, key, c.hidden() || m.Hidden()})
			}
		}
		s.mu.RUnlock()
		for _, d := range list {
			if !yield(d) {
				return
			}
		}
	}
}

// texts are what of a message a remote reader may see.
func texts(m *chat.Message) []string {
	if m == nil || m.Hidden() {
		return nil
	}
	return []string{m.Content}
}

var (
	_ text.Source      = (*Source)(nil)
	_ text.ValueSource = (*Source)(nil)
)

// Message returns the message that a Doc of a Source of messages is and its conversation, nil for any
// other Doc. For a reader who may not see all of it, it is a copy with masked content.
func Message(d text.Doc) (conversationID string, m *chat.Message) {
	md, _ := d.(doc)
	return chat.ConversationOf(md.key), md.m
}

// Keep makes a test of Docs of one of messages.
func Keep(test func(conversationID string, m *chat.Message) bool) func(text.Doc) bool {
	return func(d text.Doc) bool { return test(Message(d)) }
}

// Kind returns what documents are called.
func (*Source) Kind() text.DocKind { return text.DocKind{One: "message", Many: "messages"} }

// Fields returns what was said, and the code in it.
func (*Source) Fields() []text.Field { return fields }

// All returns all messages, those of archived conversations included, in no order.
func (s *Source) All() iter.Seq[text.Doc] {
	return func(yield func(text.Doc) bool) {
		for d := range s.each() {
			if !yield(d) {
				return
			}
		}
	}
}

// Get returns a message by its key.
func (s *Source) Get(key string) text.Doc {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.conversations[chat.ConversationOf(key)]
	if c == nil || c.messages[key] == nil {
		return nil
	}
	m := c.messages[key]
	return doc{m, key, c.hidden() || m.Hidden()}
}

// Count counts all messages.
func (s *Source) Count() (docs int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.docs, s.bytes
}

// privacy is whether a conversation is hidden before a commit and behind it.
type privacy struct{ was, is bool }

// changed returns the conversations that a commit changes.
func changed(cs *kv.ChangeSet) map[string]privacy {
	var list map[string]privacy
	for _, ch := range cs.Changes {
		old, now, ok := chat.Conversations.Of(ch)
		if !ok {
			continue
		}
		if list == nil {
			list = make(map[string]privacy)
		}
		list[ch.ID] = privacy{old == nil || old.Private, now == nil || now.Private}
	}
	return list
}

// flipped gives the messages of the conversations that a commit makes private or public, without those
// that are private themselves. The caller has the lock.
func (s *Source) flipped(list map[string]privacy) iter.Seq2[doc, privacy] {
	return func(yield func(doc, privacy) bool) {
		for id, p := range list {
			c := s.conversations[id]
			if c == nil || p.was == p.is {
				continue
			}
			for key, m := range c.messages {
				if !m.Hidden() && !yield(doc{m, key, p.is}, p) {
					return
				}
			}
		}
	}
}

// Changes returns what a commit does to messages, those included whose conversation becomes private or
// public. O(changes), and O(messages of the conversation) for a commit that makes one so.
func (s *Source) Changes(cs *kv.ChangeSet) (list []text.Change) {
	conversations := changed(cs)
	there := make(map[string]bool)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, ch := range cs.Changes {
		old, now, ok := chat.Messages.Of(ch)
		if !ok {
			continue
		}
		id := chat.ConversationOf(ch.ID)
		p, ok := conversations[id]
		if !ok {
			hidden := s.conversations[id].hidden()
			p = privacy{hidden, hidden}
		}
		c := text.Change{ID: ch.ID}
		if old != nil {
			c.Old = doc{old, ch.ID, p.was || old.Hidden()}
		}
		if now != nil {
			c.Now = doc{now, ch.ID, p.is || now.Hidden()}
		}
		there[ch.ID] = true
		list = append(list, c)
	}
	for d, p := range s.flipped(conversations) {
		if !there[d.key] {
			list = append(list, text.Change{ID: d.key, Old: doc{d.m, d.key, p.was}, Now: d})
		}
	}
	return list
}

// Revealed returns the keys of the messages whose masked content a commit may change, as they name what
// it makes private or public or calls otherwise. It also returns those of conversations that it makes
// private or public: messages that were added when Changes was asked before the commit are among them.
func (s *Source) Revealed(cs *kv.ChangeSet) []string {
	s.mu.RLock()
	known, revealed := s.seq == cs.Seq, s.revealed
	s.mu.RUnlock()
	if known {
		return revealed
	}
	ids := s.naming.Revealed(cs)
	conversations := changed(cs)
	s.mu.RLock()
	for d := range s.flipped(conversations) {
		ids[d.key] = true
	}
	s.mu.RUnlock()
	for _, ch := range cs.Changes {
		if _, now, ok := chat.Messages.Of(ch); ok {
			s.naming.Set(ch.ID, texts(now))
			delete(ids, ch.ID)
		}
	}
	revealed = slices.Sorted(maps.Keys(ids))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.revealed = cs.Seq, revealed
	return revealed
}

// Public returns a message as a remote reader sees it.
func (s *Source) Public(d text.Doc) text.Doc {
	md := d.(doc)
	s.mu.RLock()
	hidden := md.m.Hidden() || s.conversations[chat.ConversationOf(md.key)].hidden()
	s.mu.RUnlock()
	if hidden {
		return nil
	}
	shown := s.remote.TextOf("", md.m.Content)
	if shown == md.m.Content {
		return doc{md.m, md.key, false} // d itself, unless its conversation was made public since
	}
	return doc{md.m.With(shown), md.key, false}
}

// Usual reports whether the conversation of a message is there and not archived.
func (s *Source) Usual(d text.Doc) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.conversations[chat.ConversationOf(d.(doc).key)]
	return c != nil && c.stored && !c.archived
}

// Filters returns the operators for messages: role and tier.
func (*Source) Filters() []string { return []string{"role", "tier"} }

// Filter returns the test of an operator.
func (s *Source) Filter(operator, value string) func(text.Doc) bool {
	fold := entities.Fold(value)
	return func(d text.Doc) bool { return entities.Fold(s.Value(operator, d)) == fold }
}

// Valued returns role and tier.
func (s *Source) Valued() []string { return s.Filters() }

// Value returns the role or the tier of a message.
func (s *Source) Value(operator string, d text.Doc) string {
	m := d.(doc).m
	if operator == "tier" {
		return m.Tier(s.opts.Now())
	}
	return m.Role
}
