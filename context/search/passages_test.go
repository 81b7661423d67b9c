package search_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/search"
)

// note has the answer in the middle of much that is about something else.
var note = "# Minutes\n" + strings.Repeat("We talked about the weather and the food. ", 40) + "\n\n" +
	"## Hardware\n\n" + strings.Repeat("The case is made of wood.\n\n", 20) +
	"### Sensors\nThe load cell drifts by four grams an hour on the roof. Oskar will test a shielded cable.\n\n" +
	strings.Repeat("Nothing else was said.\n\n", 20) +
	"```\ncalibrate --cell\n\nreboot\n```\n\n" +
	"## Money\n" + strings.Repeat("The budget was not discussed. ", 30) + "Only the load cell costs more than planned. " +
	strings.Repeat("Everybody was content. ", 30)

func TestCTX21_PassagesThatMatch(t *testing.T) {
	got, _ := search.BestPassages(note, "why does the load cell drift?", "", 600, false)
	for _, want := range []string{
		"### Minutes > Hardware > Sensors\nThe load cell drifts by four grams an hour on the roof. Oskar",
		"\n\n…\n\n",
		"## Minutes > Money\n",
		"Only the load cell costs more than planned.",
		"calibrate --cell\n\nreboot\n```",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.HasPrefix(got, "# Minutes\nWe talked") || utf8.RuneCountInString(got) > 600 {
		t.Errorf("%d characters:\n%s", utf8.RuneCountInString(got), got)
	}
}

// What was found by its meaning has none of the words: the passage that is nearest leads.
func TestCTX21_ThePassageByWhichANoteWasFound(t *testing.T) {
	got, _ := search.BestPassages(note, "precision of the balance", "Oskar will test a shielded cable.", 300, false)
	if !strings.Contains(got, "Oskar will test") {
		t.Error(got)
	}
}

func TestCTX21_ANoteOfWhichOnlyTheTitleMatches(t *testing.T) {
	got, matched := search.BestPassages(note, "xylophone", "", 300, false)
	if matched || !strings.HasPrefix(got, "# Minutes\nWe talked") {
		t.Error(got)
	}
}

func TestCTX21_SentencesOfALongParagraph(t *testing.T) {
	text := strings.Repeat("It rained. ", 60) + "The cable broke. " + strings.Repeat("It rained. ", 60) + "A cable was bought. " +
		strings.Repeat("It rained. ", 60)
	got, _ := search.BestPassages(text, "cable", "", 120, false)
	if !strings.Contains(got, "The cable broke.") || !strings.Contains(got, search.Within) || !strings.Contains(got, "A cable was bought.") {
		t.Error(got)
	}
}

func TestCTX21_AsksNothing(t *testing.T) {
	for message, want := range map[string]bool{
		"hi": true, "Hi!": true, "thanks": true, "Thank you very much": true, "ok, great 👍": true, "": true, "?": true, "👋": true,
		"Danke schön!": true, "Guten Morgen": true, "merci beaucoup": true, "¡Muchas gracias!": true, "谢谢！": true, "こんにちは": true,
		"Привет":        true,
		"tell me about": true, "Explain this, please.": true, "what about the": true, "hello and thanks": true, "Erzähl mir von": true,
		"Parle-moi de": true, "Show us": true,
		"tell me about me": false, "what do you know about me?": false, "who am I?": false, "tell me about bees": false,
		"hi, when is the kickoff?": false, "thanks, and the budget?": false, "roof": false, "谢谢你的预算": false, "@Alice thanks": false,
	} {
		if got := search.AsksNothing(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add(note, "load cell", "shielded cable")
	f.Add("```\na\n", "a", "")
	f.Add("# a\n\n| a |\n|---|\n\n~~~", "a", "b")
	f.Fuzz(func(t *testing.T, note, message, near string) {
		const most = 200
		got, _ := search.BestPassages(note, message, near, most, false)
		if utf8.ValidString(note) && utf8.RuneCountInString(got) > most {
			t.Fatalf("%d characters", utf8.RuneCountInString(got))
		}
		if again, _ := search.BestPassages(note, message, near, most, false); again != got {
			t.Fatal("another answer")
		}
		search.AsksNothing(message)
	})
}

// What is larger than the room is cut inside: what matches is there, with what makes sense of it, and "…" where something is
// missing.
func TestCTX40_WhatIsTooLongIsCutInside(t *testing.T) {
	table := "| City | Opened | Manager |\n|---|---|---|\n"
	list := "- Berlin\n"
	code := "```sh\n# sets the devices up\nset -e\n"
	quote := ""
	for i := range 40 {
		name := "Town " + strings.Repeat("x", i%7)
		if i == 23 {
			name = "Reykjavik"
		}
		table += fmt.Sprintf("| %s | %d | manager number %d of the chain of shops |\n", name, 1980+i, i)
		if i == 20 {
			list += "- Iceland\n  - offices\n"
		}
		list += fmt.Sprintf("    - %s has %d desks, of which some are still free\n", name, i)
		code += fmt.Sprintf("device add --name %q --port %d --quiet --retry forever\n", name, 7000+i)
		quote += fmt.Sprintf("> %s was opened in %d, as the letter of the chain of shops says\n", name, 1980+i)
	}
	for _, c := range []struct {
		name, note string
		want       []string
		not        string
	}{
		{
			"a table", "# Shops\n\nAll of them.\n\n" + table,
			[]string{
				"# Shops\n", "| City | Opened | Manager |\n|---|---|---|\n…\n| Town x | 2002 | manager number 22",
				"| Reykjavik | 2003 |", "| Town xxx | 2004 | manager number 24 of the chain of shops |\n…",
			},
			"1981",
		},
		{"code", "# Setup\n\n" + code + "```\n", []string{"```sh\n# sets the devices up\nset -e\n…\n", "\"Reykjavik\" --port 7023", "\n…\n```"}, "7010"},
		{"a list", "# Desks\n\n" + list, []string{"- Iceland\n  - offices\n", "    - Reykjavik has 23 desks"}, "has 2 desks"},
		{"a quote", "# Letter\n\n" + quote, []string{"> Reykjavik was opened in 2003"}, "1982"},
		{"one row", "| City | Opened |\n|---|---|\n| " + strings.Repeat("word ", 200) + "Reykjavik " + strings.Repeat("word ", 200) + " |", []string{"… ", "Reykjavik", " …"}, ""},
		{"one word", strings.Repeat("x", 3000), []string{"xxx", " …"}, ""},
		{"code that nothing closes", "# Setup\n\n" + code + "\n## Reykjavik\n\nIt is cold there.\n", []string{"\n```\n\n## Setup > Reykjavik\nIt is cold there."}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 400
			got, _ := search.BestPassages(c.note, "When was the shop in Reykjavik opened, and what is its port?", "", most, false)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if n := utf8.RuneCountInString(got); n > most || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%d characters:\n%s", n, got)
			}
			shown := ""
			for _, p := range search.FindPassages(c.note, "When was the shop in Reykjavik opened, and what is its port?", "", most) {
				shown += c.note[p.Start:p.End] + "\n"
			}
			for line := range strings.Lines(shown) {
				if line = strings.TrimRight(line, "\n"); !strings.Contains(got, line) {
					t.Errorf("%q is found, and not in what is shown:\n%s", line, got)
				}
			}
		})
	}
}
