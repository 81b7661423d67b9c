package llm

import (
	"slices"
	"strings"
)

// thoughtMarks are what models write around their thoughts, where a server passes it on.
var thoughtMarks = []struct{ begin, end string }{
	{"<think>", "</think>"}, // most
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"[THINK]", "[/THINK]"},           // Mistral
	{"<seed:think>", "</seed:think>"}, // Seed-OSS
	{"◁think▷", "◁/think▷"},           // Kimi
}

// The marks of gpt-oss: a message is <|start|>assistant<|channel|>NAME<|message|>TEXT<|end|>.
const (
	channelMark = "<|channel|>"
	messageMark = "<|message|>"
	finalName   = "final" // the channel of the answer
)

var channelEnds = []string{"<|end|>", "<|return|>", "<|call|>", "<|start|>", channelMark}

// What a text may begin with that is no answer, and what may end a thought that had no beginning.
var beginMarks, endMarks = func() (begins, ends []string) {
	for _, m := range thoughtMarks {
		begins, ends = append(begins, m.begin), append(ends, m.end)
	}
	return append(begins, channelMark, "<|start|>"), ends
}()

// thoughts tells reasoning from text where a server passes the marks on. The zero value is ready.
type thoughts struct {
	state   thinking
	end     string          // of the thought that is being read
	held    string          // what may be a part of a mark
	said    strings.Builder // text so far, while an end alone may show that it was a thought
	over    bool            // there was a thought: it may not any more
	channel string          // of the message that is being read; "" while its head is
	head    string          // so far
}

type thinking uint8

const (
	undecided thinking = iota
	within
	ended    // lines that are empty may follow, which are no part of the answer
	behind   // or there is no thought, or none any more
	channels // as gpt-oss writes them
)

const (
	maxBlanks = 64      // bytes of blanks that may stand before a mark
	maxAlone  = 1 << 20 // bytes of text behind which no end of a thought is looked for
)

// split returns what a text adds to the reasoning and to the answer. was says that all that was text until now is a thought:
// its end stands here, and its beginning stood in the prompt, as the templates of some models have it. That is in the
// reasoning then, too.
func (t *thoughts) split(s string) (reasoning, text string, was bool) {
	s, t.held = t.held+s, ""
	switch t.state {
	case undecided:
		return t.begin(s)
	case within:
		before, after, found := strings.Cut(s, t.end)
		if !found {
			t.held = partOf(s, t.end)
			return s[:len(s)-len(t.held)], "", false
		}
		t.state, t.over = ended, true
		_, text, _ = t.split(after)
		return before, text, false
	case ended:
		if s = strings.TrimLeft(s, "\r\n"); s != "" {
			t.state = behind
		}
	case channels:
		reasoning, text = t.channelled(s)
		return reasoning, text, false
	case behind:
		return t.behind(s)
	}
	return "", s, false
}

func (t *thoughts) begin(s string) (reasoning, text string, was bool) {
	begun := strings.TrimLeft(s, " \t\r\n")
	if len(s)-len(begun) <= maxBlanks {
		for _, m := range thoughtMarks {
			if rest, ok := strings.CutPrefix(begun, m.begin); ok {
				t.state, t.end = within, m.end
				return t.split(rest)
			}
		}
		if strings.HasPrefix(begun, channelMark) || strings.HasPrefix(begun, "<|start|>") {
			t.state = channels
			return t.split(begun)
		}
		if slices.ContainsFunc(beginMarks, func(mark string) bool { return strings.HasPrefix(mark, begun) }) {
			t.held = s
			return "", "", false
		}
	}
	t.state = behind
	return t.behind(s)
}

// behind looks for the end of a thought that had no beginning. One in code, or behind a beginning that stands in the text,
// is spoken of.
func (t *thoughts) behind(s string) (reasoning, text string, was bool) {
	before := t.said.Len()
	if t.over || before > maxAlone {
		return "", s, false
	}
	t.said.WriteString(s)
	all := t.said.String()
	first, which := -1, 0
	for i, mark := range endMarks {
		from := max(0, before-len(mark)+1)
		at := strings.Index(all[from:], mark)
		if at < 0 || first >= 0 && from+at > first {
			continue
		}
		at += from
		line := all[strings.LastIndexByte(all[:at], '\n')+1 : at]
		if !strings.Contains(all[:at], thoughtMarks[i].begin) && strings.Count(all[:at], "```")%2 == 0 && strings.Count(line, "`")%2 == 0 {
			first, which = at, i
		}
	}
	if first < 0 {
		return "", s, false
	}
	t.state, t.over = ended, true
	_, text, _ = t.split(all[first+len(endMarks[which]):])
	return all[:first], text, true
}

// channelled reads messages of channels.
func (t *thoughts) channelled(s string) (reasoning, text string) {
	for s != "" {
		if t.channel == "" {
			head, rest, found := strings.Cut(t.head+s, messageMark)
			if t.head = head; !found {
				return reasoning, text
			}
			t.head, s, t.channel = "", rest, finalName
			if _, name, ok := strings.Cut(head, channelMark); ok {
				if fields := strings.Fields(name); len(fields) > 0 {
					t.channel = fields[0]
				}
			}
		}
		var body, rest string
		at, mark := -1, ""
		for _, end := range channelEnds {
			if i := strings.Index(s, end); i >= 0 && (at < 0 || i < at) {
				at, mark = i, end
			}
		}
		closed := t.channel
		if at >= 0 {
			body, rest, t.channel = s[:at], s[at:], ""
			if mark != channelMark {
				rest = s[at+len(mark):]
			}
		} else {
			t.held = partOf(s, channelEnds...)
			body = s[:len(s)-len(t.held)]
		}
		if closed == finalName {
			text += body
		} else {
			reasoning += body
		}
		s = rest
	}
	return reasoning, text
}

// partOf returns the end of a text that one of the marks may begin with.
func partOf(s string, marks ...string) string {
	longest := 0
	for _, mark := range marks {
		for n := min(len(s), len(mark)-1); n > longest; n-- {
			if strings.HasSuffix(s, mark[:n]) {
				longest = n
			}
		}
	}
	return s[len(s)-longest:]
}

// rest returns what is left when no text comes any more.
func (t *thoughts) rest() (reasoning, text string) {
	left := t.held
	t.held = ""
	if t.state == within || t.state == channels && t.channel != finalName {
		return left, ""
	}
	return "", left
}
