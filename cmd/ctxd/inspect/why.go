package inspect

import (
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type whyCmd struct {
	Note  string   `arg:"" help:"Id, path, title or [[link]] of the note."`
	Query []string `arg:"" help:"The query, as ctxd search takes it."`

	SearchFilters
	connect.Audience
}

func (whyCmd) Help() string {
	return "Shows where a note stands in a search, whether it was found or not: its place by words, by meaning and in the hits, " +
		"which words of the query it has and what they gave, which it lacks, and what the first hit has more."
}

func (whyCmd) Examples() []term.Example {
	return []term.Example{
		{`ctxd inspect why "Project Alpha" who leads the scale`, "why is it not first?"},
		{"ctxd inspect why Decisions/D-1.md load cells --audience remote", "as a remote reader finds it"},
		{"ctxd inspect why Kickoff load cells --json | jq .place", "for scripts"},
	}
}

func (c *whyCmd) Run(a *Options) error {
	query := strings.Join(c.Query, " ")
	if strings.TrimSpace(query) == "" {
		return term.Misuse("the query is empty", "ctxd inspect why Kickoff load cells")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		n, err := connect.FindNote(a.Ctx, cl, a.Err, c.Note)
		if err != nil {
			return err
		}
		var v protocol.SearchExplained
		if err := cl.Call(a.Ctx, "search.explain", protocol.SearchExplain{Ref: n.ID, Query: query, Filter: c.Filter()}, &v); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(v)
		}
		drawWhy(a.Out, &v)
		return nil
	})
}

func drawWhy(s *term.Screen, v *protocol.SearchExplained) {
	name := "[[" + v.Note.Title + "]]"
	switch {
	case v.Place > 0:
		s.SayWhole(term.Styled(term.Strong, name), term.Text(" is hit "+term.Number(v.Place)+"."))
	case !v.Passes:
		s.SayWhole(term.Styled(term.Strong, name), term.Styled(term.Warn, " is not looked at: it is archived, a copy in conflict, or the filter leaves it out."))
	case v.Nothing != nil:
		s.SayWhole(term.Styled(term.Strong, name), term.Styled(term.Warn, " is no hit, since nothing is: "+v.Nothing.Why+"."))
	default:
		s.SayWhole(term.Styled(term.Strong, name), term.Styled(term.Warn, " is not among the first 100 hits."))
	}
	var first *protocol.SearchHit
	if len(v.Hits) > 0 && v.Hits[0].ID != v.Note.ID {
		first = &v.Hits[0]
	}
	drawStandings(s, v, first)
	drawWhyWords(s, v, first)
	if v.Confidence != "" {
		s.Heading("How sure")
		DrawConfidence(s, "  ", v.Confidence, v.Reason)
	}
	DrawProblems(s, "", &v.SearchResult)
	DrawDegraded(s, "", &v.SearchResult)
}

// drawStandings shows the place and the score of the note in each list, beside what the first of the list has.
func drawStandings(s *term.Screen, v *protocol.SearchExplained, first *protocol.SearchHit) {
	s.Heading("Where it stands")
	t := &term.Table{Indent: 2, Head: []string{"", "place", "its score", "the best"}, Right: []int{1, 2, 3}, Keep: []int{1, 2, 3}}
	row := func(name string, place int, score, best float64) {
		at := term.Styled(term.Faint, "–")
		if place > 0 {
			at = term.Text(term.Number(place))
		}
		t.Row(term.Line{term.Text(name)}, term.Line{at}, term.Line{term.Text(ThreeDigits(score))}, term.Line{term.Text(ThreeDigits(best))})
	}
	row("by words", v.Words.Place, v.Words.Score, v.Words.Best)
	if v.Meaning.Missing == "" {
		row("by meaning", v.Meaning.Place, v.Meaning.Score, v.Meaning.Best)
	}
	late, compared := v.Note.Signals["late"]
	if first != nil && compared {
		row("word by word", 0, late, first.Signals["late"])
	}
	if v.Place > 0 && len(v.Hits) > 0 {
		row("as a hit", v.Place, v.Note.Score, v.Hits[0].Score)
	}
	t.Draw(s)
	if v.Meaning.Missing != "" {
		term.DrawPlain(s, "Not searched by meaning: "+v.Meaning.Missing+".")
	}
}

// drawWhyWords shows which words of the query the note has, which it lacks, and what the first hit has of those.
func drawWhyWords(s *term.Screen, v *protocol.SearchExplained, first *protocol.SearchHit) {
	its := wordsOf(v.Note.Signals)
	s.Heading("Words")
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("it has", strings.Join(withScores(its, v.Note.Signals), ", "))
	var lacks []string
	if v.Understood != nil {
		for _, w := range v.Understood.Words {
			if !slices.ContainsFunc(its, func(name string) bool { return wordOf(name) == w.Word }) {
				lacks = append(lacks, w.Word)
			}
		}
		f.Add("not counted", strings.Join(v.Understood.Ignored, ", "))
	}
	f.Add("it lacks", strings.Join(lacks, ", "))
	f.Draw(s)
	if len(its)+len(lacks) == 0 {
		s.Say(term.Styled(term.Faint, "  the query has none that count"))
	}
	if first == nil {
		return
	}
	s.Heading("The first hit", term.Styled(term.Faint, "  [["+first.Title+"]]"))
	f = &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("it has", strings.Join(withScores(wordsOf(first.Signals), first.Signals), ", "))
	f.Add("found by", first.By)
	f.Draw(s)
}

// wordsOf lists the signals of words, those that gave most first.
func wordsOf(signals map[string]float64) (names []string) {
	for name := range signals {
		if wordOf(name) != "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if signals[a] != signals[b] {
			if signals[a] > signals[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}

// wordOf is the word of a signal, "" for another signal.
func wordOf(signal string) string {
	how, word, _ := strings.Cut(signal, ":")
	if how != "word" && how != "prefix" && how != "typo" {
		return ""
	}
	return word
}

func withScores(names []string, signals map[string]float64) (list []string) {
	for _, name := range names {
		list = append(list, quotedWord(wordOf(name))+" "+ThreeDigits(signals[name]))
	}
	return list
}
