package chats

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
)

// Options are what the commands run with.
type Options struct {
	*term.Streams
	*connect.Link
	Interrupts *term.Interrupts
	Fail       func(error) int // prints an error after which a conversation goes on
}

// Command is ctxd chat.
type Command struct {
	Talk       talk        `cmd:"" default:"withargs" help:"Talk with a language model, as ctxd chat without a command does."`
	Say        say         `cmd:"" help:"Say one thing to a language model, and print the answer."`
	Cancel     cancelling  `cmd:"" help:"Stop the answer that is being given in a conversation."`
	Follow     follow      `cmd:"" help:"Show the answers that are given in a conversation as they come, whoever asks."`
	List       list        `cmd:"" help:"List the conversations."`
	Show       show        `cmd:"" help:"Show a conversation with its messages."`
	References references  `cmd:"" help:"List what a conversation, or one of its messages, stood on."`
	Search     searchIn    `cmd:"" help:"Find messages by their words and their meaning."`
	New        create      `cmd:"" help:"Begin a conversation before anything is said in it."`
	Append     appendTo    `cmd:"" help:"Keep a message, in a new conversation or in one that there is."`
	Set        update      `cmd:"" help:"Change the title of a conversation, whether it is private, or what answers in it."`
	Pin        pin         `cmd:"" help:"Have memories and notes stand in every prompt of a conversation."`
	Unpin      unpin       `cmd:"" help:"Take memories and notes out of the prompts of a conversation again."`
	Archive    archive     `cmd:"" help:"Take a conversation out of the list. ctxd chat restore brings it back."`
	Restore    restore     `cmd:"" help:"Bring an archived conversation back."`
	Intents    intents     `cmd:"" help:"Show what a message orders: to remember, to forget, to pin, to search."`
	Actions    listActions `cmd:"" help:"List what is proposed and waits for you to confirm."`
	Confirm    confirm     `cmd:"" help:"Do what was proposed."`
	Reject     reject      `cmd:"" help:"Have what was proposed not be done."`
	Providers  providers   `cmd:"" help:"List who may answer in conversations, and which models they have."`
	Stats      stats       `cmd:"" help:"Show what language models were asked, what that cost, and which notes were used."`
	Citations  forNote     `cmd:"" help:"List the messages that used a note."`
	Highlights highlights  `cmd:"" help:"Show the excerpts of notes that an answer stood on, where they stand in the notes."`
	Suggest    suggestFor  `cmd:"" help:"List notes that are related to a conversation and that it does not refer to yet."`
	Graph      graphCmd    `cmd:"" help:"Show which conversations used which notes, as a list or a drawing."`
	Export     export      `cmd:"" help:"Export a conversation, for people to read or for another machine."`
	Import     importChats `cmd:"" help:"Import an exported conversation, a data export of ChatGPT, Claude or Gemini, or sessions of coding agents."`
	Delete     deleteOne   `cmd:"" help:"Delete a conversation with all its messages."`
}

// Help is what --help says of the command.
func (Command) Help() string {
	return "Without a command it is a conversation with a language model, see ctxd chat talk --help. " +
		"A conversation has a handle, such as weekend_trip_k3x9. Every command takes that or the id; " +
		"@ before a handle may be left out."
}

// Examples are those of --help.
func (Command) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat", "talk with a language model"},
		{"ctxd chat say Where could we hike in May?", "one question, one answer"},
		{"ctxd chat list", "what was talked about"},
		{"ctxd chat show weekend_trip_k3x9", "one conversation"},
		{"ctxd chat search where to hike", "what was said about it"},
		{`ctxd chat append "Where could we hike in May?"`, "begin one"},
	}
}

// Vars are the variables of the help and the values of the flags.
func Vars() kong.Vars { return kong.Vars{"chatRoles": strings.Join(record.Roles, ",")} }

// aConversation is the argument of commands that take one conversation.
type aConversation struct {
	Conversation string `arg:"" help:"Id or handle of the conversation."`
}

// name shows which conversation is meant.
func name(c *record.Conversation) term.Line {
	l := term.Line{term.Styled(term.Strong, c.Title)}
	if c.Title == "" {
		l = term.Line{term.Styled(term.Faint, "untitled")}
	}
	if c.Handle != "" {
		l = append(l, term.Styled(term.Faint, "  "+c.Handle))
	}
	return l
}

// drawSaid says what was done with a conversation, and which it is.
func drawSaid(s *term.Screen, did string, c *record.Conversation) {
	s.Say(append(term.Line{term.Styled(term.Good, did), term.Text("  ")}, name(c)...)...)
}
