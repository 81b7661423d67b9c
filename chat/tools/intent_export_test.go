package tools

import "strings"

// Phrase is a phrase as it stands in the file.
type Phrase struct{ Language, Kind, Words string }

// Phrases returns the phrases of the file.
func Phrases() (list []Phrase) {
	for s := range strings.Lines(phrasesText) {
		if s = strings.TrimSpace(s); s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		language, s, _ := strings.Cut(s, " ")
		kind, words, _ := strings.Cut(s, " ")
		list = append(list, Phrase{language, kind, words})
	}
	return list
}

// CheckPhrases reads a file of phrases.
func CheckPhrases(file string) error {
	_, err := readPhrases(file)
	return err
}
