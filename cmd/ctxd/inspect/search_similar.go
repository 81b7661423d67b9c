package inspect

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Similar is ctxd similar.
type Similar struct {
	Note  string         `arg:"" help:"Title, path or id of a note."`
	Limit term.CountFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Maximum number of notes, 1 to 100. Default: 10."`

	connect.Audience
}

// Help is what --help says of the command.
func (Similar) Help() string {
	return "Lists the notes whose meaning is nearest to that of a note, nearest first, each with its nearest passage. " +
		"It compares the vectors in the index. " +
		"While the note has no vector, it searches for the words of the note instead, and says so."
}

// Examples are those of --help.
func (Similar) Examples() []term.Example {
	return []term.Example{
		{"ctxd similar Kickoff", "notes about the same"},
		{"ctxd similar Meetings/Kickoff.md --limit 3", "the nearest three"},
		{"ctxd similar Kickoff --audience remote", "without private notes, for a model on another machine"},
		{"ctxd similar Kickoff --json | jq -r '.hits[].path'", "for scripts"},
	}
}

// Run runs the command.
func (c *Similar) Run(a *SearchOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
		if err != nil {
			return err
		}
		var res protocol.SearchResult
		err = cl.Call(a.Ctx, "notes.similar", protocol.NoteSimilar{Ref: n.ID, Limit: int(c.Limit)}, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if len(res.Hits) == 0 {
			a.Out.Say(term.Styled(term.Faint, "no note is similar to "+term.Clean(n.Title)))
			DrawDegraded(a.Out, "", &res)
			return nil
		}
		DrawHits(a.Out, "", &res, false)
		return nil
	})
}
