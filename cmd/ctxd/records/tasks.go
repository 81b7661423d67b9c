package records

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/notes/markdown"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Tasks is ctxd tasks.
type Tasks struct {
	List   listTasks  `cmd:"" default:"withargs" help:"List the open tasks of notes, as ctxd tasks without a command does."`
	Done   doneTask   `cmd:"" help:"Tick a task off in its note."`
	Reopen reopenTask `cmd:"" help:"Make a task open again in its note."`
}

// Help is what --help says of the command.
func (Tasks) Help() string {
	return "A task is a line of a note, such as \"- [ ] Call Bob 📅 2026-03-04\", in the forms of Obsidian's plugin Tasks, of Dataview and " +
		"of Logseq. Any other question is one of ctxd wql: SELECT t FROM Task WHERE t.priority = 'high'."
}

// Examples are those of --help.
func (Tasks) Examples() []term.Example {
	return []term.Example{
		{"ctxd tasks", "the open ones, by the day on which they are due"},
		{"ctxd tasks --due today", "what is due today or late"},
		{"ctxd tasks done Plan:12", "tick the one of line 12 off"},
	}
}

type listTasks struct {
	Done bool   `help:"List those that are done instead."`
	Due  string `placeholder:"DAY" help:"Only what is due by today, by the end of a week from today (week), or by a day such as 2026-03-04; what is late is among it."`
	Note string `placeholder:"NOTE" help:"Only tasks of this note: its id, path, title or alias."`

	ListFlags
	connect.Audience
}

func (listTasks) Examples() []term.Example {
	return []term.Example{
		{"ctxd tasks list", "the open ones, by the day on which they are due"},
		{"ctxd tasks list --due week", "what is due within a week, or late"},
		{"ctxd tasks list --note Plan --done", "what is done in a note"},
		{"ctxd tasks list --json | jq -r '.tasks[].name'", "for scripts"},
		{"ctxd tasks list --audience remote", "only those of public notes, for a model on another machine"},
	}
}

// listedTask is a task as --json has it.
type listedTask struct {
	NoteID string `json:"noteId"`
	Name   string `json:"name"`
	Link   string `json:"link,omitempty"` // what leads to the note, where others have its title
	*record.Task
}

func (c *listTasks) Run(a *Options) error {
	due, err := dueBy(c.Due)
	if err != nil {
		return err
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		tasks, more, err := c.ask(a, cl, due)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string]any{"tasks": tasks, "more": more})
		}
		today := time.Now().Format(time.DateOnly)
		t := &term.Table{Head: []string{"due", "priority", "task", "note"}, Keep: []int{2}}
		for _, x := range tasks {
			style := term.Normal
			if x.Due < today && !x.Done {
				style = term.Warn
			}
			name := term.Line{term.Text(x.Name)}
			if len(x.Tags) > 0 {
				name = append(name, term.Styled(term.Accent, " #"+strings.Join(x.Tags, " #")))
			}
			t.Row(term.Line{term.Styled(style, x.Due)}, term.Line{term.Text(x.Priority)}, name, term.Line{term.Styled(term.Faint, cmp.Or(x.Link, x.Note)+":"+strconv.Itoa(x.Line))})
		}
		a.drawList(cl, t, c.none(), more)
		return nil
	})
}

// ask asks for the tasks.
func (c *listTasks) ask(a *Options, cl *client.Client, due string) (tasks []listedTask, more bool, err error) {
	where := "t.done = false AND t.cancelled = false"
	if c.Done {
		where = "t.done = true"
	}
	if due != "" {
		where += " AND t.due <= " + due
	}
	if c.Note != "" {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
		if err != nil {
			return nil, false, err
		}
		where += " AND t.id = " + syntax.QuoteText(n.ID)
	}
	var res protocol.WQLResult
	err = cl.Call(a.Ctx, "wql.query", protocol.WQLQuery{
		Query: "SELECT t FROM " + record.VaultTask + " t WHERE " + where + " ORDER BY t.due, t.note, t.line", Limit: min(cmp.Or(int(c.Limit), mostTasks), mostTasks),
	}, &res)
	tasks = make([]listedTask, len(res.Rows))
	for i, r := range res.Rows {
		tasks[i] = listedTask{NoteID: r.ID, Name: r.Name, Link: r.Link, Task: r.Task}
	}
	return tasks, res.Truncated, err
}

// mostTasks is how many rows a query gives at most.
const mostTasks = 10_000

// none says why there are no tasks.
func (c *listTasks) none() string {
	switch {
	case c.Done:
		return "no such task is done"
	case c.Due != "":
		return "no open task is due by then; ctxd tasks lists the others"
	}
	return `there is no open task; a line "- [ ] Call Bob 📅 2026-03-04" of a note makes one`
}

