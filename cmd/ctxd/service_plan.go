package main

import (
	"io"
	"strings"
)

// servicePlan is what a command does to a service, for people and programs.
type servicePlan struct {
	file    string
	content string           // that is written to it; "": it is removed
	before  []serviceCommand // that
	after   []serviceCommand
}

// draw prints what would be done.
func (p *servicePlan) draw(a *app) error {
	if a.JSON {
		return a.out.json(p.shown())
	}
	p.drawCommands(a.out, p.before)
	if p.content == "" {
		a.out.say(text("rm " + quoted(p.file)))
	} else {
		a.out.sayWhole(styled(faint, "# "+p.file))
		if _, err := io.WriteString(a.out, cleanLines(p.content)+"\n"); err != nil {
			return err
		}
	}
	p.drawCommands(a.out, p.after)
	return nil
}

func (p *servicePlan) drawCommands(s *screen, commands []serviceCommand) {
	for _, c := range commands {
		s.sayWhole(text(c.line()))
	}
}

// line returns the command as one types it.
func (c *serviceCommand) line() string {
	words := make([]string, len(c.args))
	for i, w := range c.args {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// done says that it has been done.
func (p *servicePlan) done(a *app, what, more string) error {
	if a.JSON {
		return a.out.json(p.shown())
	}
	a.out.say(text(what), styled(faint, "  "+p.file))
	if more != "" {
		a.out.say(styled(faint, more))
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

func (p *servicePlan) shown() shownPlan {
	return shownPlan{File: p.file, Content: p.content, Before: argsOf(p.before), After: argsOf(p.after)}
}

func argsOf(commands []serviceCommand) [][]string {
	out := make([][]string, len(commands))
	for i, c := range commands {
		out[i] = c.args
	}
	return out
}
