package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/graph"
)

func renderGraph(t *testing.T, sub *graph.Subgraph) string {
	t.Helper()
	doc, err := page.RenderGraph(sub, page.GraphOptions{Title: "Around <Hub>", Made: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// around is a hub with others that it links to or that refer to it.
func around(others int) *graph.Subgraph {
	sub := &graph.Subgraph{Nodes: []graph.Vertex{{ID: "hub", Kind: "note", Name: "Hub"}}}
	for i := range others {
		v := graph.Vertex{ID: fmt.Sprint("e", i), Kind: "entity", Name: fmt.Sprint("E ", i), Type: fmt.Sprint("T", i%2), Depth: 1}
		v.Fields = []graph.FieldText{{Name: "f", Text: "v"}}
		sub.Nodes = append(sub.Nodes, v)
		sub.Edges = append(sub.Edges, graph.Arc{From: v.ID, To: "hub", Field: "noteId"}, graph.Arc{From: "hub", To: v.ID, Field: graph.WikiLink})
	}
	return sub
}

// TestCLI7_PageHasEveryRecord: each node of the drawing leads to its record, which says what it
// hangs together with and where it is opened.
func TestCLI7_PageHasEveryRecord(t *testing.T) {
	doc := renderGraph(t, around(60))
	for i := range 61 {
		anchor := fmt.Sprintf(`record-%d"`, i)
		if strings.Count(doc, `<a href="#`+anchor+` class="g-node`) != 1 || strings.Count(doc, ` id="`+anchor) != 1 {
			t.Errorf("record %d is not there once", i)
		}
	}
	for _, want := range []string{
		`href="ctxd://note/hub"`, `href="ctxd://entity/e7"`, `data-kind="T1"`, `data-kind="note"`, `data-frame="`, "<dt>f</dt><dd>v</dd>",
		`<span class="faint">→</span> <a href="#record-8">E 7</a>`, `<span class="faint">noteId →</span> <a href="#record-0">Hub</a>`, "and 60 more",
		"61 records, 120 edges", "<title>Around &lt;Hub&gt;</title>",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(doc, ">link") {
		t.Error("a plain link is called one")
	}
	if doc := renderGraph(t, around(graph.MaxSVGNodes+4)); !strings.Contains(doc, "5 more, further away, are not shown") {
		t.Error("it does not say what is left out")
	}
	renderGraph(t, &graph.Subgraph{})
}

// TestCLI7_PageLoadsNothing: its own style and script are named by their hashes, and nothing
// else may run or be loaded. No text of a record becomes markup.
func TestCLI7_PageLoadsNothing(t *testing.T) {
	sub := around(3)
	for i := range sub.Nodes {
		v := &sub.Nodes[i]
		evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>'` + "\x1b\u202e"
		v.Name, v.Type, v.ID = evil, evil, fmt.Sprintf(`%d"><script>`, i)
		v.Fields = []graph.FieldText{{Name: evil, Text: evil}}
	}
	sub.Edges = []graph.Arc{{From: sub.Nodes[0].ID, To: sub.Nodes[1].ID, Field: `<script>x`}}
	doc := renderGraph(t, sub)
	if n := strings.Count(doc, "<script"); n != 1 || strings.Contains(doc, "<img") || strings.ContainsAny(doc, "\x1b\u202e") {
		t.Errorf("%d scripts", n)
	}
	policy := regexp.MustCompile(`content="(default-src 'none';[^"]+)"`).FindStringSubmatch(html.UnescapeString(doc))
	if policy == nil {
		t.Fatal("there is no policy")
	}
	for _, element := range []string{"style", "script"} {
		text := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindStringSubmatch(doc)[1]
		sum := sha256.Sum256([]byte(text))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy[1], want) {
			t.Errorf("%s is not in %s", want, policy[1])
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:href|src)="([^"]*)"`).FindAllStringSubmatch(doc, -1) {
		if !strings.HasPrefix(m[1], "#record-") && !strings.HasPrefix(m[1], "ctxd://") {
			t.Errorf("it leads to %s", m[1])
		}
	}
}
