package record

import "time"

// LearnedMemory has what an event changed of a memory: the members that changed, none of its texts. A member that only
// the state before or only the state after has was absent on the other side.
type LearnedMemory struct {
	ID         string   `json:"id" jsonschema:"id of the memory"`
	Tier       *string  `json:"tier,omitempty" jsonschema:"its tier"`
	Kind       *string  `json:"kind,omitempty" jsonschema:"its kind"`
	Status     *string  `json:"status,omitempty" jsonschema:"its status"`
	Importance *float64 `json:"importance,omitempty" jsonschema:"how much it mattered"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure it was"`
	Private    *bool    `json:"private,omitempty" jsonschema:"whether it was kept from remote models"`

	Evidence       []string   `json:"evidence,omitempty" jsonschema:"what supported it"`
	EvidenceCount  *int       `json:"evidenceCount,omitempty" jsonschema:"how many supported it in all"`
	LastEvidenceAt *time.Time `json:"lastEvidenceAt,omitempty" jsonschema:"when the last one did"`
	EvidenceUpTo   *time.Time `json:"evidenceUpTo,omitempty" jsonschema:"up to when sources were counted"`
	ConfidenceAt   *time.Time `json:"confidenceAt,omitempty" jsonschema:"since when the confidence stood"`

	ValidTo      *time.Time `json:"validTo,omitempty" jsonschema:"until when it held"`
	Supersedes   []string   `json:"supersedes,omitempty" jsonschema:"memories that held before it"`
	SupersededBy *string    `json:"supersededBy,omitempty" jsonschema:"the memory that held then"`
	MergedInto   *string    `json:"mergedInto,omitempty" jsonschema:"the memory that it was merged into"`
	Contradicts  []string   `json:"contradicts,omitempty" jsonschema:"memories that said otherwise"`
	TierSince    *time.Time `json:"tierSince,omitempty" jsonschema:"since when it was of its tier"`
	ArchivedAt   *time.Time `json:"archivedAt,omitempty" jsonschema:"when it was archived"`

	Uses        *int     `json:"uses,omitempty" jsonschema:"how often it was used"`
	Worked      *int     `json:"worked,omitempty" jsonschema:"uses that helped"`
	Failed      *int     `json:"failed,omitempty" jsonschema:"uses that did not help"`
	Partial     *int     `json:"partial,omitempty" jsonschema:"uses that helped in part"`
	Unknown     *int     `json:"unknown,omitempty" jsonschema:"uses of which nobody knew"`
	Score       *float64 `json:"score,omitempty" jsonschema:"how well it did"`
	LastOutcome *string  `json:"lastOutcome,omitempty" jsonschema:"its last outcome"`
}

// LearnedEvent says what learning did to memories in one transaction.
type LearnedEvent struct {
	Seq    int64           `json:"seq" jsonschema:"grows from event to event; numbers may be missing"`
	At     time.Time       `json:"at" jsonschema:"when it happened"`
	Kind   string          `json:"kind" enum:"outcome,added,promoted,archived,evidence,decayed,contested,superseded,merged,settled,undone,upkeep" jsonschema:"what happened"`
	IDs    []string        `json:"ids" jsonschema:"memories that it is about"`
	Before []LearnedMemory `json:"before,omitempty" jsonschema:"what changed of each memory, as it was"`
	After  []LearnedMemory `json:"after,omitempty" jsonschema:"the same as it is since then"`
	RunID  string          `json:"runId,omitempty" jsonschema:"the run of upkeep that it is part of"`

	Outcome    string   `json:"outcome,omitempty" jsonschema:"the outcome that was told: worked, failed, partial or unknown"`
	Signal     string   `json:"signal,omitempty" jsonschema:"who told it: explicit, detector, heuristic or system"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"how sure that was, 0 to 1"`
}

// ScoredMemory is a memory that an outcome has scored.
type ScoredMemory struct {
	ID     string  `json:"id" jsonschema:"id of the memory"`
	Tier   string  `json:"tier" jsonschema:"working, history or patterns"`
	Score  float64 `json:"score" jsonschema:"its score now, 0 to 1"`
	Wilson float64 `json:"wilson" jsonschema:"how sure its successes are now, 0 to 1"`
}

