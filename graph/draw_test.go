package graph_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/graph"
)

// sample is a part of a graph with a circle, a self reference and two edges
// between the same two.
func sample() *graph.Subgraph {
	return &graph.Subgraph{
		Nodes: []graph.Vertex{
			{ID: "a", Kind: "entity", Name: `A "quoted" \ name` + "\n#1", Type: "T", Fields: []graph.FieldText{{Name: "f", Text: "v & w"}, {Name: "g", Text: "x"}}},
			{ID: "n", Kind: "note", Name: "<b>", Depth: 1},
			{ID: "b", Kind: "entity", Name: "1. list", Type: "T", Depth: 1},
		},
		Edges: []graph.Arc{
			{From: "a", To: "n", Field: `f"x`},
			{From: "a", To: "a", Field: "self"},
			{From: "a", To: "b", Field: "one"},
			{From: "b", To: "a", Field: "back"},
			{From: "a", To: "b", Field: "many"},
			{From: "n", To: "b", Field: graph.WikiLink},
			{From: "a", To: "gone", Field: "x"},
		},
	}
}

func TestDOT(t *testing.T) {
	want := `strict digraph {
  fontname="sans-serif";
  rankdir="LR";
  "n0" [ label="A \"quoted\" \\ name #1\nT\nf: v &amp; w\lg: x\l", penwidth="2", shape="box" ];
  "n1" [ label="<b>", shape="note" ];
  "n2" [ label="1. list\nT", shape="box" ];
  "n0" -> "n0" [ label="self", weight=1 ];
  "n0" -> "n1" [ label="f\"x", weight=1 ];
  "n0" -> "n2" [ label="one, many", weight=1 ];
  "n1" -> "n2" [ weight=1 ];
  "n2" -> "n0" [ label="back", weight=1 ];
}
`
	for range 5 { // the library goes by the order of a map
		if got, err := graph.DrawDOT(sample()); got != want || err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
	}
}

func TestMermaid(t *testing.T) {
	want := `flowchart LR
  n0["A #34;quoted#34; #92; name #35;1<br>T<br>f: v #38; w<br>g: x"]
  n1(["#60;b#62;"])
  n2["1#46; list<br>T"]
  n0 -->|"self"| n0
  n0 -->|"f#34;x"| n1
  n0 -->|"one, many"| n2
  n1 --> n2
  n2 -->|"back"| n0
`
	if got := graph.DrawMermaid(sample()); got != want {
		t.Errorf("%s", got)
	}
}

