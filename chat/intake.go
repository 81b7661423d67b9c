package chat

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

// Intake takes in a conversation that was given by Whole, perhaps of another store, with all that it was stored
// with. Messages are given to it twice in their order: each to Check, and after Plan to Write, in groups. It is used
// by one goroutine.
type Intake struct {
	s   *Store
	c   *conversation // as it was given; its counts are those of the messages that were checked
	all counts        // as they were given
	pub counts

	ids, hashes map[string]bool // of messages that were checked
	marks       []mark          // of each
	title       string          // what a handle is made of, when that of the conversation is taken

	private map[string]bool // ids of messages that were written, or are about to be, and whether they are private

	begun bool // the conversation is there
	at    int  // how many numbers it has in the store
	next  int  // place in marks of the message that Write is given next
}

// mark tells whether a message is the same.
type mark struct {
	index int
	said  [16]byte // of what is never changed of it
	all   [16]byte // of all of it
}

// IntakePlan is what becomes of a conversation.
type IntakePlan struct {
	Begun    bool // it is there already
	Messages int  // that are to be stored
	Known    int  // that are there already
}

// maxFinish is how many characters how a message ended has at most.
const maxFinish = 40

// NewIntake begins to take in a conversation. The errors are Invalid and Limit for what no conversation can be, and
// Unavailable for a reader who does not see everything. The Intake keeps c.
func (s *Store) NewIntake(v *audience.View, c *Record) (*Intake, error) {
	if err := wholeOnly(v); err != nil {
		return nil, err
	}
	if err := s.checkRecord(c); err != nil {
		return nil, err
	}
	t := &Intake{s: s, c: c, all: c.All, pub: c.Public, ids: make(map[string]bool), hashes: make(map[string]bool), private: make(map[string]bool)}
	c.All, c.Public, c.Forks = counts{}, counts{}, nil
	return t, nil
}

func (s *Store) checkRecord(c *conversation) error {
	if err := entities.CheckID("id", c.ID); err != nil {
		return err
	}
	for _, title := range []string{c.Title, c.HandleTitle} {
		if err := checkTitle(title); err != nil {
			return err
		}
	}
	for i, m := range c.Made {
		if err := checkTitle(m.Text); err != nil || i >= maxMade || strings.ContainsFunc(m.Text, unicode.IsControl) {
			return fault.Field("madeTitles", "madeTitles has what is no title in one line, or too many of them")
		}
	}
	if !validHandle(c.Handle) {
		return fault.Field("handle", "handle is none of a conversation")
	}
	if n := len(c.Aliases); n > refs.MaxFormerHandles {
		return fault.TooLarge("aliases", n, refs.MaxFormerHandles, "items")
	}
	had := map[string]bool{refs.FoldHandle(c.Handle): true}
	for i, h := range c.Aliases {
		if folded := refs.FoldHandle(h); !validHandle(h) || had[folded] {
			return fault.Field(fmt.Sprintf("aliases[%d]", i), "aliases[%d] is no handle, or stands there twice", i)
		}
		had[refs.FoldHandle(h)] = true
	}
	set := Settings{SystemPrompt: &c.SystemPrompt, Provider: &c.Provider, Model: &c.Model, Temperature: c.Temperature}
	if c.MaxContext != 0 {
		set.MaxContext = &c.MaxContext
	}
	if err := set.CheckModel(); err != nil {
		return err
	}
	anything := func(string) bool { return true } // a pin may be of what is not here
	if err := checkPins("pinnedNotes", "note", &c.PinnedNotes, anything); err != nil {
		return err
	}
	if err := checkPins("pinnedMemories", "memory", &c.PinnedMemories, anything); err != nil {
		return err
	}
	if err := checkClientID("clientId", c.ClientID); err != nil {
		return err
	}
	if c.Version < 1 || c.Unseen < 0 || c.Unseen >= c.Version {
		return fault.Field("version", "version and unseen do not fit together")
	}
	most := 2 * s.opts.Limits.Messages
	for _, n := range []*counts{&c.All, &c.Public} {
		if n.Messages < 0 || n.Lost < 0 || n.User < 0 {
			return fault.Field("all", "a conversation has no negative numbers")
		}
		if n.Messages > most {
			return fault.TooLarge("all.messages", n.Messages, most, "messages")
		}
		plainTime(&n.At)
	}
	if c.HandleMessage < 0 || c.HandleMessage > c.All.Messages {
		return fault.Field("handleMessage", "handleMessage is the number of no message")
	}
	plainTime(&c.SeenAt)
	if c.ArchivedAt != nil {
		plainTime(c.ArchivedAt)
	}
	return s.checkTimes(c.times())
}

