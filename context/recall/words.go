package recall

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities"
)

// changes are what people say when something is not as it was.
var changes = phrases(memory.ChangeWords...)

// ofAssistant are the verbs with which a question asks what the assistant said.
var ofAssistant = phrases(
	"did you say", "did you tell", "did you suggest", "did you recommend", "did you advise", "did you propose",
	"did you mention", "did you explain", "you said", "you told", "you suggested", "you recommended", "you advised",
	"you proposed", "you mentioned", "you explained", "you gave", "your advice", "your suggestion", "your answer",
	"your recommendation", "the assistant", "hast du gesagt", "hast du vorgeschlagen", "hast du empfohlen", "dein rat",
	"dein vorschlag",
)

func phrases(list ...string) [][]string {
	out := make([][]string, len(list))
	for i, p := range list {
		out[i] = strings.Fields(p)
	}
	return out
}

// wordsOf splits a text into folded words.
func wordsOf(text string) []string {
	return strings.FieldsFunc(entities.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// holds reports whether words have one of some phrases.
func holds(words []string, list [][]string) bool {
	for i := range words {
		for _, p := range list {
			if len(words)-i >= len(p) && slices.Equal(words[i:i+len(p)], p) {
				return true
			}
		}
	}
	return false
}

// saysChanged reports whether a statement says that something is not as it was.
func saysChanged(statement string) bool { return holds(wordsOf(statement), changes) }

// asksOf returns the role of whose words a question asks for.
func asksOf(question string) string {
	if holds(wordsOf(question), ofAssistant) {
		return "assistant"
	}
	return "user"
}
