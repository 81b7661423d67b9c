package search_test

import (
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
	got := search.BestPassages(note, "why does the load cell drift?", "", 600)
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
	got := search.BestPassages(note, "precision of the balance", "Oskar will test a shielded cable.", 300)
	if !strings.Contains(got, "Oskar will test") {
		t.Error(got)
	}
}

func TestCTX21_ANoteOfWhichOnlyTheTitleMatches(t *testing.T) {
	got := search.BestPassages(note, "xylophone", "", 300)
	if !strings.HasPrefix(got, "# Minutes\nWe talked") {
		t.Error(got)
	}
}

func TestCTX21_SentencesOfALongParagraph(t *testing.T) {
	text := strings.Repeat("It rained. ", 60) + "The cable broke. " + strings.Repeat("It rained. ", 60) + "A cable was bought. " +
		strings.Repeat("It rained. ", 60)
	got := search.BestPassages(text, "cable", "", 120)
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
		got := search.BestPassages(note, message, near, most)
		if utf8.ValidString(note) && utf8.RuneCountInString(got) > most {
			t.Fatalf("%d characters", utf8.RuneCountInString(got))
		}
		if again := search.BestPassages(note, message, near, most); again != got {
			t.Fatal("another answer")
		}
		search.AsksNothing(message)
	})
}
