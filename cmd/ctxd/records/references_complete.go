package records

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// completeRef is ctxd refs complete.
type completeRef struct {
	Prefix string         `arg:"" optional:"" help:"What was typed of a handle, a name or a number. Default: nothing, which lists what was used last."`
	Kind   []string       `enum:"memory,context,conversation,entity,tag,domain" placeholder:"KIND" help:"Only records of this kind: ${enum}. May be repeated."`
	Limit  term.CountFlag `short:"n" from:"1" to:"50" default:"10" placeholder:"N" help:"Maximum number of handles, 1 to 50. Default: 10."`

	connect.Audience
}

// Help is what --help says of the command.
func (completeRef) Help() string {
	return "It lists what an app offers behind @ and #: the handle itself, then handles that begin so, then those of " +
		"which a later word does, then names. What was used last comes first. claim_4 and #4 list memories by number."
}

// Examples are those of --help.
func (completeRef) Examples() []term.Example {
	return []term.Example{
		{"ctxd refs complete morning", "handles with a word that begins so"},
		{"ctxd refs complete --kind context --kind tag", "the contexts and tags that were used last"},
		{"ctxd refs complete '#4' --json | jq -r '.items[].handle'", "memories by number, for scripts"},
	}
}

// Run runs the command.
func (c *completeRef) Run(a *RefsOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res record.RefCompletions
		err := cl.Call(a.Ctx, "refs.complete", protocol.RefsComplete{Prefix: c.Prefix, Kinds: c.Kind, Limit: int(c.Limit)}, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		DrawCompletions(a.Out, 0, res.Items)
		return nil
	})
}

// DrawCompletions shows handles, that many columns from the left.
func DrawCompletions(s *term.Screen, indent int, items []record.RefCompletion) {
	if len(items) == 0 {
		s.Say(term.Styled(term.Faint, strings.Repeat(" ", indent)+"no handle begins so"))
		return
	}
	t := &term.Table{Indent: indent}
	for _, item := range items {
		number := ""
		if item.Number > 0 {
			number = fmt.Sprintf("#%d", item.Number)
		}
		t.Row(term.Line{term.Styled(term.Accent, "@"+item.Handle)}, term.Line{term.Text(string(item.Kind))},
			term.Line{term.Styled(term.Faint, number)}, term.Line{term.Text(term.Clean(item.Label))})
	}
	t.Draw(s)
}
