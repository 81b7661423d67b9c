package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat/turn"
	"github.com/ctxd/ctxd/cmd/ctxd/page/pagetest"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/record"
)

// answers are answers in which every text is hostile.
func answers() (list []*turn.ChatInspected) {
	for i := range pagetest.Hostile {
		pick := func(k int) string { return pagetest.Hostile[(i+k)%len(pagetest.Hostile)] }
		t := &turn.ChatTrace{
			Asked: true, Remote: i%2 == 0, Failure: pick(1), Withheld: 3, Left: 1, Tools: 9, Timings: map[string]float64{"assemble": 3, "provider": 1200, pick(2): 1},
			Prompt: turn.ChatTracePrompt{Chars: 61_000, Budget: 64_000, Own: 12, Tokens: 123_456, Hash: strings.Repeat("a", 64), Sections: []turn.ChatTraceSection{
				{Name: pick(3), Chars: 10, Budget: 0, Items: 2}, {Name: "search", Chars: 12_000, Budget: 12_500, Items: 40},
			}},
			History:  turn.ChatTraceHistory{Messages: 4, Chars: 1_000, Dropped: 12, Withheld: 1},
			Attached: turn.ChatTraceAttach{Images: 2, Files: 1, Chars: 20, Refused: 2},
			Stages:   []prompt.Stage{{Name: pick(4), Ms: 2}, {Name: "passive", Skipped: true}},
			Rounds: []turn.ChatTraceRound{{MS: 12, FirstMS: 3, Tries: 2, Usage: &record.ChatUsage{In: 5, Out: 3, Cached: 1, Estimated: true}, Finish: pick(5), Calls: []turn.ChatTraceCall{
				{Name: pick(6), Arguments: 1, Chars: 2, MS: 3, Failed: true}, {Cached: true},
			}}},
		}
		for k := range 30 {
			t.References = append(t.References, turn.ChatTraceRef{
				Kind: []string{"note", "entity", "memory", "message", "event"}[k%5], ID: fmt.Sprint("id", k), Title: pick(k), Ref: fmt.Sprint("#", k), Status: []string{"ok", "changed", "deleted", ""}[k%4],
				Origin: turn.OriginTool, Section: []string{"", pick(k)}[k%2], Chars: k, Cut: k%3 == 0, Depth: k % 2, Tools: []string{pick(k + 1)}, How: "read", Used: k%2 == 0,
			})
			t.Dropped = append(t.Dropped, turn.ChatTraceDrop{Kind: "note", ID: []string{"", "x"}[k%2], Title: pick(k), Status: "ok", Reason: []prompt.Reason{prompt.OverBudget, prompt.Reason(pick(k)), prompt.Unknown}[k%3]})
		}
		list = append(list, &turn.ChatInspected{
			Conversation: &record.Conversation{Handle: pick(7), Title: pick(8)}, Question: &record.ChatMessage{Index: 1, Content: pick(9)},
			Answer: &record.ChatMessage{
				Index: 2, Content: pick(10), Provider: pick(11), Model: pick(12), Finish: pick(13), Private: true, Usage: &record.ChatUsage{In: 1, Out: 2},
				Warnings: []record.ChatWarning{{About: "x", Message: pick(14)}},
			},
			Trace: t,
		})
	}
	return append(list, &turn.ChatInspected{Conversation: &record.Conversation{}, Answer: &record.ChatMessage{Index: 3}, Why: "nothing is <known>"})
}

// TestCHAT27_ThePageHoldsHostileTextsAsText: nothing that was written elsewhere is markup of the page, and a browser
// runs and loads nothing.
func TestCHAT27_ThePageHoldsHostileTextsAsText(t *testing.T) {
	list := answers()
	d := &chatDocument{conversation: list[0].Conversation, answers: list, more: true, remote: true, made: time.Now(), excerpts: map[string]*turn.ChatHighlights{}}
	for i, text := range pagetest.Hostile {
		list[i].Answer.ID = fmt.Sprint("m", i)
		d.excerpts[list[i].Answer.ID] = &turn.ChatHighlights{Items: []turn.ChatHighlight{
			{Title: text, Path: text, Excerpts: []turn.ChatExcerpt{{Line: 3, Text: text}}}, {Wikilink: text, Why: turn.HighlightGone},
		}}
		d.related = append(d.related, turn.ChatSuggestion{Title: text, Path: text, Why: text})
	}
	text, err := d.page()
	if err != nil {
		t.Fatal(err)
	}
	count := pagetest.Harmless(t, text, "html head meta title style body a header div span h1 h2 h3 ul ol li b nav main article section p pre dl dt dd svg rect table tbody tr th td code details summary footer")
	if count["article"] != len(list) {
		t.Errorf("%d answers", count["article"])
	}
	for _, want := range []string{"日本語", "What it got is not known: nothing is &lt;known&gt;.", "javascript:alert(1)", "3 more", "changed since"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestCHAT27_NoAnswersYet(t *testing.T) {
	text, err := (&chatDocument{conversation: &record.Conversation{}}).page()
	if err != nil || !strings.Contains(text, "The conversation has no answer yet.") || !strings.Contains(text, "Untitled conversation") {
		t.Errorf("%v %s", err, text)
	}
}

// What is drawn fits the terminal, but for the hash and the command, and steers it nowhere.
func TestCHAT27_TheDrawingFitsTheTerminal(t *testing.T) {
	for _, width := range []int{0, 40, 80, 160} {
		for _, got := range answers() {
			var b bytes.Buffer
			drawAnswer(&term.Screen{Writer: &b, Width: width, Terminal: width > 0}, got)
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := term.Columns(line); width > 0 && n > width && !strings.HasPrefix(line, "sha256 ") && !strings.HasPrefix(line, "The text of the prompt") {
					t.Errorf("%d columns of %d: %q", n, width, line)
				}
				if strings.ContainsAny(line, "\u202e\x00\x07\x1b") {
					t.Errorf("it steers the terminal: %q", line)
				}
			}
			if !strings.Contains(b.String(), "Answer ") {
				t.Error("nothing is drawn")
			}
		}
	}
}
