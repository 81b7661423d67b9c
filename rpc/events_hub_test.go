package rpc_test

import (
	"slices"
	"testing"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestREL7_WhatIsHeldForASlowReaderIsBounded(t *testing.T) {
	if n := rpc.HeldAfter(rpc.MaxListedIDs); n != rpc.MaxListedIDs {
		t.Errorf("%d ids of %d", n, rpc.MaxListedIDs)
	}
	if n := rpc.HeldAfter(3 * rpc.MaxListedIDs); n != 0 {
		t.Errorf("%d ids are kept when they can't all be listed", n)
	}
}

// Every topic that merges records has events made of commits, and no other has.
func TestEveryRecordTopicHasEvents(t *testing.T) {
	for number, topic := range protocol.TopicTable {
		merges := topic.Merge == protocol.MergeRecords
		if merges != slices.Contains(rpc.RecordTopics(), protocol.TopicNumber(number)) {
			t.Errorf("%s merges records: %v", topic.Name, merges)
		}
	}
}
