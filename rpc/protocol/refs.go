package protocol

import (
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// RefsParse are the parameters of refs.parse.
type RefsParse struct {
	Text string `json:"text" jsonschema:"a message, at most 1 MiB"`
	Unit string `json:"unit,omitempty" enum:"utf16,char,byte" default:"utf16" jsonschema:"what places are counted in: UTF-16 code units, code points or bytes of UTF-8"`
}

// RefsComplete are the parameters of refs.complete.
type RefsComplete struct {
	Prefix string   `json:"prefix" jsonschema:"what was typed so far, with or without the @; after # a number"`
	Kinds  []string `json:"kinds,omitempty" enum:"memory,context,conversation,entity,tag,domain" jsonschema:"what the handle may lead to; all kinds if absent"`
	Limit  int      `json:"limit,omitempty" min:"1" max:"50" default:"10" jsonschema:"items at most"`
	Reads
}

// RefsResolve are the parameters of refs.resolve: ref or refs.
type RefsResolve struct {
	Ref   string   `json:"ref,omitempty" jsonschema:"an id, a handle, a number or a name, with its @ or # or without; @[Full Name], @memory:ID or [[Title]]"`
	Refs  []string `json:"refs,omitempty" jsonschema:"several of them, at most 100"`
	Limit int      `json:"limit,omitempty" min:"1" max:"1000" default:"100" jsonschema:"memories of each at most"`
	Reads
}

// RefsResolved is what refs.resolve answers: what the ref leads to, or the results of refs.
type RefsResolved struct {
	*record.Resolved
	Results []RefResult `json:"results,omitempty" jsonschema:"of refs: what each leads to, in their order"`
}

// RefResult is what one of several references leads to, or why it leads nowhere.
type RefResult struct {
	Ref string `json:"ref" jsonschema:"the reference, as it was given"`
	*record.Resolved
	Error *Error `json:"error,omitempty" jsonschema:"why it leads nowhere; all else but ref is absent then"`
}

// RefsRename are the parameters of refs.rename.
type RefsRename struct {
	Ref    string `json:"ref" jsonschema:"a memory, a context or a conversation, as refs.resolve takes it"`
	Handle string `json:"handle" jsonschema:"its new handle: 3 to 60 letters, digits, _ and -, a letter first, neither _ nor - at the end"`
}

const exampleMemoryRef = `"type":"memory","via":"number","sourceId":"550e8400-e29b-41d4-a716-446655440000","memories":[` + exampleMemory + `],"total":1,"truncated":false`

var refsMethods = []Method{
	storeless(describe[RefsParse, record.Refs]("refs.parse", Read,
		"Find what a message refers to by @, # and [[.",
		"It asks no store, so a handle that leads nowhere is found too, and the answer is the same for every reader. cleanText is what is left to search by; it is without every @handle, entities included.",
		Example{
			`{"text":"@ssdva what fits [[Plan|the plan]], see #42"}`,
			`{"cleanText":"what fits the plan, see","memoryIds":[],"handles":["ssdva","claim_42"],"notes":["Plan"],"refs":[{"kind":"handle","raw":"@ssdva","id":"ssdva","start":0,"end":6},{"kind":"note","raw":"[[Plan|the plan]]","id":"Plan","start":17,"end":34},{"kind":"number","raw":"#42","id":"claim_42","start":40,"end":43}]}`,
		}, CodeLimit)),
	describe[RefsComplete, record.RefCompletions]("refs.complete", Read,
		"Complete a handle, for menus behind @ and #.",
		"The handle itself comes first, then handles that begin with the prefix, then those of which a later word does, then names. Among equals the last used or changed comes first, then the shorter, then the alphabet decides. claim_4 and #4 complete numbers of memories; an empty prefix gives what was used last. With a limit of 6 or more each kind that matches is there. Archived and other records that are not active are left out.",
		Example{
			`{"prefix":"mor","limit":2}`,
			`{"items":[{"kind":"memory","handle":"prefer_morning_workouts_a3f2","label":"I prefer morning workouts","id":"550e8400-e29b-41d4-a716-446655440000","number":42}]}`,
		}),
	describe[RefsResolve, RefsResolved]("refs.resolve", Read,
		"Find the memories that a reference leads to, and what it is the name of.",
		"A message of a conversation, an id, a number, a handle, a handle that is made of a name, a name: the first of these that the reference is counts. One memory comes whatever its status, and behind one that is superseded what holds now. A context, a tag, a domain, an entity and a conversation come with the active and contested memories that belong to them, the last changed first. Where several records are called so, the error names them as candidates; where none is, what was nearly meant.",
		Example{
			`{"refs":["#42","@nobody"]}`,
			`{"results":[{"ref":"#42",` + exampleMemoryRef + `},{"ref":"@nobody","error":{"code":1001,"message":"No memory, context or entity is called nobody","data":{"kind":"not_found","field":"refs[1]","hint":"give an id, a handle such as prefer_morning_workouts_a3f2, a number such as #42, or a name","retryable":false}}}]}`,
		}, CodeNotFound, CodeConflict, CodeLimit),
	describe[prompt.GatherParams, prompt.Gathered]("refs.gather", Read,
		"Gather the memories for a message: the memory part of context.assemble, alone.",
		"What the message refers to stands first, then what was attached, then the profile, what is pinned and what a search for the message finds, each once and whole. Beyond 24,000 characters of what the message refers to, whole items of the largest reference are left out; dropped says which. As pkb, each item is one line, and line breaks in it are references of XML.",
		Example{
			`{"text":"@ssdva when could we train?","k":5,"format":"pkb"}`,
			`{"items":[{"memory":` + exampleMemory + `,"source":"referenced","ref":"@ssdva"}],"text":"<pkb_item source=\"referenced\" type=\"preference\" ref=\"@ssdva\">I prefer morning workouts</pkb_item>\n","dropped":[]}`,
		}, CodeLimit, CodeDeadline),
	describe[RefsRename, record.Renamed]("refs.rename", Mutation,
		"Give a memory, a context or a conversation another handle.",
		"The handle that it had goes on leading to it, and nobody else can have it; so may one of those before be its handle again. Of entities, tags and domains the handle follows the name: the error is 1002, and says to rename the entity.",
		Example{
			`{"ref":"weekend_trip_k3x9","handle":"hiking"}`,
			`{"kind":"conversation","conversation":{"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","handle":"hiking","aliases":["weekend_trip_k3x9"],"title":"Weekend trip","private":false,"messages":2,"createdAt":"2026-03-04T09:00:00Z","updatedAt":"2026-03-04T09:02:00Z","version":2,"maxContext":32768,"pinnedNoteIds":[],"pinnedMemoryIds":[]}}`,
		}, CodeNotFound, CodeConflict, CodeLimit),
}