// Check checks the next message. The errors are Invalid and Limit for what no message can be, or not behind those
// before it.
func (t *Intake) Check(m *Message) error {
	if err := t.s.checkMessage(m); err != nil {
		return err
	}
	most := t.s.opts.Limits.Messages
	switch {
	case m.Index <= t.c.All.Messages || !m.private() && m.PublicIndex <= t.c.Public.Messages:
		return fault.Field("index", "its numbers do not follow those of the message before it")
	case m.Index > 2*most || m.PublicIndex > most || m.private() && m.Index-t.c.Public.Messages > most:
		return fault.TooLarge("index", m.Index, most, "messages of a conversation")
	case m.PublicIndex > m.Index:
		return fault.Field("publicIndex", "publicIndex is greater than index")
	case t.ids[m.ID]:
		return fault.Field("id", "id is that of another message of the conversation")
	case t.hashes[m.Hash]:
		return fault.Field("hash", "hash is that of another message of the conversation")
	}
	t.ids[m.ID], t.hashes[m.Hash] = true, true
	t.c.count(m)
	isTitle := m.Index == t.c.All.User
	if !t.c.Private {
		isTitle = m.Index == t.c.Public.User
	}
	if isTitle {
		t.title = TitleOf(m.Content)
	}
	k, err := markOf(m)
	t.marks = append(t.marks, k)
	return err
}

func (s *Store) checkMessage(m *message) error {
	if err := entities.CheckID("id", m.ID); err != nil {
		return err
	}
	switch {
	case m.Index < 1 || m.PublicIndex < 0:
		return fault.Field("index", "messages are numbered from 1")
	case !slices.Contains(record.Roles, m.Role):
		return fault.Field("role", "role is none of its values")
	case len(m.Content) > s.opts.Limits.Content:
		return fault.TooLarge("content", len(m.Content), s.opts.Limits.Content, "bytes")
	case !m.mayFollow():
		return fault.Field("parent", "parent is the number of no message before this one")
	case !isMessageHash(m.Hash):
		return fault.Field("hash", "hash is none of a message")
	case m.Finish == "" || len(m.Finish) > maxFinish:
		return fault.Field("finish", "finish does not say how the message ended")
	}
	if err := checkClientID("clientMessageId", m.ClientMessageID); err != nil {
		return err
	}
	return s.checkTimes(m.times())
}

// mayFollow reports whether a message that begins a branch says which message it follows.
func (m *message) mayFollow() bool {
	if _, forks := m.Members[parentMember]; !forks {
		return true
	}
	parent := member[*int](m, parentMember)
	return parent != nil && *parent >= 0 && *parent < m.Index
}

// count takes a message in whose numbers are greater than all before it; those between are lost.
func (c *conversation) count(m *message) {
	if parent := member[*int](m, parentMember); parent != nil {
		if n := len(c.Forks); n == 0 || c.Forks[n-1].Index < m.Index {
			c.Forks = append(c.Forks, branchFork{Index: m.Index, Parent: *parent})
		}
	}
	c.All.loseTo(m.Index - 1)
	c.All.add(m)
	if !m.private() {
		c.Public.loseTo(m.PublicIndex - 1)
		c.Public.add(m)
	}
}

// loseTo has so many numbers given, those that are missing to lost messages.
func (c *counts) loseTo(numbers int) {
	for c.Messages < numbers {
		c.lose()
	}
}

func markOf(m *message) (k mark, err error) {
	k.index = m.Index
	said := sha256.New()
	fmt.Fprintf(said, "%d %d %q %q %q ", m.Index, m.PublicIndex, m.ID, m.Hash, m.Role)
	said.Write([]byte(m.Content))
	copy(k.said[:], said.Sum(nil))
	text, err := m.AppendJSON(nil)
	all := sha256.Sum256(text)
	copy(k.all[:], all[:])
	return k, err
}

