package inspect

import (
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Bounds of what is told of the life of a memory.
const (
	eventsRead  = 1000 // a page of memory.events
	eventsDrawn = 20   // in the terminal; the page and --json have all that were read
)

// readLife reads what learning did to the memory, the conflicts it has, and the memories that these name.
func (v *memoryView) readLife(a *Options, cl *client.Client) error {
	id := v.Memory.ID
	var did protocol.MemoryEvents
	p := protocol.MemoryEventFilter{ID: id, Page: protocol.Page{Limit: eventsRead}}
	if err := cl.Call(a.Ctx, "memory.events", p, &did); err != nil {
		return err
	}
	slices.Reverse(did.Events)
	v.Events, v.Earlier, v.Conflicts = did.Events, did.NextCursor != "", []record.Contradiction{}
	open, err := conflicts(a, cl)
	if err != nil {
		return err
	}
	for _, pair := range open {
		if pair.ID == id || pair.With == id {
			v.Conflicts = append(v.Conflicts, pair)
		}
	}
	return v.readOthers(a, cl)
}

// conflicts reads all pairs of memories that nobody has settled.
func conflicts(a *Options, cl *client.Client) (all []record.Contradiction, err error) {
	p := protocol.MemoryConflicts{Page: protocol.Page{Limit: 1000}}
	for {
		var res protocol.MemoryConflicting
		if err := cl.Call(a.Ctx, "memory.conflicts", p, &res); err != nil {
			return nil, err
		}
		all = append(all, res.Conflicts...)
		if res.NextCursor == "" {
			return all, nil
		}
		p.Cursor = res.NextCursor
	}
}

// readOthers reads the memories that events and conflicts name. One that is gone or not shown stays an id.
func (v *memoryView) readOthers(a *Options, cl *client.Client) error {
	v.others = map[string]*record.Memory{v.Memory.ID: v.Memory}
	for _, r := range v.Related {
		v.others[r.Memory.ID] = r.Memory
	}
	var ids []string
	for i := range v.Events {
		ids = append(ids, page.OtherMemories(&v.Events[i], v.Memory.ID)...)
	}
	for _, pair := range v.Conflicts {
		ids = append(ids, pair.ID, pair.With)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if v.others[id] != nil {
			continue
		}
		m := new(record.Memory)
		there, err := exists(cl.Call(a.Ctx, "memory.get", protocol.MemoryRef{Ref: id}, m))
		if err != nil {
			return err
		}
		if there {
			v.others[id] = m
		}
	}
	return nil
}

// named is what people call a memory.
func (v *memoryView) named(id string) string {
	if m := v.others[id]; m != nil {
		return MemoryNumber(m.Number)
	}
	return id
}

// other is the memory of a pair that is not the one shown: its name, and what it says.
func (v *memoryView) other(pair *record.Contradiction) (name, statement string) {
	id := pair.With
	if id == v.Memory.ID {
		id = pair.ID
	}
	if m := v.others[id]; m != nil {
		return MemoryNumber(m.Number), m.Statement
	}
	return id, ""
}

// drawLife shows what learning did to the memory, the newest last.
func (v *memoryView) drawLife(s *term.Screen) {
	if len(v.Events)+len(v.Conflicts) == 0 {
		return
	}
	s.Heading("Life", term.Styled(term.Faint, "  the newest last"))
	from := max(0, len(v.Events)-eventsDrawn)
	if from > 0 || v.Earlier {
		s.Say(term.Styled(term.Faint, "  … and more before these: ctxd memory events "+v.named(v.Memory.ID)[1:]))
	}
	t := &term.Table{Indent: 2}
	for i := range v.Events[from:] {
		e := &v.Events[from+i]
		what := term.Line{term.Text(strings.Join(page.MemoryChanges(e, v.Memory.ID), ", "))}
		if with := page.OtherMemories(e, v.Memory.ID); len(with) > 0 {
			for k := range with {
				with[k] = v.named(with[k])
			}
			what = append(what, term.Styled(term.Faint, " with "+strings.Join(with, ", ")))
		}
		t.Row(term.Line{term.Styled(term.Faint, term.Day(e.At))}, term.Line{term.Styled(term.Accent, e.Kind)}, what)
	}
	for i := range v.Conflicts {
		name, statement := v.other(&v.Conflicts[i])
		t.Row(term.Line{term.Styled(term.Faint, "open")}, term.Line{term.Styled(term.Warn, v.Conflicts[i].State)},
			term.Line{term.Styled(term.Faint, v.Conflicts[i].Why+": "), term.Styled(term.Strong, name), term.Text(" " + statement)})
	}
	t.Draw(s)
}

// writePage writes the page of --html and says so.
func (c *memoryCmd) writePage(a *Options, v *memoryView) error {
	doc, err := page.RenderLife(v.document(c.Remote()))
	if err == nil {
		err = term.WriteDocument(c.HTML, c.Force, doc)
	}
	if err != nil || a.JSON {
		return err
	}
	a.Out.Say(term.Styled(term.Good, "written"), term.Text("  "), term.Styled(term.Strong, c.HTML),
		term.Styled(term.Faint, "  "+MemoryNumber(v.Memory.Number)+", "+term.Count(len(v.Events), "event")))
	return nil
}

// document is the memory as the page tells of it.
func (v *memoryView) document(remote bool) *page.LifeDocument {
	d := &page.LifeDocument{
		Memory: v.Memory, Versions: v.Versions, Facts: memoryFacts(v.Memory, v.belongs()), Source: v.source(), Events: v.Events, Earlier: v.Earlier,
		Names: make(map[string]string), Remote: remote, Made: time.Now(),
	}
	for _, r := range v.Related {
		d.Related = append(d.Related, page.RelatedMemory{How: relations[r.How], Name: MemoryNumber(r.Memory.Number), Statement: r.Memory.Statement})
	}
	for i := range v.Conflicts {
		name, statement := v.other(&v.Conflicts[i])
		d.Open = append(d.Open, page.ConflictingMemory{Name: name, Statement: statement, State: v.Conflicts[i].State, Why: v.Conflicts[i].Why})
	}
	for id := range v.others {
		d.Names[id] = v.named(id)
	}
	if v.Rank != nil {
		d.Rank = &page.MemoryRank{Position: v.Rank.Position, Score: v.Rank.Score, Signals: v.Rank.Signals}
	}
	return d
}
