package page_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/page"
	"github.com/ctxd/ctxd/cmd/ctxd/page/pagetest"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestSRCH53_ThePageOfProblems holds what files are called and say as text, and says what it leaves out.
func TestSRCH53_ThePageOfProblems(t *testing.T) {
	const hostile = "<script>alert(1)</script>\u202e\"'&{{.}} javascript:alert(1)"
	d := &page.ProblemsDocument{
		Page: &protocol.VaultProblemPage{
			Vault: hostile, Folder: "/" + hostile, Total: 3, Counts: map[record.ProblemKind]int{record.FileCopy: 1, record.LinkUnresolved: 2},
		},
		Found: []record.VaultProblem{
			{Kind: record.LinkUnresolved, Path: hostile + ".md", Line: 7, What: hostile, Fix: hostile},
			{Kind: record.FileCopy, Path: "a.md", What: "a copy", Fix: "delete it", Diff: "-" + hostile},
		},
		Remote: true, Made: start,
	}
	text, err := page.RenderProblems(d)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Harmless(t, text, "html head meta title style body a header div span h1 h2 ul ol li b nav main section p table thead tbody tr th td pre footer")
	for _, want := range []string{"Links without a target", ".md:7", "… and 1 more", "<pre>-&lt;script&gt;", "as a <b>remote</b> reader"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	d.Page.Counts, d.Found = nil, nil
	if text, err = page.RenderProblems(d); err != nil || !strings.Contains(text, "Nothing is wrong.") {
		t.Errorf("a page of no problems: %v", err)
	}
}
