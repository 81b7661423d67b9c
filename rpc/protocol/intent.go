package protocol

import "github.com/ctxd/ctxd/entities/record"

// IntentRoute are the parameters of intent.route.
type IntentRoute struct {
	Text           string `json:"text" jsonschema:"what a person typed, at most 1 MiB"`
	ConversationID string `json:"conversationId,omitempty" jsonschema:"id or handle of the conversation in which it is said: what is pinned is pinned there"`
	Reads
}

// IntentRouted is the result of intent.route.
type IntentRouted struct {
	Intents []Intent `json:"intents" jsonschema:"what the text orders, in order"`
	Rest    bool     `json:"rest" jsonschema:"whether the text says something besides; chat.send asks a model then, and where the orders are not commands"`
	Left    int      `json:"left,omitempty" jsonschema:"how many orders there are behind the 20 that are read"`
}

// Intent is something that a text orders.
type Intent struct {
	Kind       string               `json:"kind" enum:"remember,forget,goal,value,search,book,pin" jsonschema:"what is ordered"`
	Text       string               `json:"text" jsonschema:"what is to be remembered, forgotten, pinned or found; empty where the command says nothing"`
	Range      [2]int               `json:"range" jsonschema:"place of the order in the text: UTF-16 code units, half-open"`
	Command    bool                 `json:"command" jsonschema:"whether it was typed as a command, such as /remember, and not in words"`
	Language   string               `json:"language,omitempty" jsonschema:"of one in words: its language, as ISO 639-1 has it"`
	Confidence float64              `json:"confidence" jsonschema:"how sure it is that it is an order: 1 for a command"`
	Proposal   *record.ToolProposal `json:"proposal,omitempty" jsonschema:"what chat.send would propose for it; absent where nothing can be proposed"`
	Problem    *Error               `json:"problem,omitempty" jsonschema:"why nothing can be proposed, as an error says it"`
	Warnings   []string             `json:"warnings,omitempty" jsonschema:"what was left out of the proposal, each a sentence for people"`
}

var intentMethods = []Method{
	describe[IntentRoute, IntentRouted]("intent.route", Read,
		"Find what a text orders ctxd to do: to remember, to forget, to pin, to search.",
		"Orders are commands (/remember, /forget, /goal, /value, /search, /book, /pin) at the beginning of a line, and phrases such as \"remember that …\" in many languages. "+
			"Several stand in lines, in lists, or behind semicolons. Nothing is changed: chat.send proposes them as actions, and chat.confirm does one.",
		Example{
			`{"text":"/remember I like tea"}`,
			`{"intents":[{"kind":"remember","text":"I like tea","range":[0,20],"command":true,"confidence":1,` +
				`"proposal":{"type":"remember","args":{"statement":"I like tea","kind":"fact"},"reason":"/remember I like tea"}}],"rest":false}`,
		},
		CodeNotFound, CodeLimit, CodeDeadline, CodeUnavailable),
}
