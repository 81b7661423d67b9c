package chat

import (
	"encoding/json"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

// fork is where a branch begins: its first message follows another one than that before it. Indexes count from 1;
// a parent of 0 is the beginning of the conversation.
type fork struct {
	Index  int `json:"index"`
	Parent int `json:"parent"`
}

// parentMember is the member of a stored message that begins a branch: the index of the message that it follows.
const parentMember = "parent"

// follow has a message begin a branch when it is not to follow the last message.
func (m *message) follow(c *conversation, after *int) error {
	if after == nil || *after == m.Index-1 {
		return nil
	}
	data, err := json.Marshal(*after)
	if err != nil {
		return err
	}
	m.keep(parentMember, data)
	c.Forks = append(slices.Clip(c.Forks), fork{Index: m.Index, Parent: *after})
	return nil
}

// span is a row of messages that follow each other, by index, both ends included.
type span struct{ first, last int }

// forkAt returns the last fork that is not behind an index.
func (c *conversation) forkAt(index int) (fork, bool) {
	for i := len(c.Forks) - 1; i >= 0; i-- {
		if c.Forks[i].Index <= index {
			return c.Forks[i], true
		}
	}
	return fork{}, false
}

// parent returns the index of the message that one follows, 0 for none.
func (c *conversation) parent(index int) int {
	if f, ok := c.forkAt(index); ok && f.Index == index {
		return f.Parent
	}
	return index - 1
}

// branch returns the messages from the beginning to one with an index, the earlier first. O(forks).
func (c *conversation) branch(tip int) (spans []span) {
	for tip > 0 {
		f, ok := c.forkAt(tip)
		if !ok {
			f.Index = 1
		}
		spans = append(spans, span{f.Index, tip})
		tip = f.Parent
	}
	slices.Reverse(spans)
	return spans
}

// tip returns the index of the last message that a reader sees, 0 for none: the end of the newest branch.
func (c *conversation) tip(tx *kv.Tx, v *audience.View) (int, error) {
	if !v.Hides() {
		return c.All.Messages, nil
	}
	for number := c.Public.Messages; number > 0; number-- {
		p, err := public.Get(tx, messageKey(c.ID, number))
		if err != nil {
			return 0, err
		}
		if p != nil {
			return p.Index, nil
		}
	}
	return 0, nil
}

func on(spans []span, index int) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.first <= index && index <= s.last })
}

// parentSeen returns the message that another one follows for a reader, nil for none: the nearest before it on
// its branch that he sees.
func (c *conversation) parentSeen(tx *kv.Tx, v *audience.View, index int) (*message, error) {
	for index = c.parent(index); index > 0; index = c.parent(index) {
		m, err := Messages.Get(tx, messageKey(c.ID, index))
		if err != nil || m != nil && v.Sees(m.private()) {
			return m, err
		}
	}
	return nil, nil
}

// before returns the message whose number is one less for a reader, nil for none.
func (c *conversation) before(tx *kv.Tx, v *audience.View, m *message) (*message, error) {
	number := m.Index
	if v.Hides() {
		number = m.PublicIndex
	}
	for number--; number > 0; number-- {
		b, err := at(tx, v, c.ID, number)
		if b != nil || err != nil {
			return b, err
		}
	}
	return nil, nil
}

// parentOf returns the id of the message that a message follows, as a reader is told it: nil where that is the one
// before it, "" where there is none.
func (c *conversation) parentOf(tx *kv.Tx, v *audience.View, m *message) (*string, error) {
	if len(c.Forks) == 0 {
		return nil, nil
	}
	parent, err := c.parentSeen(tx, v, m.Index)
	if err != nil {
		return nil, err
	}
	last, err := c.before(tx, v, m)
	if err != nil {
		return nil, err
	}
	id := ""
	switch {
	case parent == nil && last == nil, parent != nil && last != nil && parent.ID == last.ID:
		return nil, nil
	case parent != nil:
		id = parent.ID
	}
	return &id, nil
}

// AllBranches stands for the messages of all branches, in the place of the id of one.
const AllBranches = "*"

// branchOf returns the newest branch that a reader sees, of those with a message when of is its id.
func (c *conversation) branchOf(tx *kv.Tx, v *audience.View, of string) ([]span, error) {
	if of == AllBranches {
		return []span{{1, c.All.Messages}}, nil
	}
	tip, err := c.tip(tx, v)
	if err != nil || of == "" {
		return c.branch(tip), err
	}
	m, err := messageOf(tx, v, c, "branch", of)
	if err != nil {
		return nil, err
	}
	for ; tip > m.Index; tip-- {
		if !on(c.branch(tip), m.Index) {
			continue
		}
		last, err := Messages.Get(tx, messageKey(c.ID, tip))
		if err != nil {
			return nil, err
		}
		if last != nil && v.Sees(last.private()) {
			break
		}
	}
	return c.branch(tip), nil
}

// otherBranches returns where branches begin that a reader sees and that are none of a branch, the earlier first.
func (s *Store) otherBranches(tx *kv.Tx, v *audience.View, c *conversation, spans []span, handleShown bool,
) (out []Branch, err error) {
	if len(c.Forks) == 0 {
		return nil, nil
	}
	total := c.counted(v).Messages
	for number := 1; number <= total && len(out) < maxBranches; number++ {
		m, err := at(tx, v, c.ID, number)
		if err != nil {
			return nil, err
		}
		if m == nil || on(spans, m.Index) {
			continue
		}
		parent, err := c.parentSeen(tx, v, m.Index)
		if err != nil {
			return nil, err
		}
		if parent != nil && !on(spans, parent.Index) {
			continue // it goes on with a branch that is told already
		}
		b := Branch{Message: s.shownMessage(v, c, handleShown, m)}
		if parent != nil {
			b.ParentID = parent.ID
		}
		out = append(out, b)
	}
	return out, nil
}

// maxBranches is how many beginnings of other branches a page tells of.
const maxBranches = 1000
