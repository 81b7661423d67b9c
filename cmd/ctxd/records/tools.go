package records

// ctxd tools shows what a model that the daemon serves can call, and what it is told then. Both commands ask the
// daemon, by tools.list and tools.call.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// ToolsOptions are what ctxd tools runs with.
type ToolsOptions struct {
	*term.Streams
	*connect.Link
}

// ToolsCommand is ctxd tools.
type ToolsCommand struct {
	List listTools `cmd:"" help:"List the tools with their arguments."`
	Call callTool  `cmd:"" help:"Call a tool as a model does."`
}

// Help is what --help says of the command.
func (ToolsCommand) Help() string {
	return "The tools are those that a model is offered in a conversation. None of them changes a record."
}

// listTools is ctxd tools list.
type listTools struct {
	Read bool `help:"Leave out those that propose a change."`
}

// Examples are those of --help.
func (listTools) Examples() []term.Example {
	return []term.Example{
		{"ctxd tools list", "what a model can call"},
		{"ctxd tools list --json | jq -r '.tools[].name'", "for scripts"},
	}
}

// Run runs the command.
func (c *listTools) Run(a *ToolsOptions) error {
	return a.With(func(cl *client.Client) error {
		var res protocol.Tools
		if err := cl.Call(a.Ctx, "tools.list", protocol.ToolsList{Write: !c.Read}, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		for i := range res.Tools {
			if i > 0 {
				a.Out.Say()
			}
			drawTool(a.Out, &res.Tools[i])
		}
		return nil
	})
}

func drawTool(s *term.Screen, t *record.Tool) {
	mark := ""
	if t.Proposes {
		mark = "  proposes"
	}
	s.Say(term.Styled(term.Accent, t.Name), term.Text("  "+t.Title), term.Styled(term.Faint, mark))
	first, _, _ := strings.Cut(t.Description, "\n")
	s.Say(term.Text("  " + first))
	table := &term.Table{Indent: 2}
	for _, a := range argumentsOf(t.Schema) {
		table.Row(term.Line{term.Styled(term.Strong, a.name)}, term.Line{term.Styled(term.Faint, a.kind)}, term.Line{term.Text(a.about)})
	}
	table.Draw(s)
}

// argument is one of a tool, in words.
type argument struct{ name, kind, about string }

// argumentsOf reads the schema of a tool; what it does not understand of it is left out.
func argumentsOf(schema json.RawMessage) (list []argument) {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(s.Properties)) // in the order in which they stand there
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return list
		}
		var p struct {
			Type, Description         string
			Minimum, Maximum, Default *int
		}
		if dec.Decode(&p) != nil {
			return list
		}
		a := argument{fmt.Sprint(name), p.Type, p.Description}
		if p.Minimum != nil && p.Maximum != nil && p.Default != nil {
			a.kind = fmt.Sprintf("%d to %d, default %d", *p.Minimum, *p.Maximum, *p.Default)
		}
		if slices.Contains(s.Required, a.name) {
			a.kind += ", required"
		}
		list = append(list, a)
	}
	return list
}

// callTool is ctxd tools call.
type callTool struct {
	Tool      string `arg:"" help:"Name of the tool, such as read_note."`
	Arguments string `arg:"" optional:"" help:"Its arguments, a JSON object, or - to read one from standard input."`

	connect.Audience
}

// Help is what --help says of the command.
func (callTool) Help() string {
	return "Prints what the model is told. A call that the tool refuses is an error here; the model is told why and goes on."
}

// Examples are those of --help.
func (callTool) Examples() []term.Example {
	return []term.Example{
		{`ctxd tools call search_notes '{"query":"load cell"}'`, "what a model finds"},
		{`ctxd tools call read_note '{"path":"docs/params.md"}' --audience remote`, "what a model on another machine is told"},
		{`ctxd tools call find_excerpts '{"query":"drift"}' --json | jq .references`, "what the answer stands on"},
		{`ctxd tools call query - < arguments.json`, "arguments from a file"},
	}
}

// Run runs the command.
func (c *callTool) Run(a *ToolsOptions) error {
	p := protocol.ToolCall{Name: c.Tool}
	text := []byte(c.Arguments)
	if c.Arguments == "-" {
		var err error
		if text, err = a.Input(a.Streams, "-", "the arguments, a JSON object"); err != nil {
			return err
		}
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if !json.Valid(text) {
			return term.Misuse("the arguments are no JSON", `quote them as one word: '{"query":"two words"}'`)
		}
		p.Arguments = text
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res record.ToolResult
		if err := cl.Call(a.Ctx, "tools.call", p, &res); err != nil {
			return err
		}
		switch {
		case a.JSON:
			return a.Out.JSON(res)
		case res.Error:
			what, hint, _ := strings.Cut(strings.TrimSpace(res.Text), "\nTry: ")
			return fault.New(fault.Invalid, "%s", what).WithHint("%s", hint)
		}
		inspect.DrawPrompt(a.Out, res.Text)
		if n := len(res.References); n > 0 {
			a.Out.Say(term.Styled(term.Faint, "stands on "+term.Count(n, "record")))
		}
		if res.Private {
			a.Out.Say(term.Styled(term.Warn, "something private went into it: a model on another machine is told something else"))
		}
		return nil
	})
}
