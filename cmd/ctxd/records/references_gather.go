package records

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// gatherRefs is ctxd refs gather.
type gatherRefs struct {
	Text         string   `arg:"" optional:"" help:"The message, or - to read it from standard input."`
	Memory       []string `placeholder:"REF" sep:"none" help:"Attach this memory, by id, handle or number. May be repeated."`
	Conversation string   `placeholder:"ID" help:"The conversation that the message is of, by its id."`
	Memories     int      `short:"k" default:"10" placeholder:"N" help:"How many memories and messages to find by searching for the message, 0 to 20. Default: 10."`
	Format       string   `enum:"markdown,xml,pkb" default:"markdown" placeholder:"FORMAT" help:"Format of the text: markdown, xml or pkb. Default: markdown."`

	connect.Audience `set:"audienceDefault=the text is for a remote model, and you are told what was withheld from it"`
}

// Help is what --help says of the command.
func (gatherRefs) Help() string {
	return "It is the memory part of the prompt that ctxd prompt assembles, alone: what the message refers to, what is " +
		"attached, the profile, what is pinned and what a search finds. As pkb each is a <pkb_item> line."
}

// Examples are those of --help.
func (gatherRefs) Examples() []term.Example {
	return []term.Example{
		{`ctxd refs gather "@ssdva and #42, when could we train?"`, "what a model is told of memories"},
		{`ctxd refs gather "when could we train?" --memory 42 -k 0`, "an attached memory, and no search"},
		{`ctxd refs gather "@ssdva" --format pkb --audience local`, "as lines, with what is private"},
		{`ctxd refs gather - --json < message.txt | jq -r '.items[].memory.statement'`, "for scripts"},
	}
}

// Run runs the command.
func (c *gatherRefs) Run(a *RefsOptions) error {
	text, err := c.message(a)
	if err != nil {
		return err
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		p := prompt.GatherParams{
			Text: text, ConversationID: c.Conversation, K: &c.Memories, Format: c.Format, Audience: protocol.Remote,
		}
		if c.Audience.Audience != nil {
			p.Audience = *c.Audience.Audience
		}
		for _, ref := range c.Memory {
			m, err := connect.FindMemory(a.Ctx, cl, ref)
			if err != nil {
				return err
			}
			p.AttachedMemoryIDs = append(p.AttachedMemoryIDs, m.ID)
		}
		var res prompt.Gathered
		if err := cl.Call(a.Ctx, "refs.gather", p, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawGathered(a.Out, &res)
		return nil
	})
}

// message returns the text, or that of standard input for "-".
func (c *gatherRefs) message(a *RefsOptions) (string, error) {
	if c.Text == "-" {
		data, err := a.Input(a.Streams, c.Text, "a message")
		return string(data), err
	}
	if strings.TrimSpace(c.Text) == "" && len(c.Memory) == 0 {
		return "", term.Misuse("nothing to gather", `give a message or --memory: ctxd refs gather "@ssdva"`)
	}
	return c.Text, nil
}

func drawGathered(s *term.Screen, res *prompt.Gathered) {
	if res.Text == "" {
		s.Say(term.Styled(term.Faint, "no memory belongs to the message"))
	} else {
		inspect.DrawPrompt(s, res.Text)
		s.Say(term.Styled(term.Faint, term.Count(len(res.Items), "item")+", "+term.Number(prompt.Chars(res.Text))+" characters"))
	}
	for _, w := range res.Warnings {
		s.Say(term.Styled(term.Warn, w.Ref+": "+w.Message))
	}
	if res.Degraded != "" {
		s.Say(term.Styled(term.Faint, "search: "+res.Degraded))
	}
	page.DrawDropped(s, res.Dropped)
}
