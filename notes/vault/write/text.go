package write

import "strings"

const mark = "\ufeff" // the byte order mark

// Like returns a text in the form of the file that it replaces: with its byte order mark, its line endings where they are all
// the same, and with or without a line break at the end.
func Like(before, text string) string {
	if before == "" {
		return text
	}
	had, has := strings.HasPrefix(before, mark), strings.HasPrefix(text, mark)
	switch crlf := strings.Count(before, "\r\n"); {
	case crlf == 0 && strings.Contains(before, "\n"):
		text = strings.ReplaceAll(text, "\r\n", "\n")
	case crlf > 0 && crlf == strings.Count(before, "\n"):
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	end := "\n"
	if strings.Contains(before, "\r\n") {
		end = "\r\n"
	}
	switch ended, ends := strings.HasSuffix(before, "\n"), strings.HasSuffix(text, "\n"); {
	case ended && !ends && text != "":
		text += end
	case !ended && ends:
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	if had && !has {
		text = mark + text
	}
	return text
}
