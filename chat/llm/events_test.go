package llm_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/chat/llm"
)

func TestCHAT24_Events(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"one", "data: a\n\n", []string{"a"}},
		{"without a blank", "data:a\n\n", []string{"a"}},
		{"one blank is left out", "data:  a \n\n", []string{" a "}},
		{"lines are joined", "data: a\ndata: b\n\n", []string{"a\nb"}},
		{"without an end", "data: a\n\ndata: b", []string{"a", "b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
		{"mixed", "data: a\r\ndata: b\r\n\ndata: c\n\r", []string{"a\nb", "c"}},
		{"comments and other fields", ": c\nevent: x\nid: 1\nretry: 5\ndata: a\n: d\n\n:\n\n", []string{"a"}},
		{"a field without a colon", "data\n\ndata: a\n\n", []string{"a"}},
		{"names that only begin so", "database: x\n\n data: y\n\nDATA: z\n\n", nil},
		{"an event without data", "event: ping\n\ndata: a\n\n", []string{"a"}},
		{"longer than the buffer", "data: " + strings.Repeat("x", 100) + "\r\n\r\n", []string{strings.Repeat("x", 100)}},
	} {
		for name, from := range map[string]io.Reader{
			"whole": strings.NewReader(c.text), "bytes": iotest.OneByteReader(strings.NewReader(c.text)),
			"halves": iotest.HalfReader(strings.NewReader(c.text)),
		} {
			got, err := llm.Events(from)
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
				t.Errorf("%s, %s: %v\n%s", c.name, name, err, diff)
			}
		}
	}
	broken := errors.New("broken")
	if got, err := llm.Events(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
}

// FuzzCHAT24_Events holds the reader to a plain one that has the whole text, however the text arrives.
func FuzzCHAT24_Events(f *testing.F) {
	for _, seed := range []string{"data: a\r\n\r\n", "data\n\n", ": x\rdata:y\r\r", "\xEF\xBB\xBFdata: a\n\n", "data: a\n\r\ndata:b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole, _ := llm.Events(strings.NewReader(text))
		bytes, _ := llm.Events(iotest.OneByteReader(strings.NewReader(text)))
		if diff := cmp.Diff(whole, bytes); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(plainEvents(text), whole); diff != "" {
			t.Error(diff)
		}
	})
}

// plainEvents is what events are, in the fewest words.
func plainEvents(text string) (list []string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	for block := range strings.SplitSeq(text, "\n\n") {
		var data []string
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			if name == "data" && (value != "" || len(data) > 0) {
				data = append(data, value)
			}
		}
		if len(data) > 0 {
			list = append(list, strings.Join(data, "\n"))
		}
	}
	return list
}

func TestCHAT24_TextsInPieces(t *testing.T) {
	for _, c := range []struct{ pieces, want []string }{
		{[]string{`"a"`, `"b"`}, []string{"a", "b", ""}},
		{[]string{`null`, `"\u00e4\n\"\\\/\b\f\r\t"`}, []string{"", "ä\n\"\\/\b\f\r\t", ""}},
		{[]string{"\"\xc3\"", "\"\xa4\""}, []string{"", "ä", ""}},
		{[]string{"\"a\xf0\"", "\"\x9f\x98\"", "\"\x80b\""}, []string{"a", "", "😀b", ""}},
		{[]string{"\"\xf0\x9f\""}, []string{"", "\uFFFD"}},
		{[]string{"\"\xf0\x9f\"", `"x"`}, []string{"", "\uFFFD\uFFFDx", ""}},
		{[]string{"\"\xff\xfe\""}, []string{"\uFFFD\uFFFD", ""}},
		{[]string{`"\ud83d\ude00"`}, []string{"😀", ""}},
		{[]string{`"\uD83D"`, `"\uDE00!"`}, []string{"", "😀!", ""}},
		{[]string{`"\ud83d"`}, []string{"", "\uFFFD"}},
		{[]string{`"\ud83d"`, `"x\n"`}, []string{"", "\uFFFDx\n", ""}},
		{[]string{`"\ude00\ud83dx"`}, []string{"\uFFFD\uFFFDx", ""}},
		{[]string{`"\\ud83d"`}, []string{`\ud83d`, ""}},
		{[]string{`7`}, nil},
		{[]string{`["a"]`}, nil},
	} {
		if diff := cmp.Diff(c.want, llm.Joined(c.pieces...)); diff != "" {
			t.Errorf("%q:\n%s", c.pieces, diff)
		}
	}
}

// FuzzCHAT24_Pieces cuts a text anywhere: what is whole comes out as it was.
func FuzzCHAT24_Pieces(f *testing.F) {
	f.Add("Grüße 😀", 3, 8)
	f.Add("\xf0\x9f\x98", 1, 2)
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		if strings.ContainsAny(text, "\"\\") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			return
		}
		a = max(0, min(a, len(text)))
		b = max(a, min(b, len(text)))
		got := strings.Join(llm.Joined(`"`+text[:a]+`"`, `"`+text[a:b]+`"`, `"`+text[b:]+`"`), "")
		if !utf8.ValidString(got) || utf8.ValidString(text) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestMEM84_ThoughtsInTags(t *testing.T) {
	for _, c := range []struct{ text, reasoning, rest string }{
		{"Hi <think>x</think>", "", "Hi <think>x</think>"},
		{"Hm, 1+1.\n</think>\n\nIt is 2.", "Hm, 1+1.\n", "It is 2."},
		{"Hm.[/THINK]It is 2.", "Hm.", "It is 2."},
		{"Hm. </thinking>It is 2. </think>", "Hm. ", "It is 2. </think>"},
		{"Write `</think>` there.", "", "Write `</think>` there."},
		{"```\na</think>\n```", "", "```\na</think>\n```"},
		{"[THINK]x[/THINK]\nHi", "x", "Hi"},
		{"◁think▷x◁/think▷Hi", "x", "Hi"},
		{"[THIN", "", "[THIN"},
		{"<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>Hi <|b", "x", "Hi <|b"},
		{"<|start|>assistant<|channel|>final<|message|>Hi<|return|>", "", "Hi"},
		{"<|channel|>commentary<|message|>x<|channel|>final<|message|>Hi", "x", "Hi"},
		{"<|channel|>analysis<|message|>x<|end", "x<|end", ""},
		{"<think>x</think>Hi", "x", "Hi"},
		{" \n<think>\nx\n</think>\n\n Hi </think>", "\nx\n", " Hi </think>"},
		{"<think>x", "x", ""},
		{"<think>x</thin", "x</thin", ""},
		{"<thi", "", "<thi"},
		{"<thinking>", "", ""},
		{"  ", "", "  "},
		{"", "", ""},
		{strings.Repeat(" ", 65) + "<think>x</think>", "", strings.Repeat(" ", 65) + "<think>x</think>"},
	} {
		for _, pieces := range [][]string{{c.text}, strings.Split(c.text, "")} {
			reasoning, rest := llm.Thoughts(pieces...)
			if reasoning != c.reasoning || rest != c.rest {
				t.Errorf("%q: %q, %q", pieces, reasoning, rest)
			}
		}
	}
}
