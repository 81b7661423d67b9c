package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectSearchCmd struct {
	Query []string  `arg:"" help:"The query, as ctxd search takes it."`
	Limit countFlag `short:"n" from:"1" to:"100" default:"10" placeholder:"N" help:"Places of each list that are shown, 1 to 100. Default: 10."`

	searchFilters
}

func (inspectSearchCmd) Help() string {
	return "Shows how a query is read: its words and stems, what an unfinished or mistyped word stands for, phrases and filters, and how many notes have each word. " +
		"Then the list by words and the list by meaning side by side, and how they become one: a place in a list counts its weight / (60 + place)."
}

func (inspectSearchCmd) Examples() []example {
	return []example{
		{"ctxd inspect search load cel", "what cel stands for, and what is found for it"},
		{"ctxd inspect search '\"load cell\" -roof tag:work'", "phrases and filters"},
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
	Degraded   *protocol.Degraded         `json:"degraded,omitempty"`
	Weights    protocol.SearchWeights     `json:"weights"`
	Stages     []protocol.SearchStage     `json:"stages"`
}

func (c *inspectSearchCmd) Run(a *app) error {
	query := strings.Join(c.Query, " ")
	if strings.TrimSpace(query) == "" {
		return &usageError{"there is nothing to look for", "ctxd inspect search load cells"}
	}
	return a.with(func(cl *client.Client) error {
		v, err := c.ask(a.ctx, cl, query)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(v)
		}
		v.draw(a.out)
		return nil
	})
}

