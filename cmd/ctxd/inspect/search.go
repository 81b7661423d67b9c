package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type searchCmd struct {
	Query []string       `arg:"" help:"The query, as ctxd search takes it."`
	Limit term.CountFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"How many hits of each list to show, 1 to 100. Default: 10."`

	SearchFilters
	connect.Audience
}

func (searchCmd) Help() string {
	return "Shows how a query is read: " +
		"its words and stems, what an unfinished or misspelt word stands for, phrases and filters, and how many " +
		"notes have each word. " +
		"Then it shows the hits by words and by meaning side by side, and how their scores are combined: " +
		"each score is divided by the best of its list, and multiplied by the weight of that list."
}

func (searchCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect search load cel", "what cel stands for, and what is found for it"},
		{"ctxd inspect search '\"load cell\" -roof tag:work'", "phrases and filters"},
		{"ctxd inspect search load cel --audience remote", "the same for a remote reader"},
		{"ctxd inspect search how heavy is it --json | jq .understood.words", "for scripts"},
	}
}

// searchView is a search with all that led to it.
type searchView struct {
	Query      string                     `json:"query"`
	Understood *protocol.SearchUnderstood `json:"understood,omitempty"`
	Words      []protocol.SearchHit       `json:"words"`               // the list by words
	Meaning    []protocol.SearchHit       `json:"meaning"`             // the list by meaning
	NoMeaning  string                     `json:"noMeaning,omitempty"` // why there is none
	Hits       []protocol.SearchHit       `json:"hits"`                // both as one
	Mode       string                     `json:"mode"`
	Nothing    *protocol.SearchNothing    `json:"nothing,omitempty"`
	Confidence string                     `json:"confidence,omitempty"`
	Answer     *protocol.SearchAnswer     `json:"answer,omitempty"`
	Reason     string                     `json:"reason,omitempty"`
	Degraded   *protocol.Degraded         `json:"degraded,omitempty"`
	Weights    protocol.SearchWeights     `json:"weights"`
	Fused      *protocol.SearchFused      `json:"fused,omitempty"`
	Stages     []protocol.SearchStage     `json:"stages"`
}

func (c *searchCmd) Run(a *Options) error {
	query := strings.Join(c.Query, " ")
	if strings.TrimSpace(query) == "" {
		return term.Misuse("the query is empty", "ctxd inspect search load cells")
	}
	return a.WithFor(c.Audience, func(cl *client.Client) error {
		v, err := c.ask(a.Ctx, cl, query)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(v)
		}
		v.draw(a.Out)
		return nil
	})
}

// ask searches each way, and both.
func (c *searchCmd) ask(ctx context.Context, cl *client.Client, query string) (*searchView, error) {
	search := func(mode string) (res protocol.SearchResult, err error) {
		params := protocol.NoteSearch{Query: query, Mode: mode, Limit: int(c.Limit), Filter: c.Filter(), Explain: true}
		return res, cl.Call(ctx, "notes.search", params, &res)
	}
	words, err := search("lexical")
	if err != nil {
		return nil, err
	}
	v := &searchView{Query: query, Understood: words.Understood, Words: words.Hits, Meaning: []protocol.SearchHit{}}
	meaning, err := search("semantic")
	switch {
	case fault.KindOf(err) == fault.Unavailable:
		v.NoMeaning = fault.Message(err)
	case err != nil:
		return nil, err
	case meaning.Mode != "semantic" && meaning.Degraded != nil:
		v.NoMeaning = meaning.Degraded.Why
	default:
		v.Meaning = meaning.Hits
	}
	both, err := search("hybrid")
	if err != nil {
		return nil, err
	}
	v.Hits, v.Mode, v.Degraded, v.Fused = both.Hits, both.Mode, both.Degraded, both.Fused
	v.Nothing, v.Confidence, v.Reason, v.Answer = both.Nothing, both.Confidence, both.Reason, both.Answer
	v.Stages = append([]protocol.SearchStage{}, both.Stages...)
	var stats protocol.Stats
	err = cl.Call(ctx, "admin.stats", nil, &stats)
	v.Weights = stats.Index.Meanings.Weights
	return v, err
}

func (v *searchView) draw(s *term.Screen) {
	s.Say(term.Styled(term.Strong, "How it was read"))
	v.drawUnderstood(s)
	DrawProblems(s, "  ", &protocol.SearchResult{Understood: v.Understood})
	v.drawLists(s)
	v.drawJoined(s)
	if v.Confidence != "" {
		s.Heading("How sure")
		DrawConfidence(s, "  ", v.Confidence, v.Reason)
		if a := v.Answer; a != nil {
			term.DrawPlain(s, fmt.Sprintf("The nearest hit has %s of what the %s tell, and words at %.2f to those that no note has; notes are %.2f near. "+
				"So one answers with %s; words that are in part unknown find nothing under %s.",
				percent(a.Matched), term.Count(a.Words, "word"), a.Unknown, a.Near, percent(a.Likely), percent(a.Floor)))
		}
	}
	drawSearchStages(s, v.Stages)
	DrawDegraded(s, "", &protocol.SearchResult{Degraded: v.Degraded})
}

// wordKinds say how a word was taken.
var wordKinds = map[string]string{"word": "", "prefix": "may be unfinished", "typo": "in no note; similar to"}

func (v *searchView) drawUnderstood(s *term.Screen) {
	u := v.Understood
	if u == nil || len(u.Words)+len(u.Filters)+len(u.Phrases)+len(u.Without) == 0 {
		s.Say(term.Styled(term.Faint, "  it has no words"))
		return
	}
	t := &term.Table{Indent: 2, Head: []string{"word", "stem", "notes", ""}, Right: []int{2}, Keep: []int{0, 1, 2}}
	for _, w := range u.Words {
		found := term.Line{term.Text(term.Number(w.Notes))}
		if w.Notes == 0 {
			found = term.Line{term.Styled(term.Warn, "none")}
		}
		t.Row(term.Line{term.Styled(term.Accent, w.Word)}, term.Line{term.Text(w.Stem)}, found, meansInWords(&w))
	}
	if len(u.Words) > 0 {
		t.Draw(s)
	}
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Add("not counted", strings.Join(u.Ignored, ", "))
	f.Add("together", strings.Join(allQuoted(u.Phrases), ", "))
	f.Add("not with", strings.Join(allQuoted(u.Without), ", "))
	f.Add("filters", strings.Join(u.Filters, "  "))
	f.Draw(s)
}

// meansInWords says what a word stands for.
func meansInWords(w *protocol.SearchWord) term.Line {
	if w.As == "word" || w.MeansAll == 0 || w.MeansAll == 1 && w.Means[0] == w.Word {
		return term.Line{}
	}
	list := strings.Join(w.Means, ", ")
	if more := w.MeansAll - len(w.Means); more > 0 {
		list += fmt.Sprintf(" and %s more", term.Number(more))
	}
	return term.Line{term.Styled(term.Faint, wordKinds[w.As]+": "), term.Text(list)}
}

func allQuoted(list []string) (out []string) {
	for _, w := range list {
		out = append(out, quotedWord(w))
	}
	return out
}

// drawLists shows the two lists side by side.
func (v *searchView) drawLists(s *term.Screen) {
	s.Heading("The two lists")
	t := &term.Table{
		Indent: 2, Head: []string{"", "by words", "score", "", "by meaning", "nearness"},
		Right: []int{0, 2, 3, 5}, Keep: []int{0, 2, 3, 5},
	}
	for i := range max(len(v.Words), len(v.Meaning)) {
		row := make([]term.Line, 0, 6)
		for _, list := range []struct {
			hits   []protocol.SearchHit
			signal string
		}{{v.Words, "lexical"}, {v.Meaning, "semantic"}} {
			if i >= len(list.hits) {
				row = append(row, term.Line{}, term.Line{}, term.Line{})
				continue
			}
			h := &list.hits[i]
			score, ok := h.Signals[list.signal]
			if !ok {
				score = h.Score
			}
			row = append(row, term.Line{term.Styled(term.Faint, term.Number(i+1))}, term.Line{term.Text(h.Title)},
				term.Line{term.Text(ThreeDigits(score))})
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		s.Say(term.Styled(term.Faint, "  nothing found"))
	} else {
		t.Draw(s)
	}
	switch {
	case v.NoMeaning != "":
		term.DrawPlain(s, "Not searched by meaning: "+v.NoMeaning+".")
	case len(v.Meaning) == 0 && len(v.Words) > 0:
		term.DrawPlain(s, "No note is similar enough in meaning.")
	}
}

// drawJoined shows how the lists became one.
func (v *searchView) drawJoined(s *term.Screen) {
	if v.Mode != "hybrid" || len(v.Hits) == 0 || v.Fused == nil {
		return
	}
	f := v.Fused
	counts := fmt.Sprintf("  weights: words %s, meaning %s", percent(f.Words), percent(f.Meaning))
	if f.By == "rank" {
		counts = fmt.Sprintf("  a place counts %s / (60 + place) by words, %s / (60 + place) by meaning",
			ThreeDigits(f.Words), ThreeDigits(f.Meaning))
	}
	s.Heading("As one", term.Styled(term.Faint, counts))
	if f.Known < 1 {
		term.DrawPlain(s, percent(f.Known)+" of the query's information is in words of any note, so the list by words counts less.")
	}
	t := &term.Table{
		Indent: 2, Head: []string{"", "note", "score", "words", "gives", "meaning", "gives"},
		Right: []int{0, 2, 3, 4, 5, 6}, Keep: []int{0, 2, 3, 4, 5, 6},
	}
	for i, h := range v.Hits {
		row := []term.Line{
			{term.Styled(term.Faint, term.Number(i+1))},
			{term.Text(h.Title)},
			{term.Text(ThreeDigits(h.Score))},
		}
		for _, way := range []string{"lexical", "semantic"} {
			gives := "fused:" + way
			if _, ok := h.Signals["fused:assumed"]; ok && way == "semantic" {
				gives = "fused:assumed"
			}
			row = append(row, numberOrDash(h.Signals, "rank:"+way), numberOrDash(h.Signals, gives))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Draw(s)
}

func percent(share float64) string { return term.Number(int(math.Round(100*share))) + " %" }

// numberOrDash is a signal in a table.
func numberOrDash(signals map[string]float64, name string) term.Line {
	if v, ok := signals[name]; ok {
		return term.Line{term.Text(ThreeDigits(v))}
	}
	return term.Line{term.Styled(term.Faint, "–")}
}

// searchStages say what the stages of a search do.
var searchStages = map[string]string{
	"words": "the index of words", "embed": "the vector of the query", "vectors": "the nearest vectors",
	"fuse": "combining both", "snippets": "snippets",
}

func drawSearchStages(s *term.Screen, stages []protocol.SearchStage) {
	if len(stages) == 0 {
		return
	}
	s.Heading("Time")
	t := &term.Table{Indent: 2, Right: []int{1}}
	for _, st := range stages {
		t.Row(term.Line{term.Text(cmp.Or(searchStages[st.Stage], st.Stage))}, term.Line{term.Text(micros(st.US))})
	}
	t.Draw(s)
}
