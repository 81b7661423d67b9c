package records

import (
	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Contexts is ctxd contexts.
type Contexts struct {
	List   listContexts  `cmd:"" help:"List the contexts at the top, or those directly below one."`
	Show   showContext   `cmd:"" help:"Show a context with what lies below it and its memories."`
	Set    putContext    `cmd:"" help:"Create a context, or change one."`
	Delete deleteContext `cmd:"" help:"Delete a context. Its memories stay."`
	Link   linkMemories  `cmd:"" help:"Have memories belong to a context."`
	Unlink unlinkMemory  `cmd:"" help:"Have memories belong to a context no more."`
}

// Help is what --help says of the command.
func (Contexts) Help() string {
	return "A context is a part of your life or work, such as Health, that memories belong to. " +
		"Contexts form a tree, and a memory may belong to several. " +
		"To see the prompt for a message, use ctxd prompt."
}

// Examples are those of --help.
func (Contexts) Examples() []term.Example {
	return []term.Example{
		{"ctxd contexts set Health", "create a context"},
		{"ctxd contexts list --tree", "all of them"},
		{"ctxd contexts link Health 42 43", "memories that belong to it"},
	}
}

type listContexts struct {
	Parent string `xor:"which" placeholder:"CONTEXT" help:"Those directly below this one."`
	Tree   bool   `xor:"which" help:"All of them, each below its parent."`

	connect.Audience
}

func (listContexts) Examples() []term.Example {
	return []term.Example{
		{"ctxd contexts list", "those at the top"},
		{"ctxd contexts list --parent Health", "those directly below one"},
		{"ctxd contexts list --tree", "all contexts, each below its parent"},
		{"ctxd contexts list --audience remote", "only public ones, for a model on another machine"},
	}
}

func (c *listContexts) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		filter := protocol.ContextFilter{Tree: c.Tree}
		if c.Parent != "" {
			parent, err := connect.FindContext(a.Ctx, cl, c.Parent)
			if err != nil {
				return err
			}
			filter.ParentID = parent.ID
		}
		var list protocol.ContextList
		if err := cl.Call(a.Ctx, "contexts.list", filter, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(list)
		}
		none := "there are no contexts; ctxd contexts set Health makes one"
		if c.Parent != "" {
			none = "no context lies below it"
		}
		if c.Tree && len(list.Contexts) > 0 {
			term.DrawTree(a.Out, "", treeOf(list.Contexts))
			return nil
		}
		drawContexts(a.Out, list.Contexts, none)
		return nil
	})
}

// drawContexts shows contexts, or that there are none.
func drawContexts(s *term.Screen, list []record.CountedContext, none string) {
	if len(list) == 0 {
		s.Say(term.Styled(term.Faint, none))
		return
	}
	t := &term.Table{}
	for _, c := range list {
		t.Row(term.Line{term.Styled(term.Strong, c.Name)}, term.Line{term.Styled(term.Accent, c.Handle)},
			privately(c.Private), term.Line{term.Styled(term.Faint, contextCounts(c.ContextCounts))},
			term.Line{term.Styled(term.Faint, c.Description)})
	}
	t.Draw(s)
}

// contextCounts says how many memories a context has, and how many with what lies below it where these are more.
func contextCounts(n record.ContextCounts) string {
	if n.WithBelow == n.Memories {
		return countMemories(n.Memories)
	}
	return countMemories(n.Memories) + ", " + term.Number(n.WithBelow) + " with those below"
}

// privately says that something is private.
func privately(private bool) term.Line {
	if !private {
		return nil
	}
	return term.Line{term.Styled(term.Warn, "private")}
}

// treeOf hangs contexts below their parents. What lies below one that is not in the list stands at
// the top.
func treeOf(list []record.CountedContext) (roots []*term.Branch) {
	byID := make(map[string]*term.Branch)
	for _, c := range list {
		label := term.Line{term.Styled(term.Strong, c.Name), term.Styled(term.Accent, "  "+c.Handle)}
		if c.Private {
			label = append(label, term.Styled(term.Warn, "  private"))
		}
		label = append(label, term.Styled(term.Faint, "  "+contextCounts(c.ContextCounts)))
		byID[c.ID] = &term.Branch{Label: label}
	}
	for _, c := range list {
		if parent := byID[c.ParentID]; parent != nil {
			parent.Children = append(parent.Children, byID[c.ID])
		} else {
			roots = append(roots, byID[c.ID])
		}
	}
	return roots
}

