package records

import (
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/inspect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type listMemories struct {
	Tier    []string `enum:"${memoryTiers}" placeholder:"TIER" help:"Only memories of this tier: ${enum}. May be repeated."`
	Kind    []string `enum:"${memoryKinds}" placeholder:"KIND" help:"Only memories of this kind: ${enum}. May be repeated."`
	Status  []string `enum:"${memoryStatuses}" placeholder:"STATUS" help:"Only memories of this status: ${enum}. May be repeated. Default: active and contested."`
	Tag     []string `placeholder:"TAG" sep:"none" help:"Only memories with this tag or area of life, or one below it. Of several, all."`
	Context []string `placeholder:"CONTEXT" sep:"none" help:"Only memories in this context. Of several, any."`
	Entity  []string `placeholder:"ENTITY" sep:"none" help:"Only memories about this entity. Of several, any."`
	Pinned  *bool    `negatable:"" help:"Only pinned memories, or only others."`
	After   string   `placeholder:"DATE" help:"Only memories written down on this date or later: ${memoryDates}."`
	Before  string   `placeholder:"DATE" help:"Only memories written down before this date."`

	Validity string `enum:"current,any" default:"current" placeholder:"WHICH" help:"current, what holds now; any, also what holds no more or not yet. Default: current."`

	Sort  *string        `enum:"updated,created,quality,use" placeholder:"BY" help:"What comes first: updated, the last changed; created, the newest; quality, the best; use, the most used. Default: updated."`
	Limit term.CountFlag `short:"n" from:"0" default:"100" placeholder:"N" help:"Maximum number of memories; 0 for all. Default: 100."`

	connect.Audience
}

func (listMemories) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory list", "the first hundred, the last changed first"},
		{"ctxd memory list --kind preference --kind goal --sort quality", "the best of two kinds"},
		{"ctxd memory list --status archived -n 0", "all that are archived"},
		{"ctxd memory list --json | jq -r '.memories[].statement'", "for scripts"},
		{"ctxd memory list --audience remote", "only public ones, for a model on another machine"},
	}
}

// filter returns what the flags ask for.
func (c *listMemories) filter(a *MemoryOptions, cl *client.Client) (f protocol.MemoryFilter, err error) {
	f = protocol.MemoryFilter{Tiers: c.Tier, Kinds: c.Kind, Status: c.Status, Pinned: c.Pinned, Validity: c.Validity}
	for _, tag := range c.Tag {
		f.Tags = append(f.Tags, strings.TrimPrefix(tag, "#"))
	}
	if c.Sort != nil {
		f.Sort = *c.Sort
	}
	if f.After, err = moment("after", c.After); err != nil {
		return f, err
	}
	if f.Before, err = moment("before", c.Before); err != nil {
		return f, err
	}
	if f.Contexts, err = contextIDs(a, cl, c.Context); err != nil {
		return f, err
	}
	f.EntityIDs, err = entityIDs(a, cl, c.Entity)
	return f, err
}

func (c *listMemories) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		f, err := c.filter(a, cl)
		if err != nil {
			return err
		}
		list, total, err := collect(a, cl, f, int(c.Limit))
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(map[string]any{"memories": list, "total": total, "more": total > len(list)})
		}
		none := "no such memory"
		if f.All() {
			none = "there are no memories; ctxd memory add \"I prefer morning workouts\" writes one down"
		}
		drawMemories(a.Out, list, none)
		if total > len(list) {
			a.Out.Say(term.Styled(term.Faint, "the first "+term.Number(len(list))+" of "+term.Number(total)+"; -n 0 shows all"))
		}
		return nil
	})
}

// memoryPageSize is how many memories a call asks for.
const memoryPageSize = 1000

// collect returns up to limit memories, 0 for all, and how many there are.
func collect(a *MemoryOptions, cl *client.Client, f protocol.MemoryFilter, limit int) (list []*record.Memory, total int, err error) {
	list = []*record.Memory{}
	for {
		f.Limit = memoryPageSize
		if limit > 0 {
			f.Limit = min(memoryPageSize, limit-len(list))
		}
		var page protocol.MemoryPage
		if err := cl.Call(a.Ctx, "memory.list", f, &page); err != nil {
			return nil, 0, err
		}
		list = append(list, page.Memories...)
		if page.NextCursor == "" || limit > 0 && len(list) >= limit {
			return list, page.Total, nil
		}
		f.Cursor = page.NextCursor
	}
}

