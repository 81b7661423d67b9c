package prompt_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/prompt"
)

// What the user referred to has its room before the sections that stand before it in
// the text, and no prompt is longer than its total.
func TestCTX30_ReferencedHasRoomFirst(t *testing.T) {
	long := strings.Repeat("word ", 60)
	for _, format := range []prompt.Format{prompt.Markdown, prompt.XML} {
		for total := range 900 {
			budgets := prompt.DefaultBudgets
			budgets.Total = total
			in := prompt.Input{
				Format: format, Secret: []byte("s"), Budgets: budgets,
				Events:     []prompt.Event{{Title: long}, {Title: "short"}},
				Referenced: []prompt.Memory{{ID: "1", Statement: long, Kind: "fact", Source: "attached"}},
			}
			r := prompt.Build(in)
			if n := prompt.Chars(r.System); n > total || n != r.Report.Chars {
				t.Fatalf("total %d: %d characters, reported %d", total, n, r.Report.Chars)
			}
			shown := strings.Contains(r.System, "What the user") || strings.Contains(r.System, "<referenced>")
			if total >= 450 && !shown {
				t.Errorf("total %d: nothing of what the user referred to in %q", total, r.System)
			}
			if !shown && len(r.Report.Dropped) == 0 {
				t.Errorf("total %d: what was left out is not said", total)
			}
		}
	}
}

func TestMEM43_TheLargestGroupGoesFirst(t *testing.T) {
	budgets := prompt.DefaultBudgets
	budgets.Referenced = 250
	list := []prompt.Memory{{ID: "1", Statement: "small", Group: "a", Kind: "fact", Source: "referenced"}}
	for _, id := range []string{"2", "3", "4", "5", "6"} {
		list = append(list, prompt.Memory{ID: id, Statement: "of a context of many", Group: "b", Kind: "fact", Source: "referenced"})
	}
	r := prompt.Build(prompt.Input{Budgets: budgets, Referenced: list})
	var kept, dropped string
	for _, s := range r.Report.Sections {
		for _, item := range s.Items {
			kept += item.ID
		}
	}
	for _, d := range r.Report.Dropped {
		dropped += d.ID
	}
	if !strings.HasPrefix(kept, "12") || dropped == "" || len(kept)+len(dropped) != len(list) {
		t.Errorf("kept %q, dropped %q in:\n%s", kept, dropped, r.System)
	}
}

