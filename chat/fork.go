package chat

import (
	"encoding/json"
	"slices"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/kv"
)

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
	c.Forks = append(slices.Clip(c.Forks), branchFork{Index: m.Index, Parent: *after})
	return nil
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

// parentSeen returns the message that another one follows for a reader, nil for none: the nearest before it on
// its branch that he sees.
func (c *conversation) parentSeen(tx *kv.Tx, v *audience.View, index int) (*message, error) {
	for index = c.Forks.Parent(index); index > 0; index = c.Forks.Parent(index) {
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
func (c *conversation) branchOf(tx *kv.Tx, v *audience.View, of string) ([]branchSpan, error) {
	if of == AllBranches {
		return []branchSpan{{First: 1, Last: c.All.Messages}}, nil
	}
	tip, err := c.tip(tx, v)
	if err != nil || of == "" {
		return c.Forks.To(tip), err
	}
	m, err := messageOf(tx, v, c, "branch", of)
	if err != nil {
		return nil, err
	}
	for ; tip > m.Index; tip-- {
		if !inSpans(c.Forks.To(tip), m.Index) {
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
	return c.Forks.To(tip), nil
}

// otherBranches returns where branches begin that a reader sees and that are none of a branch, the earlier first.
func (s *Store) otherBranches(tx *kv.Tx, v *audience.View, c *conversation, spans []branchSpan, handleShown bool,
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
		if m == nil || inSpans(spans, m.Index) {
			continue
		}
		parent, err := c.parentSeen(tx, v, m.Index)
		if err != nil {
			return nil, err
		}
		if parent != nil && !inSpans(spans, parent.Index) {
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
