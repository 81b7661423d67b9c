package chats

import (
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type appendTo struct {
	Text string `arg:"" help:"What was said; - reads it from standard input."`

	To        string   `placeholder:"CONVERSATION" help:"Id or handle of the conversation. Default: a new one."`
	Role      *string  `enum:"${chatRoles}" placeholder:"ROLE" help:"Who said it: ${enum}. Default: user."`
	Title     string   `placeholder:"TEXT" help:"Title of a new conversation. Default: the beginning of the text."`
	MessageID string   `placeholder:"ID" help:"An id of your own: a message with one that is there already is not kept twice."`
	Memory    []string `placeholder:"MEMORY" help:"Id, handle or number of a memory that the model was shown for this answer; may be repeated."`
	Private   bool     `help:"Hide the message from remote models, and a new conversation with it."`
}

func (appendTo) Help() string {
	return "For programs that ask a model by themselves: what was said is kept here and can be found. " +
		"It prints the handle of the conversation."
}

func (appendTo) Examples() []term.Example {
	return []term.Example{
		{`ctxd chat append "Where could we hike in May?" --title "Weekend trip"`, "begin a conversation"},
		{`ctxd chat append "Along the river." --to weekend_trip_k3x9 --role assistant`, "what the model answered"},
		{`ctxd chat append "On Mondays." --to weekend_trip_k3x9 --role assistant --memory 42`, "and what it stood on"},
		{"ctxd chat append - --to weekend_trip_k3x9 < answer.md", "a long text from a file"},
	}
}

func (c *appendTo) Run(a *Options) error {
	if c.To != "" && c.Title != "" {
		return term.Misuse("--title is for a new conversation, and --to names one",
			"ctxd chat set "+term.ShellQuoted(c.To)+" --title "+term.ShellQuoted(c.Title))
	}
	said, err := c.text(a)
	if err != nil {
		return err
	}
	draft := protocol.ChatMessageDraft{
		Role: record.RoleUser, Content: said, ClientMessageID: c.MessageID, Private: c.Private,
	}
	if c.Role != nil {
		draft.Role = *c.Role
	}
	return a.With(func(cl *client.Client) error {
		params := protocol.ChatAppend{Title: c.Title, Messages: []protocol.ChatMessageDraft{draft}}
		if c.To != "" {
			found, err := connect.FindConversation(a.Ctx, cl, c.To)
			if err != nil {
				return err
			}
			params.ConversationID = found.ID
		}
		for _, ref := range c.Memory {
			m, err := connect.FindMemory(a.Ctx, cl, ref)
			if err != nil {
				return err
			}
			params.MemoryIDs = append(params.MemoryIDs, m.ID)
		}
		var added protocol.ChatAppended
		if err := cl.Call(a.Ctx, "chat.append", params, &added); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(added)
		}
		found, err := connect.FindConversation(a.Ctx, cl, added.ConversationID)
		if err != nil {
			return err
		}
		did := "kept"
		if added.Messages[0].Repeat {
			did = "known"
		}
		did += " as message " + term.Number(added.Messages[0].Index)
		if added.Messages[0].Pending {
			did += ", " + term.Pending
		}
		drawSaid(a.Out, did, found)
		return nil
	})
}

// text returns what was said, as it is given or from standard input.
func (c *appendTo) text(a *Options) (string, error) {
	if c.Text != "-" {
		return c.Text, nil
	}
	data, err := a.Input(a.Streams, "-", "the message")
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", term.Misuse("the message is not valid UTF-8", "convert it first: iconv -f LATIN1 -t UTF-8 FILE")
	}
	return strings.TrimRight(string(data), "\n"), nil
}
