package prompt

import (
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
)

// Reason says why an item was left out.
type Reason string

// The reasons.
const (
	OverBudget Reason = "budget"    // no room
	OverLimit  Reason = "limit"     // more items than the section takes
	Archived   Reason = "archived"  // an archived note
	Deleted    Reason = "deleted"   // an entity archived
	Lapsed     Reason = "lapsed"    // a memory that holds no more, or not yet
	Private    Reason = "private"   // withheld from a remote audience
	Duplicate  Reason = "duplicate" // given twice
	Unknown    Reason = "unknown"   // no such record
	Ambiguous  Reason = "ambiguous" // several records, see the candidates
	Distilled  Reason = "distilled" // a model found that it does not matter for the message
)

// Reasons of items, each of which means one way into the prompt.
const (
	PinnedByUser         = "pinned by the user"
	AttachedByUser       = "attached by the user" // of a memory
	PinnedInConversation = "pinned in the conversation"
	KnownAboutUser       = "known about the user"
	FoundByTurns         = "found by the turns before"
	FoundBySearch        = "found by search"
	NoteOfDay            = "the note of " // and the day that the message asks about
	LearnedFromOutcomes  = "learned from outcomes"
)

// How a record is in the focus of a conversation.
const (
	FocusNamed = "named" // by the user
	FocusCited = "cited" // by an answer
	FocusRead  = "read"  // by a tool
)

// Focus says how a record came into the focus of a conversation and how many messages of the user ago; "" is none.
type Focus string

// NewFocus returns that of a record.
func NewFocus(how string, turns int) Focus {
	if turns == 1 {
		return Focus(how + " 1 turn ago")
	}
	return Focus(how + " " + strconv.Itoa(turns) + " turns ago")
}

// FocusReason begins the reason of an item that is in the focus.
const FocusReason = "focus: "

// Reason is that of its item.
func (f Focus) Reason() string { return FocusReason + string(f) }

// Candidate is a record that an ambiguous mention may mean.
type Candidate struct {
	ID    string `json:"id" jsonschema:"id of the record"`
	Title string `json:"title" jsonschema:"its title or name"`
	Type  string `json:"type,omitempty" jsonschema:"its type, of an entity"`
	Vault string `json:"vault,omitempty" jsonschema:"its vault, or that of the note that an entity was made from; absent when the reader sees one vault at most"`
	Path  string `json:"path,omitempty" jsonschema:"its path, or that of the note that an entity was made from"`
}

// Edge is a reference that leads to an item: the entity it stands in and the
// name of the field.
type Edge struct {
	From  string `json:"from" jsonschema:"the entity that refers"`
	Field string `json:"field" jsonschema:"the field that refers"`
}

// Item is one thing that went into the prompt: Start and End are its range in
// the prompt in UTF-16 code units, half open, which holds Chars characters. The
// items of a section follow each other without a gap, behind its heading.
type Item struct {
	Kind      string  `json:"kind" jsonschema:"note, entity, event, action, memory, message or passage"`
	ID        string  `json:"id,omitempty" jsonschema:"id of the record"`
	Title     string  `json:"title" jsonschema:"its title or name"`
	Vault     string  `json:"vault,omitempty" jsonschema:"of a note: its vault; absent when the reader sees one vault at most"`
	Start     int     `json:"start" jsonschema:"where it begins in the prompt, in UTF-16 code units"`
	End       int     `json:"end" jsonschema:"where it ends there, exclusive"`
	Chars     int     `json:"chars" jsonschema:"characters that it takes"`
	Cut       *Extent `json:"cut,omitempty" jsonschema:"of what is not whole: how much of it is in the prompt"`
	Distilled bool    `json:"distilled,omitempty" jsonschema:"of a memory or a message: whether a model has shortened it to what matters"`
	Reason    string  `json:"reason" jsonschema:"why it is there"`
	Depth     int     `json:"depth" jsonschema:"of an entity: edges from a mention"`
	Via       []Edge  `json:"via,omitempty" jsonschema:"of an entity: the fields that lead to it"`
}

// InFocus reports whether the conversation is about it, and the message itself does not name it.
func (i *Item) InFocus() bool { return strings.HasPrefix(i.Reason, FocusReason) }

// Dropped is one thing that was mentioned or reached and did not go in.
type Dropped struct {
	Kind       string      `json:"kind" jsonschema:"note, entity, event, action, memory, message or passage"`
	ID         string      `json:"id,omitempty" jsonschema:"id of the record"`
	Title      string      `json:"title,omitempty" jsonschema:"its title or name; absent for a private one"`
	Vault      string      `json:"vault,omitempty" jsonschema:"of a note: its vault; absent when the reader sees one vault at most"`
	Reason     Reason      `json:"reason" jsonschema:"budget, limit, archived, deleted, private, duplicate, unknown, ambiguous or distilled"`
	Candidates []Candidate `json:"candidates,omitempty" jsonschema:"the records that an ambiguous mention may mean"`
}

