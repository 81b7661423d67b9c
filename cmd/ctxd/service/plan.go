package service

import (
	"io"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// plan is what a command does to a service, for people and programs.
type plan struct {
	file    string
	content string          // that is written to it; "": it is removed
	before  []systemCommand // that
	after   []systemCommand
}

// draw prints what would be done.
func (p *plan) draw(a *Options) error {
	if a.JSON {
		return a.Out.JSON(p.shown())
	}
	p.drawCommands(a.Out, p.before)
	if p.content == "" {
		a.Out.Say(term.Text("rm " + term.ShellQuoted(p.file)))
	} else {
		a.Out.SayWhole(term.Styled(term.Faint, "# "+p.file))
		if _, err := io.WriteString(a.Out, term.CleanLines(p.content)+"\n"); err != nil {
			return err
		}
	}
	p.drawCommands(a.Out, p.after)
	return nil
}

func (p *plan) drawCommands(s *term.Screen, commands []systemCommand) {
	for _, c := range commands {
		s.SayWhole(term.Text(c.line()))
	}
}

// line returns the command as one types it.
func (c *systemCommand) line() string {
	words := make([]string, len(c.args))
	for i, w := range c.args {
		words[i] = term.ShellQuoted(w)
	}
	return strings.Join(words, " ")
}

// done says that it has been done.
func (p *plan) done(a *Options, what, more string) error {
	if a.JSON {
		return a.Out.JSON(p.shown())
	}
	a.Out.Say(term.Text(what), term.Styled(term.Faint, "  "+p.file))
	if more != "" {
		a.Out.Say(term.Styled(term.Faint, more))
	}
	return nil
}

// shownPlan is a plan as JSON.
type shownPlan struct {
	File    string     `json:"file"`
	Content string     `json:"content,omitempty"`
	Before  [][]string `json:"before"` // commands before the file is written or removed
	After   [][]string `json:"after"`  // and after
}

func (p *plan) shown() shownPlan {
	return shownPlan{File: p.file, Content: p.content, Before: argsOf(p.before), After: argsOf(p.after)}
}

func argsOf(commands []systemCommand) [][]string {
	out := make([][]string, len(commands))
	for i, c := range commands {
		out[i] = c.args
	}
	return out
}
