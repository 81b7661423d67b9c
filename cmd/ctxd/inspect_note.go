package main

import (
	"strings"

	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectNoteCmd struct {
	Note string `arg:"" help:"Id, path, title or alias of the note."`
	Body bool   `help:"Print the text of the note too."`
}

func (inspectNoteCmd) Examples() []example {
	return []example{
		{`ctxd inspect note "Project Alpha Kickoff"`, "by title"},
		{`ctxd inspect note "Meetings/Project Alpha Kickoff.md" --body`, "by path, with its text"},
	}
}

func (c *inspectNoteCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		n, err := findNote(a.ctx, cl, c.Note)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(n)
		}
		drawNote(a.out, n)
		if c.Body {
			a.out.heading("Text")
			for l := range strings.Lines(cleanLines(n.Body)) {
				a.out.sayWhole(span{strings.TrimSuffix(l, "\n"), normal})
			}
		}
		return nil
	})
}

func drawNote(s *screen, n *protocol.NoteFull) {
	s.say(append(line{styled(strong, "[["+n.Title+"]]")}, noteMarks(n)...)...)
	f := &facts{table{indent: 2}}
	f.add("id", n.ID)
	f.add("path", n.Path)
	f.add("tags", strings.Join(n.Tags, ", "))
	f.add("aliases", strings.Join(n.Aliases, ", "))
	f.add("entity", n.EntityID)
	f.addf("changed", "%s, version %d", day(n.UpdatedAt), n.Version)
	f.add("text", count(len([]rune(n.Body)), "character"))
	f.draw(s)

	var dead int
	for _, l := range n.Links {
		if l.ID == "" {
			dead++
		}
	}
	s.heading("Links", styled(faint, "  "+number(len(n.Links))+", "+number(dead)+" without a target"))
	t := &table{indent: 2, right: []int{0}}
	for _, l := range n.Links {
		t.row(line{styled(faint, number(l.Line))}, line{text(written(l))}, target(l))
	}
	t.draw(s)
	s.heading("Linked from", styled(faint, "  "+count(len(n.Backlinks), "note")))
	t = &table{indent: 2}
	for _, b := range n.Backlinks {
		t.row(line{text("[[" + b.Title + "]]")}, line{styled(faint, b.Path)}, line{styled(faint, "line "+number(b.Line)+times(b.Count))})
	}
	t.draw(s)
}

func noteMarks(n *protocol.NoteFull) line {
	var out line
	if n.ArchivedAt != nil {
		out = append(out, styled(warn, "  archived"))
	}
	if n.Private {
		out = append(out, styled(warn, "  private"))
	}
	if n.VaultBacked {
		out = append(out, styled(faint, "  from a vault"))
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
	if l.Embed {
		s = "!" + s
	}
	return s
}

// target says what a link leads to.
func target(l notes.Link) line {
	switch {
	case l.ID != "":
		return line{styled(faint, "→ "), styled(accent, l.Title), styled(faint, "  "+l.Path)}
	case len(l.Candidates) > 0:
		var paths []string
		for _, c := range l.Candidates {
			paths = append(paths, firstOf(c.Path, c.Title, c.ID))
		}
		return line{styled(warn, "ambiguous: "+strings.Join(paths, ", "))}
	}
	return line{styled(warn, "no such note")}
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return " (" + number(n) + " times)"
}