// aContext is the argument of commands that take one context.
type aContext struct {
	Context string `arg:"" help:"Id, handle or name of the context."`
}

type showContext struct {
	aContext
	connect.Audience
}

func (showContext) Examples() []term.Example {
	return []term.Example{
		{"ctxd contexts show Health", "by name"},
		{"ctxd contexts show health_context --json", "by handle, for scripts"},
		{"ctxd contexts show Health --audience remote", "as a model on another machine reads it"},
	}
}

// memoriesShown is how many memories of a context are shown.
const memoriesShown = 20

// shownContext is what --json prints.
type shownContext struct {
	*protocol.ContextFull
	First []*record.Memory `json:"first"` // of its memories
}

func (c *showContext) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		full, err := connect.FindContext(a.Ctx, cl, c.Context)
		if err != nil {
			return err
		}
		list, _, err := collect(a, cl, protocol.MemoryFilter{Contexts: []string{full.ID}}, memoriesShown)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(shownContext{full, list})
		}
		drawContext(a.Out, full, list)
		return nil
	})
}

func drawContext(s *term.Screen, c *protocol.ContextFull, list []*record.Memory) {
	line := term.Line{term.Styled(term.Strong, c.Name), term.Styled(term.Accent, "  "+c.Handle), term.Text("  ")}
	s.Say(append(line, privately(c.Private)...)...)
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("about", c.Description)
	f.Add("id", c.ID)
	f.Add("below", c.ParentID)
	f.Addf("changed", "%s, version %d", term.Day(c.UpdatedAt), c.Version)
	f.Draw(s)
	if len(c.Children) > 0 {
		s.Heading("Below it")
		drawContexts(s, c.Children, "")
	}
	s.Heading("Memories", term.Styled(term.Faint, "  "+term.Number(c.Memories)))
	if len(list) > 0 {
		drawMemories(s, list, "")
	}
	if n := c.Memories - len(list); n > 0 {
		s.Say(term.Styled(term.Faint, term.Number(n)+" more; ctxd memory list --context "+term.ShellQuoted(c.ID)+" lists all"))
	}
}

type putContext struct {
	Name string `arg:"" help:"Its name."`

	Change      string  `placeholder:"CONTEXT" help:"Change this context instead of creating one: its id, handle or name."`
	Description *string `placeholder:"TEXT" help:"What it is about; empty for none."`
	Parent      *string `placeholder:"CONTEXT" help:"The context that it lies below; empty for the top."`
	Handle      string  `placeholder:"HANDLE" help:"What @ names a new one by. Default: made of the name."`
	Private     *bool   `negatable:"" help:"Hide it from remote models, or no longer. Its memories are private by themselves only."`
}

func (putContext) Help() string {
	return "With --change, what no flag names stays as it is, and so does the handle."
}

func (putContext) Examples() []term.Example {
	return []term.Example{
		{"ctxd contexts set Health --description 'Training and food'", "create a context"},
		{"ctxd contexts set Running --parent Health", "one below it"},
		{"ctxd contexts set 'Trail running' --change Running", "another name"},
		{"ctxd contexts set Running --change Running --parent ''", "move it to the top"},
	}
}

func (c *putContext) Run(a *MemoryOptions) error {
	if c.Change != "" && c.Handle != "" {
		return term.Misuse("the handle of a context stays as it is", "leave --handle out")
	}
	return a.With(func(cl *client.Client) error {
		none := 0
		put := protocol.ContextPut{Name: c.Name, Handle: c.Handle}
		if c.Change != "" {
			old, err := connect.FindContext(a.Ctx, cl, c.Change)
			if err != nil {
				return err
			}
			put.ID, put.Description, put.ParentID, put.Private = old.ID, old.Description, old.ParentID, old.Private
			put.IfVersion = &old.Version
		} else {
			put.IfVersion = &none
		}
		if c.Description != nil {
			put.Description = *c.Description
		}
		if c.Private != nil {
			put.Private = *c.Private
		}
		if c.Parent != nil {
			put.ParentID = ""
		}
		if c.Parent != nil && *c.Parent != "" {
			parent, err := connect.FindContext(a.Ctx, cl, *c.Parent)
			if err != nil {
				return err
			}
			put.ParentID = parent.ID
		}
		var saved record.Context
		if err := cl.Call(a.Ctx, "contexts.put", put, &saved); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(&saved)
		}
		did := "made"
		if c.Change != "" {
			did = "changed"
		}
		drawPut(a.Out, did, &saved)
		return nil
	})
}

