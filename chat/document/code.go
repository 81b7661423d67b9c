package document

import (
	"iter"
	"strings"
)

// parts gives the parts of a message in their order, and whether each is a block of code between
// fences of ``` or ~~~. A block without an end goes on to the end of the message. O(message).
func parts(content string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		start, at, fence := 0, 0, ""
		for at < len(content) {
			end := len(content)
			if n := strings.IndexByte(content[at:], '\n'); n >= 0 {
				end = at + n + 1
			}
			mark := fenceOf(content[at:end])
			switch {
			case fence == "" && mark != "":
				if start < at && !yield(content[start:at], false) {
					return
				}
				start, fence = at, mark
			case fence != "" && closes(content[at:end], fence):
				if !yield(content[start:end], true) {
					return
				}
				start, fence = end, ""
			}
			at = end
		}
		if start < len(content) {
			yield(content[start:], fence != "")
		}
	}
}

// fenceOf returns the mark that begins a line, "" for none.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, c := range [...]string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		// A line of `inline code` may begin with three of them, and has more behind.
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) {
			return line[:n]
		}
	}
	return ""
}

// closes reports whether a line is the end of a block.
func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// prose returns what of a message is not code.
func prose(content string) string {
	var b strings.Builder
	for part, isCode := range parts(content) {
		if !isCode {
			b.WriteString(part)
		}
	}
	return b.String()
}
