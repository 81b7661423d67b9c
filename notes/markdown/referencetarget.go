package markdown

import (
	"html"
	"net/url"
	"path"
	"slices"
	"strings"
)

// targetsOf returns what a destination may name: with and without its escapes, a
// fragment, a query and a line number. Of the addresses by which note apps are opened,
// the file is what they name; pages of the web name nothing. The list is good until
// the next call.
func (s *refScanner) targetsOf(dest string) []string {
	s.read += len(dest)
	s.targets = s.targets[:0]
	dest = strings.TrimSpace(dest)
	if strings.HasPrefix(dest, "[[") {
		s.addNames(ParseTarget(strings.Trim(dest, "[]")).Target) // as Logseq has it
	}
	if strings.IndexByte(dest, '&') >= 0 {
		dest = html.UnescapeString(dest)
	}
	if s.addAddress(dest) {
		return s.targets
	}
	file, _, hasFragment := strings.Cut(dest, "#")
	s.addNames(file)
	s.addNames(unescaped(file))
	if hasFragment {
		s.addNames(unescaped(dest)) // a file may have # in its name
	}
	return s.targets
}

// addAddress adds what an address names and reports whether it can name nothing else.
// What looks like one may be the name of a file with a colon in it.
func (s *refScanner) addAddress(dest string) bool {
	if strings.IndexByte(dest, ':') < 0 || hasLine(dest) {
		return false
	}
	u, err := url.Parse(dest)
	if err != nil || len(u.Scheme) < 2 {
		return false
	}
	switch u.Scheme {
	case "http", "https", "mailto":
		return true
	}
	query := u.Query()
	s.addNames(query.Get("file"))
	s.addNames(path.Base(query.Get("path")))
	s.addNames(path.Base(u.Path))
	s.addNames(unescaped(path.Base(u.Opaque)))
	return u.Opaque == ""
}

// hasLine reports whether a destination is a file with a line number, which reads like
// an address: the file would be its scheme.
func hasLine(dest string) bool {
	if end := strings.IndexAny(dest, "?#"); end >= 0 {
		dest = dest[:end]
	}
	file := withoutLine(dest)
	return len(file) < len(dest) && strings.IndexByte(file, ':') < 0
}

// addNames adds a name as it stands, and without what may say which place of the
// record is meant: a query, a block, a line.
func (s *refScanner) addNames(name string) {
	s.addName(name)
	for _, mark := range [...]byte{'?', '^'} {
		if end := strings.IndexByte(name, mark); end >= 0 {
			s.addName(name[:end])
			s.addName(withoutLine(name[:end]))
		}
	}
	s.addName(withoutLine(name))
}

func (s *refScanner) addName(name string) {
	name = strings.TrimSpace(name)
	if name != "" && !slices.Contains(s.targets, name) {
		s.targets = append(s.targets, name)
	}
}

// maxPlaces is how many numbers the place in a file may have: a line and a column.
const maxPlaces = 2

// withoutLine returns a name without a line at its end, such as Boss.md:3, :3:7, :L3-L7.
func withoutLine(name string) string {
	for range maxPlaces {
		colon := strings.LastIndexByte(name, ':')
		if colon <= 0 || strings.Trim(name[colon+1:], "0123456789-,LlCc") != "" ||
			!strings.ContainsAny(name[colon+1:], "0123456789") {
			return name
		}
		name = name[:colon]
	}
	return name
}

// unescaped returns a destination without the escapes of Markdown, HTML and URLs.
func unescaped(dest string) string {
	if strings.IndexByte(dest, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(dest); i++ {
			if dest[i] == '\\' && i+1 < len(dest) && isPunct(dest[i+1]) {
				i++
			}
			b.WriteByte(dest[i])
		}
		dest = b.String()
	}
	dest = html.UnescapeString(dest)
	if plain, err := url.PathUnescape(dest); err == nil {
		return plain
	}
	return dest
}
