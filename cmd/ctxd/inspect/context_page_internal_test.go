package inspect

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	pages "github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
)

// pageTexts mean something to HTML, a script, a style or a template.
var pageTexts = []string{
	"</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onmouseover='alert(1)", "javascript:alert(1)", "</style><style>*{display:none}",
	"{{.}} {{template \"x\"}}", "<!-- -->", "]]>", "</pre></article>", "&lt;b&gt; &amp;", "<a href=https://example.org>x</a>", "\u202egnp.exe", "\x00\x07", "日本語 👩‍👩‍👧",
	"@import url(https://example.org)", "`${alert(1)}`", "<svg onload=alert(1)>", "plain",
}

// hostilePrompt is a prompt of so many entities in which every text is hostile.
func hostilePrompt(entities int) *prompt.Result {
	pick := func(i int) string { return pageTexts[i%len(pageTexts)] }
	res := &prompt.Result{}
	var b strings.Builder
	at := func() int { return len(utf16.Encode([]rune(b.String()))) }
	open := func(name, head string) {
		res.Sections = append(res.Sections, prompt.Section{Name: name, Start: at()})
		res.Report.Sections = append(res.Report.Sections, prompt.SectionReport{Name: name, Budget: 12000})
		b.WriteString(head)
	}
	add := func(it prompt.Item, body string) {
		it.Start = at()
		b.WriteString(body)
		it.End, it.Chars = at(), len([]rune(body))
		section := &res.Report.Sections[len(res.Report.Sections)-1]
		section.Items, section.Chars = append(section.Items, it), section.Chars+it.Chars
	}
	b.WriteString("before\n")
	open(prompt.SectionPinned, "## Notes pinned by user\n")
	for i := range pageTexts {
		add(prompt.Item{Kind: prompt.KindNote, ID: fmt.Sprint("n", i), Title: pick(i), Vault: pick(i), Reason: pick(i + 1)}, "\n### [["+pick(i)+"]] [id:n]\n"+pick(i)+"\n---\n")
	}
	res.Sections[0].End = at()
	if entities > 0 {
		b.WriteString("\n")
		open(prompt.SectionEntities, "## Entity context\n")
	}
	for i := range entities {
		it := prompt.Item{Kind: prompt.KindEntity, ID: fmt.Sprint("e", i), Title: pick(i), Reason: pick(i), Depth: min(i, 2), Distilled: i%3 == 1}
		if i%3 == 0 {
			it.Cut = &prompt.Extent{Kept: i, Of: i + 1, Unit: prompt.Lines}
		}
		if i > 0 {
			it.Via = []prompt.Edge{{From: fmt.Sprint("e", i/2), Field: pick(i + 2)}, {From: it.ID, Field: "self"}, {From: pick(i), Field: "f"}}
		}
		add(it, "\n### @"+pick(i)+" (T) [id:e]  ← via\n  "+"field: "+pick(i+4)+"\n  team: @"+pick(i)+" [id:e0]\n")
	}
	res.Sections[len(res.Sections)-1].End = at()
	b.WriteString("\nafter\n\n")
	for i, s := range pageTexts {
		res.Report.Dropped = append(res.Report.Dropped, prompt.Dropped{
			Kind: prompt.KindNote, ID: fmt.Sprint("d", i), Title: s, Reason: append([]prompt.Reason{"later"}, prompt.Ambiguous, prompt.OverBudget, prompt.Private)[i%4],
			Candidates: []prompt.Candidate{{ID: s, Title: s, Type: s, Path: s}},
		})
		res.Report.QueryErrors = append(res.Report.QueryErrors, prompt.QueryError{Entity: fmt.Sprint("e", i), Field: s, Message: s})
		res.Report.Stages = append(res.Report.Stages, prompt.Stage{Name: s, Ms: float64(i), Skipped: i%2 == 0, Why: s})
	}
	res.System = b.String()
	res.Report.Chars, res.Report.Budget, res.Report.Hash = len([]rune(res.System)), 64000, strings.Repeat("ab", 32)
	return res
}

