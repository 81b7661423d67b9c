package embed

// trie finds the tokens that begin at a place of a text, byte by byte. It is
// read-only once built.
//
// Nodes are numbered level by level, so the children of a node lie beside each
// other, in the order of their bytes; node 0 is the root.
type trie struct {
	first []int32 // of node n the children are first[n] to first[n+1]
	label []byte  // the byte that leads to a node
	token []int32 // the token that ends at a node, unknown for none
}

// fewChildren are looked through one after the other.
const fewChildren = 8

// newTrie builds it of tokens in the order of their bytes, but for the first,
// which is left out.
func newTrie(tokens []string) trie {
	type span struct{ from, to, depth int32 } // tokens that go through a node
	t := trie{label: []byte{0}, token: []int32{unknown}}
	level := []span{{1, int32(len(tokens)), 0}}
	for len(level) > 0 {
		var next []span
		for _, s := range level {
			t.first = append(t.first, int32(len(t.label)))
			for at := s.from; at < s.to; {
				word := tokens[at]
				c, id, end := word[s.depth], int32(unknown), at
				for end < s.to && tokens[end][s.depth] == c {
					end++
				}
				if len(word) == int(s.depth)+1 {
					id, at = at, at+1
				}
				t.label, t.token = append(t.label, c), append(t.token, id)
				next = append(next, span{at, end, s.depth + 1})
				at = end
			}
		}
		level = next
	}
	t.first = append(t.first, int32(len(t.label)))
	return t
}

// child is the node that a byte leads to, -1 for none.
func (t *trie) child(node int32, c byte) int32 {
	from, to := t.first[node], t.first[node+1]
	for to-from > fewChildren {
		if middle := (from + to) / 2; t.label[middle] <= c {
			from = middle
		} else {
			to = middle
		}
	}
	for ; from < to; from++ {
		if t.label[from] == c {
			return from
		}
	}
	return -1
}
