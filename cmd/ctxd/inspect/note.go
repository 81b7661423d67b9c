package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type noteCmd struct {
	Note string `arg:"" help:"Id, path, title or alias of the note."`
	Body bool   `help:"Also print the text of the note."`

	connect.Audience
}

func (noteCmd) Examples() []term.Example {
	return []term.Example{
		{`ctxd inspect note "Project Alpha Kickoff"`, "by title"},
		{`ctxd inspect note "Meetings/Project Alpha Kickoff.md" --body`, "by path, with its text"},
		{`ctxd inspect note Kickoff --body --audience remote`, "as a remote model reads it"},
	}
}

func (c *noteCmd) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(n)
		}
		drawNote(a.Out, n)
		if c.Body {
			a.Out.Heading("Text")
			_, text := prompt.SplitProperties(n.Body)
			for l := range strings.Lines(term.CleanLines(prompt.RenderNote(text))) {
				a.Out.SayWhole(term.Span{Text: strings.TrimSuffix(l, "\n"), Style: term.Normal})
			}
		}
		return nil
	})
}

func drawNote(s *term.Screen, n *protocol.NoteFull) {
	s.Say(append(term.Line{term.Styled(term.Strong, "[["+n.Title+"]]")}, noteMarks(n)...)...)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("id", n.ID)
	f.Add("vault", n.Vault)
	f.Add("path", n.Path)
	f.Add("tags", strings.Join(n.Tags, ", "))
	f.Add("aliases", strings.Join(n.Aliases, ", "))
	f.Add("entity", n.EntityID)
	f.Addf("changed", "%s, version %d", term.Day(n.UpdatedAt), n.Version)
	f.Add("text", term.Count(len([]rune(n.Body)), "character"))
	f.Draw(s)

	list := prompt.AllProperties(n.Body)
	list = slices.DeleteFunc(list, func(p prompt.Property) bool { return p.Key == "tags" }) // said above
	if len(list) > 0 {
		s.Heading("Properties", term.Styled(term.Faint, "  "+term.Number(len(list))))
		f := &term.Facts{Table: term.Table{Indent: 2}}
		for _, p := range list {
			f.Add(p.Key, p.Value)
		}
		f.Draw(s)
	}

	drawTasks(s, n)

	var dead int
	for _, l := range n.Links {
		if l.ID == "" && l.Kind == "" {
			dead++
		}
	}
	s.Heading("Links", term.Styled(term.Faint,
		"  "+term.Number(len(n.Links))+", "+term.Number(dead)+" without a target"))
	t := &term.Table{Indent: 2, Right: []int{0}}
	for _, l := range n.Links {
		t.Row(term.Line{term.Styled(term.Faint, term.Number(l.Line))}, term.Line{term.Text(written(l))}, target(l))
	}
	t.Draw(s)
	s.Heading("Linked from", term.Styled(term.Faint, "  "+term.Count(len(n.Backlinks), "note")))
	t = &term.Table{Indent: 2}
	for _, b := range n.Backlinks {
		t.Row(term.Line{term.Text("[[" + b.Title + "]]")}, term.Line{term.Styled(term.Faint, connect.Place(b.Vault, b.Path))},
			term.Line{term.Styled(term.Faint, "line "+term.Number(b.Line)+times(b.Count))})
	}
	t.Draw(s)
}

// drawTasks shows the tasks of a note, if there are any.
func drawTasks(s *term.Screen, n *protocol.NoteFull) {
	if n.Kind != "" {
		return
	}
	t, open := &term.Table{Indent: 2, Right: []int{0}}, 0
	markdown.Tasks(n.Body, func(x record.Task) {
		state := "open"
		switch {
		case x.Done:
			state = "done"
		case x.Cancelled:
			state = "cancelled"
		default:
			open++
		}
		t.Row(term.Line{term.Styled(term.Faint, term.Number(x.Line))}, term.Line{term.Text(state)}, term.Line{term.Text(x.Name)},
			term.Line{term.Styled(term.Faint, strings.TrimSpace(x.Due+" "+x.Priority))})
	})
	if len(t.Rows) == 0 {
		return
	}
	s.Heading("Tasks", term.Styled(term.Faint, "  "+term.Number(len(t.Rows))+", "+term.Number(open)+" open"))
	t.Draw(s)
}

func noteMarks(n *protocol.NoteFull) term.Line {
	var out term.Line
	if n.ArchivedAt != nil {
		out = append(out, term.Styled(term.Warn, "  archived"))
	}
	if n.Private {
		out = append(out, term.Styled(term.Warn, "  private"))
	}
	if n.VaultBacked {
		out = append(out, term.Styled(term.Faint, "  from a vault"))
	}
	return out
}

// written returns a link as it stands in the text.
func written(l notes.Link) string {
	s := "[[" + l.Target
	if l.Heading != "" {
		s += "#" + l.Heading
	}
	if l.Block != "" {
		s += "#^" + l.Block
	}
	if l.Alias != "" {
		s += "|" + l.Alias
	}
	s += "]]"
	if l.Markdown { // of which nothing is stored but where it leads
		s = "[…](" + strings.TrimSuffix(strings.TrimPrefix(s, "[["), "]]") + ")"
	}
	if l.Embed {
		s = "!" + s
	}
	return s
}

// target says what a link leads to.
func target(l notes.Link) term.Line {
	switch {
	case l.Kind == notes.LinkToAttachment:
		return term.Line{term.Styled(term.Faint, "→ "+l.Kind+"  "), term.Text(l.Path)}
	case l.ID != "":
		return term.Line{
			term.Styled(term.Faint, "→ "), term.Styled(term.Accent, l.Title),
			term.Styled(term.Faint, "  "+connect.Place(l.Vault, l.Path)),
		}
	case len(l.Candidates) > 0:
		var paths []string
		for _, c := range l.Candidates {
			paths = append(paths, cmp.Or(connect.Place(c.Vault, c.Path), c.Title+" "+c.ID))
		}
		return term.Line{term.Styled(term.Warn, "ambiguous: "+strings.Join(paths, ", "))}
	}
	return term.Line{term.Styled(term.Warn, "no such note")}
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return " (" + term.Number(n) + " times)"
}
