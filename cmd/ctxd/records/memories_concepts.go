package records

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type conceptsCmd struct {
	Ends   []string       `arg:"" optional:"" help:"The concept to show; with --path: the two concepts."`
	Path   bool           `help:"Show how two concepts are connected: memories and messages that speak of two of them each."`
	Since  string         `placeholder:"DATE" help:"Count only what was written on this date or later: ${memoryDates}."`
	Sort   string         `enum:"relevant,recent,oldest" default:"relevant" placeholder:"BY" help:"What comes first: relevant, what most speak of; recent, the last mentioned; oldest, the first mentioned. Default: relevant."`
	Limit  term.CountFlag `short:"n" from:"1" to:"500" default:"40" placeholder:"N" help:"Maximum number of concepts, 1 to 500. Default: 40."`
	Format string         `enum:"list,dot,mermaid,svg" default:"list" placeholder:"FORMAT" help:"Form: list, or a drawing as dot, mermaid or svg. Default: list."`
	Output string         `short:"o" placeholder:"FILE" help:"Write the drawing to this file. Only you can read it."`
	Force  bool           `help:"Replace the file if it exists."`

	connect.Audience
}

func (conceptsCmd) Help() string {
	return "Lists what memories and messages speak of: entities, tags of memories, and phrases that several texts have, " +
		"each with how many speak of it and when it was mentioned first and last. " +
		"As a drawing it shows which of them stand together. With the name of one it shows what is called so, what became of the memories about it, " +
		"which concepts stand together with it, nearest first, and the last memories and messages that speak of it. With --path it shows how two are connected."
}

func (conceptsCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory concepts", "what most memories and messages speak of"},
		{"ctxd memory concepts --sort recent --since yesterday", "what was spoken of last"},
		{"ctxd memory concepts --format svg -o concepts.svg", "a drawing that any browser shows"},
		{"ctxd memory concepts roof", "one of them, with what stands together with it"},
		{"ctxd memory concepts --path roof chimney", "how two concepts are connected"},
		{"ctxd memory concepts --json | jq -r '.concepts[].label'", "for scripts"},
	}
}

func (c *conceptsCmd) check(a *MemoryOptions) error {
	switch {
	case c.Path && len(c.Ends) != 2:
		return term.Misuse("--path takes two concepts", "ctxd memory concepts --path roof chimney")
	case !c.Path && len(c.Ends) > 0 && c.Format != "list":
		return term.Misuse("--format "+c.Format+" draws all concepts, or a path", "leave out --format to read about one concept")
	case a.JSON && c.Format != "list":
		return term.Misuse("--json and --format "+c.Format+" cannot be combined", "leave out one of them")
	case c.Output != "" && c.Format == "list":
		return term.Misuse("--output needs --format", "ctxd memory concepts --format svg --output concepts.svg")
	case c.Force && c.Output == "":
		return term.Misuse("--force needs --output", "ctxd memory concepts --format svg --output concepts.svg --force")
	}
	return nil
}

func (c *conceptsCmd) Run(a *MemoryOptions) error {
	if err := c.check(a); err != nil {
		return err
	}
	since, err := moment("since", c.Since)
	if err != nil {
		return err
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		if c.Path {
			return c.between(a, cl)
		}
		if len(c.Ends) > 0 {
			return c.one(a, cl)
		}
		var list protocol.ConceptList
		p := protocol.ConceptFilter{Since: since, Sort: c.Sort, Limit: int(c.Limit)}
		if err := cl.Call(a.Ctx, "concepts.list", p, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(list)
		}
		if c.Format != "list" {
			return c.draw(a, conceptGraph(list.Concepts, list.Edges, false), "What memories and messages speak of")
		}
		drawConcepts(a.Out, list.Concepts)
		if more := list.Total - len(list.Concepts); more > 0 {
			a.Out.Say(term.Styled(term.Faint, "… and "+term.Number(more)+" more"))
		}
		return nil
	})
}

func (c *conceptsCmd) one(a *MemoryOptions, cl *client.Client) error {
	var full protocol.ConceptFull
	if err := cl.Call(a.Ctx, "concepts.get", protocol.ConceptRef{Ref: strings.Join(c.Ends, " ")}, &full); err != nil {
		return err
	}
	if a.JSON {
		return a.Out.JSON(full)
	}
	drawConcept(a.Out, &full)
	return nil
}

func (c *conceptsCmd) between(a *MemoryOptions, cl *client.Client) error {
	var path protocol.ConceptPath
	if err := cl.Call(a.Ctx, "concepts.path", protocol.ConceptEnds{From: c.Ends[0], To: c.Ends[1]}, &path); err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.Out.JSON(path)
	case len(path.Concepts) == 0:
		return fault.New(fault.NotFound, "%s and %s are not connected within 6 edges", term.Clean(c.Ends[0]), term.Clean(c.Ends[1])).
			WithHint("show what stands beside one of them: ctxd memory concepts %s", term.ShellQuoted(c.Ends[0]))
	case c.Format != "list":
		return c.draw(a, conceptGraph(path.Concepts, path.Edges, true), "How "+c.Ends[0]+" and "+c.Ends[1]+" are connected")
	}
	for i, concept := range path.Concepts {
		if i > 0 {
			a.Out.Say(term.Styled(term.Faint, "  "+beside(&path.Edges[i-1])))
		}
		a.Out.Say(term.Styled(term.Strong, term.Clean(concept.Label)))
	}
	return nil
}