func TestSVG_IsWholeAndNeedsNothingElse(t *testing.T) {
	doc := graph.DrawSVG(sample(), graph.SVGOptions{Title: "A & B"})
	elements := readSVG(t, doc)
	if n := elements["rect"] - strings.Count(doc, `class="g-under"`); n != 4 { // the paper and three boxes
		t.Errorf("%d boxes", n)
	}
	if n := elements["path"]; n != 10 { // five edges, each with its tip
		t.Errorf("%d curves", n)
	}
	if n := strings.Count(doc, `class="g-label"`); n != 4 || strings.Contains(doc, ">"+graph.WikiLink+"<") {
		t.Errorf("%d labels: a plain link has none", n)
	}
	for _, want := range []string{"prefers-color-scheme:dark", "<title>A &amp; B</title>", ">one, many</text>", "g:</tspan> x</text>", "A &#34;quoted&#34; \\ name #1", "<title>&lt;b&gt; → 1. list</title>"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
	if bad := regexp.MustCompile(`(?:url\(|href=|src=|@import)[^#]`).FindString(doc); bad != "" {
		t.Errorf("it asks for %s", bad)
	}
	inline := graph.DrawSVG(sample(), graph.SVGOptions{Inline: true, Depths: true, Link: func(n int) string { return fmt.Sprintf("#x%d", n) }})
	elements = readSVG(t, inline)
	if elements["style"] != 0 || elements["a"] != 3 || !strings.Contains(inline, `<a href="#x2" class="g-node g-entity" id="g-node-2"`) || !strings.Contains(inline, ">depth 1<") {
		t.Errorf("inline: %v\n%s", elements, inline)
	}
	readSVG(t, graph.DrawSVG(&graph.Subgraph{}, graph.SVGOptions{}))
}

// wheel is a node with others around it, of a few types and fields, and, where deep,
// more behind each of them.
func wheel(nodes int, deep bool) *graph.Subgraph {
	sub := &graph.Subgraph{}
	for i := range nodes {
		v := graph.Vertex{ID: fmt.Sprint("e", i), Kind: "entity", Name: fmt.Sprint("E ", i), Type: fmt.Sprint("T", i%3), Depth: min(i, 1)}
		v.Fields = []graph.FieldText{{Name: "f", Text: "v"}, {Name: "g", Text: "w"}}
		hub := 0
		if deep && i > nodes/4+1 {
			v.Depth, hub = 2, 1+i%(nodes/4+1)
		}
		sub.Nodes = append(sub.Nodes, v)
		a := graph.Arc{From: fmt.Sprint("e", hub), To: v.ID, Field: fmt.Sprint("f", i%4)}
		if i%2 == 0 {
			a.From, a.To = a.To, a.From
		}
		if sub.Edges = append(sub.Edges, a); i%5 == 0 {
			sub.Edges = append(sub.Edges, graph.Arc{From: v.ID, To: fmt.Sprint("e", i*3%nodes), Field: "more"})
		}
	}
	return sub
}

// area is a rectangle of a drawing.
type area struct{ x, y, width, height float64 }

func (a area) overlaps(b area) bool {
	return a.x < b.x+b.width && b.x < a.x+a.width && a.y < b.y+b.height && b.y < a.y+a.height
}

// areas returns the rectangles of a class.
func areas(t *testing.T, doc, class string) []area {
	t.Helper()
	var list []area
	for _, m := range regexp.MustCompile(`class="`+class+`"[^>]* x="([^"]+)" y="([^"]+)" width="([^"]+)" height="([^"]+)"`).FindAllStringSubmatch(doc, -1) {
		var a area
		if _, err := fmt.Sscan(strings.Join(m[1:], " "), &a.x, &a.y, &a.width, &a.height); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// sizeOf returns how large a drawing is.
func sizeOf(t *testing.T, doc string) (width, height float64) {
	t.Helper()
	m := regexp.MustCompile(`viewBox="0 0 (\S+) (\S+)"`).FindStringSubmatch(doc)
	if m == nil {
		t.Fatal(doc)
	}
	if _, err := fmt.Sscan(m[1]+" "+m[2], &width, &height); err != nil {
		t.Fatal(err)
	}
	return width, height
}

// TestSVG_BoxesDoNotOverlap draws graphs of many sizes: every box is there, within the
// drawing, and covers no other; so is every frame. The same graph gives the same bytes.
func TestSVG_BoxesDoNotOverlap(t *testing.T) {
	for _, nodes := range []int{1, 2, 11, 12, 13, 14, 31, 61, 200, graph.MaxSVGNodes, graph.MaxSVGNodes + 7} {
		for _, deep := range []bool{false, true} {
			for _, o := range []graph.SVGOptions{{}, {Inline: true, Depths: true}, {AllFields: true}} {
				doc := graph.DrawSVG(wheel(nodes, deep), o)
				readSVG(t, doc)
				if doc != graph.DrawSVG(wheel(nodes, deep), o) {
					t.Fatalf("%d nodes are drawn in two ways", nodes)
				}
				width, height := sizeOf(t, doc)
				boxes := areas(t, doc, "g-box")
				if len(boxes) != min(nodes, graph.MaxSVGNodes) {
					t.Fatalf("%d boxes of %d nodes", len(boxes), nodes)
				}
				if more := strings.Contains(doc, "… and 7 more"); more != (nodes > graph.MaxSVGNodes) {
					t.Errorf("%d nodes: more are said to be there: %v", nodes, more)
				}
				for _, list := range [][]area{boxes, areas(t, doc, "g-frame")} {
					for i, a := range list {
						if a.x < 0 || a.y < 0 || a.x+a.width > width || a.y+a.height > height {
							t.Fatalf("%d nodes, %+v: %v lies outside of %v, %v", nodes, o, a, width, height)
						}
						for _, b := range list[:i] {
							if a.overlaps(b) {
								t.Fatalf("%d nodes, %+v: %v and %v overlap", nodes, o, a, b)
							}
						}
					}
				}
			}
		}
	}
}

// TestSVG_SixtyNodesFitAScreen draws a node with sixty others around it.
func TestSVG_SixtyNodesFitAScreen(t *testing.T) {
	sub := wheel(61, false)
	doc := graph.DrawSVG(sub, graph.SVGOptions{})
	if width, height := sizeOf(t, doc); width > 1920 || height > 1000 {
		t.Errorf("%v by %v", width, height)
	}
	width, _ := sizeOf(t, graph.DrawSVG(sub, graph.SVGOptions{Inline: true}))
	if width > 1060 {
		t.Errorf("%v wide in a page", width)
	}
	// Nodes that the same fields lead to stand in one frame, with one edge.
	frames, edges := len(areas(t, doc, "g-frame")), regexp.MustCompile(`<g class="g-edge" data-edge="0( \d+)+"><`).FindAllString(doc, -1)
	if frames == 0 || frames > 12 || len(edges) != frames {
		t.Errorf("%d frames, %d edges to them", frames, len(edges))
	}
	if !strings.Contains(doc, ">f1 → · T0<") || !strings.Contains(doc, ">f2 ← · T1<") {
		t.Errorf("the frames don't say what is in them:\n%s", doc)
	}
	if n := strings.Count(doc, `class="g-field"`); n != 2 { // of the node in the middle
		t.Errorf("%d fields", n)
	}
	if n := strings.Count(graph.DrawSVG(sub, graph.SVGOptions{AllFields: true}), `class="g-field"`); n != 2*61 {
		t.Errorf("%d fields of all nodes", n)
	}
}

// TestSVG_FewFrames: a node hangs from the one that has the most others beside it, and
// what few others hang from the same nodes as stands together.
func TestSVG_FewFrames(t *testing.T) {
	sub := &graph.Subgraph{Nodes: []graph.Vertex{{ID: "root", Kind: "note", Name: "root"}}}
	add := func(id string, depth int, from ...string) {
		sub.Nodes = append(sub.Nodes, graph.Vertex{ID: id, Kind: "note", Name: id, Depth: depth})
		for _, f := range from {
			sub.Edges = append(sub.Edges, graph.Arc{From: f, To: id, Field: graph.WikiLink})
		}
	}
	for i := range 9 {
		add(fmt.Sprint("a", i), 1, "root")
	}
	add("hub", 1, "root")
	for i := range 9 {
		add(fmt.Sprint("b", i), 2, fmt.Sprint("a", i), "hub")
	}
	for i := range 5 {
		add(fmt.Sprint("c", i), 2, fmt.Sprint("a", i))
	}
	doc := graph.DrawSVG(sub, graph.SVGOptions{})
	if n := len(areas(t, doc, "g-frame")); n != 2 {
		t.Errorf("%d frames", n)
	}
	for _, want := range []string{`data-edge="10 11 12 13 14 15 16 17 18 19"`, `data-edge="1 11" opacity`, `data-edge="1 20" opacity`} {
		if strings.Count(doc, want) != 1 {
			t.Errorf("no edge %s", want)
		}
	}
}

// TestSVG_RootIsInView: a drawing that no screen holds begins with what the rest was
// reached from.
func TestSVG_RootIsInView(t *testing.T) {
	doc := graph.DrawSVG(wheel(400, true), graph.SVGOptions{})
	if root := areas(t, doc, "g-box")[0]; root.x > 100 || root.y > 100 {
		t.Errorf("the root is at %v", root)
	}
}

// TestSVG_EveryViewerHasItsColours: all that is drawn has its colour in an attribute,
// and no rule of the style sheet takes it away where variables are not known.
func TestSVG_EveryViewerHasItsColours(t *testing.T) {
	doc := graph.DrawSVG(wheel(61, true), graph.SVGOptions{Depths: true})
	for _, m := range regexp.MustCompile(`<(?:rect|path|text|tspan) [^>]*>`).FindAllString(doc, -1) {
		if !regexp.MustCompile(` (fill|stroke)="#[0-9a-f]{3,6}"`).MatchString(m) || strings.Contains(m, "var(") {
			t.Fatalf("%s has no colour", m)
		}
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(doc)[1]
	depth := 0 // of @supports
	for l := range strings.Lines(style) {
		if strings.HasPrefix(l, "@supports") {
			depth++
		}
		if strings.Contains(l, "var(") && depth == 0 {
			t.Errorf("%s", l)
		}
		if strings.HasPrefix(l, "@supports") && strings.HasSuffix(l, "}}\n") || l == "}\n" {
			depth--
		}
	}
	if strings.Contains(doc, "<marker") || strings.Count(doc, "<svg") != 1 {
		t.Error("it uses what some viewers don't draw")
	}
}

// TestSVG_ManyEdges draws more than anybody looks at.
func TestSVG_ManyEdges(t *testing.T) {
	sub := wheel(2000, true)
	for i := range 4000 {
		sub.Edges = append(sub.Edges, graph.Arc{From: fmt.Sprint("e", i%400), To: fmt.Sprint("e", i*7%400), Field: "x"})
	}
	doc := graph.DrawSVG(sub, graph.SVGOptions{})
	readSVG(t, doc)
	if !strings.Contains(doc, "… and 1600 more") {
		t.Error("it does not say how many are left out")
	}
}

// readSVG reads a drawing with a strict parser and counts its elements. Only
// those that drawings are made of may be there, and no attribute that a browser
// runs.
func readSVG(t *testing.T, doc string) map[string]int {
	t.Helper()
	known := []string{"svg", "title", "style", "rect", "path", "g", "a", "text", "tspan"}
	elements := make(map[string]int)
	d := xml.NewDecoder(strings.NewReader(doc))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		switch e := token.(type) {
		case xml.StartElement:
			elements[e.Name.Local]++
			if !slices.Contains(known, e.Name.Local) {
				t.Fatalf("an element %s in\n%s", e.Name.Local, doc)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
					t.Fatalf("an attribute %s in\n%s", a.Name.Local, doc)
				}
			}
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Fatalf("%T in\n%s", e, doc)
		}
	}
}

var (
	dotString   = `"(?:[^"\\\n]|\\.)*"`
	dotLine     = regexp.MustCompile(`^  (?:"n\d+"(?: -> "n\d+")? \[ (?:[a-z]+=(?:` + dotString + `|1)(?:, )?)+ \]|[a-z]+=` + dotString + `);$`)
	mermaidLine = regexp.MustCompile(`^  (?:n\d+(?:\["([^"]*)"\]|\(\["([^"]*)"\]\))|n\d+ -->(?:\|"([^"]*)"\|)? n\d+)$`)
	mermaidCode = regexp.MustCompile(`#(\d+);`)
)

// hostile are texts that mean something to one of the languages.
var hostile = []string{
	"plain", "", `"];evil[label="`, `\`, `\"`, "a\nb", "<script>alert(1)</script>", "</text></svg>", "]]>", "<!--", "&lt;", "&#34;", "#quot;", "#34;",
	"`**x**`", "- list", "1. list", "12) x", " 1. list", " )", "subgraph", "end", "%%{init: {}}%%", "click n0 href \"javascript:alert(1)\"", "$$x$$", "a|b", "style n0:#f00;", "\x00\x1b[31m", "\u202egnp", "\ufffe",
	"日本語のとても長い名前はどこかで切らなければならない", strings.Repeat("x", 5000), "👩‍👩‍👧", "\xff", "]", "{}", "x:y", "--> n0",
}