// Plan says what Write would do when all messages were given to Check. The errors are Invalid when the conversation
// counts other messages than it has, and Conflict when one with its id is there and has others.
func (t *Intake) Plan(ctx context.Context) (p IntakePlan, err error) {
	t.ids, t.hashes = nil, nil
	t.c.All.loseTo(t.all.Messages)
	t.c.Public.loseTo(t.pub.Messages)
	if t.c.All != t.all || t.c.Public != t.pub {
		return p, fault.Field("all", "the conversation counts other messages than there are: %d of %d",
			t.c.All.Messages-t.c.All.Lost, t.all.Messages-t.all.Lost)
	}
	err = t.s.db.View(ctx, func(tx *kv.Tx) error {
		p = IntakePlan{}
		c, err := Conversations.Get(tx, t.c.ID)
		if err != nil {
			return err
		}
		if c != nil {
			p.Begun, t.begun, t.at = true, true, c.All.Messages
		}
		for i := range t.marks {
			if t.marks[i].index > t.at {
				p.Messages++
				continue
			}
			p.Known++
			m, err := Messages.Get(tx, messageKey(t.c.ID, t.marks[i].index))
			if err != nil {
				return err
			}
			if m == nil { // damage has taken it
				continue
			}
			is, err := markOf(m)
			if err != nil {
				return err
			}
			if is.said != t.marks[i].said {
				return goesElsewhere(t.c.ID, m.Index)
			}
		}
		return nil
	})
	return p, err
}

func goesElsewhere(id string, index int) error {
	return fault.Clash(fault.Changed, "the conversation is here and goes on otherwise from message %d on", index).
		WithRef(id).WithHint("keep what is here, or delete that conversation and import it again")
}

func changedMeanwhile(id string) error {
	return fault.Clash(fault.Changed, "the conversation, or its file, was changed during the import").
		WithRef(id).WithHint("import it again: what is here already is not stored twice")
}

// Write stores messages that were given to Check, the next ones in their order, in one transaction; last are the
// last ones. Messages that are there are passed over, and of a conversation that is there nothing else is changed.
// handleTaken tells that the conversation got another handle, since its own is taken. The error is Conflict when the
// store or what is given has changed since.
func (t *Intake) Write(ctx context.Context, list []*Message, last bool) (handleTaken bool, err error) {
	fresh := make([]*message, 0, len(list))
	for i, m := range list {
		k, err := markOf(m)
		if err != nil {
			return false, err
		}
		if t.next+i >= len(t.marks) || k != t.marks[t.next+i] {
			return false, changedMeanwhile(t.c.ID)
		}
		if m.Index > t.at {
			fresh = append(fresh, m)
		}
	}
	if last && t.next+len(list) != len(t.marks) {
		return false, changedMeanwhile(t.c.ID)
	}
	at := t.at
	err = t.s.db.Update(ctx, func(tx *kv.Tx) error {
		c, err := Conversations.Get(tx, t.c.ID)
		if err != nil {
			return err
		}
		if (c != nil) != t.begun || c != nil && c.All.Messages != t.at {
			return changedMeanwhile(t.c.ID)
		}
		if c == nil {
			if c, handleTaken, err = t.begin(tx); err != nil {
				return err
			}
		}
		had := c.All.Messages
		hidden, err := t.hidden(tx, fresh)
		if err != nil {
			return err
		}
		for _, m := range fresh {
			if err := c.takeIn(tx, m); err != nil {
				return err
			}
		}
		if last {
			c.All.loseTo(t.all.Messages)
			c.Public.loseTo(t.pub.Messages)
		}
		if at = c.All.Messages; t.begun && at == had {
			return nil
		}
		if err := Conversations.Put(tx, c.ID, c); err != nil || len(hidden) == 0 {
			return err
		}
		return hideMessages(tx, c.ID, hidden)
	})
	if err != nil {
		return false, err
	}
	t.begun, t.at, t.next = true, at, t.next+len(list)
	return handleTaken, nil
}

