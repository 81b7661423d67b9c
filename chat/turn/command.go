package turn

import "slices"

// Intent is what a message orders ctxd itself to do.
type Intent string

// What a message may order.
const (
	Remember Intent = "remember"
	Forget   Intent = "forget"
	Goal     Intent = "goal"
	Value    Intent = "value"
	Search   Intent = "search"
	Book     Intent = "book"
	Pin      Intent = "pin"
)

// Command is an order that is typed with a slash, at the beginning of a line, of an item or behind a semicolon.
type Command struct {
	Name   string // with the slash
	Arg    string // what follows, for people
	About  string // what it orders, for people
	Intent Intent
}

// commands are all commands.
var commands = []Command{
	{"/remember", "STATEMENT", "remember what is said", Remember},
	{"/goal", "STATEMENT", "remember a goal", Goal},
	{"/value", "STATEMENT", "remember what matters to you", Value},
	{"/forget", "MEMORY", "put a memory away: its number, its handle, or what it says", Forget},
	{"/pin", "REF", "have a note or a memory in every prompt of the conversation", Pin},
	{"/search", "WORDS", "search the notes", Search},
	{"/book", "FILE", "read a file to ask about it in the conversation", Book},
}

// Commands returns all commands.
func Commands() []Command { return slices.Clone(commands) }
