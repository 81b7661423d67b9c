package protocol

import (
	"github.com/ctxd/ctxd/context/prompt"
)

// Recent are the parameters of context.recent.
type Recent struct {
	Limit int `json:"limit,omitempty" min:"1" max:"50" default:"10" jsonschema:"reports at most, newest first"`
	Reads
}

// RecentReports is the result of context.recent.
type RecentReports struct {
	Reports []prompt.Recorded `json:"reports" jsonschema:"the reports of the last prompts, newest first"`
}

var contextMethods = []Method{
	describe[prompt.Params, prompt.Result]("context.assemble", Read,
		"Assemble the part of a system prompt that tells a model what the user refers to.",
		"Mentions (@Name, @handle, [[Title]]) are resolved, entities are followed breadth first, and notes that their fields refer to are attached, all within budgets. The report says what went in, what did not, and why.",
		Example{
			`{"text":"What does @Alice do?","audience":"local"}`,
			`{"system":"## Entity context\n…","sections":[{"name":"entities","start":0,"end":31}],"report":{"chars":31,"budget":64000,"sections":[{"name":"entities","chars":31,"budget":12000,"items":[{"kind":"entity","id":"alice","title":"Alice","start":19,"end":31,"chars":12,"reason":"directly mentioned","depth":0}]}],"dropped":[],"queryErrors":[],"stages":[{"name":"mentions","ms":0.01}],"hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}}`,
		}, CodeLimit, CodeDeadline),
	describe[Recent, RecentReports]("context.recent", Read,
		"List the reports of recent prompts.", "",
		Example{`{"limit":1}`, `{"reports":[]}`}),
}
