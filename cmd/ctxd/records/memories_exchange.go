package records

import (
	"fmt"
	"path/filepath"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type exportMemories struct {
	File   string `arg:"" help:"The file to write."`
	Format string `enum:"jsonl,markdown" default:"jsonl" help:"jsonl: everything, for ctxd memory import; markdown: for people to read."`
	Force  bool   `help:"Replace the file if it exists."`
}

func (exportMemories) Help() string {
	return "The file holds all memories, private ones included, with what they said before, their counters, contexts, handles and synonyms. " +
		"It appears under its name only when it is complete, and only you can read it."
}

func (exportMemories) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory export memories.jsonl", "everything, for another machine"},
		{"ctxd memory export memories.md --format markdown", "for people to read"},
	}
}

func (c *exportMemories) Run(a *MemoryOptions) error {
	path, err := filepath.Abs(c.File)
	if err != nil {
		return noFolder(err)
	}
	return a.With(func(cl *client.Client) error {
		var out record.MemoryExported
		p := term.NewProgress(a.Err)
		err := cl.CallProgress(a.Ctx, "memory.export",
			protocol.MemoryExport{Path: path, Format: c.Format, Force: c.Force}, &out, p.Wire)
		p.Finish()
		switch {
		case fault.KindOf(err) == fault.Conflict:
			return term.WithHint(err, "choose another name, or replace it with --force")
		case err != nil:
			return err
		case a.JSON:
			return a.Out.JSON(out)
		}
		a.Out.Say(term.Styled(term.Good, "exported"), term.Text("  "+countMemories(out.Memories)),
			term.Styled(term.Faint, "  "+term.Size(out.Bytes)))
		a.Out.SayWhole(term.Labelled("file"), term.Text(out.Path))
		return nil
	})
}

func noFolder(err error) error {
	return fault.Wrap(fault.Unavailable, err, "cannot determine the working directory").
		WithHint("give the absolute path of the file")
}

type importMemories struct {
	File   string `arg:"" help:"The file, or a folder of Markdown files of basic-memory."`
	Format string `enum:"auto,jsonl,basic-memory,mem0,lines" default:"auto" help:"What the file is. auto finds out."`
	DryRun bool   `help:"Show what would be imported, and change nothing."`
	All    bool   `help:"List every conflict, not only the first few."`
}

func (importMemories) Help() string {
	return "Reads what ctxd memory export wrote, exports of basic-memory and mem0, and files with one memory a line. " +
		"Numbers and handles are kept where they are free, synonyms are joined with those that are there, " +
		"and what does not fit is listed. " +
		"A file that cannot be read as a whole changes nothing. " +
		"Importing again takes nothing in twice; after Ctrl-C it goes on where it was."
}

func (importMemories) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory import memories.jsonl --dry-run", "show what would be imported"},
		{"ctxd memory import memories.jsonl", "import it"},
		{"ctxd memory import facts.txt --format lines", "each line is a memory"},
		{"ctxd memory import ~/basic-memory", "the observations of all its files"},
	}
}

func (c *importMemories) Run(a *MemoryOptions) error {
	path, err := filepath.Abs(c.File)
	if err != nil {
		return noFolder(err)
	}
	order := protocol.MemoryImport{Path: path, Format: c.Format, DryRun: c.DryRun}
	if c.Format == "auto" {
		order.Format = ""
	}
	return a.With(func(cl *client.Client) error {
		var out record.MemoryImported
		p := term.NewProgress(a.Err)
		err := cl.CallProgress(a.Ctx, "memory.import", order, &out, p.Wire)
		p.Finish()
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.Out.JSON(out)
		}
		c.draw(a.Out, &out)
		return nil
	})
}

// conflictsShown is how many conflicts are listed unasked.
const conflictsShown = 10

func (c *importMemories) draw(s *term.Screen, out *record.MemoryImported) {
	verdict := "imported"
	if out.DryRun {
		verdict = "would import"
	}
	s.Say(term.Styled(term.Good, verdict), term.Text("  "+countMemories(out.Memories)),
		term.Styled(term.Faint, "  read as "+out.Format))
	for _, n := range []struct {
		count int
		what  string
	}{
		{out.Contexts, "new contexts"},
		{out.Synonyms, "new or larger sets of synonyms"},
		{out.Versions, "former versions"},
		{out.Numbers, "used numbers"},
		{out.Same, "there already"},
		{out.Left, "left out"},
		{out.Archived, "archived, since memoryBank is full"},
	} {
		if n.count > 0 {
			s.Say(term.Text("  "+term.Number(n.count)+" "), term.Styled(term.Faint, n.what))
		}
	}
	list := out.Conflicts
	if !c.All {
		list = list[:min(len(list), conflictsShown)]
	}
	for _, x := range list {
		where := fmt.Sprintf("line %d", x.Line)
		if x.File != "" {
			where = x.File + ", " + where
		}
		became := "left out"
		if x.Taken {
			became = "imported all the same"
		}
		s.Say(term.Styled(term.Bad, "  ! "), term.Text(where+": "+x.Message), term.Styled(term.Faint, "  "+became))
	}
	if n := out.Total - len(list); n > 0 {
		s.Say(term.Styled(term.Faint, "  and "+term.Number(n)+" more; --all lists them"))
	}
}
