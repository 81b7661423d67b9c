package learn

import (
	"slices"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
)

// MemoryChange collects what changes of one memory.
type MemoryChange struct{ Before, After record.LearnedMemory }

// CompareMemory says what is different between two states of a memory and of its counters. was and now may be the same one
// where only the counters change, and the counters nil where they do not.
func CompareMemory(was, now *record.MemoryRecord, usedWas, usedNow *record.MemoryUse) MemoryChange {
	c := MemoryChange{record.LearnedMemory{ID: now.ID}, record.LearnedMemory{ID: now.ID}}
	b, a := &c.Before, &c.After
	differ(&b.Tier, &a.Tier, was.Tier, now.Tier)
	differ(&b.Kind, &a.Kind, was.Kind, now.Kind)
	differ(&b.Status, &a.Status, was.Status, now.Status)
	differ(&b.Importance, &a.Importance, was.Importance, now.Importance)
	differ(&b.Confidence, &a.Confidence, was.Confidence, now.Confidence)
	differ(&b.Private, &a.Private, was.Private, now.Private)
	lists(&b.Evidence, &a.Evidence, was.Evidence, now.Evidence)
	differ(&b.EvidenceCount, &a.EvidenceCount, was.EvidenceCount, now.EvidenceCount)
	times(&b.LastEvidenceAt, &a.LastEvidenceAt, was.LastEvidenceAt, now.LastEvidenceAt)
	times(&b.EvidenceUpTo, &a.EvidenceUpTo, was.EvidenceUpTo, now.EvidenceUpTo)
	times(&b.ConfidenceAt, &a.ConfidenceAt, &was.ConfidenceAt, &now.ConfidenceAt)
	times(&b.ValidTo, &a.ValidTo, was.ValidTo, now.ValidTo)
	lists(&b.Supersedes, &a.Supersedes, was.Supersedes, now.Supersedes)
	ids(&b.SupersededBy, &a.SupersededBy, was.SupersededBy, now.SupersededBy)
	ids(&b.MergedInto, &a.MergedInto, was.MergedInto, now.MergedInto)
	lists(&b.Contradicts, &a.Contradicts, was.Contradicts, now.Contradicts)
	times(&b.TierSince, &a.TierSince, &was.TierSince, &now.TierSince)
	times(&b.ArchivedAt, &a.ArchivedAt, was.ArchivedAt, now.ArchivedAt)
	if usedWas != nil && usedNow != nil {
		differ(&b.Uses, &a.Uses, usedWas.Uses, usedNow.Uses)
		differ(&b.Worked, &a.Worked, usedWas.Worked, usedNow.Worked)
		differ(&b.Failed, &a.Failed, usedWas.Failed, usedNow.Failed)
		differ(&b.Partial, &a.Partial, usedWas.Partial, usedNow.Partial)
		differ(&b.Unknown, &a.Unknown, usedWas.Unknown, usedNow.Unknown)
		differ(&b.Score, &a.Score, memory.FromHundredths(memory.Score(usedWas)), memory.FromHundredths(memory.Score(usedNow)))
		ids(&b.LastOutcome, &a.LastOutcome, usedWas.LastOutcome, usedNow.LastOutcome)
	}
	return c
}

func differ[T comparable](before, after **T, was, now T) {
	if was != now {
		*before, *after = &was, &now
	}
}

// ids has an empty one be absent.
func ids(before, after **string, was, now string) {
	if was == now {
		return
	}
	if was != "" {
		*before = &was
	}
	if now != "" {
		*after = &now
	}
}

func lists(before, after *[]string, was, now []string) {
	if !slices.Equal(was, now) {
		*before, *after = slices.Clone(was), slices.Clone(now)
	}
}

func times(before, after **time.Time, was, now *time.Time) {
	if was == nil && now == nil || was != nil && now != nil && was.Equal(*now) {
		return
	}
	*before, *after = was, now
}

// AddChange puts what changed of a memory into an event. The id comes into its list also where nothing changed.
func AddChange(e *record.LearnedEvent, c MemoryChange) {
	if !slices.Contains(e.IDs, c.After.ID) {
		e.IDs = append(e.IDs, c.After.ID)
	}
	e.Before, e.After = append(e.Before, c.Before), append(e.After, c.After)
}
