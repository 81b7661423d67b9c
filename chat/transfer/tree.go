package transfer

import (
	"slices"
	"time"
)

// node is a message in the tree of its conversation.
type node struct {
	id        string
	parent    string // "" for the first message
	createdAt time.Time
	message   []byte // JSON; nil for a node that only holds the tree together
}

// branch is a way through the tree from its root to one message.
type branch struct {
	path   []int // the nodes, from the first message on
	others int   // branches that end elsewhere
	whole  bool  // the path begins at a root: no parent is missing and there is no cycle
}

// branchTo returns the branch that ends at the node with the id. When there is no such node
// it ends at the newest message that has no answer, of several at the last one.
func branchTo(nodes []node, id string) branch {
	byID := make(map[string]int, len(nodes))
	for i, n := range nodes {
		byID[n.id] = i // of equal ids the last one counts
	}
	parents := make([]int, len(nodes))
	answered := make([]bool, len(nodes))
	for i, n := range nodes {
		parent, ok := byID[n.parent]
		if !ok || n.parent == "" {
			parents[i] = -1
			continue
		}
		parents[i] = parent
		answered[parent] = true
	}
	end, ok := byID[id]
	if !ok {
		end = newest(nodes, answered)
	}
	var b branch
	seen := make([]bool, len(nodes))
	for at := end; at >= 0 && !seen[at]; at = parents[at] {
		seen[at] = true
		b.path = append(b.path, at)
	}
	if len(b.path) > 0 {
		first := b.path[len(b.path)-1]
		b.whole = parents[first] < 0 && nodes[first].parent == ""
	}
	slices.Reverse(b.path)
	for i, n := range nodes {
		if i != end && !answered[i] && n.message != nil {
			b.others++
		}
	}
	return b
}

// newest returns the newest message without an answer, -1 when there is no message. In a
// tree that is nothing but cycles it is the last message.
func newest(nodes []node, answered []bool) int {
	best, last := -1, -1
	for i, n := range nodes {
		if n.message == nil {
			continue
		}
		last = i
		if answered[i] {
			continue
		}
		if best < 0 || !n.createdAt.Before(nodes[best].createdAt) {
			best = i
		}
	}
	if best < 0 {
		return last
	}
	return best
}
