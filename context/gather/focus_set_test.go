package gather_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
)

// labelledTurn is a message of a labelled conversation.
type labelledTurn struct {
	prompt.HistoryMessage
	needs, leaves []string // titles of notes and names of entities
}

// labelled is a conversation of testdata/focus.txt.
type labelled struct {
	name, half string
	turns      []labelledTurn
}

func labelledConversations(t testing.TB) (list []labelled) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "focus.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	titles := func(s string) (out []string) {
		for title := range strings.SplitSeq(s, ";") {
			out = append(out, strings.TrimSpace(title))
		}
		return out
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		mark, rest, _ := strings.Cut(lines.Text(), " ")
		var last *labelledTurn
		if n := len(list) - 1; n >= 0 && len(list[n].turns) > 0 {
			last = &list[n].turns[len(list[n].turns)-1]
		}
		switch mark {
		case "=":
			name, half, _ := strings.Cut(rest, " ")
			list = append(list, labelled{name: name, half: half})
		case ">":
			c := &list[len(list)-1]
			c.turns = append(c.turns, labelledTurn{HistoryMessage: prompt.HistoryMessage{Role: "user", Text: rest}})
		case "<":
			c := &list[len(list)-1]
			c.turns = append(c.turns, labelledTurn{HistoryMessage: prompt.HistoryMessage{Role: "assistant", Text: rest}})
		case "+":
			last.needs = titles(rest)
		case "-":
			last.leaves = titles(rest)
		}
	}
	return list
}

// share counts what is so.
type share struct{ is, all int }

func (s *share) add(is bool) {
	s.all++
	if is {
		s.is++
	}
}

func (s share) String() string {
	return fmt.Sprintf("%d of %d, %d %%", s.is, s.all, 100*s.is/max(1, s.all))
}

// inPrompt returns what is in a prompt with its fields or its text.
func inPrompt(w *world, res *prompt.Result) map[string]string {
	in := make(map[string]string)
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			if item.Kind == prompt.KindNote || item.Depth < 2 {
				title := item.Title
				if n := w.notes.Get(item.ID); n != nil { // two notes of a title are called by their paths
					title = n.Title
				}
				in[title] = s.Name + ", " + item.Reason
			}
		}
	}
	return in
}

// TestCTX41_TheLabelledSet holds what each follow-up needs, and what is to be left, against the prompts.
func TestCTX41_TheLabelledSet(t *testing.T) {
	w := sample(t)
	needed, left := make(map[string]*share), make(map[string]*share)
	without := &share{}
	for _, half := range []string{"tune", "check"} {
		needed[half], left[half] = new(share), new(share)
	}
	var missed strings.Builder // of the half that was tuned to; to look at those of the other would tune to them
	miss := func(half, format string, args ...any) {
		if half == "tune" {
			fmt.Fprintf(&missed, format+"\n", args...)
		}
	}
	list := labelledConversations(t)
	if len(list) != 60 {
		t.Fatalf("%d conversations", len(list))
	}
	for _, c := range list {
		for i, turn := range c.turns {
			if len(turn.needs)+len(turn.leaves) == 0 {
				continue
			}
			p := gather.Params{Text: turn.Text, SearchNotes: 3, Audience: gather.Local}
			bare := inPrompt(w, w.assemble(t, p))
			for _, before := range c.turns[:i] {
				p.History = append(p.History, before.HistoryMessage)
			}
			res := w.assemble(t, p)
			in := inPrompt(w, res)
			for _, title := range turn.needs {
				needed[c.half].add(in[title] != "")
				without.add(bare[title] != "")
				if in[title] == "" {
					miss(c.half, "%s %q needs %s; searched for %q", c.name, turn.Text, title, res.Report.Query)
				}
			}
			for _, title := range turn.leaves {
				left[c.half].add(in[title] == "")
				if in[title] != "" {
					miss(c.half, "%s %q still has %s: %s", c.name, turn.Text, title, in[title])
				}
			}
		}
	}
	var got strings.Builder
	fmt.Fprintf(&got, "60 conversations, 20 in each of three languages; what each message needs was written down before anything was tuned.\n\n")
	for _, half := range []string{"tune", "check"} {
		fmt.Fprintf(&got, "%s: in the prompt %s; left when the subject is another one %v\n", half, needed[half], left[half])
	}
	both := share{left["tune"].is + left["check"].is, left["tune"].all + left["check"].all}
	for name, s := range map[string]*share{"in the prompt": needed["check"], "tune in the prompt": needed["tune"], "left": left["check"], "left in both": &both} {
		if s.is*10 < s.all*9 {
			t.Errorf("%s: %v", name, s)
		}
	}
	fmt.Fprintf(&got, "without history: in the prompt %v\n\nwhat is not so in the half that was tuned to:\n", *without)
	lines := strings.Split(strings.TrimSpace(missed.String()), "\n")
	slices.Sort(lines)
	got.WriteString(strings.Join(lines, "\n") + "\n")
	file := filepath.Join("testdata", "focus.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got.String() {
		t.Errorf("differs from %s (go test ./context/gather -update):\n%s", file, got.String())
	}
}
