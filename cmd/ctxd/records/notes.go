package records

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Notes is ctxd notes.
type Notes struct {
	List listNotes `cmd:"" help:"List the notes."`
	Show showNote  `cmd:"" help:"Print the text of a note as it is stored."`
	Set  setNote   `cmd:"" help:"Create a note, or change one."`

	Archive archiveNote `cmd:"" help:"Take a note out of menus, lists and prompts."`
	Restore restoreNote `cmd:"" help:"Bring an archived note back."`
	Delete  deleteNote  `cmd:"" help:"Delete a note for good; the file of a vault is moved to its trash folder."`
}

// Examples are those of --help.
func (Notes) Examples() []term.Example {
	return []term.Example{
		{"ctxd notes list --tag planning", "the notes with a tag"},
		{"ctxd notes show Kickoff", "the text of a note"},
		{"ctxd notes set Ideas --new --body ideas.md", "create a note"},
	}
}

type listNotes struct {
	Tag      string `placeholder:"TAG" help:"Only notes with this tag, or with a tag below it."`
	Folder   string `placeholder:"FOLDER" help:"Only notes in this folder or below it."`
	Type     string `placeholder:"TYPE" help:"Only notes that describe an entity of this type."`
	Vault    string `placeholder:"VAULT" help:"Only notes in this vault."`
	Since    string `placeholder:"DATE" help:"Only notes changed on this date or later: today, yesterday, 7d or 2w ago, 2026-01 or 2026-01-31."`
	Recent   bool   `help:"What was changed last first, instead of by title."`
	Archived bool   `help:"List the archived notes instead."`

	ListFlags
	connect.Audience
}

func (listNotes) Examples() []term.Example {
	return []term.Example{
		{"ctxd notes list", "the first hundred"},
		{"ctxd notes list --tag planning --folder Meetings -n 0", "all notes that match"},
		{"ctxd notes list --vault Work --recent -n 10", "what was changed last in a vault"},
		{"ctxd notes list --json | jq -r '.notes[].path'", "for scripts"},
		{"ctxd notes list --audience remote", "only public notes, for a model on another machine"},
	}
}

func (c *listNotes) Run(a *Options) error {
	order := protocol.SortTitle
	if c.Recent {
		order = protocol.SortUpdated
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		notes, more, err := pages(int(c.Limit), func(page protocol.Page) ([]protocol.NoteHead, string, error) {
			var res protocol.NotePage
			filter := protocol.NoteFilter{
				Tag: strings.TrimPrefix(c.Tag, "#"), Folder: c.Folder, Type: c.Type, Vault: c.Vault,
				ChangedSince: c.Since, Sort: order, Archived: c.Archived, Page: page,
			}
			err := cl.Call(a.Ctx, "notes.list", filter, &res)
			return res.Notes, res.NextCursor, err
		})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string]any{"notes": notes, "more": more})
		}
		alike := make(map[noteLook]int)
		for _, n := range notes {
			alike[noteLook{n.Title, n.Vault, n.Path}]++
		}
		t := &term.Table{}
		for _, n := range notes {
			where := connect.Place(n.Vault, n.Path)
			if n.Path == "" {
				where = n.Folder
			}
			if alike[noteLook{n.Title, n.Vault, n.Path}] > 1 {
				where = strings.TrimSpace(where + "  " + n.ID)
			}
			tags := ""
			if len(n.Tags) > 0 {
				tags = "#" + strings.Join(n.Tags, " #")
			}
			t.Row(term.Line{term.Text(n.Title)}, term.Line{term.Styled(term.Faint, where)},
				term.Line{term.Styled(term.Accent, tags)}, marks(n.Private, false))
		}
		none := "no such note"
		if c.Tag+c.Folder+c.Type+c.Vault+c.Since == "" && !c.Archived {
			none = "there are no notes; " + connect.HowToFill + ", and ctxd notes set makes one"
		}
		a.drawList(cl, t, none, more)
		return nil
	})
}

