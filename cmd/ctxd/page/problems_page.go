package page

// This file writes the page of ctxd vault problems --html: what is wrong in a vault, by kind, each with its file, its line and
// what mends it. The page runs no script; texts of a person are escaped by the template. [RenderProblems] takes O(problems).

import (
	_ "embed"
	"html/template"
	"path"
	"strconv"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

//go:embed problems.html
var problemsHTML string

// ProblemsDocument is what the page tells of.
type ProblemsDocument struct {
	Page   *protocol.VaultProblemPage // with its counts
	Found  []record.VaultProblem      // those that are shown, by kind
	Remote bool
	Made   time.Time
}

type problemsData struct {
	Policy        string
	Style         template.HTML
	Vault, Folder string
	Total         string
	Remote        bool
	Kinds         []problemKind
	Made, Program string
}

type problemKind struct {
	Anchor, Title, Count string
	More                 string // how many are not shown; "" for none
	Problems             []problemShown
}

type problemShown struct{ Place, What, Fix, Diff string }

// RenderProblems returns the page.
func RenderProblems(d *ProblemsDocument) (string, error) {
	return Execute("problems", problemsHTML, d.data())
}

func (d *ProblemsDocument) data() *problemsData {
	style := Style + listStyle
	p := &problemsData{
		Policy: "default-src 'none'; style-src '" + Hash(style) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.HTML("<style>" + style + "</style>"),
		Vault:  Visible(d.Page.Vault), Folder: Visible(d.Page.Folder), Total: term.Count(d.Page.Total, "problem"), Remote: d.Remote,
		Made: term.Day(d.Made), Program: term.ProgramName(),
	}
	for _, k := range record.ProblemKinds {
		kind := problemKind{Anchor: string(k.Kind), Title: k.Title, Count: term.Number(d.Page.Counts[k.Kind])}
		for i := range d.Found {
			if d.Found[i].Kind == k.Kind {
				kind.Problems = append(kind.Problems, shownProblem(&d.Found[i]))
			}
		}
		if left := d.Page.Counts[k.Kind] - len(kind.Problems); left > 0 {
			kind.More = term.Number(left)
		}
		if len(kind.Problems) > 0 {
			p.Kinds = append(p.Kinds, kind)
		}
	}
	return p
}

func shownProblem(p *record.VaultProblem) problemShown {
	place := path.Clean(p.Path)
	if p.Line > 0 {
		place += ":" + strconv.Itoa(p.Line)
	}
	return problemShown{Visible(place), Visible(p.What), Visible(p.Fix), Visible(p.Diff)}
}
