package inspect

import (
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/hook"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
)

// captureCmd is ctxd inspect capture.
type captureCmd struct{}

func (captureCmd) Help() string {
	return "Of each program that ctxd hook serves: whether its settings have the lines of ctxd, how many sessions were kept, " +
		"and when one was last changed. A program that is installed and of which nothing was kept for a week is marked."
}

func (captureCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect capture", "when something was last kept"},
		{"ctxd inspect capture --json | jq '.capture[] | select(.silent)'", "the programs that have stopped"},
	}
}

// Run runs the command.
func (captureCmd) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		list, err := hook.Captures(a.Ctx, cl, time.Now())
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string][]hook.Capture{"capture": list})
		}
		drawCapture(a.Out, list)
		return nil
	})
}

func drawCapture(s *term.Screen, list []hook.Capture) {
	t := &term.Table{Head: []string{"program", "sessions", "last kept", "settings"}, Right: []int{1}}
	for _, c := range list {
		where := term.Line{term.Styled(term.Faint, "not installed: ctxd hook install "+c.Host)}
		if c.Installed {
			where = term.Line{term.Text(c.Settings)}
		}
		t.Row(term.Line{term.Styled(term.Accent, c.Host)}, term.Line{term.Text(term.Number(c.Sessions))}, lastKept(&c), where)
	}
	t.Draw(s)
}

// lastKept says when something was last kept, and that it has stopped.
func lastKept(c *hook.Capture) term.Line {
	last := term.Line{term.Styled(term.Faint, "never")}
	if c.LastKept != nil {
		last = term.Line{term.Text(term.Ago(*c.LastKept))}
	}
	if c.Silent {
		last = append(last, term.Styled(term.Warn, "  nothing since "+since(c.LastKept)))
	}
	return last
}

// since says from when on nothing was kept.
func since(last *time.Time) string {
	if last == nil {
		return "it was installed"
	}
	return last.Local().Format(time.DateOnly)
}
