package markdown

import (
	"strings"
	"unicode/utf8"
)

// maxLabel bounds the label of a reference link, as CommonMark does.
const maxLabel = 999

// refLink looks at what follows the text of a possible reference link, whose
// ']' stands at i: [textBlock][label], [label][] or [label]. It returns the end of
// the link when the label is defined in the note, else 0: without a
// definition the brackets are text.
func (p *plainer) refLink(text string, i, end int) int {
	if p.refs == nil {
		p.refs = definitions(p.src)
	}
	if len(p.refs) == 0 {
		return 0
	}
	if i+1 < end && p.src[i+1] == '[' {
		stop := min(end, i+2+maxLabel)
		if k := strings.IndexAny(p.src[i+2:stop], "[]"); k >= 0 && p.src[i+2+k] == ']' {
			label := p.src[i+2 : i+2+k]
			if label == "" {
				label = text
			}
			if p.defined(label) {
				return i + 2 + k + 1
			}
		}
		return 0
	}
	if i+1 < end && p.src[i+1] == ':' { // the definition itself
		return 0
	}
	if p.defined(text) {
		return i + 1
	}
	return 0
}

func (p *plainer) defined(label string) bool {
	return len(label) <= maxLabel && strings.IndexByte(label, '[') < 0 && p.refs[foldLabel(label)]
}

func foldLabel(s string) string {
	folds := func(r rune) bool { return r <= ' ' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf }
	if strings.IndexFunc(s, folds) < 0 {
		return s // most often, and without memory
	}
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}

// definitions collects the labels of lines such as "[label]: https://…".
// Footnotes, "[^1]: …", are text and none of them.
func definitions(src string) map[string]bool {
	refs := make(map[string]bool)
	for i := 0; i < len(src); {
		k := strings.Index(src[i:], "]: ")
		if k < 0 {
			break
		}
		i += k
		start := 1 + strings.LastIndexByte(src[max(0, i-maxLabel-8):i], '\n') + max(0, i-maxLabel-8)
		if label, ok := definition(src[start:i]); ok {
			refs[foldLabel(label)] = true
		}
		i += 3
	}
	return refs
}

// definition reads the part of a line before "]: ".
func definition(line string) (string, bool) {
	line = strings.TrimLeft(line, " \t>")
	if len(line) < 2 || line[0] != '[' || line[1] == '^' || strings.IndexByte(line[1:], '[') >= 0 ||
		strings.IndexByte(line, ']') >= 0 {
		return "", false
	}
	return line[1:], true
}

// isAutolink reports an absolute URI or an e-mail address.
func isAutolink(s string) bool {
	if scheme, rest, ok := strings.Cut(s, ":"); ok && len(scheme) >= 2 && len(scheme) <= 32 && rest != "" {
		for i := 0; i < len(scheme); i++ {
			if c := scheme[i]; c == '_' || !isWord(c) && c != '+' && c != '.' && c != '-' {
				return false
			}
		}
		return true
	}
	at := strings.IndexByte(s, '@')
	return at > 0 && strings.IndexByte(s[at:], '.') > 0
}

// htmlTag returns the end of the HTML tag at i, or 0, and the byte of white
// space that stands for it, 0 for none. Only names of HTML are tags:
// List<String> and <name> are words that their writer wants to see.
func htmlTag(src string, i, end int) (after int, space byte) {
	j := i + 1
	if j < end && src[j] == '/' {
		j++
	}
	start := j
	for j < end && isWord(src[j]) && src[j] != '_' {
		j++
	}
	if j == start || j-start > 10 {
		return 0, 0
	}
	name := strings.ToLower(src[start:j])
	switch {
	case name == "br":
		space = '\n'
	case inlineNames[name]:
	case blockNames[name]:
		space = ' '
	default:
		return 0, 0
	}
	quote := byte(0)
	for ; j < end; j++ {
		switch c := src[j]; {
		case c == '<': // not in a tag, and quadratic if it were
			return 0, 0
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return j + 1, space
		}
	}
	return 0, 0
}

// inlineNames are the elements that people write in Markdown inside words and
// sentences, blockNames those that part the text on both sides.
var (
	inlineNames = nameSet(`a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label link mark meta q rb
		rp rt ruby s samp script small span strike strong style sub sup svg time tt u var wbr`)
	blockNames = nameSet(`address article aside audio blockquote br button canvas caption center col colgroup datalist dd
		details dialog div dl dt embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr iframe img input
		legend li main map menu meter nav noscript object ol optgroup option output p param picture pre progress section
		select source summary table tbody td template textarea tfoot th thead title tr track ul video`)
)

func nameSet(names string) map[string]bool {
	set := make(map[string]bool)
	for _, n := range strings.Fields(names) {
		set[n] = true
	}
	return set
}
