package page

// This file and report_imports.go draw the report of a prompt: what went in and why, what it cost, what was left out,
// and how long the stages took; and what an import found.
//
// ctxd inspect context and ctxd demo show it under the prompt. The walk over entities is drawn as a tree in which each
// item stands once. The goldens in testdata hold the drawing for a pipe and for terminals.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
)

// Lengths of the bar of a budget, and of what stands beside it.
const (
	BudgetBarWidth  = 24
	MinBudgetBar    = 6
	BudgetTextWidth = 38
)

// DrawReport shows what went into a prompt, what did not, and why (CTX-32).
func DrawReport(s *term.Screen, r *prompt.Report) {
	drawBudgets(s, r)
	if r.Query != "" {
		s.Heading("Searched for")
		shown, _ := prompt.Cut(strings.Join(strings.Fields(r.Query), " "), maxShownQuery)
		s.Say(term.Text("  " + shown))
	}
	for _, section := range r.Sections {
		if len(section.Items) == 0 {
			continue
		}
		s.Heading(section.Name, term.Styled(term.Faint, "  "+term.Count(len(section.Items), "item")))
		if slices.ContainsFunc(section.Items, func(it prompt.Item) bool { return it.Kind == prompt.KindEntity }) {
			term.DrawTree(s, "  ", walkOf(section.Items))
			continue
		}
		drawItems(s, section.Items)
	}
	drawWarnings(s, r.Warnings)
	DrawDropped(s, r.Dropped)
	drawQueryErrors(s, r)
	drawStages(s, r.Stages)
	s.Say()
	s.SayWhole(term.Styled(term.Faint, "sha256 "+r.Hash)) // a hash is copied whole or is of no use
}

// maxShownQuery is how much of what was searched for is drawn, in characters.
const maxShownQuery = 300

// drawBudgets draws a bar for the whole prompt and for each section.
func drawBudgets(s *term.Screen, r *prompt.Report) {
	s.Heading("Budgets", term.Styled(term.Faint, "  in characters"))
	t := &term.Table{Indent: 2, Right: []int{2, 4}, Keep: []int{0, 2, 3, 4}}
	width := max(MinBudgetBar, min(BudgetBarWidth, s.Columns()-BudgetTextWidth))
	row := func(name term.Line, chars, budget int) {
		t.Row(name, term.Bar(chars, budget, width), term.Line{term.Text(term.Number(chars))},
			term.Line{term.Styled(term.Faint, "of")}, term.Line{term.Text(term.Number(budget))})
	}
	for _, section := range r.Sections {
		row(term.Line{term.Text(section.Name)}, section.Chars, section.Budget)
	}
	row(term.Line{term.Styled(term.Strong, "whole prompt")}, r.Chars, r.Budget)
	t.Draw(s)
}

func drawItems(s *term.Screen, items []prompt.Item) {
	t := &term.Table{Indent: 2, Right: []int{1}}
	titled := make(map[string]int)
	for _, it := range items {
		titled[it.Title]++
	}
	for _, it := range items {
		why := it.Reason
		if it.Vault != "" {
			why += "  vault " + it.Vault
		}
		if titled[it.Title] > 1 && it.ID != "" {
			why += "  " + it.ID
		}
		t.Row(term.Line{term.Text(RecordLabel(it.Kind, it.Title))}, term.Line{term.Text(term.Number(it.Chars))},
			append(itemMarks(&it), term.Styled(term.Faint, why)))
	}
	t.Draw(s)
}

func cutMark(cut *prompt.Extent) term.Span {
	if cut != nil {
		return term.Styled(term.Warn, "  "+cut.String())
	}
	return term.Span{}
}

// itemMarks say of an item that it is not whole, where the end of the line may not be seen.
func itemMarks(it *prompt.Item) (marks term.Line) {
	if it.Cut != nil {
		marks = append(marks, term.Styled(term.Warn, it.Cut.String()+"  "))
	}
	if it.Distilled {
		marks = append(marks, term.Styled(term.Accent, "distilled  "))
	}
	return marks
}

// RecordLabel writes a record as prompts do.
func RecordLabel(kind, title string) string {
	switch kind {
	case prompt.KindEntity:
		return "@" + title
	case prompt.KindNote:
		return "[[" + title + "]]"
	}
	return title
}