// noteLook is what tells notes of a list apart; where it doesn't, the id is shown.
type noteLook struct{ title, vault, path string }

type showNote struct {
	Note string `arg:"" help:"Id, path, title or alias of the note."`

	connect.Audience
}

func (showNote) Help() string {
	return "Prints only the text, so that it can be saved or piped; with --json, the whole record. " +
		"ctxd inspect note shows its links and what links to it."
}

func (showNote) Examples() []term.Example {
	return []term.Example{
		{"ctxd notes show Kickoff", "by title"},
		{"ctxd notes show Meetings/Kickoff.md > kickoff.md", "by path, into a file"},
		{"ctxd notes show Kickoff --audience remote", "as a model on another machine reads it"},
	}
}

func (c *showNote) Run(a *Options) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(n)
		}
		for l := range strings.Lines(term.CleanLines(n.Body)) {
			a.Out.SayWhole(term.Span{Text: strings.TrimSuffix(l, "\n"), Style: term.Normal})
		}
		return nil
	})
}

type setNote struct {
	Note string `arg:"" help:"Id, path, title or alias of the note; with --new its title."`

	New     bool     `help:"Create a note with that title."`
	Vault   string   `placeholder:"VAULT" help:"With --new: make a file of this vault, in --folder, or else where the vault puts new notes; / is its root."`
	Body    string   `placeholder:"FILE" help:"Read the text from this file; - is standard input."`
	Append  string   `placeholder:"FILE" help:"Add the lines of this file at the end of the text; - is standard input."`
	Title   string   `placeholder:"TEXT" help:"New title."`
	Folder  string   `placeholder:"FOLDER" help:"New folder."`
	Tag     []string `placeholder:"TAG" sep:"none" help:"Replace the tags that are not in the text. May be repeated."`
	Alias   []string `placeholder:"TITLE" sep:"none" help:"Replace the aliases. May be repeated."`
	Private *bool    `negatable:"" help:"Hide it from remote models, or no longer."`
	Clear   []string `enum:"title,folder,tag,alias" placeholder:"WHAT" help:"Remove the title, folder, tags or aliases. A note without a title takes it from its text. May be repeated."`
	DryRun  bool     `help:"Show what would change in the text, and change nothing."`
}

func (setNote) Help() string {
	return "Only what the flags name is changed. The text of a note of a vault is written into its file where the setting " +
		"vault.write names its folder, and nowhere else; ctxd vault undo takes it back."
}

func (setNote) Examples() []term.Example {
	return []term.Example{
		{"ctxd notes set Ideas --new --body ideas.md --tag later", "a new note"},
		{"date | ctxd notes set Ideas --body -", "replace the text from standard input"},
		{"echo '- call Bob' | ctxd notes set Inbox --append -", "add a line, in the file of a vault too"},
		{"ctxd notes set Ideas --body ideas.md --dry-run", "only show what would change"},
		{"ctxd notes set Ideas --new --vault Work --folder Inbox --body ideas.md", "a new file of a vault"},
		{"ctxd notes set Ideas --title 'Good ideas' --private", "change the title, and hide it from remote models"},
		{"ctxd notes set Ideas --clear tag --no-private", "only the tags in the text, and public"},
	}
}

// changes reports whether a flag names something to change.
func (c *setNote) changes() bool {
	return c.Body != "" || c.Append != "" || c.Title != "" || c.Folder != "" || len(c.Tag)+len(c.Alias)+len(c.Clear) > 0 || c.Private != nil
}