// dueBy returns the WQL value of the last day of --due, "" for none.
func dueBy(day string) (string, error) {
	switch day {
	case "":
		return "", nil
	case "today":
		return "today()", nil
	case "week":
		return "today() + 7d", nil
	}
	if _, ok := syntax.Day(day); !ok {
		return "", term.Misuse(fmt.Sprintf("--due is today, week or a day such as 2026-03-04, not %q", day), "ctxd tasks --due today")
	}
	return "date('" + day + "')", nil
}

// taskLine are the arguments of the commands that change a task.
type taskLine struct {
	Where string `arg:"" placeholder:"NOTE:LINE" help:"The note and the line, as ctxd tasks shows them; the note by its id, path, title or alias."`
	Text  string `arg:"" optional:"" help:"What the line must contain. Give it where the note may have changed since you looked."`

	DryRun bool `help:"Show what would change in the text, and change nothing."`
}

const taskLineHelp = "The line is written into the note, and into its file where the setting vault.write names its folder; ctxd vault undo takes " +
	"it back. Where it may not be written, the line is printed as it should be."

type doneTask struct{ taskLine }

func (doneTask) Help() string {
	return taskLineHelp + " Where the days of the task stand behind emoji, the day is added as the plugin Tasks does (✅), and in fields of " +
		"Dataview as [completion:: …]. What repeats is not made anew."
}

func (doneTask) Examples() []term.Example {
	return []term.Example{
		{"ctxd tasks done Plan:12", "by title and line"},
		{"ctxd tasks done Work/Plan.md:12 'Call Bob'", "only if the line says so"},
		{"ctxd tasks done Plan:12 --dry-run", "only show what would change"},
	}
}

func (c *doneTask) Run(a *Options) error { return c.set(a, true) }

type reopenTask struct{ taskLine }

func (reopenTask) Help() string {
	return taskLineHelp + " The day on which it was done is taken out."
}

func (reopenTask) Examples() []term.Example {
	return []term.Example{
		{"ctxd tasks reopen Plan:12", "by title and line"},
		{"ctxd tasks reopen Plan:12 --dry-run", "only show what would change"},
	}
}

func (c *reopenTask) Run(a *Options) error { return c.set(a, false) }

// set writes the line of a task anew, on the condition that nobody has changed the note since it was read.
func (c *taskLine) set(a *Options, done bool) error {
	at := strings.LastIndexByte(c.Where, ':')
	line, err := strconv.Atoi(c.Where[at+1:])
	if at <= 0 || err != nil || line < 1 {
		return term.Misuse(fmt.Sprintf("%q is no note and line", c.Where), "ctxd tasks shows them, as in ctxd tasks done Plan:12")
	}
	return a.With(func(cl *client.Client) error {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Where[:at])
		if err != nil {
			return err
		}
		body, before, after, ok := markdown.SetTask(n.Body, line, done, time.Now())
		switch {
		case !ok || !n.Live() || n.Kind != "":
			return fault.New(fault.NotFound, "line %d of [[%s]] is no task", line, n.Title).
				WithHint("ctxd tasks --note %s lists its tasks", term.ShellQuoted(n.Title))
		case !strings.Contains(before, c.Text):
			return fault.Clash(fault.Changed, "line %d of [[%s]] does not contain %q: %s", line, n.Title, c.Text, strings.TrimSpace(before)).
				WithHint("ctxd tasks --note %s shows the lines of its tasks", term.ShellQuoted(n.Title))
		}
		saved := protocol.NoteSaved{Note: n.Note, Hash: n.Hash}
		if after != before {
			err = cl.Call(a.Ctx, "notes.patch", protocol.NotePatch{ID: n.ID, Body: &body, Conditions: protocol.Conditions{IfHash: n.Hash, DryRun: c.DryRun}}, &saved)
		}
		var refused *fault.Error
		if errors.As(err, &refused) && refused.Reason == fault.VaultBacked {
			return fault.Clash(fault.VaultBacked, "[[%s]] is a file of a vault that ctxd may not write to", n.Title).
				WithHint("make line %d of %s yourself: %s ; or let the setting vault.write name its folder", line, cmp.Or(n.Path, n.Title), strings.TrimSpace(after))
		}
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(saved)
		}
		c.draw(a, n, line, done, before, after, saved.Write)
		return nil
	})
}

// draw says what was written.
func (c *taskLine) draw(a *Options, n *protocol.NoteFull, line int, done bool, before, after, write string) {
	did := "open"
	if done {
		did = "done"
	}
	switch {
	case before == after:
		did = "is " + did + " already"
	case c.DryRun:
		did = "would be " + did
	}
	a.Out.Say(term.Styled(term.Good, did), term.Text("  "+strings.TrimSpace(after)), term.Styled(term.Faint, "  "+n.Title+":"+strconv.Itoa(line)))
	if write != "" && !c.DryRun {
		a.Out.Say(term.Styled(term.Faint, "  ctxd vault undo "+write+" takes it back"))
	}
}
