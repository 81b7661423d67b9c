package records

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Tags is ctxd tags.
type Tags struct {
	List listTags `cmd:"" help:"List the tags and how many notes each has, most frequent first."`
	Show showTag  `cmd:"" help:"List the notes with a tag, or with a tag below it."`
}

// Help is what --help says of the command.
func (Tags) Help() string {
	return "A tag exists as long as a note has it. " +
		"Write it in the text of the note, or set it with ctxd notes set --tag."
}

// Examples are those of --help.
func (Tags) Examples() []term.Example {
	return []term.Example{
		{"ctxd tags list", "the most frequent tags"},
		{"ctxd tags show planning", "the notes with a tag"},
	}
}

type listTags struct {
	Prefix string `arg:"" optional:"" help:"Only tags that begin with this."`

	ListFlags
	connect.Audience
}

func (listTags) Examples() []term.Example {
	return []term.Example{
		{"ctxd tags list", "the most frequent tags"},
		{"ctxd tags list project/ -n 0", "all below project"},
		{"ctxd tags list --json | jq -r '.tags[].name'", "for scripts"},
		{"ctxd tags list --audience remote", "only those of public notes, for a model on another machine"},
	}
}

func (c *listTags) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		tags, more, err := pages(int(c.Limit), func(page protocol.Page) ([]record.NoteTag, string, error) {
			var res protocol.TagPage
			err := cl.Call(a.Ctx, "tags.list", protocol.TagFilter{Prefix: c.Prefix, Page: page}, &res)
			return res.Tags, res.NextCursor, err
		})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string]any{"tags": tags, "more": more})
		}
		t := &term.Table{Right: []int{1}}
		for _, tag := range tags {
			t.Row(term.Line{term.Styled(term.Accent, "#"+tag.Name)}, term.Line{term.Styled(term.Faint, term.Count(tag.Count, "note"))})
		}
		none := "no note has such a tag"
		if c.Prefix == "" {
			none = "no note has a tag; #word in its text makes one, and so does tags: [word] in its frontmatter"
		}
		a.drawList(cl, t, none, more)
		return nil
	})
}

type showTag struct {
	Tag string `arg:"" help:"The tag, with or without #."`

	ListFlags
	connect.Audience
}

func (showTag) Examples() []term.Example {
	return []term.Example{
		{"ctxd tags show planning", "notes with #planning or #planning/2026"},
		{"ctxd tags show planning --audience remote", "only public notes, for a model on another machine"},
	}
}

func (c *showTag) Run(a *Options) error {
	list := listNotes{Tag: c.Tag, ListFlags: c.ListFlags, Audience: c.Audience}
	return list.Run(a)
}
