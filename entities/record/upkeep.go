package record

// UpkeepChange is what a run of upkeep did to a memory, or would do.
type UpkeepChange struct {
	Kind   string        `json:"kind" enum:"added,evidence,decayed,contested,superseded,merged,settled,undone" jsonschema:"what happened"`
	ID     string        `json:"id" jsonschema:"id of the memory"`
	With   string        `json:"with,omitempty" jsonschema:"id of the other memory of a pair"`
	Why    string        `json:"why" jsonschema:"the reason, for people"`
	Before LearnedMemory `json:"before" jsonschema:"the members that changed, as they were"`
	After  LearnedMemory `json:"after" jsonschema:"the same as they are since then"`
}

// Contradiction is a pair of memories that nobody has settled.
type Contradiction struct {
	ID    string `json:"id" jsonschema:"id of the newer memory"`
	With  string `json:"with" jsonschema:"id of the older one"`
	Why   string `json:"why" jsonschema:"why they are in conflict, for people"`
	State string `json:"state" enum:"contested,queued" jsonschema:"contested: they contradict each other; queued: rules cannot tell, and a model or the person decides"`
}

// Upkept says what a run of upkeep did, or would do.
type Upkept struct {
	RunID   string         `json:"runId,omitempty" jsonschema:"id of the run, by which it can be undone until the next one; absent for a dry run"`
	Changes []UpkeepChange `json:"changes" jsonschema:"what was done, at most the first 1,000"`
	Total   int            `json:"changesTotal" jsonschema:"changes in all"`
	Queued  int            `json:"queued" jsonschema:"pairs that wait for a model or the person"`
	Tokens  int64          `json:"tokens" jsonschema:"that models took"`
	Facts   int            `json:"facts" jsonschema:"facts that were looked at"`
	Merged  int            `json:"merged" jsonschema:"facts that said the same as another"`
	Pairs   int            `json:"pairs" jsonschema:"pairs of facts that were judged"`
	Decided int            `json:"decided" jsonschema:"of these, how many rules could decide"`
	Skipped []string       `json:"skipped" jsonschema:"what could not be done, and why"`
}

// LearningHealth says what waits for a model.
type LearningHealth struct {
	Messages int `json:"messages" jsonschema:"messages in which nobody has looked for facts"`
	Pairs    int `json:"pairs" jsonschema:"pairs of facts that rules cannot decide"`
}
