package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/context/prompt"
)

// Lengths of the bar of a budget, and of what stands beside it.
const (
	barWidth    = 24
	minBar      = 6
	budgetTexts = 38
)

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
	s.sayWhole(styled(faint, "sha256 "+r.Hash)) // a hash is copied whole or is of no use
}

// drawBudgets draws a bar for the whole prompt and for each section.
func drawBudgets(s *screen, r *prompt.Report) {
	s.heading("Budgets", styled(faint, "  in characters"))
	t := &table{indent: 2, right: []int{2, 4}, keep: []int{0, 2, 3, 4}}
	width := max(minBar, min(barWidth, s.columns()-budgetTexts))
	row := func(name line, chars, budget int) {
		t.row(name, bar(chars, budget, width), line{text(number(chars))}, line{styled(faint, "of")}, line{text(number(budget))})
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
		t.row(line{text(label(it.Kind, it.Title))}, line{text(number(it.Chars))}, append(cutFirst(it.Cut), styled(faint, it.Reason)))
	}
	t.draw(s)
}

func cutMark(cut bool) span {
	if cut {
		return styled(warn, "  cut")
	}
	return span{}
}

// cutFirst marks an item where the end of the line may not be seen.
func cutFirst(cut bool) line {
	if cut {
		return line{styled(warn, "cut  ")}
	}
	return nil
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
// with the field that led there, and names every other edge that leads to it.
// An edge that closes a circle, from the entity itself or from one that was
// reached through it, is marked.
func walkOf(items []prompt.Item) []*branch {
	nodes := make(map[string]*branch, len(items))
	titles := make(map[string]string, len(items))
	over := make(map[string]string, len(items)) // what an entity hangs from
	for _, it := range items {
		titles[it.ID] = it.Title
	}
	var roots []*branch
	for _, it := range items {
		b := &branch{moreHead: "also via "}
		nodes[it.ID] = b
		var above *branch
		edges := it.Via
		if it.Depth > 0 && len(edges) > 0 {
			above, over[it.ID] = nodes[edges[0].From], edges[0].From
			b.label = line{styled(faint, it.Via[0].Field+" → ")}
			edges = edges[1:]
		} else {
			b.moreHead = "via "
		}
		st := accent
		if it.Depth == 0 {
			st = strong
		}
		b.label = append(b.label, styled(st, "@"+it.Title), styled(faint, "  "+number(it.Chars)), cutMark(it.Cut))
		for _, e := range edges {
			b.more = append(b.more, "@"+cmp.Or(titles[e.From], e.From)+"."+e.Field)
		}
		if above == nil || above == b {
			roots = append(roots, b)
		} else {
			above.children = append(above.children, b)
		}
	}
	for _, it := range items {
		b := nodes[it.ID]
		for i, e := range it.Via[len(it.Via)-len(b.more):] {
			if hangsFrom(over, e.From, it.ID) {
				b.more[i] += circleMark
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
	{prompt.Deleted, "in the trash"},
	{prompt.Duplicate, "given twice"},
	{prompt.OverLimit, "more than the section takes"},
	{prompt.OverBudget, "no room left in the budget"},
}

// droppedGroup are the items that were left out for one reason.
type droppedGroup struct {
	reason prompt.Reason
	text   string
	items  []prompt.Dropped
}

// droppedByReason sorts what was left out by its reasons. A reason that this
// version does not know comes last, in its own words.
func droppedByReason(dropped []prompt.Dropped) []droppedGroup {
	var groups []droppedGroup
	at := make(map[prompt.Reason]int)
	for i, r := range reasons {
		groups = append(groups, droppedGroup{reason: r.reason, text: r.text})
		at[r.reason] = i
	}
	for _, d := range dropped {
		i, ok := at[d.Reason]
		if !ok {
			i, at[d.Reason] = len(groups), len(groups)
			groups = append(groups, droppedGroup{reason: d.Reason, text: "left out"})
		}
		groups[i].items = append(groups[i].items, d)
	}
	return slices.DeleteFunc(groups, func(g droppedGroup) bool { return len(g.items) == 0 })
}

func drawDropped(s *screen, dropped []prompt.Dropped) {
	if len(dropped) == 0 {
		return
	}
	s.heading("Left out", styled(faint, "  "+count(len(dropped), "item")))
	for _, group := range droppedByReason(dropped) {
		var names []string
		for _, d := range group.items {
			if len(d.Candidates) == 0 {
				names = append(names, droppedName(d))
				continue
			}
			s.say(text("  "), styled(warn, string(d.Reason)), text("  "+droppedName(d)), styled(faint, "  "+group.text+":"))
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
	switch {
	case d.Title != "":
		return label(d.Kind, d.Title)
	case d.Reason == prompt.Private:
		return "a private " + d.Kind + " " + d.ID
	}
	return d.Kind + " " + d.ID
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

// entityTitles are the names of the entities that a report tells of, by their ids.
func entityTitles(r *prompt.Report) map[string]string {
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

func drawQueryErrors(s *screen, r *prompt.Report) {
	if len(r.QueryErrors) == 0 {
		return
	}
	titles := entityTitles(r)
	s.heading("Computed fields that failed")
	for _, q := range r.QueryErrors {
		s.say(text("  "), styled(bad, "@"+cmp.Or(titles[q.Entity], q.Entity)+"."+q.Field))
		for _, l := range wrap(clean(q.Message), s.columns()-6) {
			s.say(text("      " + l))
		}
	}
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
