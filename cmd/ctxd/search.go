package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type searchCmd struct {
	Query    []string  `arg:"" help:"Words to look for."`
	Limit    countFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Hits at most, 1 to 100. Default: 10."`
	Tag      []string  `placeholder:"TAG" help:"Notes with this tag only. May be repeated: all must be there."`
	Folder   string    `placeholder:"FOLDER" help:"Notes in this folder only."`
	Type     []string  `placeholder:"TYPE" help:"Notes that an entity of this type was made from. May be repeated: any of them."`
	Archived bool      `help:"Archived notes too."`
	Explain  bool      `help:"Say of each hit what counted."`
}

func (searchCmd) Examples() []example {
	return []example{
		{"ctxd search load cells", "notes about both words"},
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
		Query: query, Limit: int(c.Limit), Explain: c.Explain,
		Filter: protocol.SearchFilter{Tags: c.Tag, Folder: c.Folder, Types: c.Type, Archived: c.Archived},
	}
	return a.with(func(cl *client.Client) error {
		var res protocol.SearchResult
		if err := cl.Call(a.ctx, "notes.search", params, &res); err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(res)
		}
		drawHits(a.out, "", &res)
		return nil
	})
}

// drawHits shows hits with what matched marked in their snippets.
func drawHits(s *screen, indent string, res *protocol.SearchResult) {
	if len(res.Hits) == 0 {
		s.say(styled(faint, indent+"nothing found"))
	}
	for _, h := range res.Hits {
		s.say(text(indent), styled(strong, h.Title), styled(faint, "  "+h.Path))
		for _, l := range wrapSpans(mark(h.Snippet, h.Ranges), s.columns()-len(indent)-2) {
			s.say(append(line{text(indent + "  ")}, l...)...)
		}
		drawSignals(s, indent+"  ", h.Signals)
	}
	if res.Degraded != nil {
		s.say(styled(faint, indent+"without "+res.Degraded.Stage+" search: "+res.Degraded.Why))
	}
}

// drawSignals shows what counted, the most first.
func drawSignals(s *screen, indent string, signals map[string]float64) {
	names := slices.SortedFunc(maps.Keys(signals), func(a, b string) int {
		return cmp.Or(cmp.Compare(signals[b], signals[a]), strings.Compare(a, b))
	})
	for _, group := range [][]string{{"lexical", "rank:"}, {"word:", "prefix:", "typo:"}, {"field:"}} {
		var parts []string
		for _, name := range names {
			if slices.ContainsFunc(group, func(p string) bool { return strings.HasPrefix(name, p) }) {
				parts = append(parts, name+" "+strconv.FormatFloat(math.Round(signals[name]*1000)/1000, 'f', -1, 64))
			}
		}
		if len(parts) > 0 {
			s.say(styled(faint, indent+strings.Join(parts, "  ")))
		}
	}
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
