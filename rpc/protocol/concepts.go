package protocol

import (
	"time"

	"github.com/ctxd/ctxd/entities/record"
)

// ConceptFilter are the parameters of concepts.list.
type ConceptFilter struct {
	Since *time.Time `json:"since,omitempty" jsonschema:"count only what was written from then on"`
	Sort  string     `json:"sort,omitempty" enum:"relevant,recent,oldest" default:"relevant" jsonschema:"relevant: what most speak of first; recent: the last mentioned first; oldest: the first mentioned first"`
	Limit int        `json:"limit,omitempty" min:"1" max:"500" default:"50" jsonschema:"concepts at most"`
	Reads
}

// ConceptList is the result of concepts.list.
type ConceptList struct {
	Concepts []*record.Concept    `json:"concepts" jsonschema:"what memories and messages speak of"`
	Edges    []record.ConceptEdge `json:"edges" jsonschema:"which of these stand together, most often first"`
	Total    int                  `json:"total" jsonschema:"how many concepts there are"`
}

// ConceptRef are the parameters of concepts.get.
type ConceptRef struct {
	Ref string `json:"ref" formerly:"label" jsonschema:"a name or form of the concept, or a synonym"`
	Reads
}

// ConceptFull is the result of concepts.get.
type ConceptFull struct {
	record.Concept
	Edges    []record.ConceptEdge  `json:"edges" jsonschema:"concepts that stand together with it, the nearest first, at most 20"`
	Examples []record.ConceptPlace `json:"examples" jsonschema:"the last memories and messages that speak of it, at most 10"`
}

// ConceptEnds are the parameters of concepts.path.
type ConceptEnds struct {
	From string `json:"from" jsonschema:"a name of the concept to start from"`
	To   string `json:"to" jsonschema:"a name of the concept to reach"`
	Reads
}

// ConceptPath is the result of concepts.path.
type ConceptPath struct {
	Concepts []*record.Concept    `json:"concepts" jsonschema:"the concepts of the path in order; empty when there is none of 6 edges"`
	Edges    []record.ConceptEdge `json:"edges" jsonschema:"the edges between them, in order"`
}

// TaskDescription are the parameters of memory.effectiveness.
type TaskDescription struct {
	Task string `json:"task" jsonschema:"what is to be done"`
	Reads
}

// ActionEffectiveness is the result of memory.effectiveness.
type ActionEffectiveness struct {
	Kinds   []string              `json:"kinds" jsonschema:"concepts by which the kind of the task is known, the rarest first; empty when the task speaks of nothing that is known"`
	Actions []record.ActionResult `json:"actions" jsonschema:"what was done for answers in conversations of that kind, what helped surest first"`
}

// InsightAsked are the parameters of memory.insights.
type InsightAsked struct {
	Text           string `json:"text" jsonschema:"what the user typed"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"the conversation that it is of"`
	Reads
}

const exampleConcept = `{"label":"roof","kind":"phrase","aliases":["roofs"],"mentions":4,"memories":1,"firstSeen":"2026-01-31T09:00:00Z","lastSeen":"2026-03-04T09:00:00Z","averageQuality":0.49,"tiers":[]`

var conceptMethods = []Method{
	describe[ConceptFilter, ConceptList]("concepts.list", Read,
		"List the concepts that memories and messages share.",
		"Concepts are entities, tags of memories, and phrases that several texts have.",
		Example{`{"limit":1}`, `{"concepts":[` + exampleConcept + `}],"edges":[],"total":12}`}),
	describe[ConceptRef, ConceptFull]("concepts.get", Read,
		"Read a concept with what stands together with it.", "",
		Example{`{"ref":"roofs"}`, exampleConcept + `,"edges":[],"examples":[]}`}, CodeNotFound),
	describe[ConceptEnds, ConceptPath]("concepts.path", Read,
		"Find a shortest path between two concepts, over memories and messages that speak of two of them each.", "",
		Example{`{"from":"roof","to":"chimney"}`, `{"concepts":[` + exampleConcept + `}],"edges":[]}`}, CodeNotFound),
	describe[TaskDescription, ActionEffectiveness]("memory.effectiveness", Read,
		"Say what helped with a kind of task: which tools, and memories of which tier.",
		"The kind is told by the concepts of the task. Answers count that got an outcome.",
		Example{`{"task":"mend the roof"}`, `{"kinds":["roof"],"actions":[{"action":"search_notes","uses":3,"worked":2,"failed":1,"partial":0,"wilson":0.21,"examples":[]}]}`}),
	describe[InsightAsked, record.Insight]("memory.insights", Read,
		"Say what became of memories about the subjects of a text.",
		"What helped, what did not, of which tier memories helped, which subjects go on, and what was asked before. It looks up what is known and embeds nothing.",
		Example{`{"text":"How do I mend the roof?"}`, `{"topics":["roof"],"experience":[],"failures":[],"recommendations":[],"continuing":[],"repeated":[],"lines":[]}`}),
}
