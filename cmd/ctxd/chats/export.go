package chats

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type export struct {
	Conversation string `arg:"" optional:"" help:"Id or handle of the conversation."`
	All          bool   `help:"Export all conversations, archived ones too, each to a file of its own in the folder --out."`
	Format       string `enum:"markdown,json" default:"markdown" help:"markdown: for people to read; json: everything, for ctxd chat import. Default: markdown."`
	Out          string `short:"o" placeholder:"FILE" help:"The file to write, with --all a folder. Default: standard output."`
	Force        bool   `help:"Replace files that exist."`

	connect.Audience
}

func (export) Help() string {
	return "The JSON has everything that is kept of the conversation, private messages included. In Markdown each line of what was said " +
		"begins with >. A file appears under its name only when it is complete, and only you can read it. " +
		"With --all, files are named by the handles of their conversations; what Ctrl-C leaves are whole files."
}

func (export) Examples() []term.Example {
	return []term.Example{
		{"ctxd chat export weekend_trip_k3x9", "for people to read"},
		{"ctxd chat export weekend_trip_k3x9 --format json --out trip.json", "for another machine"},
		{"ctxd chat export --all --format json --out backup", "each conversation to a file"},
	}
}

// exported is what --json prints of each file.
type exported struct {
	ConversationID string `json:"conversationId"`
	File           string `json:"file"`
	Bytes          int    `json:"bytes"`
}

func (c *export) Run(a *Options) error {
	switch {
	case c.All && c.Conversation != "", !c.All && c.Conversation == "":
		return term.Misuse("one conversation or --all", "ctxd chat export weekend_trip_k3x9")
	case c.All && c.Out == "":
		return term.Misuse("--all writes to a folder", "ctxd chat export --all --out backup")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		if c.All {
			return c.each(a, cl)
		}
		found, err := connect.FindConversation(a.Ctx, cl, c.Conversation)
		if err != nil {
			return err
		}
		if c.Out != "" {
			done, err := c.file(a, cl, found, c.Out)
			if err != nil {
				return err
			}
			return drawExported(a, []exported{done})
		}
		if a.JSON {
			text, err := c.text(a, cl, found.ID)
			if err != nil {
				return err
			}
			return a.Out.JSON(printed{found.ID, text})
		}
		return c.pieces(a, cl, found.ID, c.print(a.Out))
	})
}

// printed is what --json prints where there is no file.
type printed struct {
	ConversationID string `json:"conversationId"`
	Text           string `json:"text"`
}

// print returns what writes an export to standard output: as it is, and on a terminal without what could steer that.
func (c *export) print(s *term.Screen) func(text string) error {
	return func(text string) error {
		switch {
		case s.Terminal && c.Format == "json":
			text = term.EscapeControls(text)
		case s.Terminal:
			text = term.CleanLines(text)
		}
		_, err := io.WriteString(s, text)
		return err
	}
}

func (c *export) text(a *Options, cl *client.Client, id string) (string, error) {
	var b strings.Builder
	err := c.pieces(a, cl, id, func(text string) error { b.WriteString(text); return nil })
	return b.String(), err
}

// pieces gives the texts of an export.
func (c *export) pieces(a *Options, cl *client.Client, id string, give func(string) error) error {
	params := protocol.ChatExport{Ref: id, Format: c.Format}
	for {
		var piece protocol.ChatExported
		if err := cl.Call(a.Ctx, "chat.export", params, &piece); err != nil {
			return err
		}
		if err := give(piece.Text); err != nil {
			return err
		}
		if piece.NextCursor == "" {
			return nil
		}
		params.Cursor = piece.NextCursor
	}
}

// file writes an export to a file.
func (c *export) file(a *Options, cl *client.Client, of *record.Conversation, file string) (out exported, err error) {
	if err := term.FreeForDocument(file, c.Force); err != nil {
		return out, err
	}
	text, err := c.text(a, cl, of.ID)
	if err != nil {
		return out, err
	}
	return exported{of.ID, file, len(text)}, term.WriteDocument(file, c.Force, text)
}

// each writes all conversations that the reader sees to files in a folder.
func (c *export) each(a *Options, cl *client.Client) error {
	if err := os.MkdirAll(c.Out, 0o700); err != nil {
		kind := fault.Unavailable
		if errors.Is(err, fs.ErrExist) {
			kind = fault.Conflict
		}
		return fault.Wrap(kind, err, "the folder %q can't be made", c.Out).WithHint("choose another one")
	}
	end := map[string]string{"markdown": ".md", "json": ".json"}[c.Format]
	var done []exported
	for _, archived := range []bool{false, true} {
		params := protocol.ChatList{Archived: archived, Page: protocol.Page{Limit: pageSize}}
		for {
			var page protocol.Conversations
			if err := cl.Call(a.Ctx, "chat.list", params, &page); err != nil {
				return err
			}
			for _, of := range page.Conversations {
				name := of.Handle
				if name == "" {
					name = of.ID
				}
				one, err := c.file(a, cl, of, filepath.Join(c.Out, name+end))
				if err != nil {
					return err
				}
				done = append(done, one)
			}
			if params.Cursor = page.NextCursor; params.Cursor == "" {
				break
			}
		}
	}
	return drawExported(a, done)
}

func drawExported(a *Options, list []exported) error {
	if a.JSON {
		return a.Out.JSON(append([]exported{}, list...))
	}
	size := 0
	for _, x := range list {
		size += x.Bytes
	}
	a.Out.Say(term.Styled(term.Good, "exported"), term.Text("  "+term.Count(len(list), "conversation")),
		term.Styled(term.Faint, "  "+term.Size(int64(size))))
	if len(list) == 1 {
		a.Out.SayWhole(term.Labelled("file"), term.Text(list[0].File))
	}
	return nil
}
