package records

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type similarMemories struct {
	Memory string         `arg:"" help:"Id, handle or number of the memory."`
	Limit  term.CountFlag `short:"n" from:"1" to:"50" default:"5" placeholder:"N" help:"Maximum number of memories, 1 to 50. Default: 5."`

	connect.Audience
}

func (similarMemories) Help() string {
	return "Lists the memories whose meaning is nearest to that of a memory, nearest first, each with how near it is, " +
		"from 0 to 1, and with what the two statements differ in: negation, number, date or name. " +
		"While the memory has no vector, it searches for its words instead, and says so."
}

func (similarMemories) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory similar 42", "what says much the same"},
		{"ctxd memory similar prefer_morning_workouts_a3f2 --limit 1", "the nearest one"},
		{"ctxd memory similar 42 --json | jq -r '.hits[].memory.statement'", "for scripts"},
	}
}

func (c *similarMemories) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		m, err := connect.FindMemory(a.Ctx, cl, c.Memory)
		if err != nil {
			return err
		}
		var res protocol.SimilarMemories
		err = cl.Call(a.Ctx, "memory.similar", protocol.MemorySimilar{Ref: m.ID, Limit: int(c.Limit)}, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawSimilar(a.Out, &res)
		return nil
	})
}

func drawSimilar(s *term.Screen, res *protocol.SimilarMemories) {
	if len(res.Hits) == 0 {
		s.Say(term.Styled(term.Faint, "no memory is similar to it"))
	}
	drawNear(s, res.Hits)
	if res.Degraded != nil {
		s.Say(term.Styled(term.Warn, "! not compared by meaning: "+res.Degraded.Why))
	}
}

// drawNear shows memories that say much the same as another, with how near each is.
func drawNear(s *term.Screen, hits []protocol.SimilarMemory) {
	for i := range hits {
		hit := &hits[i]
		near := "    "
		if hit.Cosine > 0 {
			near = fmt.Sprintf("%.2f", hit.Cosine)
		}
		line := term.Line{
			term.Styled(term.Faint, near+"  "),
			term.Styled(term.Accent, fmt.Sprintf("#%d  ", hit.Memory.Number)), term.Text(term.Clean(hit.Memory.Statement)),
		}
		if len(hit.Differs) > 0 {
			line = append(line, term.Styled(term.Warn, "  another "+strings.Join(hit.Differs, ", ")))
		}
		s.Say(line...)
	}
}
