package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
)

// barWidth is the length of the bar of a budget.
const barWidth = 24

// drawReport shows what went into a prompt, what did not, and why (CTX-32).
func drawReport(s *screen, r *prompt.Report) {
	drawBudgets(s, r)
	for _, section := range r.Sections {
		if len(section.Items) == 0 {
			continue
		}
		s.heading(section.Name, styled(faint, "  "+count(len(section.Items), "item")))
		if slices.ContainsFunc(section.Items, func(it prompt.Item) bool { return it.Kind == prompt.KindEntity }) {
			drawTree(s, "  ", walkOf(section.Items))
			continue
		}
		drawItems(s, section.Items)
	}
	drawDropped(s, r.Dropped)
	drawQueryErrors(s, r)
	drawStages(s, r.Stages)
	s.say()
	s.say(styled(faint, "sha256 "+r.Hash))
}

// drawBudgets draws a bar for the whole prompt and for each section.
func drawBudgets(s *screen, r *prompt.Report) {
	s.heading("Budgets", styled(faint, "  in characters"))
	t := &table{indent: 2, right: []int{2, 4}}
	row := func(name line, chars, budget int) {
		t.row(name, bar(chars, budget, barWidth), line{text(number(chars))}, line{styled(faint, "of")}, line{text(number(budget))})
	}
	for _, section := range r.Sections {
		row(line{text(section.Name)}, section.Chars, section.Budget)
	}
	row(line{styled(strong, "whole prompt")}, r.Chars, r.Budget)
	t.draw(s)
}

func drawItems(s *screen, items []prompt.Item) {
	t := &table{indent: 2, right: []int{1}}
	for _, it := range items {
		t.row(line{text(label(it.Kind, it.Title))}, line{text(number(it.Chars))}, line{styled(faint, it.Reason), cutMark(it.Cut)})
	}
	t.draw(s)
}

func cutMark(cut bool) span {
	if cut {
		return styled(warn, "  cut")
	}
	return span{}
}

// label writes a record as prompts do.
func label(kind, title string) string {
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
// and names the other edges that lead to it.
func walkOf(items []prompt.Item) []*branch {
	nodes := make(map[string]*branch, len(items))
	titles := make(map[string]string, len(items))
	for _, it := range items {
		titles[it.ID] = it.Title
	}
	var roots []*branch
	for _, it := range items {
		b := &branch{}
		nodes[it.ID] = b
		var above *branch
		edges := it.Via
		if it.Depth > 0 && len(edges) > 0 {
			above, edges = nodes[edges[0].From], edges[1:]
			b.label = line{styled(faint, it.Via[0].Field+" → ")}
		}
		st := accent
		if it.Depth == 0 {
			st = strong
		}
		b.label = append(b.label, styled(st, "@"+it.Title), styled(faint, "  "+number(it.Chars)), cutMark(it.Cut))
		b.label = append(b.label, alsoVia(edges, titles)...)
		if above == nil {
			roots = append(roots, b)
		} else {
			above.children = append(above.children, b)
		}
	}
	return roots
}

// moreEdges is how many further edges of an entity are named in the tree.
const moreEdges = 3

func alsoVia(edges []prompt.Edge, titles map[string]string) line {
	if len(edges) == 0 {
		return nil
	}
	var names []string
	for _, e := range edges[:min(moreEdges, len(edges))] {
		names = append(names, "@"+titles[e.From]+"."+e.Field)
	}
	out := "  also " + strings.Join(names, ", ")
	if n := len(edges) - moreEdges; n > 0 {
		out += fmt.Sprintf(" (+%d more)", n)
	}
	return line{styled(faint, out)}
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
	{prompt.Deleted, "in the trash"},
	{prompt.Duplicate, "given twice"},
	{prompt.OverLimit, "more than the section takes"},
	{prompt.OverBudget, "no room left in the budget"},
}

func drawDropped(s *screen, dropped []prompt.Dropped) {
	if len(dropped) == 0 {
		return
	}
	s.heading("Left out", styled(faint, "  "+count(len(dropped), "item")))
	for _, group := range reasons {
		var names []string
		for _, d := range dropped {
			if d.Reason != group.reason {
				continue
			}
			if len(d.Candidates) == 0 {
				names = append(names, droppedName(d))
				continue
			}
			s.say(text("  "), styled(warn, string(d.Reason)), text("  "+label(d.Kind, d.Title)), styled(faint, "  "+group.text+":"))
			for _, c := range d.Candidates {
				s.say(text("      "+c.Title), styled(faint, "  "+strings.Join(nonEmpty(c.Type, c.Path, c.ID), "  ")))
			}
		}
		if len(names) > 0 {
			s.say(text("  "), styled(warn, string(group.reason)), styled(faint, "  "+number(len(names))+", "+group.text))
			for _, l := range wrapNames(names, s.columns()-6) {
				s.say(text("      " + l))
			}
		}
	}
}

// droppedName names what was left out; of a private record there is no title.
func droppedName(d prompt.Dropped) string {
	if d.Title == "" {
		return "a private " + d.Kind + " " + d.ID
	}
	return label(d.Kind, d.Title)
}

// wrapNames joins names with commas into lines of at most n columns, none of
// them broken.
func wrapNames(names []string, n int) []string {
	var lines []string
	current := ""
	for i, name := range names {
		name = clean(name)
		if i < len(names)-1 {
			name += ","
		}
		if current != "" && columns(current)+1+columns(name) > n {
			lines = append(lines, current)
			current = ""
		}
		if current != "" {
			current += " "
		}
		current += name
	}
	return append(lines, current)
}

func drawQueryErrors(s *screen, r *prompt.Report) {
	if len(r.QueryErrors) == 0 {
		return
	}
	titles := make(map[string]string)
	for _, section := range r.Sections {
		for _, it := range section.Items {
			titles[it.ID] = it.Title
		}
	}
	s.heading("Computed fields that failed")
	t := &table{indent: 2}
	for _, q := range r.QueryErrors {
		t.row(line{styled(bad, "@"+cmp.Or(titles[q.Entity], q.Entity)+"."+q.Field)}, line{text(q.Message)})
	}
	t.draw(s)
}

func drawStages(s *screen, stages []prompt.Stage) {
	s.heading("Stages")
	t := &table{indent: 2, right: []int{1}}
	total := 0.0
	for _, st := range stages {
		if st.Skipped {
			t.row(line{styled(warn, st.Name)}, line{styled(warn, "skipped")}, line{styled(faint, st.Why)})
			continue
		}
		total += st.Ms
		t.row(line{text(st.Name)}, line{text(millis(st.Ms))}, nil)
	}
	t.row(line{styled(strong, "all")}, line{styled(strong, millis(total))}, nil)
	t.draw(s)
}
