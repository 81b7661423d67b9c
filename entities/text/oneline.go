package text

// This file makes one line of a text that a person is to see in a list: of a paragraph of a note,
// or of what a language model answered when it was asked for a title or a sentence. A line has no
// control characters, nothing hidden, no line break, and is cut between graphemes, in code points.
// All functions take time linear in the text.

import (
	"strings"
	"unicode"
)

// OneLine returns a text in one line, of what a person sees of it.
func OneLine(text string) string {
	return strings.Join(strings.Fields(visible(text)), " ")
}

// visible leaves out what shows nothing, and makes line breaks \n.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || IsBreak(r):
			return '\n'
		case unicode.IsSpace(r):
			return ' '
		case r == '\u200c' || r == '\u200d':
			return r // they join letters and emoji, which look otherwise without
		case unicode.IsControl(r) || IsHidden(r) && !unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}

// Tags that some models put around what they think, and that a provider passes on.
var thinking = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<reasoning>", "</reasoning>"}}

// AnswerLine reads what a model answered as one line: the first that says something, without quotes around it, and of at
// most so many code points. "" is none: the model answered nothing, or null.
func AnswerLine(answer string, most int) string {
	for _, tag := range thinking {
		if _, after, found := cutLast(answer, tag[1]); found {
			answer = after
		} else if before, _, found := strings.Cut(answer, tag[0]); found {
			answer = before
		}
	}
	for line := range strings.Lines(visible(answer)) {
		line = strings.Join(strings.Fields(line), " ")
		for was := ""; was != line; {
			was, line = line, bare(line)
		}
		switch {
		case !HasContent(line):
			continue // a fence, a rule, an empty line
		case strings.EqualFold(strings.TrimRight(line, "."), "null"):
			return ""
		}
		line, _ = Truncate(line, most)
		return line
	}
	return ""
}

// HasContent reports whether a line says something: it has a letter, a digit or an emoji.
func HasContent(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
	})
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Quotes that may stand around a line, and marks of Markdown.
var around = [][2]string{
	{`"`, `"`},
	{"'", "'"},
	{"`", "`"},
	{"“", "”"},
	{"„", "“"},
	{"„", "”"},
	{"‘", "’"},
	{"‚", "‘"},
	{"«", "»"},
	{"»", "«"},
	{"‹", "›"},
	{"「", "」"},
	{"『", "』"},
	{"**", "**"},
	{"__", "__"},
	{"*", "*"},
	{"_", "_"},
}

// bare takes away what stands around a line.
func bare(line string) string {
	line = strings.TrimSpace(strings.TrimLeft(line, "#"))
	for _, q := range around {
		inside, begins := strings.CutPrefix(line, q[0])
		inside, ends := strings.CutSuffix(inside, q[1])
		if begins && ends && inside != "" && !strings.Contains(inside, q[0]) && !strings.Contains(inside, q[1]) {
			return strings.TrimSpace(inside)
		}
	}
	return line
}
