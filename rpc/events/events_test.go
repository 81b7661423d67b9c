package events_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/rpc/events"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestREL7_WhatIsHeldForASlowReaderIsBounded(t *testing.T) {
	if n := events.HeldAfter(events.ListedIDs); n != events.ListedIDs {
		t.Errorf("%d ids of %d", n, events.ListedIDs)
	}
	if n := events.HeldAfter(3 * events.ListedIDs); n != 0 {
		t.Errorf("%d ids are kept when they can't all be listed", n)
	}
}

// Every topic that merges records has events made of commits, and no other has.
func TestEveryRecordTopicHasEvents(t *testing.T) {
	for number, topic := range protocol.TopicTable {
		merges := topic.Merge == protocol.MergeRecords
		if merges != slices.Contains(events.RecordTopics(), protocol.TopicNumber(number)) {
			t.Errorf("%s merges records: %v", topic.Name, merges)
		}
	}
}
