package main

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type searchCmd struct {
	Query   []string  `arg:"" help:"Words to look for; see below for phrases and filters."`
	Mode    string    `short:"m" enum:"hybrid,lexical,semantic" default:"hybrid" placeholder:"MODE" help:"How to look: lexical by words, semantic by meaning, hybrid by both. Default: hybrid."`
	Limit   countFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Hits at most, 1 to 100. Default: 10."`
	Explain bool      `short:"e" help:"Say of each hit what counted."`

	searchFilters
}

// searchFilters are the flags that narrow a search.
type searchFilters struct {
	Tag      []string `placeholder:"TAG" help:"Notes with this tag only. May be repeated: all must be there."`
	Folder   string   `placeholder:"FOLDER" help:"Notes in this folder only, or in one below it."`
	Type     []string `placeholder:"TYPE" help:"Notes that an entity of this type was made from. May be repeated: any of them."`
	After    string   `placeholder:"DATE" help:"Notes changed on this date or later, such as 2026-01-31."`
	Before   string   `placeholder:"DATE" help:"Notes changed before this date."`
	Archived bool     `help:"Archived notes too."`
}

func (f *searchFilters) filter() protocol.SearchFilter {
	return protocol.SearchFilter{Tags: f.Tag, Folder: f.Folder, Types: f.Type, After: f.After, Before: f.Before, Archived: f.Archived}
}

func (f *searchFilters) any() bool {
	return len(f.Tag)+len(f.Type) > 0 || f.Folder != "" || f.After != "" || f.Before != ""
}

func (searchCmd) Help() string {
	return "Finds notes by their words, in any of their forms, and by their meaning. The last word may be unfinished. " +
		"In the query, \"quoted words\" must stand together, -word must not be there, and tag:, path:, type:, before: and after: narrow, as in: " +
		"ctxd search '\"load cell\" -roof tag:work after:2026-01'."
}

func (searchCmd) Examples() []example {
	return []example{
		{"ctxd search load cells", "notes about both words"},
		{"ctxd search how heavy is the bridge --mode semantic", "by meaning alone"},
		{"ctxd search kickoff --tag meetings --limit 3", "narrowed"},
		{"ctxd search kickoff --explain", "with what counted"},
		{"ctxd search kickoff --json | jq -r '.hits[].path'", "for scripts"},
	}
}

func (c *searchCmd) Run(a *app) error {
	query := strings.Join(c.Query, " ")
	if strings.TrimSpace(query) == "" {
		return &usageError{"there is nothing to look for", "ctxd search load cells"}
	}
	params := protocol.NoteSearch{
		Query: query, Mode: c.Mode, Limit: int(c.Limit), Filter: c.filter(),
		Explain: c.Explain || !a.JSON, // how the query was read is told when nothing is found
	}
	return a.with(func(cl *client.Client) error {
		var res protocol.SearchResult
		if err := cl.Call(a.ctx, "notes.search", params, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(res)
		}
		drawHits(a.out, "", &res, c.Explain)
		if len(res.Hits) == 0 {
			c.drawAdvice(a.out, &res)
		}
		return nil
	})
}

// drawHits shows hits with what matched marked in their snippets.
func drawHits(s *screen, indent string, res *protocol.SearchResult, explain bool) {
	if len(res.Hits) == 0 {
		s.say(styled(faint, indent+"nothing found"))
	}
	for _, h := range res.Hits {
		s.say(text(indent), styled(strong, h.Title), styled(faint, "  "+h.Path))
		for _, l := range wrapSpans(mark(h.Snippet, h.Ranges), s.columns()-len(indent)-2) {
			s.say(append(line{text(indent + "  ")}, l...)...)
		}
		if explain {
			drawSignals(s, indent+"  ", &h)
		}
	}
	drawDegraded(s, indent, res)
}

// drawDegraded says what could not take part.
func drawDegraded(s *screen, indent string, res *protocol.SearchResult) {
	if res.Degraded == nil {
		return
	}
	what := map[string]string{"semantic": "not searched by meaning: ", "lexical": "some notes may be missing: "}[res.Degraded.Stage]
	for i, l := range wrap(clean(what+res.Degraded.Why), s.columns()-len(indent)-2) {
		sign := styled(warn, "! ")
		if i > 0 {
			sign = text("  ")
		}
		s.say(text(indent), sign, text(l))
	}
}

// drawAdvice says why nothing may have been found, and what may help.
func (c *searchCmd) drawAdvice(s *screen, res *protocol.SearchResult) {
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
		advice = append(advice, "no note is near enough in meaning: --mode hybrid looks for the words, too")
	case len(missing) > 0 && len(missing) == len(u.Words):
		advice = append(advice, "no note has "+listed(missing, "or"))
	case len(u.Phrases) > 0:
		advice = append(advice, "words in quotes must stand together in a note: leave the quotes out")
	}
	switch {
	case c.any() || len(u.Filters) > 0:
		advice = append(advice, "filters narrow it: leave them out")
	case len(u.Without) > 0:
		advice = append(advice, "a minus excludes notes: leave "+listed(u.Without, "and")+" out")
	case !c.Archived:
		advice = append(advice, "archived notes are looked at with --archived")
	}
	if res.Mode == "lexical" && res.Degraded == nil && len(u.Words) > 0 {
		advice = append(advice, "other words may say the same: --mode hybrid looks by meaning, too")
	}
	for _, l := range advice {
		s.say(styled(faint, "  · "), text(l))
	}
}

func quotedWord(w string) string { return fmt.Sprintf("“%s”", w) }

// listed writes words as people do: a, b or c.
func listed(words []string, joint string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + joint + " " + words[n-1]
}

// mark styles the ranges of a text: UTF-16 offsets, half-open, in order.
func mark(s string, ranges [][2]int) line {
	units := utf16.Encode([]rune(s))
	var out line
	at := 0
	for _, r := range ranges {
		from, to := max(r[0], at), min(r[1], len(units))
		if from >= to {
			continue
		}
		out = append(out, text(decode16(units[at:from])), styled(marked, decode16(units[from:to])))
		at = to
	}
	return append(out, text(decode16(units[at:])))
}

func decode16(units []uint16) string { return string(utf16.Decode(units)) }
