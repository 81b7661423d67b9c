package chats

import (
	"fmt"
	"path/filepath"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type importChats struct {
	File    string `arg:"" help:"What ctxd chat export --format json wrote; a data export of ChatGPT, Claude or Gemini, or the JSON in it; a session of Claude Code, Codex CLI, Gemini CLI or OpenCode, or a folder of them."`
	Private bool   `help:"Hide the new conversations from remote models."`
	DryRun  bool   `help:"Show what would be imported, and change nothing."`
}

func (importChats) Help() string {
	return "Imports a conversation that ctxd chat export wrote as JSON, those of a data export of ChatGPT, Claude or Gemini, or the sessions that coding agents keep on this machine. " +
		"The first comes back as it was, whole or not at all. Imported again, a file adds only what is new. " +
		"What cannot be read is left out and listed. Ctrl-C stops between conversations; the next import continues from there."
}

func (importChats) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat import conversations.json --dry-run", "show what would be imported"},
		{"ctxd chat import trip.json", "what ctxd chat export --format json wrote"},
		{"ctxd chat import ~/Downloads/export.zip", "import it"},
		{"ctxd chat import export.zip --private", "and hide it from remote models"},
		{"ctxd chat import ~/.claude/projects", "the sessions of Claude Code; ~/.codex/sessions has those of Codex CLI"},
	}
}

func (c *importChats) Run(a *Options) error {
	path, err := filepath.Abs(c.File) // the daemon has another folder
	if err != nil {
		return err
	}
	return a.With(func(cl *client.Client) error {
		var res protocol.ChatImported
		p := term.NewProgress(a.Err)
		err := cl.CallProgress(a.Ctx, "chat.import",
			protocol.ChatImport{Path: path, Private: c.Private, DryRun: c.DryRun}, &res, p.Wire)
		p.Finish()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		drawImported(a.Out, &res)
		return nil
	})
}

func drawImported(s *term.Screen, r *protocol.ChatImported) {
	did := "imported"
	if r.DryRun {
		did = "would import"
	}
	s.Say(term.Styled(term.Good, did), term.Text(fmt.Sprintf("  %s, %s",
		term.Count(r.Conversations, "conversation"), term.Count(r.Messages, "message"))))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	add := func(name string, n int, what string) {
		if n > 0 {
			f.Add(name, term.Number(n)+" "+what)
		}
	}
	add("continued", r.Continued, "that were there and have new messages")
	add("unchanged", r.Unchanged, "that were there already")
	add("empty", r.Empty, "in which nothing was said, left out")
	add("branches", r.Branches, "left out: the newest one of a conversation is imported")
	add("attachments", r.Attachments, "images and files, of which the name is kept")
	add("too large", r.TooLarge, "messages, left out")
	add("full", r.Full, "messages for which their conversation has no room")
	f.Draw(s)
	if r.HandleTaken {
		s.Say(term.Text("  its handle is taken: ctxd chat list shows the one that it got"))
	}
	if r.Skipped == 0 {
		return
	}
	s.Say(term.Styled(term.Warn, fmt.Sprintf("! %s could not be read", term.Count(r.Skipped, "part"))))
	for _, x := range r.Problems {
		s.Say(term.Text(fmt.Sprintf("  %s  conversation %d, bytes %d to %d: %s", x.File, x.Number, x.Offset, x.End, x.Reason)))
	}
}