// drawMemories shows memories, or what there is none of.
func drawMemories(s *term.Screen, list []*record.Memory, none string) {
	if len(list) == 0 {
		s.Say(term.Styled(term.Faint, none))
		return
	}
	t := &term.Table{Right: []int{0}}
	for _, m := range list {
		row := []term.Line{
			{term.Styled(term.Strong, inspect.MemoryNumber(m.Number))},
			{term.Text(m.Statement)},
			{term.Styled(term.Accent, m.Kind)},
			memoryMarks(m),
			{term.Styled(term.Faint, m.Handle)},
		}
		if on := inspect.WrittenOn(&m.Source); on != "" {
			row = append(row, term.Line{term.Styled(term.Faint, on)})
		}
		t.Row(row...)
	}
	t.Draw(s)
}

// memoryMarks say what is special about a memory.
func memoryMarks(m *record.Memory) (out term.Line) {
	var list []string
	if m.Status != record.MemoryActive {
		list = append(list, m.Status)
	}
	if m.Tier != record.TierBank {
		list = append(list, m.Tier)
	}
	if m.Pinned {
		list = append(list, "pinned")
	}
	if m.AlwaysInject {
		list = append(list, "always")
	}
	if m.Private {
		list = append(list, "private")
	}
	return term.Line{term.Styled(term.Warn, strings.Join(list, ", "))}
}

type profile struct {
	Limit term.CountFlag `short:"n" from:"1" to:"50" default:"12" placeholder:"N" help:"Maximum number of memories, 1 to 50. Default: 12."`

	connect.Audience
}

func (profile) Help() string {
	return "What is always injected comes first, then the best of the kinds identity, preference, goal and project."
}

func (profile) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory profile", "what a conversation begins with"},
		{"ctxd memory profile --audience remote", "as a model on another machine reads it"},
	}
}

func (c *profile) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var list protocol.MemoryList
		if err := cl.Call(a.Ctx, "memory.profile", protocol.MemoryProfile{Limit: int(c.Limit)}, &list); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(list)
		}
		drawMemories(a.Out, list.Memories,
			"nothing yet: a profile is of memories of the kinds identity, preference, goal and project")
		return nil
	})
}

type stats struct{ connect.Audience }

func (stats) Examples() []term.Example {
	return []term.Example{
		{"ctxd memory stats", "how many there are of each tier, kind and status"},
		{"ctxd memory stats --audience remote", "of public memories only"},
	}
}

func (c *stats) Run(a *MemoryOptions) error {
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var st protocol.MemoryStats
		if err := cl.Call(a.Ctx, "memory.stats", protocol.ReadAll{}, &st); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(st)
		}
		drawStats(a.Out, &st)
		return nil
	})
}

func drawStats(s *term.Screen, st *protocol.MemoryStats) {
	s.Say(term.Styled(term.Strong, countMemories(st.Total)))
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("tiers", counts(record.Tiers, st.Tiers))
	f.Add("kinds", counts(record.MemoryKinds, st.Kinds))
	f.Add("statuses", counts(record.MemoryStatuses, st.Status))
	f.Add("memoryBank", term.Number(st.Bank)+" active of at most "+term.Number(st.MaxBank))
	if st.Queue > 0 {
		f.Add("queue", countMemories(st.Queue)+" not yet found by their meaning")
	}
	if m := st.OldestUnused; m != nil {
		f.Add("never used", "the oldest is "+inspect.MemoryNumber(m.Number)+" of "+term.Day(m.CreatedAt))
	}
	f.Draw(s)
	if len(st.MostUsed) > 0 {
		s.Heading("Most used")
		t := &term.Table{Indent: 2, Right: []int{0, 1}}
		for _, m := range st.MostUsed {
			t.Row(term.Line{term.Text(term.Number(m.Use.Uses))}, term.Line{term.Styled(term.Strong, inspect.MemoryNumber(m.Number))},
				term.Line{term.Text(m.Statement)})
		}
		t.Draw(s)
	}
}

// countMemories writes a number of memories.
func countMemories(n int) string { return term.Count(n, "memory") }

// counts writes how many there are of each, those that there are none of left out.
func counts(names []string, of map[string]int) string {
	var list []string
	for _, name := range names {
		if of[name] > 0 {
			list = append(list, term.Number(of[name])+" "+name)
		}
	}
	return strings.Join(list, ", ")
}
