package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	searchtext "github.com/ctxd/ctxd/context/search/text"
)

// DrawBrief shows on one screen what a usual prompt holds, a line for each item with why it is there, and what was nearly
// there, a line for each cause (CTX-32, CTX-42). name names a record that is below the floor, of which the report has the id.
func DrawBrief(s *term.Screen, res *prompt.Result, name func(kind, id string) string) {
	r := &res.Report
	drawIn(s, res)
	lines := append(mendable(r), leftOutLines(s, r)...)
	if below := belowFloor(r.Stages, name); len(below) > 0 {
		lines = append(lines, causeLine(s, "below the floor", below, ""))
	}
	lines = append(lines, stageLines(r.Stages)...)
	if len(lines) == 0 {
		return
	}
	s.Heading("Not in it")
	for _, line := range lines {
		s.Say(line...)
	}
}

// drawIn draws a line for each item of the prompt, in its order.
func drawIn(s *term.Screen, res *prompt.Result) {
	words := wordsOf(res.Report.Query)
	system := utf16.Encode([]rune(res.System))
	titles := EntityTitles(&res.Report)
	t := &term.Table{Indent: 2, Right: []int{1}, Keep: []int{1}}
	for _, section := range res.Report.Sections {
		for i := range section.Items {
			it := &section.Items[i]
			label := briefLabel(it.Kind, it.Title)
			if it.Vault != "" {
				label += " (vault " + it.Vault + ")"
			}
			why := plainReason(it, titles)
			if search, found := foundIn(it.Reason); found {
				why = search
				if held := words.in(textOf(system, it)); len(held) > 0 {
					why = `found by "` + strings.Join(held, " ") + `"`
				}
			}
			t.Row(term.Line{term.Text(label)}, term.Line{term.Text(term.Number(it.Chars))},
				append(itemMarks(it), term.Styled(term.Faint, why)))
		}
	}
	if len(t.Rows) == 0 {
		s.Heading("Nothing is in it")
		return
	}
	s.Heading("In it", term.Styled(term.Faint, "  "+term.Count(len(t.Rows), "item")+", with their characters"))
	t.Draw(s)
}

// textOf is the text of an item in the prompt, "" where the report is not of this prompt.
func textOf(system []uint16, it *prompt.Item) string {
	if it.Start < 0 || it.End > len(system) || it.Start > it.End {
		return ""
	}
	return term.Decode16(system[it.Start:it.End])
}

// kindWords stand before titles of which the kind cannot be seen.
var kindWords = map[string]string{
	prompt.KindPersonality: "personality", prompt.KindDay: "day", prompt.KindEvent: "event", prompt.KindAction: "action item",
	prompt.KindMemory: "memory", prompt.KindMessage: "message", prompt.KindInsight: "insight", prompt.KindPassage: "passage",
}

func briefLabel(kind, title string) string {
	label := RecordLabel(kind, title)
	if word := kindWords[kind]; word != "" {
		return word + " " + label
	}
	return label
}

// plainReasons are the reasons of items in the words of a person.
var plainReasons = map[string]string{
	prompt.PinnedInConversation: "pinned",
	"a part pinned by the user": "you named this part",
	"parts pinned by the user":  "you named these parts",
	"attached by the user":      "you attached it",
	prompt.KnownAboutUser:       "known about you",
	prompt.FoundByTurns:         "found by the last turns of the conversation",
	"the day of the person":     "so that the model knows the day",
	"sent by the client":        "the app sent it",
}

// plainReason says why an item is in the prompt.
func plainReason(it *prompt.Item, titles map[string]string) string {
	switch {
	case it.InFocus():
		return it.Reason
	case it.Kind == prompt.KindEntity && it.Depth == 0:
		return "you named it"
	case it.Kind == prompt.KindEntity && len(it.Via) > 0:
		why := "linked by @" + cmp.Or(titles[it.Via[0].From], it.Via[0].From) + "." + it.Via[0].Field
		if more := len(it.Via) - 1; more > 0 {
			why += fmt.Sprintf(" and %s more", term.Number(more))
		}
		return why
	case it.Reason == prompt.PinnedByUser && it.Kind == prompt.KindNote:
		return "you named it"
	case it.Reason == prompt.PinnedByUser:
		return "pinned"
	}
	if plain := plainReasons[it.Reason]; plain != "" {
		return plain
	}
	for _, begin := range []struct{ reason, plain string }{{"linked from ", "linked by "}, {"named by the user ", "you named it "}} {
		if rest, ok := strings.CutPrefix(it.Reason, begin.reason); ok {
			return begin.plain + rest
		}
	}
	return it.Reason
}

// foundIn says how a search has found an item whose text has none of the words, and whether one has.
func foundIn(reason string) (plain string, found bool) {
	if !strings.HasPrefix(reason, prompt.FoundBySearch) {
		return "", false
	}
	if strings.Contains(reason, "meaning") {
		return "found by its meaning", true
	}
	return prompt.FoundBySearch, true
}

// maxFoundWords is how many words are shown of those by which an item was found.
const maxFoundWords = 4

// queryWord is a word of what was searched for, as it is written, and what finds it in a text.
type queryWord struct {
	word    string
	matcher *searchtext.Matcher
}

type queryWords []queryWord

// wordsOf returns the words of a query that say something, each once.
func wordsOf(query string) (words queryWords) {
	var split searchtext.Splitter
	seen := make(map[string]bool)
	split.Split(query, func(t searchtext.Token) {
		folded := string(t.Text)
		if stem := searchtext.StemEnglish(folded); !seen[stem] && !search.AsksNothing(folded) && search.IsInformative(folded) && !search.IsFunctionWord(folded) {
			seen[stem] = true
			matcher := searchtext.NewMatcher(searchtext.StemEnglish)
			matcher.AddWord(folded)
			words = append(words, queryWord{query[t.Start:t.End], matcher})
		}
	})
	return words
}

