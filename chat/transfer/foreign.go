package transfer

// Foreign conversations are read out of the data exports of other chat services: those of ChatGPT, Claude and Gemini, as
// JSON or as the .zip that they deliver; a single conversation of them; and logs of coding agents, in lines of JSON. The form
// is told by the content, never by the name of a file.
// [ReadForeign] stores nothing and knows nothing of our own conversations; importing.go gives what it yields to package
// chat.
//
// # Memory
//
// A file is an array of conversations. ReadForeign holds one of them at a time: its bytes and the text of its messages.
// A conversation over 64 MiB, of more than 100,000 messages or nested deeper than 512 is skipped while it is read,
// without being held, and stands in the report. Beside that ReadForeign keeps a buffer of 256 KiB, 100 problems and the
// hashes of the first 262,144 conversation ids. Of a .zip it holds the list of its files.
//
// # Damage
//
// The scanner checks the syntax of JSON byte by byte, so damage is found where it is. It then looks for the next object
// that is a conversation and goes on from there. Inside a conversation each member of a wrong type counts as absent.
//
// # What counts as said
//
// Both services keep edited questions and repeated answers as branches of a tree. The conversation is the branch that
// ends at the message that the service calls the current one, or at the newest one. The report counts the others.
// Messages that nobody saw, calls of tools with their results, and reasoning are left out and counted.
//
// ReadForeign calls yield and progress from the goroutine that called it.

import "time"

// The services whose exports are read, and the programs whose logs are.
const (
	ChatGPT    = "chatgpt"
	Claude     = "claude"
	Gemini     = "gemini" // the service, AI Studio and Gemini CLI
	ClaudeCode = "claude-code"
	Codex      = "codex"
	OpenCode   = "opencode"
)

// The roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
)

// ForeignConversation is one conversation of an export, as the person last saw it.
type ForeignConversation struct {
	Source    string           // one of the services
	ID        string           // as the service gave it; made from the content where it gave none
	Title     string           // may be empty
	CreatedAt time.Time        // zero when the export doesn't say
	UpdatedAt time.Time        // zero when the export doesn't say
	Messages  []ForeignMessage // in their order, at least one
}

// ForeignMessage is what the person, the model or the service said. Its text is never blank, and
// valid UTF-8 without NUL. An image or a file stands in it as a line "[image]" or
// "[file: NAME]", so that a turn of nothing else is not lost.
type ForeignMessage struct {
	ID        string    // differs from the other ids of its conversation
	Role      string    // User, Assistant or System
	Text      string    // Markdown
	CreatedAt time.Time // zero when the export doesn't say
}

// ReadReport says what an export held and what was left out of it. It has no text of a message.
type ReadReport struct {
	Files         int             `json:"files"`         // files with conversations that were read
	Conversations int             `json:"conversations"` // yielded
	Messages      int             `json:"messages"`      // in the yielded conversations
	Empty         int             `json:"empty"`         // conversations in which nothing was said; not yielded
	Repeated      int             `json:"repeated"`      // yielded conversations whose id came before
	Incomplete    int             `json:"incomplete"`    // yielded conversations whose beginning is missing
	Branches      int             `json:"branches"`      // branches of yielded conversations, left out
	LeftOut       SkippedMessages `json:"leftOut"`       // messages of the branches that were read
	Attachments   int             `json:"attachments"`   // images and files, of which the message has the name only
	Skipped       int             `json:"skipped"`       // how often something could not be read
	Problems      []ReadProblem   `json:"problems"`      // the first 100 of those, by their position
}

// SkippedMessages counts the messages that nobody typed and no answer showed.
type SkippedMessages struct {
	Hidden    int `json:"hidden"`    // custom instructions and other context
	Tool      int `json:"tool"`      // calls of tools and their results
	Reasoning int `json:"reasoning"` // thoughts of the model and their summaries
	Blank     int `json:"blank"`     // without any text
}

func (l *SkippedMessages) add(more SkippedMessages) {
	l.Hidden += more.Hidden
	l.Tool += more.Tool
	l.Reasoning += more.Reasoning
	l.Blank += more.Blank
}

// ProblemReason says why a part of an export was not read.
type ProblemReason string

// The reasons of a Problem.
const (
	ReasonDamaged        ProblemReason = "damaged"          // its JSON is broken
	ReasonNoConversation ProblemReason = "no conversation"  // JSON of neither form
	ReasonTooLarge       ProblemReason = "too large"        // over 64 MiB
	ReasonTooDeep        ProblemReason = "too deep"         // nested deeper than 512
	ReasonTooMany        ProblemReason = "too many"         // over 100,000 messages
	ReasonAfterTheEnd    ProblemReason = "after the end"    // data behind the array
	ReasonWithoutText    ProblemReason = "without messages" // a conversation whose messages are no list or tree
)

// ReadProblem is a part of an export that was not read.
type ReadProblem struct {
	File   string        `json:"file,omitempty"` // within the .zip
	Number int           `json:"number"`         // of the conversation in its file, from 1
	Offset int64         `json:"offset"`         // first byte of the part, from 0
	End    int64         `json:"end"`            // first byte after it
	Reason ProblemReason `json:"reason"`
}

// maxProblems is how many problems a report lists.
const maxProblems = 100

// limits bound what Read holds. Tests set lower ones.
type limits struct {
	conversation int // bytes of one conversation
	messages     int // messages of one conversation, on all its branches
	without      int // elements without a conversation after which a file is of neither form
}

var standard = limits{conversation: 64 << 20, messages: 100_000, without: 1000}
