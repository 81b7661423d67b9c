package prompt

import "time"

// Params say what a prompt is to be made of.
type Params struct {
	Text               string           `json:"text,omitempty" jsonschema:"what the user typed; @Name, @[Full Name], @handle_of_an_entity and [[Title]] in it are mentions"`
	MentionedEntityIDs []string         `json:"mentionedEntityIds,omitempty" jsonschema:"mentioned entities, before those in the text"`
	MentionedNoteIDs   []string         `json:"mentionedNoteIds,omitempty" jsonschema:"pinned notes, before those in the text"`
	AttachedMemoryIDs  []string         `json:"attachedMemoryIds,omitempty" jsonschema:"memories that the user attached, for this message alone"`
	Memories           int              `json:"memories,omitempty" min:"0" max:"20" default:"0" jsonschema:"memories and messages to add by a search for the text; with any, what is pinned and, where a conversation begins, the profile is added too"`
	Recall             *Recall          `json:"recall,omitempty" jsonschema:"how memories and messages are found; with it and without memories there are 10"`
	SearchNotes        int              `json:"searchNotes,omitempty" min:"0" max:"8" default:"0" jsonschema:"notes to add by a search for the text"`
	Passages           int              `json:"passages,omitempty" min:"0" max:"8" default:"0" jsonschema:"passages of books to add by a search for the text; with conversationId also of the books of that conversation"`
	CalendarEvents     []Event          `json:"calendarEvents,omitempty" jsonschema:"calendar events from the client"`
	ActionItems        []Action         `json:"actionItems,omitempty" jsonschema:"open action items that the client knows of"`
	ConversationID     string           `json:"conversationId,omitempty" jsonschema:"the conversation that the prompt is for, kept with its report: what it is about stays in the prompt, and in what is searched for"`
	History            []HistoryMessage `json:"history,omitempty" jsonschema:"what was said before the text, the earlier first, of a client that keeps the conversation itself: it is taken in the place of what conversationId holds. The last 8 turns of 16000 characters count"`
	Budgets            *ParamBudgets    `json:"budgets,omitempty" jsonschema:"budgets in characters that differ from the defaults"`
	Audience           string           `json:"audience,omitempty" enum:"local,remote" default:"remote" jsonschema:"who reads the prompt; for remote, private records are left out"`
	Format             string           `json:"format,omitempty" enum:"markdown,xml" default:"markdown" jsonschema:"how the prompt is written"`
	MaxDepth           *int             `json:"maxDepth,omitempty" min:"0" max:"4" default:"2" jsonschema:"steps from a mentioned entity"`
	Personality        *bool            `json:"personality,omitempty" default:"true" jsonschema:"begin with the personality that is active"`
	Now                bool             `json:"now,omitempty" jsonschema:"say which day it is for the person, and in which time zone"`
	DeadlineMS         int              `json:"deadlineMs,omitempty" min:"1" max:"60000" default:"250" jsonschema:"milliseconds in which searches may find something: the section of one that takes longer is left out, and the report names it"`
	Explain            bool             `json:"explain,omitempty" jsonschema:"report what leads to each entity"`

	// Place says what of the conversation was said before the text; the zero value: all of its newest branch.
	Place HistoryPlace `json:"-"`
}

// HistoryMessage is a message that was said before.
type HistoryMessage struct {
	Role string `json:"role" enum:"user,assistant" jsonschema:"who said it"`
	Text string `json:"text" jsonschema:"what was said, as it was typed or answered"`
}

// HistoryPlace is a place in a conversation that has branches: behind one message, or in the place of another one, by their ids. In
// the place of an answer is in the place of its question.
type HistoryPlace struct{ Behind, Instead string }

// Limits and defaults of Params.
const (
	MaxText     = 1 << 20 // bytes
	MaxDepth    = 4
	MaxMemories = 20 // found by a search
	// DefaultRecalled is how many memories and messages there are with Recall when Memories says nothing.
	DefaultRecalled = 10
	DefaultDepth    = 2
	MaxBudget       = 4 << 20 // characters
	MaxDeadlineMS   = 60_000
	// DeadlineMS is how long searches may take for a person who types, AnswerDeadlineMS for a model that is about to answer.
	DeadlineMS       = 250
	AnswerDeadlineMS = 2_000

	// Of what was said before the last turns count, each with one message of the user.
	HistoryTurns = 8
	HistoryChars = 16_000
	// FocusTurns is how many turns something stays in the prompt that nobody names again.
	FocusTurns = 4
)

// AskedAudience returns the audience that the call names.
func (p *Params) AskedAudience() string { return p.Audience }

// Recall says how memories and messages are found.
type Recall struct {
	Mode string `json:"mode,omitempty" enum:"prefetch,passive,both" default:"prefetch" jsonschema:"prefetch searches for the text; passive takes what the last turns of conversationId have found in the background; both takes that first"`
}

// How memories and messages are found.
const (
	Prefetch = "prefetch"
	Passive  = "passive"
	Both     = "both"
)

// ParamBudgets are what a caller sets of Budgets; nil members keep their
// defaults.
type ParamBudgets BudgetTable[*int]

// Recorded is the report of an assembly that was done.
type Recorded struct {
	At             time.Time `json:"at" jsonschema:"when the prompt was made"`
	ConversationID string    `json:"conversationId,omitempty" jsonschema:"the conversation that the prompt was for"`
	Audience       string    `json:"audience" jsonschema:"who it was for"`
	Report         Report    `json:"report" jsonschema:"what went in, what did not, and why"`
}
