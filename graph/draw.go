package graph

// draw*.go make drawings of a part of the graph: DOT for Graphviz, Mermaid for
// Markdown, and SVG, which needs no other program and is laid out here (draw_layout.go).
//
// They are pure: a Subgraph in, text out; no files, clocks or state. Any function may
// be called from any goroutine. What users wrote never becomes structure of a drawing:
// every text is escaped for the format and cut to one line. A drawing shows at most
// MaxSVGNodes nodes and says how many it leaves out. A plain link between notes has no label.
//
// An SVG is for every viewer: its colours stand in attributes, and the style sheet only
// replaces them where variables are known; it uses no markers and no nested drawings. Texts
// are cut by their width (draw_width.go). A dozen nodes or more at one depth stand in frames
// (draw_groups.go). There is no PNG of our own: the fonts that Go programs can carry lack most
// scripts, and a program such as rsvg-convert makes one from the SVG.
//
// Library graphs (dominikbraun/graph) are built only for DOT, of the part at hand: the
// library copies all edges for each question.

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	dgraph "github.com/dominikbraun/graph"
	dot "github.com/dominikbraun/graph/draw"
)

// Lengths of what a drawing shows of a text, in graphemes.
const (
	maxName   = 80
	maxLabels = 120
)

// stroke is what a drawing shows between two nodes: all edges from one to the
// other as one, labelled with their fields. A link of a note has no label: that it
// links there is all that it says.
type stroke struct {
	from, to int // positions in Nodes
	fields   []string
}

func (s stroke) label() string { return OneLine(strings.Join(s.fields, ", "), maxLabels) }

// strokes joins the edges of a part of the graph, in the order of their nodes.
func strokes(s *Subgraph) []stroke {
	index := IndexOf(s)
	at := make(map[[2]int]int)
	var list []stroke
	for _, e := range s.Edges {
		from, to, ok := index.Ends(e)
		if !ok {
			continue
		}
		i, ok := at[[2]int{from, to}]
		if !ok {
			i = len(list)
			at[[2]int{from, to}] = i
			list = append(list, stroke{from: from, to: to})
		}
		plain := e.Field == WikiLink && s.Nodes[from].Kind == Note.String()
		if !plain && !slices.Contains(list[i].fields, e.Field) {
			list[i].fields = append(list[i].fields, e.Field)
		}
	}
	slices.SortStableFunc(list, func(a, b stroke) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	return list
}

// DrawDOT draws a part of the graph for Graphviz. No text of a record can end its
// quotes or is read as an escape.
func DrawDOT(s *Subgraph) (string, error) {
	g := dgraph.New(func(i int) string { return fmt.Sprintf("n%d", i) }, dgraph.Directed())
	for i, v := range s.Nodes {
		shape := "box"
		if v.Kind == Note.String() {
			shape = "note"
		}
		attributes := map[string]string{"label": dotLabel(v), "shape": shape}
		if v.Depth == 0 {
			attributes["penwidth"] = "2"
		}
		if err := g.AddVertex(i, dgraph.VertexAttributes(attributes)); err != nil {
			return "", err
		}
	}
	for _, e := range strokes(s) {
		// A weight of 0, which is the library's default, would let Graphviz bend the edge as it likes.
		with := []func(*dgraph.EdgeProperties){dgraph.EdgeWeight(1)}
		if label := e.label(); label != "" {
			with = append(with, dgraph.EdgeAttribute("label", dotText(label)))
		}
		if err := g.AddEdge(fmt.Sprintf("n%d", e.from), fmt.Sprintf("n%d", e.to), with...); err != nil {
			return "", err
		}
	}
	var out bytes.Buffer
	err := dot.DOT(g, &out, dot.GraphAttribute("rankdir", "LR"), dot.GraphAttribute("fontname", "sans-serif"))
	return inOrder(out.String()), err
}

// inOrder sorts the statements of a DOT document, which the library writes in
// the order of a map, and drops its empty lines: the same graph is to give the
// same bytes. A statement is one line, since no text in it has a line break.
func inOrder(doc string) string {
	lines := slices.DeleteFunc(strings.Split(doc, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	body := lines[1 : len(lines)-1]
	for i, l := range body {
		body[i] = strings.NewReplacer(",  weight=0 ];", " ];", "  weight=1 ];", " weight=1 ];").
			Replace(strings.TrimSpace(l))
	}
	rank := func(l string) (kind, from, to int) {
		if _, err := fmt.Sscanf(l, `"n%d" -> "n%d"`, &from, &to); err == nil {
			return 2, from, to
		}
		if _, err := fmt.Sscanf(l, `"n%d" [`, &from); err == nil {
			return 1, from, 0
		}
		return 0, 0, 0
	}
	slices.SortFunc(body, func(a, b string) int {
		ka, fa, ta := rank(a)
		kb, fb, tb := rank(b)
		return cmp.Or(ka-kb, fa-fb, ta-tb, strings.Compare(a, b))
	})
	return lines[0] + "\n  " + strings.Join(body, "\n  ") + "\n}\n"
}

func dotLabel(v Vertex) string {
	label := dotText(OneLine(v.Name, maxName))
	if v.Type != "" {
		label += `\n` + dotText(OneLine(v.Type, maxName))
	}
	for i, f := range v.Fields {
		if i == 0 {
			label += `\n`
		}
		label += dotText(OneLine(f.Name, maxName)+": "+OneLine(f.Text, maxName)) + `\l`
	}
	return label
}

// dotText writes a line within the quotes of Graphviz, where a backslash begins
// an escape and an ampersand a character of HTML.
func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(s)
}

// DrawMermaid draws a part of the graph as a Mermaid flowchart. No text of a record
// can end its quotes, or is read as Markdown, HTML or a formula.
func DrawMermaid(s *Subgraph) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, v := range s.Nodes {
		open, end := "[", "]"
		if v.Kind == Note.String() {
			open, end = "([", "])"
		}
		label := mermaidText(OneLine(v.Name, maxName))
		if v.Type != "" {
			label += "<br>" + mermaidText(OneLine(v.Type, maxName))
		}
		for _, f := range v.Fields {
			label += "<br>" + mermaidText(OneLine(f.Name, maxName)) + ": " +
				mermaidText(OneLine(f.Text, maxName))
		}
		fmt.Fprintf(&b, "  n%d%s\"%s\"%s\n", i, open, label, end)
	}
	for _, e := range strokes(s) {
		label := ""
		if e.label() != "" {
			label = "|\"" + mermaidText(e.label()) + "\"|"
		}
		fmt.Fprintf(&b, "  n%d -->%s n%d\n", e.from, label, e.to)
	}
	return b.String()
}

// mermaidText writes a line within the quotes of Mermaid: what may mean
// something to it, to Markdown or to HTML as the code of the character. A line
// that begins like a list is one to Markdown, so its first mark goes too.
func mermaidText(s string) string {
	var b strings.Builder
	start := true // nothing but blanks and digits so far
	for _, r := range s {
		listMark := start && (r == '-' || r == '+' || r == '.' || r == ')')
		if listMark || strings.ContainsRune("\"#$%&*:;<=>@[\\]^_`{|}~", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
		start = start && (r == ' ' || '0' <= r && r <= '9')
	}
	return b.String()
}
