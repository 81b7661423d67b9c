package audience

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// contexts is the tree of contexts, their names, and which memories belong to them.
type contexts struct {
	above   map[string]string          // id of a context to that of the one above it
	below   map[string]map[string]bool // id of a context, "" for the top, to those below it
	members map[string]map[string]bool // id of a context to those of its memories
	inside  map[string]map[string]bool // id of a memory to those of its contexts
	names   map[string]map[string]bool // key of a name to ids of contexts
	keys    []string                   // of names, sorted
}

func newContexts() contexts {
	return contexts{
		above: make(map[string]string), below: make(map[string]map[string]bool),
		members: make(map[string]map[string]bool), inside: make(map[string]map[string]bool),
		names: make(map[string]map[string]bool),
	}
}

// PutContext has a context lie below another, "" for the top, and be called by a name; or no more.
func (x *GroupIndex) PutContext(id, parentID, name string, is bool) {
	c, key := &x.contexts, strings.TrimRight(ContextNameKey(name), "_")
	at, known := slices.BinarySearch(c.keys, key)
	if is {
		c.above[id] = parentID
		addTo(c.below, parentID, id)
		addTo(c.names, key, id)
		if !known {
			c.keys = slices.Insert(c.keys, at, key)
		}
		return
	}
	delete(c.above, id)
	dropFrom(c.below, parentID, id)
	dropFrom(c.names, key, id)
	if known && c.names[key] == nil {
		c.keys = slices.Delete(c.keys, at, at+1)
	}
}

// Link has a memory belong to a context, or no more.
func (x *GroupIndex) Link(contextID, memoryID string, is bool) {
	change := dropFrom
	if is {
		change = addTo
	}
	change(x.contexts.members, contextID, memoryID)
	change(x.contexts.inside, memoryID, contextID)
}

// Inside returns the ids of the contexts that a memory belongs to. It is not to be changed.
func (x *GroupIndex) Inside(memoryID string) map[string]bool { return x.contexts.inside[memoryID] }

// Below returns the ids of the contexts directly below one, "" for the top. It is not to be changed.
func (x *GroupIndex) Below(id string) map[string]bool { return x.contexts.below[id] }

// In returns the ids of the memories that belong to a context itself. It is not to be changed.
func (x *GroupIndex) In(id string) map[string]bool { return x.contexts.members[id] }

// Tree yields a context and those below it breadth first, as far as sees says that they are there, each
// with its depth. A context comes once, whatever damage says that it lies below.
func (x *GroupIndex) Tree(id string, sees func(id string) bool) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		level, seen := []string{id}, map[string]bool{id: true}
		for depth := 0; len(level) > 0; depth++ {
			var below []string
			for _, c := range level {
				if !yield(c, depth) {
					return
				}
				for child := range x.contexts.below[c] {
					if !seen[child] && sees(child) {
						seen[child] = true
						below = append(below, child)
					}
				}
			}
			level = below
		}
	}
}

// Depth returns how many contexts lie above one, as far as sees says that they are there, at most so many.
func (x *GroupIndex) Depth(id string, most int, sees func(id string) bool) (n int) {
	for n < most {
		above, known := x.contexts.above[id]
		if !known || above == "" || !sees(above) {
			return n
		}
		n, id = n+1, above
	}
	return n
}

// Called returns the ids of the contexts that a NameKey names, in their order, and whether a longer text
// may name one.
func (x *GroupIndex) Called(key string) (ids []string, beginning bool) {
	at, _ := slices.BinarySearch(x.contexts.keys, key)
	beginning = at < len(x.contexts.keys) && strings.HasPrefix(x.contexts.keys[at], key)
	return slices.Sorted(maps.Keys(x.contexts.names[key])), beginning
}