// in returns the words that a text has, at most maxFoundWords.
func (words queryWords) in(text string) (held []string) {
	for _, w := range words {
		if len(held) < maxFoundWords && w.matcher.Count(text) > 0 {
			held = append(held, w.word)
		}
	}
	return held
}

// mendable are the lines of what the person can mend: what may mean several records, what was taken otherwise than it was
// meant, and computed fields that failed.
func mendable(r *prompt.Report) (lines []term.Line) {
	line := func(what, why string) {
		lines = append(lines, term.Line{term.Text("  "), term.Styled(term.Warn, what), term.Text("  "), term.Styled(term.Faint, why)})
	}
	for _, d := range r.Dropped {
		if len(d.Candidates) == 0 {
			continue
		}
		var candidates []string
		for _, c := range d.Candidates {
			candidates = append(candidates, cmp.Or(connect.Place(c.Vault, c.Path), c.Title))
		}
		line(DroppedName(d), "may mean "+strings.Join(candidates, ", "))
	}
	for _, w := range r.Warnings {
		line(w.Ref, w.Message)
	}
	titles := EntityTitles(r)
	for _, q := range r.QueryErrors {
		line("@"+cmp.Or(titles[q.Entity], q.Entity)+"."+q.Field, "computed field: "+q.Message)
	}
	return lines
}

// causes are the reasons of dropped items in the words of a person; those of one word share a line.
var causes = []struct {
	word    string
	reasons []prompt.Reason
}{
	{"no such record", []prompt.Reason{prompt.Unknown}},
	{"hidden", []prompt.Reason{prompt.Private}},
	{"archived", []prompt.Reason{prompt.Archived, prompt.Deleted}},
	{"holds no more", []prompt.Reason{prompt.Lapsed}},
	{"not needed", []prompt.Reason{prompt.Distilled}},
	{"no room", []prompt.Reason{prompt.OverLimit, prompt.OverBudget}},
}

// leftOutLines are a line for each cause why something was left out. What was given twice is in the prompt.
func leftOutLines(s *term.Screen, r *prompt.Report) (lines []term.Line) {
	groups := DroppedByReason(r.Dropped)
	take := func(word string, is func(prompt.Reason) bool) {
		var names []string
		for _, group := range groups {
			if !is(group.Reason) {
				continue
			}
			for _, d := range group.Items {
				if name := briefDropped(d); len(d.Candidates) == 0 && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		if len(names) > 0 {
			lines = append(lines, causeLine(s, word, names, causeNote(word)))
		}
	}
	known := []prompt.Reason{prompt.Duplicate, prompt.Ambiguous}
	for _, cause := range causes {
		known = append(known, cause.reasons...)
		take(cause.word, func(reason prompt.Reason) bool { return slices.Contains(cause.reasons, reason) })
	}
	for _, group := range groups {
		if !slices.Contains(known, group.Reason) { // one of a later version
			take(string(group.Reason), func(reason prompt.Reason) bool { return reason == group.Reason })
		}
	}
	return lines
}

// briefDropped names what was left out, with its kind where the name does not show it.
func briefDropped(d prompt.Dropped) string {
	if word := kindWords[d.Kind]; word != "" && d.Title != "" {
		return word + " " + DroppedName(d)
	}
	return DroppedName(d)
}

func causeNote(word string) string {
	if word == "hidden" {
		return " from a remote model"
	}
	return ""
}

// causeLine is the line of one cause: how many, and as many names as fit.
func causeLine(s *term.Screen, word string, names []string, note string) term.Line {
	head := fmt.Sprintf("  %s  %s%s: ", word, term.Number(len(names)), note)
	room := s.Columns() - term.Columns(head)
	shown := strings.Join(names, ", ")
	for n := len(names) - 1; n > 0 && term.Columns(term.Clean(shown)) > room; n-- {
		shown = strings.Join(names[:n], ", ") + ", …"
	}
	return term.Line{term.Text("  "), term.Styled(term.Warn, word), term.Styled(term.Faint, "  "+term.Number(len(names))+note+": "), term.Text(shown)}
}

// belowFloor are the best of each kind that were about something else, with what they have of what is needed.
func belowFloor(stages []prompt.Stage, name func(kind, id string) string) (list []string) {
	for i := range stages {
		for _, best := range stages[i].Best {
			has := fmt.Sprintf("%.2f of %.2f", best.Score, best.Floor)
			if best.Floor > 1 {
				has = "(the search is sure of none)"
			}
			list = append(list, name(best.Kind, best.ID)+" "+has)
		}
	}
	return list
}

// stageLines are a line for each cause why a stage found nothing or less: those that took too long, and those that could not search.
func stageLines(stages []prompt.Stage) (lines []term.Line) {
	var whys []string
	names := make(map[string][]string)
	for i := range stages {
		st := &stages[i]
		if st.Why == "" || st.Skipped && len(st.Best) > 0 {
			continue
		}
		if names[st.Why] == nil {
			whys = append(whys, st.Why)
		}
		names[st.Why] = append(names[st.Why], st.Name)
	}
	for _, why := range whys {
		word := strings.Join(names[why], ", ")
		if strings.HasPrefix(why, prompt.TookLonger) {
			word = "late: " + word
		}
		lines = append(lines, term.Line{term.Text("  "), term.Styled(term.Warn, word), term.Text("  "), term.Styled(term.Faint, why)})
	}
	return lines
}