// drawPut says what was done with a context, and which it is.
func drawPut(s *term.Screen, did string, c *record.Context) {
	s.Say(term.Styled(term.Good, did), term.Text("  "), term.Styled(term.Strong, c.Name),
		term.Styled(term.Accent, "  "+c.Handle), term.Styled(term.Faint, "  "+c.ID+"  version "+term.Number(c.Version)))
}

type deleteContext struct {
	aContext
	Subtree bool `help:"Delete those below it, too. Otherwise they move up."`
}

func (deleteContext) Examples() []term.Example {
	return []term.Example{
		{"ctxd contexts delete Running", "what lies below it moves up"},
		{"ctxd contexts delete Health --subtree", "with all that lies below it"},
	}
}

func (c *deleteContext) Run(a *MemoryOptions) error {
	return a.With(func(cl *client.Client) error {
		old, err := connect.FindContext(a.Ctx, cl, c.Context)
		if err != nil {
			return err
		}
		var gone protocol.ContextDeleted
		err = cl.Call(a.Ctx, "contexts.delete", protocol.ContextDelete{ID: old.ID, Subtree: c.Subtree}, &gone)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(gone)
		}
		below := term.Count(gone.Moved, "context") + " moved up"
		if c.Subtree {
			below = term.Count(gone.Moved, "context") + " below it deleted"
		}
		a.Out.Say(term.Styled(term.Good, "deleted"), term.Text("  "), term.Styled(term.Strong, old.Name),
			term.Styled(term.Faint, "  "+below+", "+countMemories(gone.Unlinked)+" unlinked"))
		return nil
	})
}

// contextAndMemories are the arguments of commands that link.
type contextAndMemories struct {
	aContext
	Memory []string `arg:"" help:"Ids, handles or numbers of memories."`
}

type linkMemories struct{ contextAndMemories }

func (linkMemories) Examples() []term.Example {
	return []term.Example{{"ctxd contexts link Health 42 43", "two memories belong to it"}}
}

func (c *linkMemories) Run(a *MemoryOptions) error {
	return a.linking(&c.contextAndMemories, func(cl *client.Client, link protocol.ContextLink) (any, string, error) {
		var res protocol.Linked
		err := cl.Call(a.Ctx, "contexts.link", link, &res)
		return res, countMemories(res.Added) + " added", err
	})
}

type unlinkMemory struct{ contextAndMemories }

func (unlinkMemory) Examples() []term.Example {
	return []term.Example{{"ctxd contexts unlink Health 42", "the memory stays"}}
}

func (c *unlinkMemory) Run(a *MemoryOptions) error {
	return a.linking(&c.contextAndMemories, func(cl *client.Client, link protocol.ContextLink) (any, string, error) {
		var res protocol.Unlinked
		err := cl.Call(a.Ctx, "contexts.unlink", link, &res)
		return res, countMemories(res.Removed) + " removed", err
	})
}

// linking resolves the arguments, calls, and says what was done.
func (a *MemoryOptions) linking(
	c *contextAndMemories, call func(*client.Client, protocol.ContextLink) (res any, did string, err error),
) error {
	return a.With(func(cl *client.Client) error {
		at, err := connect.FindContext(a.Ctx, cl, c.Context)
		if err != nil {
			return err
		}
		ids, err := memoryIDs(a, cl, c.Memory)
		if err != nil {
			return err
		}
		res, did, err := call(cl, protocol.ContextLink{ID: at.ID, MemoryIDs: ids})
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		a.Out.Say(term.Styled(term.Strong, at.Name), term.Text("  "+did))
		return nil
	})
}
