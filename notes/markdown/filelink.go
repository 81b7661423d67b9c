package markdown

import (
	"strings"
)

// markdownLink looks for "](destination)" and "]: destination" at the ']' at i of a
// block. It records a link to a file and returns the end of any destination, or 0.
func (s *scanner) markdownLink(b block, i, line int) int {
	if len(s.opens) == 0 {
		return 0
	}
	open := int(s.opens[len(s.opens)-1])
	s.opens = s.opens[:len(s.opens)-1]
	if i+1 >= b.end {
		return 0
	}
	if s.src[i+1] == ':' && open == s.defAt && isDefinitionLabel(s.src[open+1:i]) {
		return s.definition(b, i+2, line)
	}
	if s.src[i+1] != '(' {
		return 0
	}
	start, stop, after := linkDest(s.src, i+2, b.end)
	if after == 0 {
		return 0
	}
	if open == 0 || s.src[open-1] != '!' { // an image may stand in the text of a link
		s.opens = s.opens[:0] // no link in the text of a link
	}
	s.addFileLink(start, stop, line+strings.Count(s.src[i:start], "\n"))
	return after
}

// definition reads what follows "[label]:": a destination, and nothing but a title
// behind it on its line. It returns where the definition ends, or 0.
func (s *scanner) definition(b block, i, line int) int {
	at := skipBlanks(s.src[:b.end], i)
	if le, next := lineEnd(s.src, at); at == le { // the destination is on the next line
		at = skipPrefix(s.src, min(next, b.end), b.end, b.depth)
	}
	start, stop, after := destination(s.src, at, b.end)
	if after == 0 || stop == start || s.src[start] == '[' {
		return 0
	}
	le, next := lineEnd(s.src, after)
	le = min(le, b.end)
	rest := strings.TrimLeft(s.src[after:le], " \t")
	if rest != "" && (len(rest) == le-after || strings.IndexByte("\"'(", rest[0]) < 0) {
		return 0
	}
	s.addFileLink(start, stop, line+strings.Count(s.src[i:start], "\n"))
	if next < b.end {
		s.defAt = skipPrefix(s.src, next, b.end, b.depth)
	}
	return le
}

// isDefinitionLabel reports what may stand between the brackets of a definition. That
// of a footnote may not, nor other brackets.
func isDefinitionLabel(label string) bool {
	return len(label) <= maxLabel && strings.TrimSpace(label) != "" && label[0] != '^' && !hasBracket(label)
}

// hasBracket reports whether a text has a '[' without a backslash before it.
func hasBracket(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return true
		}
	}
	return false
}

// addFileLink records the destination at [start, stop), on the given line, when it may be
// a file of the vault.
func (s *scanner) addFileLink(start, stop, line int) {
	if isFileDest(s.src[start:stop]) {
		s.fileLinks.add(linkPlace{int32(start), int32(stop), int32(line)})
	}
}

// frontFileLink records the destination of the Markdown link whose text may end with the ']' at i of frontmatter, in a line that
// goes to end. The quotes of its title may be escaped there.
func (s *scanner) frontFileLink(i, end, line int) {
	if !strings.HasPrefix(s.src[i:end], "](") {
		return
	}
	start, stop, after := destination(s.src, skipSpace(s.src, i+len("]("), end), end)
	if after == 0 {
		return
	}
	if rest := strings.TrimLeft(s.src[after:end], " \t"); rest != "" && strings.IndexByte(")\"'\\", rest[0]) >= 0 {
		s.addFileLink(start, stop, -line)
	}
}

// htmlLinks records what the tag of HTML at i, if there is one, leads to and shows: <a href="x.md">, <img src="x.png">.
func (s *scanner) htmlLinks(i, end, line int) {
	end, _ = htmlTag(s.src, i, end)
	if end == 0 {
		return
	}
	at, counted := i+1, i // up to there the lines are counted
	for at < end && isWord(s.src[at]) {
		at++
	}
	for at < end {
		start := at
		for at < end && s.src[at] > ' ' && strings.IndexByte(`="'>/`, s.src[at]) < 0 {
			at++
		}
		name := s.src[start:at]
		value := skipSpace(s.src, at, end)
		if name == "" || value >= end || s.src[value] != '=' {
			at = max(value, start+1)
			continue
		}
		value = skipSpace(s.src, value+1, end)
		at = value
		switch c := s.src[min(value, end-1)]; c {
		case '"', '\'':
			value++
			at = value
			for at < end && s.src[at] != c {
				at++
			}
		default:
			for at < end-1 && s.src[at] > ' ' {
				at++
			}
		}
		if at < end && (strings.EqualFold(name, "href") || strings.EqualFold(name, "src")) {
			line += strings.Count(s.src[counted:value], "\n")
			counted = value
			s.addFileLink(value, at, line)
		}
	}
}

// isFileDest reports whether a destination is, or may be, a file of the same vault.
func isFileDest(dest string) bool {
	return IsDest(dest) && DestKindOf(dest) != DestElsewhere
}

// Possible reports a Markdown link that is one only where its target is there: what its
// destination says may be meant in another way.
func (l Link) Possible() bool {
	return l.Markdown && DestKindOf(l.Raw) == DestPossible
}

// newFileLink reads the destination of a Markdown link to a file.
func newFileLink(dest string) Link {
	path, fragment, _ := strings.Cut(dest, "#")
	l := Link{Target: UnescapePath(path), Markdown: true, Raw: dest}
	part := strings.TrimSpace(UnescapePath(fragment))
	if block, ok := strings.CutPrefix(part, "^"); ok {
		l.Block = block
	} else {
		l.Heading = part
	}
	return l
}
