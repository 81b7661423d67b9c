package records

// This file and references_*.go are ctxd refs: what a message refers to by @, # and [[, what that leads to, what of it
// a model gets, and which handles begin with what was typed.
//
// parse finds references with context/refs, as the daemon does for refs.parse, and so needs no daemon; complete,
// gather, resolve and rename ask it.

import (
	"fmt"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/refs"
)

// RefsOptions are what ctxd refs runs with.
type RefsOptions struct {
	*term.Streams
	*connect.Link
}

// RefsCommand is ctxd refs.
type RefsCommand struct {
	Complete completeRef `cmd:"" help:"List the handles that begin with a text, as apps offer them behind @."`
	Gather   gatherRefs  `cmd:"" help:"Show the memories that a model gets for a message, as a text."`
	Parse    parseRefs   `cmd:"" help:"List the references in a message, and what is left of it to search by."`
	Rename   renameRef   `cmd:"" help:"Give a memory, a context or a conversation another handle; the former one leads there too."`
	Resolve  resolveRef  `cmd:"" help:"Show what references lead to, with the memories that belong to it."`
}

// Help is what --help says of the command.
func (RefsCommand) Help() string {
	return "@handle names a memory, a context or an entity; @claim_42 and #42 are the memory with that number; " +
		"[[Title]] is a note. Addresses, URLs, code and what stands behind a backslash refer to nothing."
}

// Examples are those of --help.
func (RefsCommand) Examples() []term.Example {
	return []term.Example{
		{`ctxd refs parse "@ssdva and #42, what fits [[Plan]]?"`, "what a message refers to"},
		{"ctxd refs complete morning", "handles with a word that begins so"},
		{"ctxd refs resolve @ssdva 42", "what that leads to"},
		{`ctxd refs gather "@ssdva when could we train?"`, "what a model gets of it"},
	}
}

// parseRefs is ctxd refs parse.
type parseRefs struct {
	Text string `arg:"" help:"The message, or - to read it from standard input."`
	Unit string `enum:"utf16,char,byte" default:"utf16" placeholder:"UNIT" help:"What places are counted in: utf16, char or byte. Default: utf16."`
}

// Help is what --help says of the command.
func (parseRefs) Help() string {
	return "It needs no daemon and looks nothing up: whether a handle leads anywhere is not said."
}

// Examples are those of --help.
func (parseRefs) Examples() []term.Example {
	return []term.Example{
		{`ctxd refs parse "@ssdva and #42, what fits [[Plan]]?"`, "references, and the rest of the message"},
		{`ctxd refs parse "🙂 @ssdva" --unit byte`, "places in bytes of UTF-8"},
		{`ctxd refs parse - --json < message.txt | jq -r '.handles[]'`, "for scripts"},
	}
}

// Run runs the command.
func (c *parseRefs) Run(a *RefsOptions) error {
	text := c.Text
	if text == "-" {
		data, err := a.Input(a.Streams, text, "a message")
		if err != nil {
			return err
		}
		text = string(data)
	}
	found, err := refs.Parse(text, refs.Unit(c.Unit))
	if err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(found)
	}
	if len(found.Refs) == 0 {
		a.Out.Say(term.Styled(term.Faint, "the message refers to nothing"))
		return nil
	}
	t := &term.Table{Right: []int{0}}
	for _, r := range found.Refs {
		t.Row(term.Line{term.Styled(term.Faint, fmt.Sprintf("%d–%d", r.Start, r.End))},
			term.Line{term.Styled(term.Accent, r.Raw)}, term.Line{term.Text(string(r.Kind))}, term.Line{term.Text(r.ID)})
	}
	t.Draw(a.Out)
	a.Out.Say()
	a.Out.Say(term.Styled(term.Strong, "Without them"))
	a.Out.Say(term.Text("  " + found.CleanText))
	return nil
}