// beside says what an edge stands on.
func beside(e *record.ConceptEdge) string {
	line := "in " + term.Count(e.Count, "text")
	if e.Type != "" {
		line = term.Clean(e.From) + "." + term.Clean(e.Type) + " = " + term.Clean(e.To) + ", " + line
	}
	return line + ", such as " + placeOf(&e.Example)
}

// placeOf names a memory or a message.
func placeOf(p *record.ConceptPlace) string {
	if p.ConversationID != "" {
		return fmt.Sprintf("message %d of %s", p.Index, p.ConversationID)
	}
	return "memory " + p.ID
}

// draw prints a drawing, or writes it to the file.
func (c *conceptsCmd) draw(a *MemoryOptions, sub *graph.Subgraph, title string) (err error) {
	var doc string
	switch c.Format {
	case "dot":
		doc, err = graph.DrawDOT(sub)
	case "mermaid":
		doc = graph.DrawMermaid(sub)
	default:
		doc = graph.DrawSVG(sub, graph.SVGOptions{Title: title})
	}
	if err != nil {
		return err
	}
	if c.Output == "" {
		_, err = a.Out.Write([]byte(doc))
		return err
	}
	if err := term.WriteDocument(c.Output, c.Force, doc); err != nil {
		return err
	}
	if !a.JSON {
		a.Out.Say(term.Styled(term.Good, "drawn"), term.Text("  "), term.Styled(term.Strong, c.Output),
			term.Styled(term.Faint, "  "+term.Count(len(sub.Nodes), "concept")+", "+term.Count(len(sub.Edges), "edge")))
	}
	return nil
}

// conceptGraph is a part of the graph for a drawing. Concepts stand by how far they are from the first one, or, on a path,
// in its order. Those that stand with none come last.
func conceptGraph(list []*record.Concept, edges []record.ConceptEdge, path bool) *graph.Subgraph {
	sub := &graph.Subgraph{}
	at := make(map[string]int, len(list))
	for i, c := range list {
		about := term.Count(c.Mentions, "text")
		if c.Kind != record.ConceptPhrase {
			about = c.Kind + ", " + about
		}
		at[c.Label] = i
		sub.Nodes = append(sub.Nodes, graph.Vertex{ID: fmt.Sprint(i), Kind: graph.Note.String(), Name: c.Label, Type: about, Depth: -1})
	}
	beside := make(map[int][]int)
	for _, e := range edges {
		from, ok := at[e.From]
		to, known := at[e.To]
		if !ok || !known {
			continue
		}
		field := e.Type
		if field == "" {
			field = graph.WikiLink
		}
		sub.Edges = append(sub.Edges, graph.Arc{From: fmt.Sprint(from), To: fmt.Sprint(to), Field: field})
		beside[from], beside[to] = append(beside[from], to), append(beside[to], from)
	}
	depth, deepest := 0, 0
	for level, next := []int{0}, []int(nil); len(list) > 0 && len(level) > 0; level, next = next, nil {
		for _, i := range level {
			if sub.Nodes[i].Depth < 0 {
				sub.Nodes[i].Depth = depth
				deepest = depth
				next = append(next, beside[i]...)
			}
		}
		depth++
	}
	for i := range sub.Nodes {
		switch {
		case path:
			sub.Nodes[i].Depth = i
		case sub.Nodes[i].Depth < 0:
			sub.Nodes[i].Depth = deepest + 1
		}
	}
	return sub
}

func drawConcepts(s *term.Screen, list []*record.Concept) {
	if len(list) == 0 {
		s.Say(term.Styled(term.Faint, "nothing yet: a phrase is a concept when two texts have it"))
		return
	}
	t := &term.Table{Right: []int{1}}
	for _, c := range list {
		kind := ""
		if c.Kind != record.ConceptPhrase {
			kind = c.Kind
		}
		t.Row(term.Line{term.Styled(term.Strong, c.Label)}, term.Line{term.Text(term.Number(c.Mentions))},
			term.Line{term.Styled(term.Faint, days(c))}, term.Line{term.Styled(term.Accent, kind)},
			term.Line{term.Styled(term.Faint, strings.Join(c.Aliases, ", "))})
	}
	t.Draw(s)
}

// days says when a concept was mentioned.
func days(c *record.Concept) string {
	first, last := term.Day(c.FirstSeen), term.Day(c.LastSeen)
	if first == last {
		return first
	}
	return first + " – " + last
}

