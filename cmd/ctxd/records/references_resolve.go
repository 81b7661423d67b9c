package records

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// resolveRef is ctxd refs resolve.
type resolveRef struct {
	Refs  []string       `arg:"" name:"ref" help:"A handle, a number, an id or a name, with its @ or # or without, or [[Title]]."`
	Limit term.CountFlag `short:"n" from:"1" to:"1000" default:"100" placeholder:"N" help:"Maximum number of memories of each, 1 to 1000. Default: 100."`

	connect.Audience
}

// Help is what --help says of the command.
func (resolveRef) Help() string {
	return "A memory comes with its status, and behind one that is superseded what holds now. A context, a tag, a domain, " +
		"an entity or a conversation comes with the memories that belong to it, the last changed first. " +
		"What names several records is not guessed: they are listed."
}

// Examples are those of --help.
func (resolveRef) Examples() []term.Example {
	return []term.Example{
		{"ctxd refs resolve @ssdva", "what a handle leads to"},
		{"ctxd refs resolve 42 @health_goals_context @fitness_tag", "several at once"},
		{"ctxd refs resolve '@Alice Novak' -n 5", "what is remembered about someone"},
		{"ctxd refs resolve @ssdva --json | jq -r '.memories[].statement'", "for scripts"},
		{"ctxd refs resolve @ssdva --audience remote", "as a model on another machine would have it"},
	}
}

// Run runs the command.
func (c *resolveRef) Run(a *RefsOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		params := protocol.RefsResolve{Limit: int(c.Limit), Refs: c.Refs}
		if len(c.Refs) == 1 {
			params.Ref, params.Refs = c.Refs[0], nil
		}
		var res protocol.RefsResolved
		err := cl.Call(a.Ctx, "refs.resolve", params, &res)
		switch {
		case err != nil:
			return meant(err)
		case a.JSON:
			return a.Out.JSON(res)
		case len(c.Refs) == 1:
			drawResolved(a.Out, res.Resolved)
			return nil
		}
		lost := 0
		for i, r := range res.Results {
			if i > 0 {
				a.Out.Say()
			}
			a.Out.Say(term.Styled(term.Strong, r.Ref))
			if r.Error != nil {
				lost++
				drawError(a.Out, r.Error)
				continue
			}
			drawResolved(a.Out, r.Resolved)
		}
		if lost > 0 {
			return fault.New(fault.NotFound, "%d of %d references lead to no record", lost, len(c.Refs)).
				WithHint("see above why, and what may be meant")
		}
		return nil
	})
}

// meant has an error say which records may be meant.
func meant(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Candidates) == 0 {
		return err
	}
	list := make([]string, len(e.Candidates))
	for i, c := range e.Candidates {
		list[i] = fmt.Sprintf("%s (%s %s)", candidate(c), c.Kind, c.ID)
	}
	return e.WithHint("one of %s", strings.Join(list, ", "))
}

// drawResolved shows what a reference leads to.
func drawResolved(s *term.Screen, r *record.Resolved) {
	s.Say(term.Styled(term.Accent, strings.ReplaceAll(string(r.Type), "_", " ")), term.Text(" "+r.SourceID),
		term.Styled(term.Faint, "  by its "+viaNames[r.Via]))
	if r.Message != nil {
		s.Say(term.Styled(term.Faint, fmt.Sprintf("%d, %s", r.Message.Index, r.Message.Role)))
		for _, line := range strings.Split(r.Message.Content, "\n") {
			s.Say(term.Text("  " + line))
		}
		return
	}
	if r.Type == record.ResolvedNote {
		return
	}
	drawMemories(s, r.Memories, "no memory belongs to it")
	if more := r.Total - len(r.Memories); more > 0 {
		s.Say(term.Styled(term.Faint, fmt.Sprintf("%d more; -n shows more of them", more)))
	} else if r.Truncated {
		s.Say(term.Styled(term.Faint, "contexts more than ten levels below it are left out"))
	}
}

// viaNames says by what a reference leads somewhere.
var viaNames = map[record.ResolvedVia]string{
	record.ViaMessage: "conversation", record.ViaID: "id", record.ViaNumber: "number", record.ViaHandle: "handle",
	record.ViaAlias: "former handle", record.ViaComputed: "handle", record.ViaName: "name",
}

// drawError shows why one of several references leads nowhere.
func drawError(s *term.Screen, e *protocol.Error) {
	s.Say(term.Styled(term.Warn, e.Message))
	if e.Data == nil {
		return
	}
	for _, c := range e.Data.Candidates {
		s.Say(term.Text("  "+candidate(c)), term.Styled(term.Faint, "  "+c.Kind+" "+c.ID))
	}
}

// candidate is what a record is called best.
func candidate(c fault.Candidate) string {
	for _, name := range []string{c.Name, c.Title, c.Handle} {
		if name != "" {
			return name
		}
	}
	return c.ID
}
