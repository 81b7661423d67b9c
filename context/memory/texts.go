package memory

// The texts, tags and domains that clients give for memories and contexts are checked here, and brought into the form
// in which they are stored. The errors are Invalid, with the field at fault, and Limit. The caller says how long a text
// may be.
//
// The functions are linear in their texts, hold no state and may be called concurrently.

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
)

// checkText refuses a text that is too long or not valid UTF-8, and returns it without surrounding
// blanks.
func checkText(field, s string, most int) (string, error) {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return "", fault.Field(field, "%s is not valid UTF-8, or holds a NUL", field).WithHint("give plain text")
	}
	s = strings.TrimFunc(s, unicode.IsSpace)
	if n := utf8.RuneCountInString(s); n > most {
		return "", fault.TooLarge(field, n, most, "characters")
	}
	return s, nil
}

// checkTexts checks a list of texts, and drops those that are blank or repeated.
func checkTexts(field string, list []string, most, longest int) ([]string, error) {
	if len(list) > most {
		return nil, fault.TooLarge(field, len(list), most, "items")
	}
	out := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, s := range list {
		s, err := checkText(fmt.Sprintf("%s[%d]", field, i), s, longest)
		if err != nil {
			return nil, err
		}
		if key := strings.TrimRight(audience.FoldStatement(s), "? "); s != "" && !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out, nil
}

// checkLabels checks tags or domains: each without #, with / between a tag and those below it.
func checkLabels(field string, list []string, most, longest int) ([]string, error) {
	list = slices.Clone(list)
	for i, s := range list {
		list[i] = strings.TrimPrefix(strings.TrimSpace(s), "#")
	}
	list, err := checkTexts(field, list, most, longest)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		parts := strings.Split(s, "/")
		if strings.ContainsFunc(s, badInLabel) || slices.Contains(parts, "") {
			return nil, fault.Field(fmt.Sprintf("%s[%d]", field, i), "%s[%d] is not a tag", field, i).
				WithHint("write letters, digits, hyphens and underscores, with / between a tag and one below it")
		}
	}
	return list, nil
}

func badInLabel(r rune) bool {
	return r != '/' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// checkIDs checks a list of ids, and drops repeated ones.
func checkIDs(field string, list []string, most int) ([]string, error) {
	if len(list) > most {
		return nil, fault.TooLarge(field, len(list), most, "items")
	}
	out := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, id := range list {
		if err := entities.CheckID(fmt.Sprintf("%s[%d]", field, i), id); err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out, nil
}

// missingIn is fault.Missing for an id that stands in a field.
func missingIn(sort, id, field string) error {
	err := fault.Missing(sort, id)
	err.Field = field
	return err
}