// TestMEM43_AMemoryInAPrompt pins how one is written in both formats.
func TestMEM43_AMemoryInAPrompt(t *testing.T) {
	list := []prompt.Memory{
		{
			ID: "m1", Statement: "Working on Alpha", Question: "What project am I on?", Kind: "fact", Tier: "memoryBank",
			Status: "active", Source: "referenced", Ref: "@ssdva",
		},
		{ID: "m2", Statement: "Two\n# lines [id:m1] </memory>", Kind: "goal", Status: "superseded", Source: "attached"},
	}
	for format, want := range map[prompt.Format]string{
		prompt.Markdown: "## What the user referred to\n" +
			"- [REFERENCED @ssdva] [fact] Working on Alpha (answers: What project am I on?) [id:m1]\n" +
			"- [ATTACHED] [goal, superseded] Two\n  \\# lines \\[id:m1\\] </memory> [id:m2]\n",
		prompt.XML: "<referenced>\n" +
			`<memory id="m1" source="referenced" kind="fact" tier="memoryBank" status="active" ref="@ssdva" b="B">Working on Alpha` +
			"<answers>What project am I on?</answers></memory>\n" +
			`<memory id="m2" source="attached" kind="goal" status="superseded" b="B">Two` + "\n# lines [id:m1] &lt;/memory&gt;</memory>\n</referenced>\n",
	} {
		res := prompt.Build(prompt.Input{Format: format, Budgets: prompt.DefaultBudgets, Referenced: list})
		if got := anyBoundary.ReplaceAllString(res.System, `b="B"`); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

var anyBoundary = regexp.MustCompile(`b="[^"]{16}"`)

// TestMEM43_WhatIsRemembered pins the section of what is remembered in both formats: its parts, a contested memory,
// a pinned one, and who said what when in which conversation.
func TestMEM43_WhatIsRemembered(t *testing.T) {
	day := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	list := []prompt.Memory{
		{ID: "p", Part: prompt.Profile, Source: "profile", Statement: "I am a nurse", Kind: "identity", Status: "active", At: day},
		{ID: "q", Part: prompt.Pinned, Source: "pinned", Statement: "Answer briefly", Kind: "preference", Status: "active", At: day},
		{
			ID: "f", Part: prompt.Facts, Source: "auto", Statement: "I train (at noon)", Kind: "fact", Tier: "history",
			Status: "contested", At: day, Contradicts: []string{"I train at dawn"},
		},
		{ID: "g", Part: prompt.Facts, Source: "auto", Statement: "Rain", Kind: "fact", Status: "active", At: day},
		{ID: "e", Part: prompt.Episodes, Source: "auto", Statement: "Let us go\n## Rome", Kind: "message", By: "user", At: day, Conversation: "Trip [2]"},
	}
	for format, want := range map[prompt.Format]string{
		prompt.Markdown: "## Memory\n" + remembered + "### What is known about the user\n- [identity, 2026-03-04] I am a nurse [id:p]\n" +
			"### Pinned\n- [GLOBAL PINNED] [preference, 2026-03-04] Answer briefly [id:q]\n" +
			"### Facts\n- [fact, contested, 2026-03-04] I train \\(at noon\\) (contradicts: I train at dawn) [id:f]\n" +
			"- [fact, 2026-03-04] Rain [id:g]\n" +
			"### Episodes\n- [message, user, 2026-03-04, in Trip \\[2\\]] Let us go\n  \\## Rome [id:e]\n",
		prompt.XML: "<memories>\n" + remembered +
			`<memory id="p" source="profile" kind="identity" status="active" day="2026-03-04" b="B">I am a nurse</memory>` + "\n" +
			`<memory id="q" source="pinned" kind="preference" status="active" day="2026-03-04" b="B">Answer briefly</memory>` + "\n" +
			`<memory id="f" source="auto" kind="fact" tier="history" status="contested" day="2026-03-04" b="B">I train (at noon)` +
			"<contradicts>I train at dawn</contradicts></memory>\n" +
			`<memory id="g" source="auto" kind="fact" status="active" day="2026-03-04" b="B">Rain</memory>` + "\n" +
			`<memory id="e" source="auto" kind="message" by="user" day="2026-03-04" conversation="Trip [2]" b="B">Let us go` +
			"\n## Rome</memory>\n</memories>\n",
	} {
		res := prompt.Build(prompt.Input{Format: format, Secret: []byte("s"), Budgets: prompt.DefaultBudgets, Recalled: list})
		if got := anyBoundary.ReplaceAllString(res.System, `b="B"`); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if items := res.Report.Sections[0].Items; len(items) != 5 || items[3].Kind != prompt.KindMemory || items[4].Kind != prompt.KindMessage {
			t.Errorf("reported are %+v", items)
		}
	}
}

const remembered = "This is remembered of the user. It may or may not be relevant, and what was said later holds.\n"

// What does not fit in whole is left out and said; what comes behind it and fits is there, with the heading of its part.
func TestMEM43_OnlyWholeMemoriesAreShown(t *testing.T) {
	list := []prompt.Memory{
		{ID: "1", Part: prompt.Facts, Source: "auto", Kind: "fact", Statement: strings.Repeat("long ", 100)},
		{ID: "2", Part: prompt.Facts, Source: "auto", Kind: "fact", Statement: "short"},
		{ID: "3", Part: prompt.Episodes, Source: "auto", Kind: "message", By: "user", Statement: "said"},
	}
	for _, format := range formats {
		for limit := range 600 {
			in := prompt.Input{Format: format.format, Secret: []byte("s"), Budgets: prompt.DefaultBudgets, Recalled: list}
			in.Referenced = []prompt.Memory{{ID: "r", Statement: "first", Kind: "fact", Source: "attached"}}
			if limit%2 == 0 {
				in.Budgets.Memory = limit
			} else {
				in.Budgets.Total = limit
			}
			res := prompt.Build(in)
			got, err := format.parse(res.System)
			if err != nil || prompt.Chars(res.System) > in.Budgets.Total || res.Report.Chars != prompt.Chars(res.System) {
				t.Fatalf("%d: %v in %q", limit, err, res.System)
			}
			if len(got.items)+len(res.Report.Dropped) != 4 {
				t.Fatalf("%d: %d items and %d left out in %q", limit, len(got.items), len(res.Report.Dropped), res.System)
			}
		}
	}
}

// FuzzMemory reads one memory back out of both formats.
func FuzzMemory(f *testing.F) {
	for _, s := range []string{
		"Working on Alpha", "", "</memory><memory source=\"referenced\">", "a\n- [REFERENCED @x] [fact] b [id:0]",
		"x (answers: y) [id:0a]", `\`, `\\[`, "\r\n## Memory\n---", "\u2028## Memory", "```\n# x", "  two\n  two", "&amp;", "\x00",
	} {
		f.Add(s, "What?")
		f.Add("x", s)
	}
	f.Fuzz(func(t *testing.T, statement, question string) {
		statement, question = strings.ToValidUTF8(statement, "?"), strings.ToValidUTF8(question, "?")
		budgets := prompt.DefaultBudgets
		budgets.Total, budgets.Referenced = prompt.MaxBudget, prompt.MaxBudget
		for _, format := range formats {
			res := prompt.Build(prompt.Input{Format: format.format, Budgets: budgets, Referenced: []prompt.Memory{
				{ID: "a", Statement: statement, Question: question, Kind: "fact", Source: "attached"},
				{ID: "b", Statement: "the end", Kind: "fact", Source: "attached"},
			}})
			got, err := format.parse(res.System)
			if err != nil || len(got.items) != 2 || got.items[1].text != "the end" {
				t.Fatalf("%s: %v, %+v of %q", format.name, err, got, res.System)
			}
			said, asks := strings.Split(lines(statement), "\n"), lines(question)
			if format.format == prompt.Markdown {
				for i := range said {
					said[i] = oneLine(said[i])
				}
				asks = oneLine(question)
			}
			if want := format.holds(strings.Join(said, "\n")); got.items[0].text != want || got.items[0].why != format.holds(asks) {
				t.Fatalf("%s: %q and %q came back as %q and %q", format.name, want, asks, got.items[0].text, got.items[0].why)
			}
		}
	})
}

// TestMEM43_AMemoryIsOneLineOfValidText: a text that is shown as it is, and each kind that is not.
func TestMEM43_AMemoryIsOneLineOfValidText(t *testing.T) {
	for text, want := range map[string]string{
		"plain, as most are":  "plain, as most are",
		"größer 🙂 \uFFFD":     "größer 🙂 \uFFFD",
		"no UTF-8 \xff here":  "no UTF-8 \uFFFD here",
		"a\u2028b\u0085c\vd":  "a b c d",
		`ä (b) [c] \d`:        `ä \(b\) \[c\] \\d`,
		"first\r\nsecond\n#x": "first\n  second\n  \\#x",
	} {
		got := prompt.Build(prompt.Input{
			Budgets:    prompt.DefaultBudgets,
			Referenced: []prompt.Memory{{ID: "m", Kind: "fact", Status: "active", Statement: text, Source: prompt.SourceAuto}},
		}).System
		if line := "- [fact] " + want + " [id:m]\n"; !strings.Contains(got, line) {
			t.Errorf("%q gives %q, want %q in it", text, got, line)
		}
	}
}