// QueryError is a computed field that failed.
type QueryError struct {
	Entity  string `json:"entity" jsonschema:"the entity"`
	Field   string `json:"field" jsonschema:"its computed field"`
	Message string `json:"message" jsonschema:"why it failed"`
}

// Warning says of what the caller named that it was taken otherwise than it was meant.
type Warning struct {
	Ref     string `json:"ref" jsonschema:"what it is about, such as [[Plan#Goals]]"`
	Message string `json:"message" jsonschema:"one sentence for people"`
}

// Stage is one step of the assembly.
type Stage struct {
	Name    string  `json:"name" jsonschema:"name of the stage"`
	Ms      float64 `json:"ms" jsonschema:"milliseconds that it took"`
	Skipped bool    `json:"skipped,omitempty" jsonschema:"whether it was left out"`
	Why     string  `json:"why,omitempty" jsonschema:"why it was"`
	// Best are the best of each kind of which nothing is about the message.
	Best []LeftOut `json:"best,omitempty" jsonschema:"the best of each kind that was left out because it is not about the message, or far less than what is shown"`
}

// TookLonger begins why the stage of a search was left out that took too long.
const TookLonger = "the search took longer than "

// LeftOut is the best of a kind that was left out: nothing of it is about the message, or it is far less so than what is shown.
type LeftOut struct {
	Kind  string  `json:"kind" enum:"note,memory,message,passage" jsonschema:"what it is"`
	ID    string  `json:"id" jsonschema:"its id"`
	Score float64 `json:"score" jsonschema:"how likely it is that it answers, from 0 to 1; how near it is where words were not compared one by one; of a passage its relevance, and of a note beside others its share of the best score"`
	Floor float64 `json:"floor" jsonschema:"what the score is at least of what is shown"`
}

// SectionReport says what a section holds and what room it had.
type SectionReport struct {
	Name   string `json:"name" jsonschema:"name of the section"`
	Chars  int    `json:"chars" jsonschema:"its length"`
	Budget int    `json:"budget" jsonschema:"what it might have been"`
	Items  []Item `json:"items" jsonschema:"what is in it, in order"`
}

// Report explains a prompt. Everything mentioned or reached is in it exactly
// once, in the items of a section or in Dropped; a record that was given twice
// has an entry of reason duplicate besides.
type Report struct {
	Chars       int             `json:"chars" jsonschema:"length of the text"`
	Budget      int             `json:"budget" jsonschema:"what it might have been"`
	Sections    []SectionReport `json:"sections" jsonschema:"the sections and what is in them"`
	Dropped     []Dropped       `json:"dropped" jsonschema:"what was left out, and why"`
	QueryErrors []QueryError    `json:"queryErrors" jsonschema:"computed fields that failed"`
	Warnings    []Warning       `json:"warnings,omitempty" jsonschema:"what the caller asked for and got otherwise; absent without any"`
	Stages      []Stage         `json:"stages" jsonschema:"the stages: their times, and those that were skipped"`
	Query       string          `json:"query,omitempty" jsonschema:"what was searched for: the text without the marks of references and, where it cannot stand alone, words of what the conversation is about; absent where nothing was"`
	Hash        string          `json:"hash" jsonschema:"SHA-256 of the text, hexadecimal"`
	Text        string          `json:"text,omitempty" jsonschema:"the text itself, in an answer of chat.send that no model gave, since none is configured; absent elsewhere"`

	// StandsOn is what the fields of entities were made of, which is no item.
	StandsOn record.StandsOn `json:"-"`
}

// Section is where a section stands in the prompt: UTF-16 code units, half
// open.
type Section struct {
	Name  string `json:"name" jsonschema:"name of the section"`
	Start int    `json:"start" jsonschema:"where it begins in the text, UTF-16"`
	End   int    `json:"end" jsonschema:"where it ends, exclusive"`
}

// Result is a finished prompt.
type Result struct {
	System   string    `json:"system" jsonschema:"the text for the system prompt"`
	Sections []Section `json:"sections" jsonschema:"where its sections are"`
	Report   Report    `json:"report" jsonschema:"what went in, what did not, and why"`
}

// Item kinds.
const (
	KindPersonality = "personality"
	KindDay         = "day"
	KindNote        = "note"
	KindEntity      = "entity"
	KindEvent       = "event"
	KindAction      = "action"
	KindMemory      = "memory"
	KindMessage     = "message" // of a conversation
	KindInsight     = "insight" // a line about what became of memories; its id is that of the record that it stands on
	KindPassage     = "passage" // of a book
)
