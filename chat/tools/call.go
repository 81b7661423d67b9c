package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
)

// definition is a tool with what it does.
type definition struct {
	Tool
	arguments []argument
	run       func(*toolRun) error
}

// converses reports whether a tool is of a conversation alone. It is run once: it may write.
func (d *definition) converses() bool { return d.Name == recordResponse.Name }

// tools are all tools, in the order in which they are listed.
var tools = []definition{
	readNote, findExcerpts, searchNotes, getEntity, exploreGraph, query, searchMemory, createTaskTool, assignEntityTool, recordResponse,
}

// define makes a definition.
func define(name, title, description string, run func(*toolRun) error, arguments ...argument) definition {
	return definition{
		Tool{Name: name, Title: title, Description: description, Schema: argumentsSchema(arguments)}, arguments, run,
	}
}

// shared is define for a tool that ctxd mcp has too.
func shared(about render.ToolInfo, run func(*toolRun) error, arguments ...argument) definition {
	return define(about.Name, about.Title, about.Description, run, arguments...)
}

// toolRun is one call of a tool.
type toolRun struct {
	set   *Set
	tool  string
	ctx   context.Context
	env   *CallEnv
	view  *audience.View // of env
	limit int            // characters of the text
	arguments
	out   Result
	marks []string // by reference: what stands in the text where it is shown

	standing sync.Mutex // guards out.StandsOn while columns are read
}

// stand adds to what the result was made of; the summary of the turn takes each only once.
func (c *toolRun) stand(on record.StandsOn) {
	c.standing.Lock()
	defer c.standing.Unlock()
	c.out.StandsOn.Join(on)
}

// refer makes a reference to what stands in the text with an id.
func (c *toolRun) refer(id string, r Reference) {
	for i := range c.out.References {
		if o := &c.out.References[i]; c.marks[i] == id && o.NoteID == r.NoteID && o.MemoryID == r.MemoryID {
			return
		}
	}
	c.out.References, c.marks = append(c.out.References, r), append(c.marks, id)
}

// referNote is refer for a note that is shown in part, if the reader sees it.
func (c *toolRun) referNote(id, noteID string) {
	n := c.view.Note(noteID)
	if n == nil {
		return
	}
	c.refer(id, Reference{NoteID: n.ID, Path: n.Path, Title: c.view.TitleOf(n), Snippet: "Shown by " + c.tool, How: ExtentPartial, Used: true})
}

// answer makes a text the answer. References to what is not in it are not made: it stands on another page.
func (c *toolRun) answer(text string) {
	c.out.Text = text
	shown := []Reference{}
	for i, r := range c.out.References {
		if strings.Contains(text, render.ID(c.marks[i])) && !slices.ContainsFunc(shown, func(o Reference) bool {
			return o.NoteID == r.NoteID && o.MemoryID == r.MemoryID
		}) {
			shown = append(shown, r)
		}
	}
	c.out.References = shown
}

// page answers with the page of a list that the cursor asks for.
func (c *toolRun) page(l *render.Page) error {
	if err := l.Skip(c.text("cursor")); err != nil {
		return err
	}
	text, err := l.Text(c.limit)
	c.answer(text)
	return err
}

// whole answers with a list that has no further pages: what does not fit is counted.
func (c *toolRun) whole(l *render.Page) error {
	l.Next = func(int) (string, error) { return "", nil }
	const rest = 80 // characters of the line that counts the rest
	text, shown, err := l.Shown(c.limit - rest)
	if err != nil {
		return err
	}
	if left := l.Total - shown; left > 0 {
		text += fmt.Sprintf("%s more have no room here: ask with a lower limit.\n", render.Plural(left, l.Noun))
	}
	c.answer(text)
	return nil
}

// Call runs a tool. What is wrong with the call is said in the Result. The error is that of ctx.
func (s *Set) Call(ctx context.Context, env CallEnv, name string, raw json.RawMessage) (*Result, error) {
	return s.call(ctx, ctx, env, name, raw)
}

