package audience

// A GroupIndex finds memories by what they share: a tag or a domain, the tree of which is made of the slashes in it, an
// entity that they are about, a conversation that they come from. It finds contexts by their names. Package memory
// makes one from the records whenever it opens, and keeps it current.
//
// A GroupIndex knows ids alone, and no reader: the caller leaves out what the reader does not see. It has no lock: its
// owner has one. The functions may be called concurrently.

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/refs"
	"github.com/ctxd/ctxd/entities/record"
)

// GroupKind is what the memories of a group share.
type GroupKind uint8

// The kinds. Tags and domains are trees, and their groups have a handle.
const (
	GroupTag GroupKind = iota
	GroupDomain
	GroupEntity
	GroupConversation
	GroupNote // that they come from
)

// GroupIndex knows who belongs to which group. New makes one.
type GroupIndex struct {
	trees [2]tree                       // of tags and domains
	lists [3]map[string]map[string]bool // by the id of an entity, a conversation or a note: ids of memories

	contexts contexts
}

// NewGroupIndex returns an Index without anything.
func NewGroupIndex() *GroupIndex {
	return &GroupIndex{
		trees: [2]tree{newTree(refs.NewTagHandle), newTree(refs.NewDomainHandle)},
		lists: [3]map[string]map[string]bool{{}, {}, {}},

		contexts: newContexts(),
	}
}

// Put replaces a memory; nil is none.
func (x *GroupIndex) Put(old, now *record.MemoryRecord) {
	if old != nil {
		x.each(old, x.leave)
	}
	if now != nil {
		x.each(now, x.enter)
	}
}

// each calls do with every group that a memory belongs to.
func (x *GroupIndex) each(m *record.MemoryRecord, do func(kind GroupKind, key, id string)) {
	for kind, labels := range [...][]string{GroupTag: m.Tags, GroupDomain: m.Domains} {
		for _, label := range labels {
			if fold := FoldStatement(label); fold != "" {
				do(GroupKind(kind), fold, m.ID)
			}
		}
	}
	for _, id := range m.EntityIDs {
		do(GroupEntity, id, m.ID)
	}
	if m.Source.ConversationID != "" {
		do(GroupConversation, m.Source.ConversationID, m.ID)
	}
	if m.Source.NoteID != "" {
		do(GroupNote, m.Source.NoteID, m.ID)
	}
}

func (x *GroupIndex) enter(kind GroupKind, key, id string) {
	if kind >= GroupEntity {
		addTo(x.lists[kind-GroupEntity], key, id)
		return
	}
	x.trees[kind].grow(key).members[id] = true
}

func (x *GroupIndex) leave(kind GroupKind, key, id string) {
	if kind >= GroupEntity {
		dropFrom(x.lists[kind-GroupEntity], key, id)
		return
	}
	if n := x.trees[kind].nodes[key]; n != nil {
		delete(n.members, id)
		x.trees[kind].prune(key)
	}
}

// Members yields the ids of the memories of a group: for a tag or a domain, by its fold, also those of
// what lies below it. An id may come more than once.
func (x *GroupIndex) Members(kind GroupKind, key string) iter.Seq[string] {
	if kind >= GroupEntity {
		return maps.Keys(x.lists[kind-GroupEntity][key])
	}
	return func(yield func(string) bool) { x.trees[kind].walk(key, yield) }
}

// Handled returns the folds of the tags or domains with a handle, by its fold, in their order.
func (x *GroupIndex) Handled(kind GroupKind, folded string) []string {
	return slices.Sorted(maps.Keys(x.trees[kind].byHandle[folded]))
}

// LabelWithin reports whether a tag or domain is one with a fold, or lies below it.
func LabelWithin(label, fold string) bool {
	own := FoldStatement(label)
	return own == fold || strings.HasPrefix(own, fold+"/")
}

// tree is the tree of the tags or domains of memories, by their folds.
type tree struct {
	handle   func(string) string
	nodes    map[string]*node
	byHandle map[string]map[string]bool // fold of a handle to folds
}

type node struct {
	handle  string          // its fold
	members map[string]bool // ids of memories
	below   map[string]bool // folds directly below
}

func newTree(handle func(string) string) tree {
	return tree{handle: handle, nodes: make(map[string]*node), byHandle: make(map[string]map[string]bool)}
}

// above returns the fold of what a tag lies below, "" for the top.
func above(fold string) string { return fold[:max(strings.LastIndexByte(fold, '/'), 0)] }

// grow returns the node of a fold, which it makes, with those above it, when there is none. O(levels).
func (t *tree) grow(fold string) *node {
	own := t.nodes[fold]
	if own != nil {
		return own
	}
	own = t.plant(fold)
	for upper := above(fold); upper != ""; upper = above(fold) {
		parent := t.nodes[upper]
		known := parent != nil
		if !known {
			parent = t.plant(upper)
		}
		parent.below[fold] = true
		if known {
			break
		}
		fold = upper
	}
	return own
}

// plant makes the node of a fold, apart from all others.
func (t *tree) plant(fold string) *node {
	n := &node{
		handle: refs.FoldHandle(t.handle(fold)), members: make(map[string]bool), below: make(map[string]bool),
	}
	t.nodes[fold] = n
	addTo(t.byHandle, n.handle, fold)
	return n
}

// prune removes a node that nothing belongs to and nothing lies below, and those above it likewise.
func (t *tree) prune(fold string) {
	for n := t.nodes[fold]; n != nil && len(n.members)+len(n.below) == 0; n = t.nodes[fold] {
		delete(t.nodes, fold)
		dropFrom(t.byHandle, n.handle, fold)
		upper := above(fold)
		if upper == "" {
			return
		}
		delete(t.nodes[upper].below, fold)
		fold = upper
	}
}

// walk yields the members of a node and of those below it, until it is told to stop.
func (t *tree) walk(fold string, yield func(string) bool) {
	todo := []string{fold}
	for len(todo) > 0 {
		n := t.nodes[todo[0]]
		todo = todo[1:]
		if n == nil {
			continue
		}
		for id := range n.members {
			if !yield(id) {
				return
			}
		}
		todo = slices.AppendSeq(todo, maps.Keys(n.below))
	}
}

func addTo(sets map[string]map[string]bool, key, id string) {
	set := sets[key]
	if set == nil {
		set = make(map[string]bool)
		sets[key] = set
	}
	set[id] = true
}

func dropFrom(sets map[string]map[string]bool, key, id string) {
	delete(sets[key], id)
	if len(sets[key]) == 0 {
		delete(sets, key)
	}
}