// FuzzDrawings draws records with any texts. None of them may add a statement,
// end its quotes or become markup.
func FuzzDrawings(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, hostile[(i+1)%len(hostile)], hostile[(i+3)%len(hostile)], s)
	}
	f.Fuzz(func(t *testing.T, name, kind, value, field string) {
		sub := &graph.Subgraph{
			Nodes: []graph.Vertex{
				{ID: "a", Kind: "entity", Name: name, Type: kind, Fields: []graph.FieldText{{Name: field, Text: value}}},
				{ID: "b", Kind: "note", Name: value, Depth: 1},
			},
			Edges: []graph.Arc{{From: "a", To: "b", Field: field}, {From: "b", To: "a", Field: name}},
		}
		doc := graph.DrawSVG(sub, graph.SVGOptions{Title: name, Link: func(int) string { return "#" + field }})
		if got := readSVG(t, doc); got["text"] < 5 || got["rect"]-3 != got["text"]-5 || got["a"] != 2 {
			t.Fatalf("%v in\n%s", got, doc)
		}
		checkDOT(t, sub)
		checkMermaid(t, sub)
	})
}

func checkDOT(t *testing.T, sub *graph.Subgraph) {
	t.Helper()
	doc, err := graph.DrawDOT(sub)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(doc, "\n"), "\n")
	if len(lines) != 8 || lines[0] != "strict digraph {" || lines[7] != "}" {
		t.Fatalf("%d lines:\n%s", len(lines), doc)
	}
	for _, l := range lines[1:7] {
		if !dotLine.MatchString(l) || !utf8.ValidString(l) {
			t.Fatalf("%q", l)
		}
	}
}