// call is Call within another context, whose end is that of the time for tools: it ends the call, and is no error.
func (s *Set) call(ctx, within context.Context, env CallEnv, name string, raw json.RawMessage) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if env.MaxText == 0 {
		env.MaxText = MaxResultText
	}
	d := named(name)
	if d == nil || d.converses() && env.Score == nil {
		return failure(env, unknown(env, name)), nil
	}
	args, err := parseArguments(name, d.arguments, raw)
	if err != nil {
		return failure(env, err), nil
	}
	within, cancel := context.WithTimeout(within, s.opts.Timeout)
	defer cancel()
	out := s.run(within, env, d, args)
	if !env.View.Hides() && ctx.Err() == nil && !d.converses() {
		remote := s.run(within, CallEnv{View: s.opts.Views.View(audience.Remote), MaxText: env.MaxText}, d, args)
		out.Private = !same(out, remote)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// run runs a tool for a reader.
func (s *Set) run(ctx context.Context, env CallEnv, d *definition, args *arguments) *Result {
	c := &toolRun{set: s, tool: d.Name, ctx: ctx, env: &env, view: env.View, limit: env.MaxText, arguments: *args}
	c.out.References = []Reference{}
	if err := d.run(c); err != nil {
		return failure(env, c.inTime(err))
	}
	for i := range c.out.References {
		c.out.References[i].Tools = []string{d.Name}
	}
	c.out.Text, _ = prompt.Cut(c.out.Text, env.MaxText) // each tool keeps within it, and says what it leaves out
	return &c.out
}

// inTime has an error of a call that took too long say what to do.
func (c *toolRun) inTime(err error) error {
	if c.ctx.Err() == nil {
		return err
	}
	return fault.New(fault.Deadline, "the tool took too long and was stopped").
		WithHint("ask for less: a lower limit, fewer steps, or a narrower query")
}

// same reports whether two results tell the same.
func same(a, b *Result) bool {
	if a.Text != b.Text || a.Error != b.Error || len(a.References) != len(b.References) {
		return false
	}
	for i := range a.References {
		if !sameReference(&a.References[i], &b.References[i]) {
			return false
		}
	}
	return sameProposal(a.Proposal, b.Proposal)
}

// failure is the result of a call that was wrong or failed.
func failure(env CallEnv, err error) *Result {
	text, _ := prompt.Cut(explain(err), env.MaxText)
	return refused(text)
}

func named(name string) *definition {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

func unknown(env CallEnv, name string) error {
	var names []string
	for i := range tools {
		if !tools[i].converses() || env.Score != nil {
			names = append(names, tools[i].Name)
		}
	}
	return fault.New(fault.NotFound, "there is no tool %q", clipArgument(name)).
		WithHint("%s; the tools are %s", nearest(name, names), strings.Join(names, ", "))
}

// wholeError is an error whose text a model gets as it is: what it quotes is escaped.
type wholeError string

func (e wholeError) Error() string { return string(e) }

// explain writes an error for the model.
func explain(err error) string {
	var whole wholeError
	if errors.As(err, &whole) {
		return string(whole)
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		return render.Line(fault.Message(err)) + "\n"
	}
	var b strings.Builder
	b.WriteString(render.Line(f.Msg))
	if f.Field != "" && !strings.Contains(f.Msg, f.Field) {
		b.WriteString(" (" + render.Inline(f.Field) + ")")
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, " at line %d, column %d", f.Line, f.Column)
	}
	if f.Retryable {
		b.WriteString("\nCalling again later may work.")
	}
	if hint := methods.Replace(f.Hint); hint != "" {
		b.WriteString("\nTry: " + render.Inline(hint))
	}
	for _, c := range f.Candidates {
		b.WriteString("\n- " + render.Candidate(c))
	}
	return b.String() + "\n"
}

// methods puts the names of tools in the place of methods of the daemon, where hints name them.
var methods = strings.NewReplacer(
	"notes.complete", "search_notes", "notes.search", "search_notes", "notes.get", "read_note",
	"entities.complete", "query", "entities.list", "query", "entities.get", "get_entity", "wql.check", "query",
	"memory.search", "search_memory", "memory.list", "search_memory", "memory.get", "search_memory",
)