// pageElements reads a page as a browser does and checks what no text may bring
// about. It returns the elements by their names.
func pageElements(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, page string,
) map[string][]*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatalf("%v", err)
	}
	known := strings.Fields("html head meta title style body a header div span form label input kbd output button h1 h2 h3 ul ol li b nav svg rect defs marker path g text tspan main section p pre article code dl dt dd table thead tbody tr th td footer script")
	elements, ids := make(map[string][]*html.Node), make(map[string]bool)
	var links []string
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Fatalf("a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		elements[n.Data] = append(elements[n.Data], n)
		if !slices.Contains(known, n.Data) {
			t.Fatalf("an element %q", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "action", a.Key == "formaction", a.Key == "srcdoc":
				t.Fatalf("an attribute %s of %s", a.Key, n.Data)
			case a.Key == "href":
				links = append(links, a.Val)
			case a.Key == "id":
				if ids[a.Val] {
					t.Fatalf("two elements are called %s", a.Val)
				}
				ids[a.Val] = true
			}
		}
	}
	for _, link := range links {
		if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
			t.Fatalf("a link to %q, which is nowhere in the page", link)
		}
	}
	return elements
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// shownPrompt is the prompt as the page shows it.
func shownPrompt(elements map[string][]*html.Node) string {
	var b strings.Builder
	for _, n := range elements["pre"] {
		if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "data-text" }) { // what the script copies
			b.WriteString(textOf(n))
		}
	}
	return b.String()
}

// TestCTX32_PageHoldsHostileTextsAsText gives the page texts that would be
// script, style, links or structure.
func TestCTX32_PageHoldsHostileTextsAsText(t *testing.T) {
	for _, entities := range []int{0, 1, 40} {
		for _, message := range append(pageTexts, "") {
			res := hostilePrompt(entities)
			page, err := (&contextDocument{message: message, audience: "remote", made: time.Now(), result: res}).page()
			if err != nil {
				t.Fatal(err)
			}
			elements := pageElements(t, page)
			if len(elements["script"]) != 1 || len(elements["style"]) != 1 || textOf(elements["script"][0]) != pages.CanvasScript+pageJS {
				t.Fatalf("%d scripts, %d styles", len(elements["script"]), len(elements["style"]))
			}
			policy := attribute(elements["meta"][1], "content")
			for kind, text := range map[string]string{"script": textOf(elements["script"][0]), "style": textOf(elements["style"][0])} {
				if want := kind + "-src '" + pages.Hash(text) + "'"; !strings.Contains(policy, want) {
					t.Errorf("the policy %s does not allow the page's own %s %x", policy, kind, sha256.Sum256([]byte(text)))
				}
			}
			if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy %s", policy)
			}
			if got, want := shownPrompt(elements), term.CleanLines(res.System); got != want {
				t.Fatalf("the page shows another prompt:\n%q\n%q", got, want)
			}
			if got := textOf(elements["h1"][0]); message != "" && got != term.CleanLines(message) {
				t.Errorf("message %q", got)
			}
			if n := len(elements["article"]); n != len(pageTexts)+entities {
				t.Errorf("%d blocks", n)
			}
			for i, article := range elements["article"][:len(pageTexts)] {
				if vault := term.Clean(pageTexts[i]); entities == 0 && vault != "" && !strings.Contains(textOf(article), " vault "+vault+"\n") {
					t.Errorf("no vault %q in %q", vault, textOf(article))
				}
			}
			nodes := entities
			if entities == 0 { // the notes
				nodes = len(pageTexts)
			}
			if drawn := strings.Count(page, `class="g-box"`); drawn != nodes {
				t.Errorf("%d nodes of %d", drawn, nodes)
			}
		}
	}
}

