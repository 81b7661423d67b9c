package markdown

import "strings"

// People write wikilinks into frontmatter without quotes, where YAML reads
// [[A]] as a list within a list and [[A]], [[B]] as an error. The functions
// here say what such a value means, and quoteLinks rewrites a whole
// frontmatter so that a YAML reader sees the same.

// linkItems reads wikilinks separated by commas, one at least, to the end of
// the line.
func linkItems(t string) ([]scalar, bool) {
	var items []scalar
	for {
		n := WikilinkLen(t)
		if n == 0 {
			return nil, false
		}
		items = append(items, scalar{t[:n], t[:n]})
		rest := strings.TrimLeft(t[n:], " ")
		if strings.HasPrefix(rest, ",") {
			t = strings.TrimLeft(rest[1:], " ")
			if t != "" && t[0] != '#' {
				continue
			}
			return items, true
		}
		return items, endsLine(t[n:])
	}
}

// linkScalar reads a value that starts with a wikilink and is not a list of
// them: the link, or a text that begins with one, a comment cut off.
func linkScalar(t string) (string, bool) {
	if WikilinkLen(t) == 0 {
		return "", false
	}
	if items, ok := linkItems(t); ok && len(items) == 1 {
		return items[0].raw, true
	}
	return cutComment(t), true
}

// cutComment cuts " #…" off a text, outside its wikilinks.
func cutComment(t string) string {
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '[':
			if n := WikilinkLen(t[i:]); n > 0 {
				i += n - 1
			}
		case '#':
			if i > 0 && isBlank(t[i-1]) {
				return strings.TrimRight(t[:i], " \t")
			}
		}
	}
	return strings.TrimRight(t, " \t")
}

// linkQuoter rewrites a frontmatter line by line. Line numbers stay as they
// are.
type linkQuoter struct {
	out    strings.Builder
	flow   int // open [ and { of a value that spans lines
	quote  byte
	scalar int // lines indented deeper than this are a block scalar; -1: none
}

// quoteLinks puts quotes around the wikilinks that YAML would misread.
func quoteLinks(src string) string {
	if !strings.Contains(src, "[[") {
		return src
	}
	q := linkQuoter{scalar: -1}
	q.out.Grow(len(src) + 64)
	for pos := 0; pos < len(src); {
		le, next := LineEnd(src, pos)
		q.line(src[pos:le])
		q.out.WriteByte('\n')
		pos = next
	}
	return q.out.String()
}

func (q *linkQuoter) line(l string) {
	i := 0
	for i < len(l) && l[i] == ' ' {
		i++
	}
	if q.scalar >= 0 {
		if i == len(l) || i > q.scalar {
			q.out.WriteString(l)
			return
		}
		q.scalar = -1
	}
	if q.flow > 0 {
		q.flowText(l)
		return
	}
	parent := i
	for i < len(l) && l[i] == '-' && i+1 < len(l) && l[i+1] == ' ' {
		parent = i
		for i++; i < len(l) && l[i] == ' '; i++ {
		}
	}
	v := i + keyLen(l[i:])
	if v > i {
		parent = i
	}
	q.out.WriteString(l[:v])
	q.value(l[v:], parent)
}

// keyLen returns the length of "key: " at the start of t, blanks included, or
// 0.
func keyLen(t string) int {
	k := strings.Index(t, ": ")
	if k <= 0 || strings.ContainsAny(t[:1], "[{#!&*|>%@`") {
		return 0
	}
	for k += 2; k < len(t) && t[k] == ' '; k++ {
	}
	return k
}

// value writes one value; parent is the indentation of its key or dash.
func (q *linkQuoter) value(t string, parent int) {
	if t == "" {
		return
	}
	switch t[0] {
	case '|', '>':
		q.scalar = parent
	case '[', '{', '!':
		if list, is := inlineList(t); is && list.ok {
			q.list(list.items, t)
			return
		}
		if s, ok := linkScalar(t); ok {
			q.quoted(s)
			return
		}
		if t[0] != '!' {
			q.flowText(t)
			return
		}
	case '"', '\'', '&', '*', '#':
	default:
		if s := cutComment(t); strings.Contains(s, "[[") && linkHides(s) {
			q.quoted(s)
			return
		}
	}
	q.out.WriteString(t)
}

// list writes a list on one line, items that are links quoted, others as they
// stand.
func (q *linkQuoter) list(items []scalar, t string) {
	if WikilinkLen(t) == 0 {
		q.flowText(t)
		return
	}
	q.out.WriteByte('[')
	for i, v := range items {
		if i > 0 {
			q.out.WriteString(", ")
		}
		q.quoted(v.raw)
	}
	q.out.WriteByte(']')
}

// flowText copies text inside brackets, wikilinks outside quotes quoted, and
// keeps count of the brackets.
func (q *linkQuoter) flowText(t string) {
	for i := 0; i < len(t); i++ {
		c := t[i]
		switch {
		case q.quote != 0:
			if c == q.quote {
				q.quote = 0
			} else if c == '\\' && q.quote == '"' && i+1 < len(t) {
				q.out.WriteByte(c)
				i++
				c = t[i]
			}
		case c == '"' || c == '\'':
			if i == 0 || strings.IndexByte("[{,: \t", t[i-1]) >= 0 {
				q.quote = c
			}
		case c == '#' && (i == 0 || isBlank(t[i-1])):
			q.out.WriteString(t[i:])
			return
		case c == '[' || c == '!':
			if n := WikilinkLen(t[i:]); n > 0 {
				q.quoted(t[i : i+n])
				i += n - 1
				continue
			}
			if c == '[' {
				q.flow++
			}
		case c == '{':
			q.flow++
		case c == ']' || c == '}':
			q.flow = max(0, q.flow-1)
		}
		q.out.WriteByte(c)
	}
}

// quoted writes a double-quoted YAML scalar.
func (q *linkQuoter) quoted(s string) {
	q.out.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			q.out.WriteByte('\\')
		}
		q.out.WriteByte(s[i])
	}
	q.out.WriteByte('"')
}

// linkHides reports a wikilink that holds what YAML gives a meaning in plain
// text: ": " or " #".
func linkHides(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '[' {
			continue
		}
		if n := WikilinkLen(s[i:]); n > 0 {
			if l := s[i : i+n]; strings.Contains(l, ": ") || strings.Contains(l, " #") {
				return true
			}
			i += n - 1
		}
	}
	return false
}
