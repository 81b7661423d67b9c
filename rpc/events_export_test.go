package rpc

import (
	"strconv"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// HeldAfter returns how many ids are kept for a subscriber that does not read
// after so many changes of a note each.
func HeldAfter(changes int) int {
	h := newHeld()
	for i := range changes {
		h.add(&event{topic: protocol.NotesTopic, kind: protocol.ChangePut, ids: []string{strconv.Itoa(i)}, seq: uint64(i)})
	}
	return len(h.kinds[protocol.NotesTopic])
}

// RecordTopics are the topics whose events come from commits.
func RecordTopics() (list []protocol.TopicNumber) {
	for _, t := range recordTopics {
		list = append(list, t.topic)
	}
	return list
}
