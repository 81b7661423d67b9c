package records

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// renameRef is ctxd refs rename.
type renameRef struct {
	Ref    string `arg:"" help:"A memory, a context or a conversation: its handle, number or id."`
	Handle string `arg:"" help:"Its new handle, with or without the @."`
}

// Help is what --help says of the command.
func (renameRef) Help() string {
	return "The handle that it had goes on leading to it, and nobody else can have it. A handle has 3 to 60 letters, " +
		"digits, _ and -, and begins with a letter. Those of entities, tags and domains follow their names."
}

// Examples are those of --help.
func (renameRef) Examples() []term.Example {
	return []term.Example{
		{"ctxd refs rename prefer_morning_workouts_a3f2 early_bird", "a handle that is easy to type"},
		{"ctxd refs rename '#42' early_bird", "of the memory 42"},
		{"ctxd refs rename '#42' early_bird --json | jq -r '.memory.aliases[]'", "the handles that it had, for scripts"},
	}
}

// Run runs the command.
func (c *renameRef) Run(a *RefsOptions) error {
	return a.With(func(cl *client.Client) error {
		var res record.Renamed
		err := cl.Call(a.Ctx, "refs.rename", protocol.RefsRename{Ref: c.Ref, Handle: strings.TrimPrefix(c.Handle, "@")}, &res)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawRenamed(a.Out, &res)
		return nil
	})
}

func drawRenamed(s *term.Screen, res *record.Renamed) {
	own, former := "", []string(nil)
	switch {
	case res.Memory != nil:
		own, former = res.Memory.Handle, res.Memory.Aliases
	case res.Context != nil:
		own, former = res.Context.Handle, res.Context.Aliases
	case res.Conversation != nil:
		own, former = res.Conversation.Handle, res.Conversation.Aliases
	}
	s.Say(term.Styled(term.Accent, "@"+own), term.Text(" names the "+string(res.Kind)))
	if len(former) > 0 {
		s.Say(term.Styled(term.Faint, "so do @"+strings.Join(former, ", @")))
	}
}
