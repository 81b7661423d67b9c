package branch

import "slices"

// Fork is where a branch begins: its first message follows another one than that before it. Indexes count from 1;
// a parent of 0 is the beginning of the conversation.
type Fork struct {
	Index  int `json:"index"`
	Parent int `json:"parent"`
}

// Forks are those of a conversation, by index.
type Forks []Fork

// Span is a row of messages that follow each other, by index, both ends included.
type Span struct{ First, Last int }

// at returns the last fork that is not behind an index.
func (f Forks) at(index int) (Fork, bool) {
	for i := len(f) - 1; i >= 0; i-- {
		if f[i].Index <= index {
			return f[i], true
		}
	}
	return Fork{}, false
}

// Parent returns the index of the message that one follows, 0 for none.
func (f Forks) Parent(index int) int {
	if x, ok := f.at(index); ok && x.Index == index {
		return x.Parent
	}
	return index - 1
}

// To returns the messages from the beginning to one with an index, the earlier first. O(forks).
func (f Forks) To(tip int) (spans []Span) {
	for tip > 0 {
		x, ok := f.at(tip)
		if !ok {
			x.Index = 1
		}
		spans = append(spans, Span{x.Index, tip})
		tip = x.Parent
	}
	slices.Reverse(spans)
	return spans
}

// On reports whether a message is among those of spans.
func On(spans []Span, index int) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.First <= index && index <= s.Last })
}
