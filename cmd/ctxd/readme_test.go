package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateReadme = flag.Bool("update", false, "write the demo's transcript in README.md anew")

// maxReadme is the size of the README that one reads in ten minutes, in bytes.
const maxReadme = 14_000

func TestReadme_IsForTheFirstTenMinutes(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc) > maxReadme {
		t.Errorf("README.md has %d bytes, at most %d: move what is not for newcomers into the README of its room", len(doc), maxReadme)
	}
}

// transcript are the parts of the demo that the README shows: so many lines from
// one that begins so.
var transcript = []struct {
	from  string
	lines int
}{
	{"ctxd demo", 2},
	{"1  vault.import", 5},
	{"2  memory.addMany", 4},
	{"3  notes.complete", 3},
	{"5  wql.query", 3},
	{"7  notes.search", 2},
	{"8  memory.search", 2},
	{"10  refs.complete", 3},
	{"11  context.assemble", 1},
	{"## What the user referred to", 2},
	{"12  books.add", 2},
	{"### Passage [Hefter Two Service Manual, Batteries]", 2},
	{"14  context.assemble", 1},
	{"## Entity context", 7},
	{"In it", 5},
	{"Not in it", 3},
	{"done in", 1},
}

// changing is what is another at each run, the ends of handles included, or with each new method.
var changing = regexp.MustCompile(`_[0-9a-f]{4}\b|[\d.]+ (ms|µs|s)\b|[0-9a-f]{8}-[0-9a-f-]{27}|daemon \S+,|\d+ methods`)

// blanks are the gaps of a table, which are as wide as rows make them that the
// README leaves out.
var blanks = regexp.MustCompile(`  +`)

// lasting returns what is the same at each run.
func lasting(transcript string) string {
	return blanks.ReplaceAllString(changing.ReplaceAllString(transcript, "•"), "  ")
}

// TestReadme_ShowsWhatTheDemoPrints compares the transcript in the README with the
// demo, times and ids aside. With -update it is written anew.
func TestReadme_ShowsWhatTheDemoPrints(t *testing.T) {
	out, err := newHome(t).command(t, "demo").Output()
	if err != nil {
		t.Fatal(err)
	}
	printed := excerpt(t, string(out))
	file := filepath.Join("..", "..", "README.md")
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- demo -->\n\n```text\n", "```\n\n<!-- /demo -->"
	head, rest, found := strings.Cut(string(doc), begin)
	shown, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("README.md has lost the marks of the demo")
	}
	if *updateReadme {
		if err := os.WriteFile(file, []byte(head+begin+printed+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, want := lasting(shown), lasting(printed)
	if got != want {
		t.Errorf("the demo prints\n%s\nREADME.md shows\n%s\nrun go test ./cmd/ctxd -run Readme -update, and read the diff", want, got)
	}
}

// excerpt returns the parts of the demo that the README shows.
func excerpt(t *testing.T, printed string) string {
	t.Helper()
	lines := strings.Split(printed, "\n")
	var out strings.Builder
	at := 0
	for _, part := range transcript {
		i := slices.IndexFunc(lines[at:], func(l string) bool { return strings.HasPrefix(l, part.from) })
		if i < 0 {
			t.Fatalf("the demo prints no line %q", part.from)
		}
		if i > 0 {
			out.WriteString("…\n")
		}
		at += i
		out.WriteString(strings.Join(lines[at:at+part.lines], "\n") + "\n")
		at += part.lines
	}
	return out.String()
}
