package render

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/entities/record"
)

// Graph lists the records of a part of the graph, nearest first, then its edges.
func Graph(sub *record.GraphSubgraph) *Page {
	l := &Page{Noun: "line", None: "They are not connected within these steps."}
	if len(sub.Nodes) > 0 {
		l.Head = fmt.Sprintf("%s, %s\n", Plural(len(sub.Nodes), "record"), Plural(len(sub.Edges), "edge"))
	}
	if sub.Truncated {
		l.Head += "There is more than can be shown here: start from one of these records.\n"
	}
	labels, alike := make(map[string]string, len(sub.Nodes)), make(map[string]int)
	for _, v := range sub.Nodes {
		labels[v.ID] = Entity(v.Name, v.Type)
		if v.Kind == "note" {
			labels[v.ID] = Note(v.Name)
		}
		alike[labels[v.ID]]++
		l.Items = append(l.Items, "- "+labels[v.ID]+ID(v.ID)+", "+Plural(v.Depth, "step")+"\n")
	}
	for id, label := range labels {
		if alike[label] > 1 { // an edge would not say which of them it leads to
			labels[id] = label + ID(id)
		}
	}
	for _, e := range sub.Edges {
		l.Items = append(l.Items, strings.Join([]string{labels[e.From], "--" + Inline(e.Field) + "-->", labels[e.To]}, " ")+"\n")
	}
	l.Total = len(l.Items)
	return l
}