// walkOf makes the tree of the breadth-first walk from the items of the section
// of entities: each entity hangs from the one that it was first reached from,
// with the field that led there, and names every other edge that leads to it.
// An edge that closes a circle, from the entity itself or from one that was
// reached through it, is marked.
func walkOf(items []prompt.Item) []*term.Branch {
	nodes := make(map[string]*term.Branch, len(items))
	titles := make(map[string]string, len(items))
	over := make(map[string]string, len(items)) // what an entity hangs from
	for _, it := range items {
		titles[it.ID] = it.Title
	}
	var roots []*term.Branch
	for _, it := range items {
		b := &term.Branch{MoreHead: "also via "}
		nodes[it.ID] = b
		var above *term.Branch
		edges := it.Via
		if it.Depth > 0 && len(edges) > 0 {
			above, over[it.ID] = nodes[edges[0].From], edges[0].From
			b.Label = term.Line{term.Styled(term.Faint, it.Via[0].Field+" → ")}
			edges = edges[1:]
		} else {
			b.MoreHead = "via "
		}
		st := term.Accent
		if it.Depth == 0 {
			st = term.Strong
		}
		b.Label = append(b.Label, term.Styled(st, "@"+it.Title), term.Styled(term.Faint, "  "+term.Number(it.Chars)),
			cutMark(it.Cut))
		if it.InFocus() {
			b.Label = append(b.Label, term.Styled(term.Faint, "  "+it.Reason))
		}
		for _, e := range edges {
			b.More = append(b.More, "@"+cmp.Or(titles[e.From], e.From)+"."+e.Field)
		}
		if above == nil || above == b {
			roots = append(roots, b)
		} else {
			above.Children = append(above.Children, b)
		}
	}
	for _, it := range items {
		b := nodes[it.ID]
		for i, e := range it.Via[len(it.Via)-len(b.More):] {
			if hangsFrom(over, e.From, it.ID) {
				b.More[i] += circleMark
			}
		}
	}
	return roots
}

// circleMark stands behind an edge that closes a circle.
const circleMark = " ↺"

// hangsFrom reports whether an entity is another or was reached through it.
func hangsFrom(over map[string]string, id, from string) bool {
	for range len(over) + 1 { // a report that is no tree would have no end
		if id == from {
			return true
		}
		next, ok := over[id]
		if !ok {
			return false
		}
		id = next
	}
	return false
}

// reasons says what stands behind the reasons of dropped items, in the order
// in which they are shown.
var reasons = []struct {
	reason prompt.Reason
	text   string
}{
	{prompt.Ambiguous, "may mean several records"},
	{prompt.Unknown, "no such record"},
	{prompt.Private, "withheld from a remote model"},
	{prompt.Archived, "archived"},
	{prompt.Deleted, "archived"},
	{prompt.Lapsed, "holds no more, or not yet"},
	{prompt.Duplicate, "given twice"},
	{prompt.Distilled, "does not matter for the message, as a model found"},
	{prompt.OverLimit, "over the section limit"},
	{prompt.OverBudget, "no room in the budget"},
}

// DroppedGroup are the items that were left out for one reason.
type DroppedGroup struct {
	Reason prompt.Reason
	Text   string
	Items  []prompt.Dropped
}

// DroppedByReason sorts what was left out by its reasons. A reason that this
// version does not know comes last, in its own words.
func DroppedByReason(dropped []prompt.Dropped) []DroppedGroup {
	var groups []DroppedGroup
	at := make(map[prompt.Reason]int)
	for i, r := range reasons {
		groups = append(groups, DroppedGroup{Reason: r.reason, Text: r.text})
		at[r.reason] = i
	}
	for _, d := range dropped {
		i, ok := at[d.Reason]
		if !ok {
			i, at[d.Reason] = len(groups), len(groups)
			groups = append(groups, DroppedGroup{Reason: d.Reason, Text: "left out"})
		}
		groups[i].Items = append(groups[i].Items, d)
	}
	return slices.DeleteFunc(groups, func(g DroppedGroup) bool { return len(g.Items) == 0 })
}