// MovedMemory is a memory that promotion has given another tier.
type MovedMemory struct {
	ID   string `json:"id" jsonschema:"id of the memory"`
	From string `json:"from" jsonschema:"the tier that it had"`
	To   string `json:"to" jsonschema:"the tier that it has"`
}

// Kinds of events.
const (
	LearnedOutcome    = "outcome"
	LearnedAdded      = "added"
	LearnedPromoted   = "promoted"
	LearnedArchived   = "archived"
	LearnedEvidence   = "evidence"
	LearnedDecayed    = "decayed"
	LearnedContested  = "contested"
	LearnedSuperseded = "superseded"
	LearnedMerged     = "merged"
	LearnedSettled    = "settled"
	LearnedUndone     = "undone"
	LearnedUpkeep     = "upkeep"
)

// LearnedKinds are all kinds of events.
var LearnedKinds = []string{
	LearnedOutcome, LearnedAdded, LearnedPromoted, LearnedArchived, LearnedEvidence, LearnedDecayed, LearnedContested,
	LearnedSuperseded, LearnedMerged, LearnedSettled, LearnedUndone, LearnedUpkeep,
}

// MemoryMeta says what an answer has to do with what is remembered. Its lists are bounded: see MaxMeta.
type MemoryMeta struct {
	SchemaVersion int             `json:"schemaVersion" jsonschema:"1; another number says that members mean something else"`
	Query         string          `json:"query" jsonschema:"the beginning of the question, by which was searched; empty where the reader sees none"`
	Retrieval     MemoryRetrieval `json:"retrieval" jsonschema:"how it was searched"`
	Known         []MemoryKnown   `json:"known" jsonschema:"the memories that the model was shown, at most 50"`
	Citations     []MemoryCited   `json:"citations" jsonschema:"what the answer names or has read, at most 50"`
	Insight       string          `json:"insight,omitempty" jsonschema:"what past conversations tell, as far as the model was told it"`
	Feedback      MemoryFeedback  `json:"feedback" jsonschema:"how to tell how the answer went"`
}

// MemoryRetrieval says how a prompt came to its memories.
type MemoryRetrieval struct {
	Limit           int                `json:"limit" jsonschema:"how many memories the search gave at most; 0 where that is not known"`
	SortBy          string             `json:"sortBy" jsonschema:"relevance"`
	TiersConsidered []string           `json:"tiersConsidered" jsonschema:"tiers that were searched"`
	TiersUsed       []string           `json:"tiersUsed" jsonschema:"tiers of the memories that the model was shown"`
	Confidence      string             `json:"confidence,omitempty" jsonschema:"how sure the search was; absent where that is not known"`
	Fallbacks       []string           `json:"fallbacks" jsonschema:"stages of the prompt that were left out, with the reason, at most 50"`
	StageMS         map[string]float64 `json:"stageMs" jsonschema:"milliseconds of each stage of the prompt"`
}

// MemoryKnown is a memory that a model was shown.
type MemoryKnown struct {
	ID   string `json:"id" jsonschema:"id of the memory"`
	Tier string `json:"tier,omitempty" jsonschema:"its tier now; absent for one that is gone"`
}

// MemoryCited is a record that an answer stands on.
type MemoryCited struct {
	Kind string `json:"kind" enum:"memory,note" jsonschema:"what it is"`
	ID   string `json:"id" jsonschema:"its id"`
}

// MemoryFeedback says what memory.outcome would score.
type MemoryFeedback struct {
	Eligible bool     `json:"eligible" jsonschema:"whether the answer used memories and nobody has told how it went"`
	Related  []string `json:"related" jsonschema:"ids of the memories that would be scored, those that the answer names or else all, at most 50"`
}

// What is in a MemoryMeta: its version, the length of its lists, and characters of its query.
const (
	MetaVersion  = 1
	MaxMeta      = 50
	MaxMetaQuery = 500
)