func (c *setNote) Run(a *Options) error {
	switch {
	case c.New && (c.Title != "" || len(c.Clear) > 0):
		return term.Misuse("the title of a new note is its argument, and there is nothing to clear",
			"ctxd notes set "+term.ShellQuoted(c.Note)+" --new")
	case c.New && c.Append != "" || c.Body != "" && c.Append != "":
		return term.Misuse("--append adds to the text of a note that is there, and --body replaces it", "ctxd notes set "+term.ShellQuoted(c.Note)+" --body FILE")
	case !c.New && c.Vault != "":
		return term.Misuse("--vault says where a new note is made", "ctxd notes set "+term.ShellQuoted(c.Note)+" --new --vault "+term.ShellQuoted(c.Vault))
	case !c.New && !c.changes():
		return term.Misuse("nothing to change", "ctxd notes set --help lists what can be changed")
	}
	body, err := c.readText(a, cmp.Or(c.Body, c.Append))
	if err != nil {
		return err
	}
	return a.With(func(cl *client.Client) error {
		var saved protocol.NoteSaved
		var err error
		if c.New {
			err = cl.Call(a.Ctx, "notes.put", protocol.NotePut{NoteRecord: protocol.NoteRecord{
				Title: c.Note, Body: body, Folder: c.Folder, Tags: c.Tag, Aliases: c.Alias,
				Private: c.Private != nil && *c.Private,
			}, Vault: c.Vault, Conditions: protocol.Conditions{DryRun: c.DryRun}}, &saved)
		} else {
			err = c.patch(a, cl, body, &saved)
		}
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(saved)
		}
		if c.DryRun {
			a.Out.Say(term.Styled(term.Faint, "would change"), term.Text("  "), term.Styled(term.Strong, "[["+saved.Title+"]]"))
			for l := range strings.Lines(saved.Diff) {
				a.Out.SayWhole(term.Text(strings.TrimSuffix(l, "\n")))
			}
			return nil
		}
		drawSaved(a.Out, c.New, "[["+saved.Title+"]]", saved.ID, saved.Version, saved.Waits)
		return nil
	})
}

// readText returns the text of a file, "" for none.
func (c *setNote) readText(a *Options, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := a.Input(a.Streams, file, "the text of the note")
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data):
		return "", term.Misuse("the text of the note is not valid UTF-8", "convert it first: iconv -f LATIN1 -t UTF-8 FILE")
	case len(data) == 0:
		return "", term.Misuse("the text is empty", "to empty a note, give a line break; to keep its text, leave out --body")
	}
	return string(data), nil
}

// patch changes what the flags name.
func (c *setNote) patch(a *Options, cl *client.Client, body string, saved *protocol.NoteSaved) error {
	n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
	if err != nil {
		return err
	}
	p := protocol.NotePatch{ID: n.ID, Private: c.Private, IfVersion: &n.Version, Conditions: protocol.Conditions{DryRun: c.DryRun}}
	for _, what := range c.Clear {
		switch what {
		case "title":
			p.Title = protocol.Null[string]()
		case "folder":
			p.Folder = protocol.Null[string]()
		case "tag":
			p.Tags = protocol.Null[[]string]()
		case "alias":
			p.Aliases = protocol.Null[[]string]()
		}
	}
	if c.Body != "" {
		p.Body = &body
	}
	if c.Append != "" {
		p.Append, p.IfVersion = &body, nil
	}
	if c.Title != "" {
		p.Title = protocol.Some(c.Title)
	}
	if c.Folder != "" {
		p.Folder = protocol.Some(c.Folder)
	}
	if len(c.Tag) > 0 {
		p.Tags = protocol.Some(c.Tag)
	}
	if len(c.Alias) > 0 {
		p.Aliases = protocol.Some(c.Alias)
	}
	return cl.Call(a.Ctx, "notes.patch", p, saved)
}

// drawSaved says what was made or changed.
func drawSaved(s *term.Screen, isNew bool, name, id string, version int, w record.Waits) {
	did := "changed"
	if isNew {
		did = "made"
	}
	line := term.Line{term.Styled(term.Good, did), term.Text("  "), term.Styled(term.Strong, name)}
	if id != "" {
		line = append(line, term.Styled(term.Faint, "  "+id))
	}
	line = append(line, term.Styled(term.Faint, "  version "+term.Number(version)))
	if w.Pending {
		line = append(line, term.Styled(term.Warn, "  "+term.Pending))
	}
	s.Say(line...)
}
