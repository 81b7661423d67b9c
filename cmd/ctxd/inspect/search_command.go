package inspect

// This file and search_*.go are ctxd search and ctxd similar: hits with their marked snippets, what counted for each
// (search_signals.go), and what to try when nothing is found. Commands that list notes by how near they are to
// something belong here, as does the drawing of their hits, which ctxd demo shares.

import (
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// SearchCommand is ctxd search.
type SearchCommand struct {
	Query   []string       `arg:"" optional:"" help:"Words to look for; see below for phrases and filters. Without words, the notes that the filters let through are listed, the last changed first."`
	Mode    string         `short:"m" enum:"hybrid,lexical,semantic" default:"hybrid" placeholder:"MODE" help:"How to search: lexical (by words), semantic (by meaning) or hybrid (both). Default: hybrid."`
	Limit   term.CountFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Maximum number of hits, 1 to 100. Default: 10."`
	Explain bool           `short:"e" help:"Show how each hit got its score."`

	SearchFilters
	connect.Audience
}

// SearchFilters are the flags that narrow a search.
type SearchFilters struct {
	Tag      []string `placeholder:"TAG" help:"Only notes with this tag. May be repeated; a note must have all of them."`
	Folder   string   `placeholder:"FOLDER" help:"Only notes in this folder or below it."`
	Type     []string `placeholder:"TYPE" help:"Only notes that describe an entity of this type. May be repeated; any of them will do."`
	Vault    []string `placeholder:"VAULT" help:"Only notes in this vault. May be repeated; any of them will do."`
	After    string   `placeholder:"DATE" help:"Notes changed on this date or later: today, yesterday, 7d or 2w ago, 2026-01 or 2026-01-31."`
	Before   string   `placeholder:"DATE" help:"Notes changed before this date."`
	Archived bool     `help:"Include archived notes."`
}

// Filter returns the filter as the protocol has it.
func (f *SearchFilters) Filter() protocol.SearchFilter {
	return protocol.SearchFilter{
		Tags: f.Tag, Folder: f.Folder, Types: f.Type, Vaults: f.Vault, After: f.After, Before: f.Before,
		Archived: f.Archived,
	}
}

func (f *SearchFilters) any() bool {
	return len(f.Tag)+len(f.Type)+len(f.Vault) > 0 || f.Folder != "" || f.After != "" || f.Before != ""
}

// operators are the filters of a query, as they are written.
func operators() string {
	return strings.Join(append((*notedoc.Source)(nil).Filters(), "before"), ":, ") + ": and after:"
}

// Help is what --help says of the command.
func (SearchCommand) Help() string {
	return "Finds notes by their words, in any of their forms, and by their meaning, and behind them what attachments and books say " +
		"(as ctxd books search does, which has them with --json). The last word may be unfinished. " +
		"In the query, \"quoted words\" must stand together, -word leaves out notes that have it, and " + operators() + " narrow, as in: " +
		"ctxd search '\"load cell\" -roof tag:work after:7d'. " +
		"A property in the frontmatter of any note is a filter as well, as in: ctxd search 'status:\"in progress\"'. " +
		"conflict: finds the notes with copies that a synchroniser left, conflict:alice those of that name. " +
		"Dates are today, yesterday, 7d or 2w ago, 2026-01 or 2026-01-31. A filter that does not exist is reported."
}

// Examples are those of --help.
func (SearchCommand) Examples() []term.Example {
	return []term.Example{
		{"ctxd search load cells", "notes about both words"},
		{"ctxd search how heavy is the bridge --mode semantic", "by meaning only"},
		{"ctxd search kickoff --tag meetings --limit 3", "with a filter"},
		{"ctxd search tag:meetings after:7d", "no words: by last change"},
		{"ctxd search conflict:", "notes with copies that a synchroniser left"},
		{`ctxd search 'status:"in progress" bridge'`, "a property as a filter"},
		{"ctxd search bridge --vault Work --after yesterday", "one vault, and lately"},
		{"ctxd search kickoff --explain", "with the parts of each score"},
		{"ctxd search kickoff --audience remote", "what a model on another machine would find"},
		{"ctxd search kickoff --json | jq -r '.hits[].path'", "for scripts"},
	}
}

// Run runs the command.
func (c *SearchCommand) Run(a *SearchOptions) error {
	query := strings.Join(c.Query, " ")
	if strings.TrimSpace(query) == "" && !c.any() {
		return term.Misuse("the query is empty", "ctxd search load cells")
	}
	params := protocol.NoteSearch{
		Query: query, Mode: c.Mode, Limit: int(c.Limit), Filter: c.Filter(),
		Explain: c.Explain || !a.JSON, // how the query was read is told when nothing is found
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		var res protocol.SearchResult
		if err := cl.Call(a.Ctx, "notes.search", params, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(res)
		}
		DrawProblems(a.Out, "", &res)
		if len(res.Hits) == 0 && connect.Empty(a.Ctx, cl) {
			connect.DrawNone(a.Ctx, cl, a.Out, "nothing found")
			return nil
		}
		DrawCorrected(a.Out, query, &res)
		DrawHits(a.Out, "", &res, c.Explain)
		if !c.drawPassages(a, cl, query) && len(res.Hits) == 0 {
			c.drawAdvice(a.Out, &res)
		}
		return nil
	})
}

