package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// MemoryOutcome are the parameters of memory.outcome: of an answer, or of memories by their ids.
type MemoryOutcome struct {
	Outcome        string   `json:"outcome" enum:"worked,failed,partial,unknown" jsonschema:"how the answer went, or how it went with the memories"`
	ConversationID string   `json:"conversationId,omitempty" jsonschema:"the conversation that memory.search, context.assemble or chat.send was called with: what was shown there last is scored"`
	MessageID      string   `json:"messageId,omitempty" jsonschema:"an answer of the conversation: what its model was shown is scored"`
	Related        []string `json:"related,omitempty" jsonschema:"which of what was shown: positions from 1, or ids, at most 50; when absent those that the answer names, and all when it names none"`
	Takeaway       string   `json:"takeaway,omitempty" jsonschema:"what was learned, in one or two sentences: it becomes a memory of the tier working"`
	IDs            []string `json:"ids,omitempty" jsonschema:"score these memories, at most 200, and no answer; without the four above"`
	Signal         string   `json:"signal,omitempty" enum:"explicit,detector,heuristic,system" jsonschema:"beside ids: who tells it, explicit when absent; heuristic scores nothing, and detector nothing at a confidence of 0.7 or less"`
	Confidence     *float64 `json:"confidence,omitempty" min:"0" max:"1" jsonschema:"beside ids: how sure that is; when absent 1, 0.8, 0.5 and 0.9 for the signals in their order"`
}

// MemoryScored is the result of memory.outcome.
type MemoryScored struct {
	Scored   []record.ScoredMemory `json:"scored" jsonschema:"the memories that have another score; facts of memoryBank have none"`
	Takeaway *record.Memory        `json:"takeaway,omitempty" jsonschema:"the memory of what was learned; absent without one, and where the reader does not see it"`
}

// MemoryJudge are the parameters of memory.judge.
type MemoryJudge struct {
	ConversationID string `json:"conversationId" jsonschema:"id or handle of the conversation"`
}

// MemoryJudged is the result of memory.judge.
type MemoryJudged struct {
	Outcome    string                `json:"outcome" enum:"worked,failed,partial,unknown" jsonschema:"how the answers went; unknown at a confidence of 0.7 or less"`
	Confidence float64               `json:"confidence" jsonschema:"how sure the model is, 0 to 1"`
	Reasoning  string                `json:"reasoning" jsonschema:"why, in a sentence"`
	Scored     []record.ScoredMemory `json:"scored" jsonschema:"the memories that have another score"`
}

// MemoryPromote are the parameters of memory.promote.
type MemoryPromote struct {
	DryRun bool `json:"dryRun,omitempty" jsonschema:"say what would be done, and do nothing"`
}

// MemoryPromoted is the result of memory.promote.
type MemoryPromoted struct {
	Moved    []record.MovedMemory `json:"moved" jsonschema:"the moves, by the numbers of the memories; one may move twice"`
	Archived []string             `json:"archived" jsonschema:"ids of memories that were archived, by their numbers"`
}

// MemoryEventFilter are the parameters of memory.events.
type MemoryEventFilter struct {
	ID    string     `json:"id,omitempty" jsonschema:"events that name this memory; all when absent"`
	Since *time.Time `json:"since,omitempty" jsonschema:"not before this time"`
	Page
	Reads
}

// MemoryEvents is the result of memory.events.
type MemoryEvents struct {
	Events     []record.LearnedEvent `json:"events" jsonschema:"what learning did, the newest first"`
	NextCursor string                `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

var learningMethods = []Method{
	describe[MemoryOutcome, MemoryScored]("memory.outcome", Mutation,
		"Say how an answer went, or how it went with memories: they are scored, and what was learned is kept.",
		"What was shown in the conversation last is scored once: a second call scores nothing. What was not shown there is refused. "+
			"Counters and scores of the memories change, and nothing else of them. worked adds 0.2 to a score, partial 0.05, failed takes 0.3, unknown changes none; facts of memoryBank are not scored.",
		Example{
			`{"outcome":"worked","takeaway":"Stretching before the run helps"}`,
			`{"scored":[],"takeaway":` + exampleMemory + `}`,
		},
		CodeNotFound, CodeLimit, CodeUnavailable),
	job(JobChat, describe[MemoryJudge, MemoryJudged]("memory.judge", Job,
		"Have a model read the end of a conversation and say how its answers went.",
		"It reads the last four turns, 500 characters of each message, and asks the model that gave the last answer. Above a confidence of 0.7 what was shown in the conversation is scored as memory.outcome does. With fewer than two turns nobody is asked. A model that is not local is asked about nothing private.",
		Example{`{"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e"}`, `{"outcome":"worked","confidence":0.9,"reasoning":"The user says thanks.","scored":[]}`},
		CodeNotFound, CodeUnavailable)),
	wholeStore(describe[MemoryPromote, MemoryPromoted]("memory.promote", Mutation,
		"Move memories that proved themselves to tiers that last, and archive those that failed.",
		"The daemon does it by itself: at the start, each 30 minutes and each 20 messages. From working to history at a score of 0.7 and two uses, from history to patterns at 0.9 and three; below 0.2 they are archived. A second run does nothing.",
		Example{`{"dryRun":true}`, `{"moved":[{"id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","from":"working","to":"history"}],"archived":[]}`},
		CodeUnavailable)),
	describe[MemoryEventFilter, MemoryEvents]("memory.events", Read,
		"List what learning did to memories, the newest first.",
		"Each event names the memories and the members that changed, before and after, and no text. The newest 20,000 are kept. A remote reader is shown those that name no private memory.",
		Example{
			`{"limit":1}`,
			`{"events":[{"seq":7,"at":"2026-03-04T09:00:00Z","kind":"promoted","ids":["7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11"],` +
				`"before":[{"id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","tier":"working"}],"after":[{"id":"7d1f3b52-90aa-4a6e-9c1e-6d0f0a8b1c11","tier":"history"}]}]}`,
		}),
}