func drawConcept(s *term.Screen, c *protocol.ConceptFull) {
	s.Say(term.Styled(term.Strong, term.Clean(c.Label)), term.Styled(term.Faint, "  "+c.Kind))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	if len(c.Aliases) > 0 {
		f.Add("also", strings.Join(c.Aliases, ", "))
	}
	f.Add("mentioned", "in "+term.Count(c.Mentions, "text")+", "+countMemories(c.Memories)+" among them, "+days(&c.Concept))
	for _, t := range c.Tiers {
		line := fmt.Sprintf("%d worked, %d failed, %d helped in part", t.Worked, t.Failed, t.Partial)
		if t.Worked+t.Failed > 0 {
			line += fmt.Sprintf("; at least %.2f worked, at 95 %%", t.Wilson)
		}
		if t.Uses > 0 {
			line += "; used " + term.Count(t.Uses, "time")
		}
		f.Add(t.Tier, line)
	}
	f.Draw(s)
	if len(c.Edges) > 0 {
		s.Heading("Stands together with")
		t := &term.Table{Indent: 2, Right: []int{1}}
		for _, e := range c.Edges {
			other, typed := e.To, e.Type
			if e.From != c.Label {
				other, typed = e.From, e.Type+" of it"
			}
			if e.Type == "" {
				typed = ""
			}
			t.Row(term.Line{term.Styled(term.Strong, other)}, term.Line{term.Text(term.Number(e.Count))}, term.Line{term.Styled(term.Accent, typed)})
		}
		t.Draw(s)
	}
	if len(c.Examples) > 0 {
		s.Heading("Last")
		t := &term.Table{Indent: 2}
		for i := range c.Examples {
			t.Row(term.Line{term.Styled(term.Faint, term.Day(c.Examples[i].At))}, term.Line{term.Text(placeOf(&c.Examples[i]))})
		}
		t.Draw(s)
	}
}

type insightsCmd struct {
	Text         []string `arg:"" help:"What somebody asks or says."`
	Conversation string   `placeholder:"ID" help:"The conversation that it is of."`

	connect.Audience
}

func (insightsCmd) Help() string {
	return "Shows what is known of the subjects of a text by what became of memories about them: what helped, what did not, " +
		"memories of which tier helped surest, what was asked before, and which subjects go on. A prompt has these lines when " +
		"somebody has said what became of a memory."
}

func (insightsCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory insights 'How do I mend the roof?'", "what helped before"},
		{"ctxd memory insights roof --json | jq -r '.lines[].text'", "for scripts"},
	}
}

func (c *insightsCmd) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var in record.Insight
		p := protocol.InsightAsked{Text: strings.Join(c.Text, " "), ConversationID: c.Conversation}
		if err := cl.Call(a.Ctx, "memory.insights", p, &in); err != nil {
			return err
		}
		switch {
		case a.JSON:
			return a.Out.JSON(in)
		case len(in.Topics) == 0:
			a.Out.Say(term.Styled(term.Faint, "it speaks of nothing that memories and messages speak of"))
			return nil
		}
		a.Out.Say(term.Styled(term.Faint, "about "), term.Text(term.Clean(strings.Join(in.Topics, ", "))))
		for _, line := range in.Lines {
			a.Out.Say(term.Styled(term.Accent, line.Kind), term.Text("  "+term.Clean(line.Text)))
		}
		if len(in.Lines) == 0 {
			a.Out.Say(term.Styled(term.Faint, "nobody has said what became of memories about it"))
		}
		return nil
	})
}

type effectivenessCmd struct {
	Task []string `arg:"" help:"What is to be done."`

	connect.Audience
}

func (effectivenessCmd) Help() string {
	return "Shows which tools, and memories of which tier, helped with answers in conversations about the same things, what helped surest first. " +
		"Answers count when somebody has said what became of them."
}

func (effectivenessCmd) Examples() []term.Example {
	return []term.Example{{"ctxd memory effectiveness 'mend the roof'", "what helped with such a task"}}
}

func (c *effectivenessCmd) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var out protocol.ActionEffectiveness
		err := cl.Call(a.Ctx, "memory.effectiveness", protocol.TaskDescription{Task: strings.Join(c.Task, " ")}, &out)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(out)
		}
		if len(out.Kinds) > 0 {
			a.Out.Say(term.Styled(term.Faint, "about "), term.Text(term.Clean(strings.Join(out.Kinds, ", "))))
		}
		if len(out.Actions) == 0 {
			a.Out.Say(term.Styled(term.Faint, "no answer about such a task has an outcome"))
			return nil
		}
		t := &term.Table{Indent: 2, Right: []int{1}}
		for _, r := range out.Actions {
			name := r.Action
			if r.Tier != "" {
				name += " " + r.Tier
			}
			t.Row(term.Line{term.Styled(term.Strong, name)}, term.Line{term.Text(fmt.Sprintf("%.2f", r.Wilson))},
				term.Line{term.Text(fmt.Sprintf("%d worked, %d failed, %d partial of %d", r.Worked, r.Failed, r.Partial, r.Uses))})
		}
		t.Draw(a.Out)
		return nil
	})
}
