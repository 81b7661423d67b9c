package turn

import (
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// ChatInspected is the result of chat.inspect.
type ChatInspected struct {
	Conversation *record.Conversation `json:"conversation" jsonschema:"the conversation"`
	Question     *record.ChatMessage  `json:"question,omitempty" jsonschema:"the message that was answered; absent when the reader sees none"`
	Answer       *record.ChatMessage  `json:"answer" jsonschema:"the answer"`
	Trace        *ChatTrace           `json:"trace,omitempty" jsonschema:"what the model was given for the answer, and why; absent when that is not known"`
	Why          string               `json:"why,omitempty" jsonschema:"why it is not known"`
}

// ChatTrace says what a model was given for an answer. Sizes, times and ids are those of then; titles are those of now,
// as the reader sees them.
type ChatTrace struct {
	Remote     bool             `json:"remote" jsonschema:"whether the provider was another machine, so that the model was given nothing private"`
	Asked      bool             `json:"asked" jsonschema:"whether a provider was asked at all; without one the answer says how to configure one"`
	Failure    string           `json:"failure,omitempty" jsonschema:"of an answer that is not whole: the kind of the error that ended it"`
	Prompt     ChatTracePrompt  `json:"prompt" jsonschema:"the system prompt: its sizes, and not its text, which is not kept"`
	References []ChatTraceRef   `json:"references" jsonschema:"the records that the model was shown, in the order of the prompt, then those that tools showed, then those that are only named by links"`
	Dropped    []ChatTraceDrop  `json:"dropped" jsonschema:"what was named or found and did not go into the prompt, and why"`
	Withheld   int              `json:"withheld,omitempty" jsonschema:"how many private records were kept from the model; for a local reader only"`
	History    ChatTraceHistory `json:"history" jsonschema:"what was said before, as far as the model was given it"`
	Attached   ChatTraceAttach  `json:"attached" jsonschema:"what the client sent with the message"`
	Tools      int              `json:"tools" jsonschema:"how many tools the model was offered"`
	Rounds     []ChatTraceRound `json:"rounds" jsonschema:"each time that the provider was asked, with the tools that the model called then"`

	Stages  []prompt.Stage     `json:"stages" jsonschema:"the stages of the assembly of the prompt, with their times"`
	Timings map[string]float64 `json:"timings" jsonschema:"milliseconds of each stage of the answer, as chat.send tells them: assemble, store, firstDelta, provider, tools, and own for all but the provider; not the one that kept the answer, of which the trace is a part"`
	Left    int                `json:"left,omitempty" jsonschema:"how many references, dropped records, rounds and calls were too many to be kept; for a local reader only"`
}

// ChatTracePrompt is the size of what stood before the conversation.
type ChatTracePrompt struct {
	Chars    int                `json:"chars" jsonschema:"characters that were gathered"`
	Budget   int                `json:"budget" jsonschema:"how many there might have been"`
	Own      int                `json:"own" jsonschema:"characters of the system prompt of the conversation, which stood before them"`
	Tokens   int64              `json:"tokens" jsonschema:"about how many tokens the first request had in all: its bytes by 3"`
	Hash     string             `json:"hash,omitempty" jsonschema:"SHA-256 of what was gathered, hexadecimal, as context.assemble reports it; for a local reader only"`
	Sections []ChatTraceSection `json:"sections" jsonschema:"its sections"`
}

// ChatTraceSection is the size of a section of a prompt.
type ChatTraceSection struct {
	Name   string `json:"name" jsonschema:"name of the section"`
	Chars  int    `json:"chars" jsonschema:"its length in characters"`
	Budget int    `json:"budget" jsonschema:"what it might have been"`
	Items  int    `json:"items" jsonschema:"how many records were in it"`
}

// Statuses of records that a trace names.
const (
	TraceOK      = "ok"      // it is there
	TraceChanged = "changed" // it is there, and was changed after the answer
	TraceDeleted = "deleted" // it is not there for the reader
	TraceBroken  = "broken"  // a link led to none, or to several, when the answer was given
)

// Origins say how a record came to the model.
const (
	OriginMention = "mention" // the user named or attached it
	OriginPinned  = "pinned"  // it is pinned, in the conversation or everywhere
	OriginEntity  = "entity"  // a record that was mentioned leads to it
	OriginSearch  = "search"  // a search for the message found it
	OriginPassive = "passive" // the turns before have found it
	OriginProfile = "profile" // it is known about the user
	OriginClient  = "client"  // the client sent it
	OriginTool    = "tool"    // the model called a tool that showed it
	OriginFocus   = "focus"   // the conversation was about it
	OriginLink    = "link"    // the question or the answer names it, and nothing has shown it
)

// ChatTraceRef is a record that a model was shown.
type ChatTraceRef struct {
	Kind   string `json:"kind" enum:"note,entity,event,action,memory,message,passage" jsonschema:"what it is"`
	ID     string `json:"id,omitempty" jsonschema:"its id; absent for what a client sent, and for what a remote reader does not see"`
	Title  string `json:"title,omitempty" jsonschema:"what it is called now: a title, a name, the summary of a memory, the title of the conversation of a message, how a passage of a book is cited; of a note that is gone, what its link says"`
	Ref    string `json:"ref,omitempty" jsonschema:"of a memory: what # names it by; of a message: its number in its conversation"`
	Status string `json:"status,omitempty" enum:"ok,changed,deleted,broken" jsonschema:"whether it is there now, and has been changed since; deleted is also what the reader does not see; broken is a link that led to no note, or to several; absent where that can't be told"`

	Origin  string         `json:"origin" enum:"mention,pinned,entity,search,passive,profile,client,personality,tool,focus,link" jsonschema:"how it came to the model first; focus: the conversation was about it; link: a link of the question or of the answer names it, and the model was not shown it"`
	Section string         `json:"section,omitempty" jsonschema:"the section of the prompt that it stood in; absent when a tool alone showed it"`
	Chars   int            `json:"chars,omitempty" jsonschema:"characters that it took there"`
	Cut     bool           `json:"cut,omitempty" jsonschema:"whether only a part of it stood there"`
	Depth   int            `json:"depth,omitempty" jsonschema:"of an entity: references from a mention"`
	Tools   []string       `json:"tools,omitempty" jsonschema:"the tools that showed it"`
	How     record.ToolHow `json:"how,omitempty" enum:"found,shown,read,excerpt" jsonschema:"what of it the tools showed"`
	Used    bool           `json:"used" jsonschema:"whether the model has read of it, or the answer names it; a tool has only found the others"`
}

// ChatTraceDrop is a record that did not go into a prompt.
type ChatTraceDrop struct {
	Kind   string        `json:"kind" enum:"note,entity,event,action,memory,message,passage" jsonschema:"what it is"`
	ID     string        `json:"id,omitempty" jsonschema:"its id; absent when no one record was meant"`
	Title  string        `json:"title,omitempty" jsonschema:"what it is called now"`
	Ref    string        `json:"ref,omitempty" jsonschema:"of a memory: what # names it by; of a message: its number in its conversation"`
	Status string        `json:"status,omitempty" enum:"ok,changed,deleted" jsonschema:"whether it is there now; absent without an id"`
	Reason prompt.Reason `json:"reason" jsonschema:"budget, limit, archived, deleted, duplicate, unknown or ambiguous"`
}

// ChatTraceHistory is what a model was told of the conversation.
type ChatTraceHistory struct {
	Messages int `json:"messages" jsonschema:"how many earlier messages it was given"`
	Chars    int `json:"chars" jsonschema:"their characters"`
	Dropped  int `json:"dropped" jsonschema:"how many messages before those had no room in maxContext"`
	Withheld int `json:"withheld,omitempty" jsonschema:"how many private messages were kept from it; for a local reader only"`
}

// ChatTraceAttach is what a client sent with a message.
type ChatTraceAttach struct {
	Images  int `json:"images" jsonschema:"how many images"`
	Files   int `json:"files" jsonschema:"how many files"`
	Chars   int `json:"chars" jsonschema:"characters of the files"`
	Refused int `json:"refused,omitempty" jsonschema:"how many of the images the model did not take"`
}

// ChatTraceRound is one time that a provider was asked.
type ChatTraceRound struct {
	MS      float64           `json:"ms" jsonschema:"milliseconds that it took, with further attempts and the pauses before them"`
	FirstMS float64           `json:"firstMs,omitempty" jsonschema:"milliseconds until the first piece of the answer; absent when none came"`
	Tries   int               `json:"tries" jsonschema:"how often the request was sent: more than once after failures that may pass"`
	Usage   *record.ChatUsage `json:"usage,omitempty" jsonschema:"what it cost"`
	Finish  string            `json:"finish" jsonschema:"how it ended: stop, length, tools, filtered, interrupted or cancelled"`
	Calls   []ChatTraceCall   `json:"calls" jsonschema:"the tools that the model called then"`
}

// ChatTraceCall is a call of a tool.
type ChatTraceCall struct {
	Name      string  `json:"name,omitempty" jsonschema:"the tool; absent for one that there is not"`
	Arguments int     `json:"arguments" jsonschema:"bytes of what the model wrote as arguments"`
	Chars     int     `json:"chars" jsonschema:"characters of the result"`
	MS        float64 `json:"ms" jsonschema:"milliseconds that it took; 0 from the cache"`
	Cached    bool    `json:"cached,omitempty" jsonschema:"whether it was made before for this answer, and not run again"`
	Failed    bool    `json:"failed,omitempty" jsonschema:"whether it could not be done: the model was told why"`
}
