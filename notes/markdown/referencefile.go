package markdown

import (
	"strings"
)

// Bounds of the names of files that are looked for without any marks.
const (
	maxFileWords = 12   // words that a name may begin before the one that ends it
	maxFileBytes = 3072 // of a name, escaped
	maxWordFiles = 8    // names in one word, without blanks between
)

// fileToken is the word that the last name of a file was found in, and where a name
// may begin that ends in it.
type fileToken struct {
	starts [maxFileWords]int
	count  int
	read   int // up to where it is known that the word goes on
	found  int // names in it
}

// fileBreak marks what ends a word of a file name.
var fileBreak = func() (set [256]bool) {
	for _, c := range []byte(" \t\r\n()<>\"'`[]|,;:*?=&") {
		set[c] = true
	}
	return set
}()

// fileName handles '.', which may stand before the ending of a Markdown file. Such a
// name may begin some words before the one that ends it: each is a reference.
func (s *refScanner) fileName(i int) {
	end := i + 1 + fileEnding(s.text[i+1:])
	if end == i+1 {
		return
	}
	behind := strings.TrimLeft(s.text[end:min(len(s.text), end+8)], "_*") // the end of emphasis
	if behind != "" && isWord(behind[0]) {
		return
	}
	f := &s.files
	same := f.read > 0
	for at := f.read; same && at < i; at++ {
		same = !fileBreak[s.text[at]]
	}
	if !same {
		f.begin(s.text, i, f.read)
		s.read += i - f.starts[f.count-1]
	}
	f.read = end
	f.found++
	if f.found > maxWordFiles {
		return
	}
	for _, start := range f.starts[:f.count] {
		if start < i && end-start <= maxFileBytes {
			s.file(start, end)
		}
	}
}

// file emits a name as it stands, and without what may belong to the text around it.
func (s *refScanner) file(start, end int) {
	name := s.text[start:end]
	s.read += len(name)
	bare := strings.TrimLeft(name, "_~") // emphasis
	for _, name := range [...]string{name, bare} {
		s.emit(FileRef, start, end, name)
		if strings.ContainsAny(name, `%&\`) {
			s.emit(FileRef, start, end, UnescapeDest(name))
		}
		if len(bare) == len(name) {
			return
		}
	}
}

// begin finds where a name may begin that ends behind i, from the right to the left;
// not before least, where another name ends.
func (f *fileToken) begin(text string, i, least int) {
	*f = fileToken{}
	least = max(least, i-maxFileBytes)
	for at := i; f.count < maxFileWords; {
		for at > least && !fileBreak[text[at-1]] {
			at--
		}
		f.starts[f.count] = at
		f.count++
		for at > least && fileBreak[text[at-1]] {
			if text[at-1] == '\n' || strings.HasPrefix(text[at-1:], "[[") ||
				at > 1 && strings.HasPrefix(text[at-2:], "](") {
				return // no name goes over the end of a line, or the text of a link
			}
			at--
		}
		if at == least {
			return
		}
	}
}

// fileEnding returns the length of the ending of a Markdown file that a text begins
// with.
func fileEnding(text string) int {
	for _, ending := range [...]string{"markdown", "md"} {
		if len(text) >= len(ending) && strings.EqualFold(text[:len(ending)], ending) {
			return len(ending)
		}
	}
	return 0
}
