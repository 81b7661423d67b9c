package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/notes/vault"
)

// DrawImport shows the counts of an import.
func DrawImport(s *term.Screen, indent string, r *vault.ImportResult) {
	head := term.Line{
		term.Text(indent), term.Styled(term.Strong, r.Vault),
		term.Styled(term.Faint, "  in "+term.Millis(float64(r.Ms))),
	}
	if r.DryRun {
		head = append(head, term.Styled(term.Warn, "  dry run: nothing was changed"))
	}
	s.Say(head...)
	t := &term.Table{Indent: len(indent) + 2, Right: []int{0}}
	add := func(n int, what, more string) {
		t.Row(term.Line{term.Styled(term.Strong, term.Number(n))},
			term.Line{term.Text(what), term.Styled(term.Faint, more)})
	}
	add(r.Notes, "notes", "  "+term.Number(r.Written)+" new or changed, "+term.Number(r.Removed)+" removed")
	more := ""
	if len(r.Inferred) > 0 {
		more = "  types made from frontmatter: " + strings.Join(r.Inferred, ", ")
	}
	add(r.Entities, "entities", more)
	add(r.Links, "links", "  "+term.Number(r.Unresolved)+" without a target")
	t.Draw(s)
}

// skippedShown is how many of the files that share a kind of reason are listed.
const skippedShown = 3

// DrawSkipped shows what an import left out by kind of reason, the most
// frequent first: the reasons begin with their kind and a colon. rest says what
// follows the number of those that are not listed; without it all are.
func DrawSkipped(s *term.Screen, indent string, skipped []vault.ImportSkip, rest string) {
	if len(skipped) == 0 {
		return
	}
	groups := make(map[string][]vault.ImportSkip)
	var order []string
	for _, sk := range skipped {
		kind, detail, _ := strings.Cut(sk.Reason, ": ")
		if groups[kind] == nil {
			order = append(order, kind)
		}
		groups[kind] = append(groups[kind], vault.ImportSkip{Path: sk.Path, Reason: detail})
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(len(groups[b]), len(groups[a])) })
	s.Say()
	s.Say(term.Text(indent), term.Styled(term.Strong, "Skipped, or read in part"))
	for _, kind := range order {
		list := groups[kind]
		s.Say(term.Text(indent+"  "), term.Styled(term.Warn, kind),
			term.Styled(term.Faint, "  "+term.Number(len(list))))
		shown := list
		if rest != "" {
			shown = list[:min(skippedShown, len(list))]
		}
		t := &term.Table{Indent: len(indent) + 4}
		for _, sk := range shown {
			t.Row(term.Line{term.Text(sk.Path)}, term.Line{term.Styled(term.Faint, sk.Reason)})
		}
		t.Draw(s)
		if n := len(list) - len(shown); n > 0 {
			s.Say(term.Styled(term.Faint, indent+"    "+term.Number(n)+rest))
		}
	}
}
