package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Command is ctxd wql.
type Command struct {
	Query []string `arg:"" optional:"" help:"The query, or several that each end with a semicolon. Default: a prompt, or standard input."`
	File  string   `short:"f" placeholder:"FILE" help:"Run the queries of this file; - is standard input."`

	This      string         `placeholder:"ENTITY" help:"Id, name or alias of the entity that {this} means."`
	Type      string         `placeholder:"TYPE" help:"Check the queries as those of a computed field of this type, without running them."`
	Fields    []string       `placeholder:"FIELDS" help:"Fields to show, such as role,team.lead.name. Default: the fields that the query mentions."`
	Limit     term.CountFlag `short:"n" from:"1" to:"10000" placeholder:"N" help:"Maximum number of rows, 1 to 10,000. A smaller LIMIT in the query applies. Default: 200."`
	Format    string         `enum:"table,json,csv,tsv" default:"table" placeholder:"FORMAT" help:"Output format: table, json, csv or tsv. Default: table; json with --json."`
	Explain   bool           `short:"e" help:"Show the plan of each query."`
	Expanded  bool           `short:"x" help:"Show each row as a block with one field a line."`
	KeepGoing bool           `short:"k" help:"Continue after a query that fails. The exit status is still 1."`

	connect.Audience
}

// Help is what --help says of the command.
func (Command) Help() string {
	return "Without a query, on a terminal, it is an interactive prompt: Tab completes, the arrow keys and Ctrl-R recall earlier queries, " +
		`\? lists its commands. The history is kept in a file that only you can read, see ctxd config wql.history. ` +
		"Otherwise it reads queries from standard input, and stops at the first one that fails."
}

// More lists the functions of the language.
func (Command) More() string {
	var b strings.Builder
	b.WriteString("Functions:\n")
	for _, f := range syntax.Functions {
		fmt.Fprintf(&b, "  %-28s  %s\n      %s\n", f.Usage, f.About, f.Example)
	}
	return b.String()
}

// Examples are those of --help.
func (Command) Examples() []term.Example {
	return []term.Example{
		{"ctxd wql", "an interactive prompt"},
		{`ctxd wql "SELECT p FROM Person WHERE p.team.name = 'Engineering' ORDER BY p.started"`, "one query"},
		{`ctxd wql --this @Alice "SELECT p FROM Person WHERE p.manager = {this}" --fields role,team`, "as a computed field of an entity"},
		{"ctxd wql --format csv -f queries.wql > rows.csv", "the queries of a file"},
		{`ctxd wql "SELECT p FROM Person p" --audience remote`, "what a remote model is shown of them"},
		{`ctxd wql "SELECT COUNT(*) FROM Project" --json | jq .value`, "for scripts"},
	}
}

// Run runs the command.
func (c *Command) Run(a *Options) error {
	query := strings.Join(c.Query, " ")
	if query != "" && c.File != "" {
		return term.Misuse("--file cannot be combined with a query", "ctxd wql --help")
	}
	s := c.session(a)
	defer s.close()
	if c.This != "" {
		if err := s.setThis(a.Ctx, c.This); err != nil {
			return err
		}
	}
	switch {
	case query != "":
		return c.script(s, query, "")
	case c.File != "" && c.File != "-":
		text, err := readScript(c.File)
		if err != nil {
			return err
		}
		return c.script(s, text, c.File)
	case c.File == "" && AtTerminal(s.Streams):
		return s.prompt()
	}
	text, err := io.ReadAll(io.LimitReader(a.In, longestScript+1))
	if err == nil && len(text) > longestScript {
		err = fault.TooLarge("standard input", len(text), longestScript, "bytes")
	}
	if err != nil {
		return err
	}
	return c.script(s, string(text), "standard input")
}

// longestScript is the size up to which a file of queries is read.
const longestScript = 16 << 20

func readScript(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", term.NotFound("file", path).WithHint("give a file of queries that each end with a semicolon")
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot read the file %q", path)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestScript+1))
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot read the file %q", path)
	}
	if len(text) > longestScript {
		return "", fault.TooLarge(path, len(text), longestScript, "bytes")
	}
	return string(text), nil
}

func (c *Command) session(a *Options) *session {
	format := c.Format
	if a.JSON {
		format = formatJSON
	}
	return &session{
		Options: a, checkType: c.Type,
		view: view{format: format, expanded: c.Expanded, fields: c.Fields, explain: c.Explain, timing: true},
		// The daemon's own default is left to it.
		limit: int(c.Limit), audience: c.Audience,
	}
}

// script runs the statements of a text one after the other. from names where
// the text is from, "" for the command line.
func (c *Command) script(s *session, text, from string) error {
	list, rest, _ := syntax.Split(text)
	if rest.Text != "" {
		list = append(list, rest)
	}
	if len(list) == 0 {
		return term.Misuse("there is no query", `ctxd wql "SELECT p FROM Person"`)
	}
	s.view.several, s.from = len(list) > 1, from
	var failed error
	for _, st := range list {
		err := s.run(s.Ctx, st)
		if errors.Is(err, errQuit) {
			break
		}
		if err == nil {
			continue
		}
		err = inScript(err, st, from)
		if !c.KeepGoing || s.Ctx.Err() != nil {
			return err
		}
		if failed != nil {
			_ = s.Out.Flush() // what was answered stands before the error; the last flush tells
			s.Fail(failed)
		}
		failed = err
	}
	return failed
}

// cancellable returns a context that Ctrl-C ends while the prompt lives on.
func (s *session) cancellable() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(s.Ctx)
	restore := s.Interrupts.Divert(cancel)
	return ctx, func() {
		restore()
		cancel()
	}
}
