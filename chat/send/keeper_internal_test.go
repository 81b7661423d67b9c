package send

import "testing"

// TestCHAT25_WhatCouldNotBeStoredIsInTheNextPart: a full disk takes nothing out of the middle of an answer.
func TestCHAT25_WhatCouldNotBeStoredIsInTheNextPart(t *testing.T) {
	k := &keeper{full: make(chan struct{}, 1)}
	k.add("one ", "a")
	lost := k.take()
	k.add("two", "b")
	k.giveBack(lost)
	if got := k.take(); got == nil || got.Content != "one two" || got.Reasoning != "ab" {
		t.Errorf("the next part is %+v", got)
	}
	if got := k.take(); got != nil {
		t.Errorf("a part is left: %+v", got)
	}
}
