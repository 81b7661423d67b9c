package draw_test

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
	"github.com/ctxd/ctxd/graph/draw"
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
  "n2" -> "n0" [ label="back", weight=1 ];
}
`
	for range 5 { // the library goes by the order of a map
		if got, err := draw.DOT(sample()); got != want || err != nil {
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
  n2 -->|"back"| n0
`
	if got := draw.Mermaid(sample()); got != want {
		t.Errorf("%s", got)
	}
}

func TestSVG_IsWholeAndNeedsNothingElse(t *testing.T) {
	doc := draw.SVG(sample(), draw.SVGOptions{Title: "A & B"})
	elements := readSVG(t, doc)
	if n := elements["rect"]; n != 4 { // the paper and three boxes
		t.Errorf("%d boxes", n)
	}
	if n := elements["path"]; n != 5 { // the tip and four edges
		t.Errorf("%d curves", n)
	}
	for _, want := range []string{"prefers-color-scheme:dark", "<title>A &amp; B</title>", ">one, many</text>", "g:</tspan> x</text>", "A &#34;quoted&#34; \\ name #1"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
	if bad := regexp.MustCompile(`(?:url\(|href=|src=|@import)[^#]`).FindString(strings.ReplaceAll(doc, "url(#g-tip)", "")); bad != "" {
		t.Errorf("it asks for %s", bad)
	}
	inline := draw.SVG(sample(), draw.SVGOptions{Inline: true, Depths: true, Link: func(n int) string { return fmt.Sprintf("#x%d", n) }})
	elements = readSVG(t, inline)
	if elements["style"] != 0 || elements["a"] != 3 || !strings.Contains(inline, `<a href="#x2" class="g-node g-entity" id="g-node-2"`) || !strings.Contains(inline, ">depth 1<") {
		t.Errorf("inline: %v\n%s", elements, inline)
	}
	readSVG(t, draw.SVG(&graph.Subgraph{}, draw.SVGOptions{}))
}

// TestSVG_ManyNodes draws the nearest nodes and says how many more there are;
// no two boxes of a column overlap.
func TestSVG_ManyNodes(t *testing.T) {
	sub := &graph.Subgraph{}
	for i := range draw.MaxDrawn + 7 {
		sub.Nodes = append(sub.Nodes, graph.Vertex{ID: fmt.Sprint("e", i), Kind: "entity", Name: fmt.Sprint("E ", i), Depth: min(i, 1+i/150)})
		if i > 0 {
			sub.Edges = append(sub.Edges, graph.Arc{From: fmt.Sprint("e", i*7%i), To: fmt.Sprint("e", i), Field: "f"})
		}
	}
	doc := draw.SVG(sub, draw.SVGOptions{})
	readSVG(t, doc)
	if !strings.Contains(doc, "… and 7 more") || strings.Contains(doc, fmt.Sprint(">E ", draw.MaxDrawn, "<")) {
		t.Error("too many are drawn, or none is said to be missing")
	}
	type box struct{ y, height float64 }
	columns := make(map[string][]box)
	for _, m := range regexp.MustCompile(`class="g-box" x="([^"]+)" y="([^"]+)" width="[^"]+" height="([^"]+)"`).FindAllStringSubmatch(doc, -1) {
		var b box
		if _, err := fmt.Sscan(m[2], &b.y); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(m[3], &b.height); err != nil {
			t.Fatal(err)
		}
		columns[m[1]] = append(columns[m[1]], b)
	}
	if len(columns) != 4 {
		t.Errorf("%d columns for four depths", len(columns))
	}
	for x, list := range columns {
		slices.SortFunc(list, func(a, b box) int { return int(a.y - b.y) })
		for i := 1; i < len(list); i++ {
			if list[i-1].y+list[i-1].height > list[i].y {
				t.Fatalf("boxes at %s overlap: %v, %v", x, list[i-1], list[i])
			}
		}
	}
}

// readSVG reads a drawing with a strict parser and counts its elements. Only
// those that drawings are made of may be there, and no attribute that a browser
// runs.
func readSVG(t *testing.T, doc string) map[string]int {
	t.Helper()
	known := []string{"svg", "title", "style", "rect", "defs", "marker", "path", "g", "a", "text", "tspan"}
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
	mermaidLine = regexp.MustCompile(`^  (?:n\d+(?:\["([^"]*)"\]|\(\["([^"]*)"\]\))|n\d+ -->\|"([^"]*)"\| n\d+)$`)
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
		doc := draw.SVG(sub, draw.SVGOptions{Title: name, Link: func(int) string { return "#" + field }})
		if got := readSVG(t, doc); got["text"] < 5 || got["rect"] != 3 || got["a"] != 2 {
			t.Fatalf("%v in\n%s", got, doc)
		}
		checkDOT(t, sub)
		checkMermaid(t, sub)
	})
}

func checkDOT(t *testing.T, sub *graph.Subgraph) {
	t.Helper()
	doc, err := draw.DOT(sub)
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
	lines := strings.Split(strings.TrimSuffix(draw.Mermaid(sub), "\n"), "\n")
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
	doc, err := draw.DOT(sub)
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
