package page

import (
	"fmt"
	"slices"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
)

// explicit is the signal of outcomes that the user has told.
const explicit = "explicit"

// EventChanges says what an event changed, the same of several memories once.
func EventChanges(e *record.LearnedEvent) (list []string) {
	list = outcomeInWords(e)
	for i := range min(len(e.Before), len(e.After)) {
		for _, what := range changesBetween(&e.Before[i], &e.After[i]) {
			if !slices.Contains(list, what) {
				list = append(list, what)
			}
		}
	}
	return list
}

// MemoryChanges says what an event changed of one memory.
func MemoryChanges(e *record.LearnedEvent, id string) []string {
	list := outcomeInWords(e)
	was, now := sides(e, id)
	if was == nil || now == nil {
		return list
	}
	list = append(list, changesBetween(was, now)...)
	if before, after := number(was.EvidenceCount), number(now.EvidenceCount); before != after {
		list = append(list, fmt.Sprintf("supported %s → %s", term.Number(before), term.Number(after)))
	}
	return list
}

// OtherMemories are the other memories of an event about a pair or a group.
func OtherMemories(e *record.LearnedEvent, id string) (list []string) {
	if !slices.Contains(paired, e.Kind) {
		return nil
	}
	for _, other := range e.IDs {
		if other != id {
			list = append(list, other)
		}
	}
	return list
}

// paired are the kinds of events that name several memories because of one another.
var paired = []string{record.LearnedContested, record.LearnedSuperseded, record.LearnedMerged, record.LearnedSettled}

// outcomeInWords says which outcome an event is of, and who told it.
func outcomeInWords(e *record.LearnedEvent) []string {
	switch {
	case e.Outcome == "":
		return nil
	case e.Signal == explicit:
		return []string{e.Outcome}
	}
	return []string{e.Outcome, "told by a " + e.Signal}
}

// changesBetween says what two states of a memory differ in.
func changesBetween(was, now *record.LearnedMemory) (list []string) {
	for _, m := range []struct{ was, now *string }{{was.Tier, now.Tier}, {was.Status, now.Status}, {was.Kind, now.Kind}} {
		if m.was != nil && m.now != nil {
			list = append(list, *m.was+" → "+*m.now)
		}
	}
	for _, m := range []struct {
		name     string
		was, now *float64
	}{{"score", was.Score, now.Score}, {"confidence", was.Confidence, now.Confidence}} {
		if m.was != nil && m.now != nil {
			list = append(list, fmt.Sprintf("%s %.2f → %.2f", m.name, *m.was, *m.now))
		}
	}
	return list
}

// sides are the states of a memory before and after an event, nil where the event has none.
func sides(e *record.LearnedEvent, id string) (was, now *record.LearnedMemory) {
	side := func(list []record.LearnedMemory) *record.LearnedMemory {
		for i := range list {
			if list[i].ID == id {
				return &list[i]
			}
		}
		return nil
	}
	return side(e.Before), side(e.After)
}

// number is a counter, 0 when it is absent.
func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
