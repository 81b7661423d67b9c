package protocol

import "github.com/ctxd/ctxd/entities/record"

// MemoryUpkeep are the parameters of memory.upkeep.
type MemoryUpkeep struct {
	DryRun bool     `json:"dryRun,omitempty" jsonschema:"say what would be done, and do nothing"`
	Steps  []string `json:"steps,omitempty" jsonschema:"some of extraction, evidence, decay, contradictions, merging and model, which are done in this order; all when absent"`
	Undo   string   `json:"undo,omitempty" jsonschema:"id of the last run: take it back, and do nothing else"`
}

// MemoryConflicts are the parameters of memory.conflicts.
type MemoryConflicts struct {
	Page
	Reads
}

// MemoryConflicting is the result of memory.conflicts.
type MemoryConflicting struct {
	Conflicts  []record.Contradiction `json:"conflicts" jsonschema:"pairs of memories that are open, those that have waited longest first"`
	NextCursor string                 `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// MemorySettle are the parameters of memory.settle.
type MemorySettle struct {
	ID         string `json:"id" jsonschema:"id of a memory"`
	With       string `json:"with" jsonschema:"id of the other one"`
	Resolution string `json:"resolution" enum:"keep,supersede,retract,both" jsonschema:"keep: the first holds, the other was wrong; supersede: the first holds now, the other held before; retract: the first was wrong, the other holds; both: both hold, and the pair is not raised again"`
}

var upkeepMethods = []Method{
	job(JobIndex, wholeStore(describe[MemoryUpkeep, record.Upkept]("memory.upkeep", Job,
		"Keep facts in order: count what supports them, let fade what nobody repeats, settle or contest what contradicts another, merge what says the same.",
		"The daemon does it by itself once a day, when nobody calls. Facts are the memories of memoryBank and patterns. A second run does nothing, and one that was interrupted goes on with the next. The last run can be undone until the next one; what was changed since stays.",
		Example{
			`{"dryRun":true,"steps":["contradictions"]}`,
			`{"changes":[{"kind":"superseded","id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","with":"550e8400-e29b-41d4-a716-446655440000","why":"the newer one says that something changed",` +
				`"before":{"id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","status":"active"},"after":{"id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","status":"superseded"}}],` +
				`"changesTotal":1,"queued":0,"tokens":0,"facts":2,"merged":0,"pairs":1,"decided":1,"skipped":[]}`,
		},
		CodeNotFound, CodeUnavailable))),
	describe[MemoryConflicts, MemoryConflicting]("memory.conflicts", Read,
		"List the pairs of memories that nobody has settled.",
		"Those that contradict each other, and those of which rules cannot tell whether they do or say the same.",
		Example{
			`{"limit":1}`,
			`{"conflicts":[{"id":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c01","with":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c02","why":"they differ in number","state":"contested"}]}`,
		}),
	describe[MemorySettle, MemoryList]("memory.settle", Mutation,
		"Settle a pair of memories that is open.",
		"That both hold may be said of any two. Memories that hold are active and as sure as before the pair was contested, unless another pair contests them too.",
		Example{
			`{"id":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c01","with":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c02","resolution":"both"}`,
			`{"memories":[` + exampleMemory + `]}`,
		},
		CodeNotFound, CodeConflict, CodeUnavailable),
}
