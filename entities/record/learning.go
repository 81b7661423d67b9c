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