// ask searches each way, and both.
func (c *inspectSearchCmd) ask(ctx context.Context, cl *client.Client, query string) (*searchView, error) {
	search := func(mode string) (res protocol.SearchResult, err error) {
		params := protocol.NoteSearch{Query: query, Mode: mode, Limit: int(c.Limit), Filter: c.filter(), Explain: true}
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
	v.Hits, v.Mode, v.Degraded, v.Stages = both.Hits, both.Mode, both.Degraded, append([]protocol.SearchStage{}, both.Stages...)
	var stats protocol.Stats
	err = cl.Call(ctx, "admin.stats", nil, &stats)
	v.Weights = stats.Index.Meanings.Weights
	return v, err
}

func (v *searchView) draw(s *screen) {
	s.say(styled(strong, "How it was read"))
	v.drawUnderstood(s)
	v.drawLists(s)
	v.drawJoined(s)
	drawSearchStages(s, v.Stages)
	drawDegraded(s, "", &protocol.SearchResult{Degraded: v.Degraded})
}

// wordKinds say how a word was taken.
var wordKinds = map[string]string{"word": "", "prefix": "may go on", "typo": "in no note, but like"}

func (v *searchView) drawUnderstood(s *screen) {
	u := v.Understood
	if u == nil || len(u.Words)+len(u.Filters)+len(u.Phrases)+len(u.Without) == 0 {
		s.say(styled(faint, "  it has no words"))
		return
	}
	t := &table{indent: 2, head: []string{"word", "stem", "notes", ""}, right: []int{2}, keep: []int{0, 1, 2}}
	for _, w := range u.Words {
		found := line{text(number(w.Notes))}
		if w.Notes == 0 {
			found = line{styled(warn, "none")}
		}
		t.row(line{styled(accent, w.Word)}, line{text(w.Stem)}, found, meansInWords(&w))
	}
	if len(u.Words) > 0 {
		t.draw(s)
	}
	f := &facts{table{indent: 2}}
	f.add("not counted", strings.Join(u.Ignored, ", "))
	f.add("together", strings.Join(allQuoted(u.Phrases), ", "))
	f.add("not with", strings.Join(allQuoted(u.Without), ", "))
	f.add("filters", strings.Join(u.Filters, "  "))
	f.draw(s)
}

// meansInWords says what a word stands for.
func meansInWords(w *protocol.SearchWord) line {
	if w.As == "word" || w.MeansAll == 0 || w.MeansAll == 1 && w.Means[0] == w.Word {
		return line{}
	}
	list := strings.Join(w.Means, ", ")
	if more := w.MeansAll - len(w.Means); more > 0 {
		list += fmt.Sprintf(" and %s more", number(more))
	}
	return line{styled(faint, wordKinds[w.As]+": "), text(list)}
}

func allQuoted(list []string) (out []string) {
	for _, w := range list {
		out = append(out, quotedWord(w))
	}
	return out
}

// drawLists shows the two lists side by side.
func (v *searchView) drawLists(s *screen) {
	s.heading("The two lists")
	t := &table{indent: 2, head: []string{"", "by words", "score", "", "by meaning", "nearness"}, right: []int{0, 2, 3, 5}, keep: []int{0, 2, 3, 5}}
	for i := range max(len(v.Words), len(v.Meaning)) {
		row := make([]line, 0, 6)
		for _, list := range []struct {
			hits   []protocol.SearchHit
			signal string
		}{{v.Words, "lexical"}, {v.Meaning, "semantic"}} {
			if i >= len(list.hits) {
				row = append(row, line{}, line{}, line{})
				continue
			}
			h := &list.hits[i]
			score, ok := h.Signals[list.signal]
			if !ok {
				score = h.Score
			}
			row = append(row, line{styled(faint, number(i+1))}, line{text(h.Title)}, line{text(threeDigits(score))})
		}
		t.rows = append(t.rows, row)
	}
	if len(t.rows) == 0 {
		s.say(styled(faint, "  nothing found"))
	} else {
		t.draw(s)
	}
	switch {
	case v.NoMeaning != "":
		drawPlain(s, "There is no list by meaning: "+v.NoMeaning+".")
	case len(v.Meaning) == 0 && len(v.Words) > 0:
		drawPlain(s, "No note is near enough in meaning.")
	}
}

// drawJoined shows how the lists became one.
func (v *searchView) drawJoined(s *screen) {
	if v.Mode != "hybrid" || len(v.Hits) == 0 {
		return
	}
	s.heading("As one", styled(faint, fmt.Sprintf("  a place counts %s / (60 + place) by words, %s / (60 + place) by meaning",
		threeDigits(v.Weights.Lexical*v.known()), threeDigits(v.Weights.Semantic))))
	if v.known() < 1 {
		drawPlain(s, fmt.Sprintf("The list by words counts %s%% of its %s: so many of the words are in any note.", number(int(math.Round(100*v.known()))), threeDigits(v.Weights.Lexical)))
	}
	t := &table{indent: 2, head: []string{"", "note", "score", "words", "gives", "meaning", "gives"}, right: []int{0, 2, 3, 4, 5, 6}, keep: []int{0, 2, 3, 4, 5, 6}}
	for i, h := range v.Hits {
		row := []line{{styled(faint, number(i+1))}, {text(h.Title)}, {text(threeDigits(h.Score))}}
		for _, way := range []string{"lexical", "semantic"} {
			row = append(row, numberOrDash(h.Signals, "rank:"+way), numberOrDash(h.Signals, "fused:"+way))
		}
		t.rows = append(t.rows, row)
	}
	t.draw(s)
}

// known is the share of the words of the query that are in any note.
func (v *searchView) known() float64 {
	if v.Understood == nil || len(v.Understood.Words) == 0 {
		return 1
	}
	found := 0
	for _, w := range v.Understood.Words {
		if w.Notes > 0 {
			found++
		}
	}
	return float64(found) / float64(len(v.Understood.Words))
}

// numberOrDash is a signal in a table.
func numberOrDash(signals map[string]float64, name string) line {
	if v, ok := signals[name]; ok {
		return line{text(threeDigits(v))}
	}
	return line{styled(faint, "–")}
}

// searchStages say what the stages of a search do.
var searchStages = map[string]string{
	"words": "the index of words", "embed": "the vector of the query", "vectors": "the nearest vectors", "fuse": "both as one", "snippets": "snippets",
}

func drawSearchStages(s *screen, stages []protocol.SearchStage) {
	if len(stages) == 0 {
		return
	}
	s.heading("Time")
	t := &table{indent: 2, right: []int{1}}
	for _, st := range stages {
		t.row(line{text(firstOf(searchStages[st.Stage], st.Stage))}, line{text(micros(st.US))})
	}
	t.draw(s)
}
