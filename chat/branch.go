package chat

// Branches say which messages of a conversation follow each other (CHAT-37). A conversation is a tree of messages: each
// follows the one before it, but for those that begin a branch, which are its forks. Messages are named by their index,
// from 1. This file knows numbers alone; the forks lie in the record of the conversation. All functions take O(forks)
// and may be called concurrently.

import "slices"

// branchFork is where a branch begins: its first message follows another one than that before it. Indexes count from 1;
// a parent of 0 is the beginning of the conversation.
type branchFork struct {
	Index  int `json:"index"`
	Parent int `json:"parent"`
}

// branchForks are those of a conversation, by index.
type branchForks []branchFork

// branchSpan is a row of messages that follow each other, by index, both ends included.
type branchSpan struct{ First, Last int }

// at returns the last fork that is not behind an index.
func (f branchForks) at(index int) (branchFork, bool) {
	for i := len(f) - 1; i >= 0; i-- {
		if f[i].Index <= index {
			return f[i], true
		}
	}
	return branchFork{}, false
}

// Parent returns the index of the message that one follows, 0 for none.
func (f branchForks) Parent(index int) int {
	if x, ok := f.at(index); ok && x.Index == index {
		return x.Parent
	}
	return index - 1
}

// To returns the messages from the beginning to one with an index, the earlier first. O(forks).
func (f branchForks) To(tip int) (spans []branchSpan) {
	for tip > 0 {
		x, ok := f.at(tip)
		if !ok {
			x.Index = 1
		}
		spans = append(spans, branchSpan{x.Index, tip})
		tip = x.Parent
	}
	slices.Reverse(spans)
	return spans
}

// inSpans reports whether a message is among those of spans.
func inSpans(spans []branchSpan, index int) bool {
	return slices.ContainsFunc(spans, func(s branchSpan) bool { return s.First <= index && index <= s.Last })
}