// passagesShown is how many passages of files and books stand behind the notes.
const passagesShown = 3

// drawPassages shows what of attachments and books is about a query without filters, and reports whether there is anything.
func (c *SearchCommand) drawPassages(a *SearchOptions, cl *client.Client, query string) bool {
	if c.any() || strings.TrimSpace(query) == "" {
		return false
	}
	var found protocol.BooksFound
	err := cl.Call(a.Ctx, "books.search", protocol.BooksSearch{Query: query, Limit: passagesShown}, &found)
	if err != nil || len(found.Hits) == 0 || found.Confidence == search.Low { // they may be switched off
		return false
	}
	a.Out.Say()
	a.Out.Say(term.Styled(term.Faint, "Files and books"))
	for i := range found.Hits {
		h := &found.Hits[i]
		a.Out.Say(term.Text("  "), term.Styled(term.Strong, h.Passage.Cite))
		for _, l := range term.WrapSpans(term.Mark(h.Passage.Text, h.Ranges), a.Out.Columns()-4) {
			a.Out.Say(append(term.Line{term.Text("    ")}, l...)...)
		}
	}
	return true
}

// DrawHits shows hits with what matched marked in their snippets.
func DrawHits(s *term.Screen, indent string, res *protocol.SearchResult, explain bool) {
	if len(res.Hits) == 0 {
		s.Say(term.Styled(term.Faint, indent+nothingFound(res)))
	}
	for _, h := range res.Hits {
		s.Say(term.Text(indent), term.Styled(term.Strong, h.Title),
			term.Styled(term.Faint, "  "+place(&h, res.Hits)+byMeaning(res, &h)))
		for _, l := range term.WrapSpans(term.Mark(h.Snippet, h.Ranges), s.Columns()-len(indent)-2) {
			s.Say(append(term.Line{term.Text(indent + "  ")}, l...)...)
		}
		if explain {
			DrawSignals(s, indent+"  ", "note", &h)
		}
	}
	if len(res.Hits) > 0 && (res.Confidence == search.Low || explain) {
		DrawConfidence(s, indent, res.Confidence, res.Reason)
	}
	DrawDegraded(s, indent, res)
}

// DrawConfidence says how sure a search is that its hits answer, if that is known.
func DrawConfidence(s *term.Screen, indent, confidence, reason string) {
	if confidence != "" {
		s.Say(term.Styled(term.Faint, indent+"confidence "+confidence+": "+term.Clean(reason)))
	}
}

// nothingFound says that nothing was found, and why.
func nothingFound(res *protocol.SearchResult) string {
	if res.Nothing == nil {
		return "nothing found"
	}
	return "nothing found: " + res.Nothing.Why
}