// hidden returns the ids of messages that are public in the file and were made of something that is private here by now.
func (t *Intake) hidden(tx *kv.Tx, list []*message) (ids []string, err error) {
	types := make(map[string]bool) // that were asked for, and whether they have private entities
	said := make(map[string]bool)  // the same of messages that are in no file
	for _, m := range list {
		t.private[m.ID] = m.private()
		for _, of := range Sources(m.Members) {
			_, own := t.private[of.ID]
			switch {
			case of.Kind == TypeSource:
				types[of.ID] = false
			case of.Kind == MessageSource && !own && !m.private():
				said[of.ID] = false
			}
		}
	}
	for name := range types {
		if types[name], err = anyPrivate(tx, []string{name}); err != nil {
			return nil, err
		}
	}
	if err := findPrivate(tx, t.c.ID, said); err != nil {
		return nil, err
	}
	for _, m := range list {
		for _, of := range Sources(m.Members) {
			if t.private[m.ID] {
				break
			}
			private := types[of.ID] || said[of.ID] || t.private[of.ID]
			if of.Kind != TypeSource && of.Kind != MessageSource {
				private, err = t.s.isPrivate(tx, of)
			}
			if err != nil {
				return nil, err
			}
			if private {
				t.private[m.ID], ids = true, append(ids, m.ID)
			}
		}
	}
	return ids, nil
}

// findPrivate says which messages of other conversations than one are private. O(all messages) if any are asked for.
func findPrivate(tx *kv.Tx, but string, ids map[string]bool) error {
	if len(ids) == 0 {
		return nil
	}
	for key, m := range Messages.All(tx, "") {
		if _, asked := ids[m.ID]; !asked {
			continue
		}
		c, err := Conversations.Get(tx, ConversationOf(key))
		if err != nil {
			return err
		}
		ids[m.ID] = m.private() || c != nil && c.ID != but && c.Private
	}
	return tx.Err()
}

// isPrivate reports whether a source is here and private, or was. What no store knows is taken for public: the file is of
// another one.
func (s *Store) isPrivate(tx *kv.Tx, of Source) (bool, error) {
	v := s.opts.Remote
	if v == nil {
		return false, nil
	}
	switch of.Kind {
	case NoteSource:
		return v.HidesNote(of.ID), nil
	case EntitySource:
		return v.HidesEntity(of.ID), nil
	case MemorySource:
		return v.HidesMemory(of.ID), nil
	}
	if s.opts.Books == nil {
		return false, nil
	}
	return s.opts.Books.IsPrivate(tx, of.ID) // a book that is gone, too
}

// begin makes the conversation, without messages.
func (t *Intake) begin(tx *kv.Tx) (c *conversation, handleTaken bool, err error) {
	whole := *t.c
	c = &whole
	c.All, c.Public, c.Aliases = counts{}, counts{}, nil
	claim := func(h string) (bool, error) {
		taken, err := t.s.handleTaken(tx, h)
		if err != nil || taken {
			return false, err
		}
		return true, handles.Put(tx, refs.FoldHandle(h), &owner{c.ID})
	}
	own, err := claim(c.Handle)
	if err != nil {
		return nil, false, err
	}
	if !own {
		title := c.Title
		c.HandleTitle, c.HandleMessage = title, 0
		if title == "" && t.title != "" {
			title, c.HandleMessage = t.title, t.c.Public.User
			if c.Private {
				c.HandleMessage = t.c.All.User
			}
		}
		if err := t.s.callNew(tx, c, title); err != nil {
			return nil, false, err
		}
	}
	for _, h := range t.c.Aliases {
		ok, err := claim(h)
		if err != nil {
			return nil, false, err
		}
		if ok {
			c.Aliases = append(c.Aliases, h)
		}
	}
	if c.ClientID != "" {
		if err := named.Put(tx, namedKey(c.ClientID, c.ID), &owner{c.ID}); err != nil {
			return nil, false, err
		}
	}
	return c, !own, nil
}

// takeIn stores a message with its numbers and its hash.
func (c *conversation) takeIn(tx *kv.Tx, m *message) error {
	taken, err := hashes.Has(tx, nameKey(c.ID, m.Hash))
	if err != nil {
		return err
	}
	if taken || !m.private() && m.PublicIndex <= c.Public.Messages {
		return goesElsewhere(c.ID, m.Index)
	}
	c.count(m)
	if err := m.lead(tx, c.ID); err != nil {
		return err
	}
	return Messages.Put(tx, messageKey(c.ID, m.Index), m)
}