// TestCTX32_PageDrawsNotesAndTheirLinks makes the page of a prompt of notes alone.
func TestCTX32_PageDrawsNotesAndTheirLinks(t *testing.T) {
	res := &prompt.Result{}
	res.Report.Sections = []prompt.SectionReport{{Name: "pinned"}}
	for i, text := range []string{"\n### [[One]] [id:n0]\nsee [[two|that]] and [[Folder/Three#Part]]\n", "\n### [[Two]] [id:n1]\n[[Missing]]\n", "\n### [[Three]] [id:n2]\n"} {
		from := len(res.System)
		res.System += text
		res.Report.Sections[0].Items = append(res.Report.Sections[0].Items, prompt.Item{
			Kind: prompt.KindNote, ID: fmt.Sprint("n", i), Title: []string{"One", "Two", "Three"}[i], Start: from, End: len(res.System),
		})
	}
	res.Sections = []prompt.Section{{Name: "pinned", End: len(res.System)}}
	page, err := (&contextDocument{audience: "local", result: res}).page()
	if err != nil {
		t.Fatal(err)
	}
	pageElements(t, page)
	for _, want := range []string{`data-edge="0 1"`, `data-edge="0 2"`, `<a href="#item-0-1" class="g-node g-note"`, ">How the notes are linked<"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("no %s, or more than one", want)
		}
	}
	if n := strings.Count(page, `class="g-edge"`); n != 2 {
		t.Errorf("%d edges", n)
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// TestCTX32_PageOfAnyTexts makes pages of any texts and any ranges, which a
// daemon of another version may send.
func TestCTX32_PageOfAnyTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		res := &prompt.Result{System: rapid.String().Draw(t, "system")}
		where := rapid.IntRange(-3, 40)
		for _, name := range []string{"a", "b"} {
			res.Sections = append(res.Sections, prompt.Section{Name: name, Start: where.Draw(t, "start"), End: where.Draw(t, "end")})
			s := prompt.SectionReport{Name: name, Chars: where.Draw(t, "chars"), Budget: where.Draw(t, "budget")}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				s.Items = append(s.Items, prompt.Item{
					Kind: rapid.SampledFrom([]string{prompt.KindEntity, prompt.KindNote}).Draw(t, "kind"), ID: rapid.String().Draw(t, "id"),
					Title: rapid.String().Draw(t, "title"), Start: where.Draw(t, "from"), End: where.Draw(t, "to"), Depth: rapid.IntRange(0, 4).Draw(t, "depth"),
					Via: []prompt.Edge{{From: rapid.String().Draw(t, "via"), Field: rapid.String().Draw(t, "field")}},
				})
			}
			res.Report.Sections = append(res.Report.Sections, s)
		}
		page, err := (&contextDocument{message: rapid.String().Draw(t, "message"), audience: "local", result: res}).page()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shownPrompt(pageElements(t, page)), term.CleanLines(res.System); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// TestCTX32_PageSaysAllOfTheReport looks for every part of a report.
func TestCTX32_PageSaysAllOfTheReport(t *testing.T) {
	res := hostilePrompt(3)
	page, err := (&contextDocument{message: "m", audience: "remote", made: time.Now(), result: res}).page()
	if err != nil {
		t.Fatal(err)
	}
	all := textOf(pageElements(t, page)["body"][0])
	for _, want := range []string{
		res.Report.Hash, "for a remote model", "3 entities", "18 notes", "18 items left out", "18 fields failed", "/ 64,000", "/ 12,000",
		"later", "ambiguous", "skipped: <svg onload=alert(1)>", "depth 2", "via @", "javascript:alert(1)", "17 ms",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, s := range pageTexts {
		if n := strings.Count(all, term.Clean(s)); n < 4 { // block, dropped, candidate, failure
			t.Errorf("%q is there %d times", s, n)
		}
	}
}

func TestReadBlock(t *testing.T) {
	want := "Person [{role Lead} {team @Core [x]} {note [[A]]} {tags a, b} {gone (deleted)} {all @A, @B (+9 more)}]"
	for _, block := range []string{
		"### @Al (Person) [id:a1]  ← directly mentioned\n  role: Lead\n  team: @Core \\[x\\] [id:c]\n  note: [[A]] [id:n]\n  tags: a, b\n  gone: (deleted)\n  all: @A [id:a], @B [id:b] (+9 more)\n",
		`<entity id="a1" name="Al" type="Person" why="w"><field name="role">Lead</field><field name="team"><ref entity="c">Core [x]</ref></field><field name="note"><ref note="n">A</ref></field>` +
			`<field name="tags"><item>a</item><item>b</item></field><field name="gone"><ref state="deleted"/></field><field name="all"><ref entity="a">A</ref><ref entity="b">B</ref><more count="9"/></field></entity>`,
	} {
		b := readBlock(block)
		if got := fmt.Sprint(b.typeName, " ", b.fields); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if b := readBlock("<entity "); b.typeName != "" || b.fields != nil {
		t.Errorf("half a block: %v", b)
	}
}