func checkMermaid(t *testing.T, sub *graph.Subgraph) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(graph.DrawMermaid(sub), "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("%q", lines)
	}
	for _, l := range lines[1:] {
		m := mermaidLine.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("%q", l)
		}
		for _, part := range strings.Split(m[1]+m[2]+m[3], "<br>") {
			rest := mermaidCode.ReplaceAllString(part, "")
			if strings.ContainsAny(rest, "<>&#`*_~$%\\|[]{}") {
				t.Fatalf("%q", l)
			}
			if regexp.MustCompile(`^\s*(\d*[.)]|[-+])`).MatchString(rest) && rest == part {
				t.Fatalf("%q reads as a list", l)
			}
		}
	}
	if label := mermaidLine.FindStringSubmatch(lines[2])[2]; !strings.Contains(html.UnescapeString(mermaidCode.ReplaceAllString(label, "&#$1;")), head(sub.Nodes[1].Name)) {
		t.Fatalf("%q does not read as %q", label, sub.Nodes[1].Name)
	}
}

// head is the beginning of a text that every drawing shows as it is.
func head(s string) string {
	return regexp.MustCompile(`^[ -~]{0,10}`).FindString(s)
}

// TestDOT_GraphvizReadsIt gives all hostile texts to Graphviz, where there is one.
func TestDOT_GraphvizReadsIt(t *testing.T) {
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	sub := &graph.Subgraph{}
	for i, s := range hostile {
		sub.Nodes = append(sub.Nodes, graph.Vertex{ID: fmt.Sprint("e", i), Kind: "entity", Name: s, Type: s, Fields: []graph.FieldText{{Name: s, Text: s}}})
		sub.Edges = append(sub.Edges, graph.Arc{From: "e0", To: fmt.Sprint("e", i), Field: s})
	}
	doc, err := graph.DrawDOT(sub)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), dot, "-Tsvg")
	cmd.Stdin = strings.NewReader(doc)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if nodes, edges := strings.Count(string(out), `class="node"`), strings.Count(string(out), `class="edge"`); nodes != len(hostile) || edges != len(hostile) {
		t.Errorf("Graphviz reads %d nodes and %d edges of %d", nodes, edges, len(hostile))
	}
	if !strings.Contains(string(out), "&lt;script&gt;alert(1)&lt;/script&gt;") || !strings.Contains(string(out), "&amp;lt;") {
		t.Error("a text does not read as it was written")
	}
}