// DrawDropped lists what was left out, by its reasons; nothing for nothing.
func DrawDropped(s *term.Screen, dropped []prompt.Dropped) {
	if len(dropped) == 0 {
		return
	}
	s.Heading("Left out", term.Styled(term.Faint, "  "+term.Count(len(dropped), "item")))
	exact := false
	for _, group := range DroppedByReason(dropped) {
		var names []string
		for _, d := range group.Items {
			if len(d.Candidates) == 0 {
				names = append(names, DroppedName(d))
				continue
			}
			s.Say(term.Text("  "), term.Styled(term.Warn, string(d.Reason)), term.Text("  "+DroppedName(d)),
				term.Styled(term.Faint, "  "+group.Text+":"))
			for _, c := range d.Candidates {
				exact = exact || d.Kind == prompt.KindNote
				s.Say(term.Text("      "+c.Title),
					term.Styled(term.Faint, "  "+strings.Join(term.NonEmpty(c.Type, connect.Place(c.Vault, c.Path), c.ID), "  ")))
			}
		}
		if len(names) > 0 {
			s.Say(term.Text("  "), term.Styled(term.Warn, string(group.Reason)),
				term.Styled(term.Faint, "  "+term.Number(len(names))+", "+group.Text))
			for _, l := range term.WrapNames(names, s.Columns()-6) {
				s.Say(term.Text("      " + l))
			}
		}
	}
	if exact {
		s.Say(term.Styled(term.Faint, "  --note with an id, or with a path as above, pins one of several notes"))
	}
}

// DroppedName names what was left out; of a private record there is no title.
func DroppedName(d prompt.Dropped) string {
	name := d.Kind + " " + d.ID
	switch {
	case d.Title != "":
		name = RecordLabel(d.Kind, d.Title)
	case d.Reason == prompt.Private:
		name = "a private " + name
	}
	if d.Vault != "" {
		name += " (vault " + d.Vault + ")"
	}
	return name
}

// EntityTitles are the names of the entities that a report tells of, by their ids.
func EntityTitles(r *prompt.Report) map[string]string {
	titles := make(map[string]string)
	for _, d := range r.Dropped {
		if d.Kind == prompt.KindEntity {
			titles[d.ID] = d.Title
		}
	}
	for _, section := range r.Sections {
		for _, it := range section.Items {
			if it.Kind == prompt.KindEntity {
				titles[it.ID] = it.Title
			}
		}
	}
	return titles
}

func drawWarnings(s *term.Screen, warnings []prompt.Warning) {
	if len(warnings) == 0 {
		return
	}
	s.Heading("Warnings")
	for _, w := range warnings {
		s.Say(term.Text("  "), term.Styled(term.Warn, term.Clean(w.Ref)))
		for _, l := range term.Wrap(term.Clean(w.Message), s.Columns()-6) {
			s.Say(term.Text("      " + l))
		}
	}
}

func drawQueryErrors(s *term.Screen, r *prompt.Report) {
	if len(r.QueryErrors) == 0 {
		return
	}
	titles := EntityTitles(r)
	s.Heading("Computed fields that failed")
	for _, q := range r.QueryErrors {
		s.Say(term.Text("  "), term.Styled(term.Bad, "@"+cmp.Or(titles[q.Entity], q.Entity)+"."+q.Field))
		for _, l := range term.Wrap(term.Clean(q.Message), s.Columns()-6) {
			s.Say(term.Text("      " + l))
		}
	}
}

// StageWhy is why a stage was left out, and what the best was that it has left out.
func StageWhy(st *prompt.Stage) string {
	why := st.Why
	for _, b := range st.Best {
		if why != "" {
			why += "; "
		}
		why += fmt.Sprintf("the best %s, %s, has %.2f of %.2f", b.Kind, b.ID, b.Score, b.Floor)
	}
	return term.Clean(why)
}

func drawStages(s *term.Screen, stages []prompt.Stage) {
	s.Heading("Stages")
	t := &term.Table{Indent: 2, Right: []int{1}}
	total := 0.0
	for _, st := range stages {
		if st.Skipped {
			t.Row(term.Line{term.Styled(term.Warn, st.Name)}, term.Line{term.Styled(term.Warn, "skipped")},
				term.Line{term.Styled(term.Faint, StageWhy(&st))})
			continue
		}
		total += st.Ms
		t.Row(term.Line{term.Text(st.Name)}, term.Line{term.Text(term.Millis(st.Ms))},
			term.Line{term.Styled(term.Faint, StageWhy(&st))})
	}
	t.Row(term.Line{term.Styled(term.Strong, "all")}, term.Line{term.Styled(term.Strong, term.Millis(total))}, nil)
	t.Draw(s)
}
