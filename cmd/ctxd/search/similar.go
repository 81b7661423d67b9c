package search

import (
	"github.com/ctxd/ctxd/cmd/ctxd/command"
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Similar is ctxd similar.
type Similar struct {
	Note  string        `arg:"" help:"Title, path or id of a note."`
	Limit command.Count `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Notes at most, 1 to 100. Default: 10."`

	connect.Audience
}

// Help is what --help says of the command.
func (Similar) Help() string {
	return "Lists the notes that mean what a note does, nearest first, each with the part that is nearest. " +
		"The vectors that the daemon keeps are compared; while the note has none, notes with its words are listed, and the command says so."
}

// Examples are those of --help.
func (Similar) Examples() []command.Example {
	return []command.Example{
		{"ctxd similar Kickoff", "notes about the same"},
		{"ctxd similar Meetings/Kickoff.md --limit 3", "the nearest three"},
		{"ctxd similar Kickoff --audience remote", "for a model that is not on this machine: no private note"},
		{"ctxd similar Kickoff --json | jq -r '.hits[].path'", "for scripts"},
	}
}

// Run runs the command.
func (c *Similar) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		n, err := connect.FindNote(a.Ctx, cl, c.Note)
		if err != nil {
			return err
		}
		var res protocol.SearchResult
		err = cl.Call(a.Ctx, "notes.similar", protocol.NoteSimilar{ID: n.ID, Limit: int(c.Limit)}, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		if len(res.Hits) == 0 {
			a.Out.Say(term.Styled(term.Faint, "no note is near "+term.Clean(n.Title)))
			DrawDegraded(a.Out, "", &res)
			return nil
		}
		DrawHits(a.Out, "", &res, false)
		return nil
	})
}