// TestCLI7_TheFewOfOneParentHaveOneEdge: what is left of a crowded layer, when it hangs from one
// node, has one edge to its frame, which crosses no other. Names are in natural order.
func TestCLI7_TheFewOfOneParentHaveOneEdge(t *testing.T) {
	sub := &graph.Subgraph{Nodes: []graph.Vertex{{ID: "hub", Kind: "entity", Name: "Hub", Type: "Team"}}}
	for i := range 12 {
		v := graph.Vertex{ID: fmt.Sprint("e", i), Kind: "entity", Name: fmt.Sprint("Meeting ", 12-i), Type: "Meeting", Depth: 1}
		if i >= 10 {
			v.Type = fmt.Sprint("Other ", i)
		}
		sub.Nodes = append(sub.Nodes, v)
		sub.Edges = append(sub.Edges, graph.Arc{From: "hub", To: v.ID, Field: "f"})
	}
	doc := graph.DrawSVG(sub, graph.SVGOptions{})
	frames, edges := len(areas(t, doc, "g-frame")), strings.Count(doc, `class="g-edge"`)
	if frames != 2 || edges != 2 {
		t.Errorf("%d frames, %d edges", frames, edges)
	}
	if nine, ten := strings.Index(doc, ">Meeting 9<"), strings.Index(doc, ">Meeting 10<"); nine < 0 || ten < nine {
		t.Errorf("at %d and %d", nine, ten)
	}
}
