package chat

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// kept is what of a message decides how it is found and counted.
type kept struct {
	index, public  int
	hash, clientID string
	role           string
	added          time.Time
	parent         *int // of a message that begins a branch
	actions        map[string]proposal
}

// mend has the records of a store that lost transactions fit together: what conversations and messages are
// looked up by says what they say. A conversation says how many of its messages are lost; the others keep
// their numbers, by which references name them. Messages whose conversation is lost get one anew, which is
// private, since nothing tells any more whether it was. O(messages).
func (s *Store) mend(tx *kv.Tx) error {
	said := make(map[string][]kept)
	answers := make(map[string]bool) // by id of the conversation and of themselves
	for key, m := range Messages.All(tx, "") {
		id := ConversationOf(key)
		answers[nameKey(id, m.ID)] = m.Role == record.RoleAssistant
		said[id] = append(said[id], kept{m.Index, m.PublicIndex, m.Hash, m.ClientMessageID, m.Role, m.AddedAt, member[*int](m, parentMember), m.proposals(id)})
	}
	known := make(map[string]*conversation)
	for id, c := range Conversations.All(tx, "") {
		known[id] = c
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(said)) {
		if known[id] != nil {
			continue
		}
		known[id] = &conversation{ID: id, Private: true, CreatedAt: said[id][0].added, ChangedAt: said[id][0].added, Version: 1}
		if err := s.hideMade(tx, id); err != nil {
			return err
		}
	}
	list := slices.SortedFunc(maps.Values(known), func(a, b *conversation) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	found := lookups{
		public: make(map[string]place), hashes: make(map[string]place), clients: make(map[string]place),
		actions: make(map[string]proposal), named: make(map[string]owner), handles: make(map[string]owner),
	}
	for _, c := range list {
		found.add(c, said[c.ID])
	}
	for _, c := range list {
		if err := s.mendConversation(tx, c, said[c.ID], found.handles); err != nil {
			return err
		}
	}
	for key := range parts.All(tx, "") { // becomes an answer
		answers[key[:strings.LastIndexByte(key, '/')]] = true
	}
	if err := MendTraces(tx, func(id, messageID string) bool { return answers[nameKey(id, messageID)] }); err != nil {
		return err
	}
	return found.store(tx)
}

// lookups are all records that lead to others.
type lookups struct {
	public, hashes, clients map[string]place
	actions                 map[string]proposal
	named, handles          map[string]owner
}

func (l *lookups) add(c *conversation, said []kept) {
	for _, m := range said {
		p := place{Index: m.index, Private: m.public == 0}
		l.hashes[nameKey(c.ID, m.hash)] = p
		if m.public > 0 {
			l.public[messageKey(c.ID, m.public)] = place{Index: m.index}
		}
		if m.clientID != "" {
			l.clients[clientKey(m.clientID, c.ID, m.index)] = p
		}
		maps.Copy(l.actions, m.actions)
	}
	if c.ClientID != "" {
		l.named[namedKey(c.ClientID, c.ID)] = owner{c.ID}
	}
}

func (l *lookups) store(tx *kv.Tx) error {
	for _, c := range []struct {
		of   kv.Collection[place]
		want map[string]place
	}{{public, l.public}, {hashes, l.hashes}, {clients, l.clients}} {
		if err := replace(tx, c.of, c.want); err != nil {
			return err
		}
	}
	if err := replace(tx, actions, l.actions); err != nil {
		return err
	}
	if err := replace(tx, named, l.named); err != nil {
		return err
	}
	return replace(tx, handles, l.handles)
}

// replace has a collection hold what is wanted. What it holds already is not written again.
func replace[T comparable](tx *kv.Tx, c kv.Collection[T], want map[string]T) error {
	var gone []string
	for key, is := range c.All(tx, "") {
		v, ok := want[key]
		switch {
		case !ok:
			gone = append(gone, key)
		case v == *is:
			delete(want, key)
		}
	}
	if err := tx.Err(); err != nil {
		return err
	}
	for _, key := range gone {
		if err := c.Delete(tx, key); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		v := want[key]
		if err := c.Put(tx, key, &v); err != nil {
			return err
		}
	}
	return nil
}

// mendConversation has a conversation count the messages that are there, and gives it its handles as far as
// nobody has them, of those taken too.
func (s *Store) mendConversation(tx *kv.Tx, c *conversation, said []kept, taken map[string]owner) error {
	was := *c
	c.All, c.Public = counted(c.All.Messages, said, false), counted(c.Public.Messages, said, true)
	free := func(h string) (bool, error) {
		key := refs.FoldHandle(h)
		if _, ok := taken[key]; ok {
			return false, nil
		}
		if s.opts.Memories == nil {
			return true, nil
		}
		other, err := s.opts.Memories.HandleTaken(tx, key)
		return !other, err
	}
	own := false
	if c.Handle != "" {
		var err error
		if own, err = free(c.Handle); err != nil {
			return err
		}
	}
	if !own {
		if err := s.callAnew(tx, c, free); err != nil {
			return err
		}
	}
	taken[refs.FoldHandle(c.Handle)] = owner{c.ID}
	c.Aliases = nil
	for _, former := range was.Aliases {
		ok, err := free(former)
		if err != nil {
			return err
		}
		if ok {
			c.Aliases = append(c.Aliases, former)
			taken[refs.FoldHandle(former)] = owner{c.ID}
		}
	}
	c.Forks = nil
	for _, m := range said {
		if m.parent != nil && *m.parent >= 0 && *m.parent < m.index {
			c.Forks = append(c.Forks, branchFork{Index: m.index, Parent: *m.parent})
		}
	}
	if slices.Equal(was.Forks, c.Forks) && was.All == c.All && was.Public == c.Public && was.Handle == c.Handle && slices.Equal(was.Aliases, c.Aliases) {
		return nil
	}
	return Conversations.Put(tx, c.ID, c)
}

// callAnew gives a conversation a handle that is free, as create does.
func (s *Store) callAnew(tx *kv.Tx, c *conversation, free func(string) (bool, error)) error {
	title := c.Title
	c.HandleTitle, c.HandleMessage = title, 0
	index := c.All.User
	if !c.Private {
		index = c.Public.User
	}
	if title == "" && index > 0 {
		m, err := Messages.Get(tx, messageKey(c.ID, index))
		if err != nil {
			return err
		}
		title, c.HandleMessage = TitleOf(m.Content), index
	}
	var err error
	c.Handle, err = s.counters.Next(
		func(counter int) string { return refs.NewConversationHandle(title, c.CreatedAt, counter) },
		func(h string) (bool, error) {
			ok, err := free(h)
			return !ok, err
		})
	return err
}

// counted counts messages, of which at least so many were given numbers.
func counted(numbers int, said []kept, public bool) (n counts) {
	there := 0
	for _, m := range said {
		number := m.index
		if public {
			number = m.public
		}
		if number == 0 {
			continue
		}
		there++
		n.add(&message{Index: m.index, Role: m.role, AddedAt: m.added})
		numbers = max(numbers, number)
	}
	n.Messages, n.Lost = numbers, numbers-there
	return n
}