// byMeaning marks a hit of a hybrid search that its meaning alone found.
func byMeaning(res *protocol.SearchResult, h *protocol.SearchHit) string {
	if res.Mode != "hybrid" || h.By != "meaning" {
		return ""
	}
	return "  (by meaning)"
}

// DrawCorrected says what was looked for in place of words that no note has.
func DrawCorrected(s *term.Screen, query string, res *protocol.SearchResult) {
	if len(res.Corrected) == 0 || len(res.Hits) == 0 {
		return
	}
	words := strings.Fields(query)
	for i, w := range words {
		if better, ok := res.Corrected[strings.ToLower(strings.Trim(w, ".,;:!?"))]; ok {
			words[i] = better
		}
	}
	s.Say(term.Styled(term.Warn, "! "), term.Text("showing results for "+strings.Join(words, " ")))
}

// place says where a hit lies; its id, where another hit with its title lies there, too.
func place(h *protocol.SearchHit, among []protocol.SearchHit) string {
	at := connect.Place(h.Vault, h.Path)
	for i := range among {
		other := &among[i]
		if other.ID != h.ID && other.Title == h.Title && other.Vault == h.Vault && other.Path == h.Path {
			return strings.TrimSpace(at + "  " + h.ID)
		}
	}
	return at
}

// DrawProblems says what of the query may have been meant in another way.
func DrawProblems(s *term.Screen, indent string, res *protocol.SearchResult) {
	if res.Understood == nil {
		return
	}
	for _, p := range res.Understood.Problems {
		text := quotedWord(p.Text) + ": " + p.Message
		if p.Nearest != "" {
			text += "; did you mean " + p.Nearest + "?"
		}
		drawWarning(s, indent, text)
	}
}

// drawWarning shows a sentence behind a mark.
func drawWarning(s *term.Screen, indent, text string) {
	for i, l := range term.Wrap(term.Clean(text), s.Columns()-len(indent)-2) {
		sign := term.Styled(term.Warn, "! ")
		if i > 0 {
			sign = term.Text("  ")
		}
		s.Say(term.Text(indent), sign, term.Text(l))
	}
}

// DrawDegraded says what could not take part.
func DrawDegraded(s *term.Screen, indent string, res *protocol.SearchResult) {
	if res.Degraded == nil {
		return
	}
	what := map[string]string{"semantic": "not searched by meaning: ", "lexical": "some notes may be missing: "}[res.Degraded.Stage]
	drawWarning(s, indent, what+res.Degraded.Why)
}

// drawAdvice says why nothing may have been found, and what may help.
func (c *SearchCommand) drawAdvice(s *term.Screen, res *protocol.SearchResult) {
	u := res.Understood
	if u == nil {
		u = &protocol.SearchUnderstood{}
	}
	var missing []string
	for _, w := range u.Words {
		if w.Notes == 0 {
			missing = append(missing, quotedWord(w.Word))
		}
	}
	var advice []string
	switch {
	case c.Mode == "semantic":
		advice = append(advice, "no note is similar enough in meaning; --mode hybrid also searches for the words")
	case len(missing) > 0 && len(missing) == len(u.Words):
		advice = append(advice, "no note has "+listed(missing, "or"))
	case len(u.Phrases) > 0:
		advice = append(advice, "words in quotes must be next to each other in a note; try without the quotes")
	}
	switch {
	case c.any() || len(u.Filters) > 0:
		advice = append(advice, "try without the filters")
	case len(u.Without) > 0:
		advice = append(advice, "a minus excludes notes; leave out "+listed(u.Without, "and"))
	case !c.Archived:
		advice = append(advice, "--archived includes archived notes")
	}
	if res.Mode == "lexical" && res.Degraded == nil && len(u.Words) > 0 {
		advice = append(advice, "--mode hybrid also searches by meaning")
	}
	for _, l := range advice {
		s.Say(term.Styled(term.Faint, "  · "), term.Text(l))
	}
}

// quotedWord puts a word between quotation marks.
func quotedWord(w string) string { return fmt.Sprintf("“%s”", w) }

// listed writes words as people do: a, b or c.
func listed(words []string, joint string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + joint + " " + words[n-1]
}
