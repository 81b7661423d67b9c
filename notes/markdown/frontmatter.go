package markdown

import (
	"slices"
	"strings"
)

// What a line and a wikilink are is declared where frontmatter is read, which
// comes before the rest of a note.

func lineEnd(src string, pos int) (end, next int) { return LineEnd(src, pos) }

func linkLen(s string) int { return WikilinkLen(s) }

// frontmatterLinks lists the links of the YAML text as it is written,
// whether or not it can be read as YAML.
func (s *scanner) frontmatterLinks(f FrontmatterBlock) {
	line, open := f.Line, 0
	lineStop := -1 // where the line ends; -1: nobody has looked
	for i := f.Start; i < f.End; i++ {
		switch s.src[i] {
		case '\n':
			line++
			open, lineStop = 0, -1
		case ']':
			if open == 0 {
				continue
			}
			open--
			if lineStop < 0 {
				lineStop, _ = lineEnd(s.src[:f.End], i)
			}
			s.frontFileLink(i, lineStop, line)
		case '[':
			if n := linkLen(s.src[i:f.End]); n > 0 {
				start := i
				if i > f.Start && s.src[i-1] == '!' {
					start--
				}
				s.addLink(start, i+n, line, true)
				i += n - 1
			} else {
				open++
			}
		}
	}
}

// frontmatterTags reads tag and tags: a list, or a text separated by commas or
// blanks, each with or without '#'. It returns the sources of those that were links.
func (s *scanner) frontmatterTags(f *Frontmatter) (sources []Source) {
	for _, key := range [...]string{"tags", "tag"} {
		field, ok := f.Get(key)
		if !ok {
			continue
		}
		items := field.Texts()
		if field.IsScalar() && len(items) == 1 {
			items = SplitTags(items[0])
		}
		for _, t := range items {
			written := t
			target, isLink := linkTarget(t)
			t = strings.Trim(strings.TrimSpace(strings.TrimLeft(target, "#")), "/")
			if t == "" {
				continue
			}
			s.addTag(t)
			if isLink {
				sources = append(sources, LinkSource(t, target, written))
			}
		}
	}
	return sources
}

// SplitTags cuts the text of a property at commas and blanks, as tags are written there.
// Links are kept whole.
func SplitTags(s string) []string {
	if strings.Contains(s, "[[") {
		return splitComma(s)
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// frontmatterAliases reads alias and aliases: a list, or a text separated by
// commas. It returns the sources of those that were links, or stood in one that a
// comma parts.
func frontmatterAliases(f *Frontmatter) (aliases []string, sources []Source) {
	var seen folded
	for _, key := range [...]string{"aliases", "alias"} {
		field, ok := f.Get(key)
		if !ok {
			continue
		}
		items := field.Texts()
		parted := ""
		if field.IsScalar() && len(items) == 1 {
			parted = items[0]
			items = splitComma(parted)
		}
		for _, item := range items {
			target, isLink := linkTarget(item)
			alias := oneLine(target)
			if alias == "" || !seen.see(alias) {
				continue
			}
			aliases = append(aliases, alias)
			if isLink {
				sources = append(sources, LinkSource(alias, target, item))
			}
		}
		if len(items) > 1 && parted != "" {
			sources = append(sources, partedSources(parted, items)...)
		}
	}
	return aliases, sources
}

// partedSources returns the sources of items that were cut out of a text, in its
// order, and lie in references that do not lie in them: the whole item refers to
// what the reference does.
func partedSources(text string, items []string) (sources []Source) {
	var commas []int
	for i := range len(text) {
		if text[i] == ',' {
			commas = append(commas, i)
		}
	}
	const most = 64 // references that are looked at: one list of aliases has few
	var parted []Reference
	for r := range References(text) {
		next, _ := slices.BinarySearch(commas, r.Start)
		if r.Target != "" && next < len(commas) && commas[next] < r.End {
			parted = append(parted, r)
		}
		if len(parted) == most {
			break
		}
	}
	from := 0
	for _, item := range items {
		start := from + strings.Index(text[from:], item)
		from = start + len(item)
		for _, r := range parted {
			whole := start <= r.Start && r.End <= from
			if !whole && start < r.End && r.Start < from && oneLine(item) != "" {
				sources = append(sources, wholeSource(oneLine(item), r.Target))
			}
		}
	}
	return sources
}

// splitComma cuts at commas that lie outside wikilinks.
func splitComma(s string) []string {
	var out []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		case '[':
			if n := linkLen(s[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// linkTarget returns the target of a text that is a wikilink, else the text.
func linkTarget(s string) (target string, isLink bool) {
	if l, ok := ParseLink(s); ok && l.Target != "" {
		return l.Target, true
	}
	return s, false
}

// folded remembers texts without regard to case. Few of them are compared one
// by one, many through a map, so that a note made of tags stays linear.
type folded struct {
	few  []string
	many map[string]struct{}
}

const fewTexts = 16

// see reports whether the text is new, and remembers it.
func (f *folded) see(s string) bool {
	if f.many == nil {
		for _, t := range f.few {
			if strings.EqualFold(t, s) {
				return false
			}
		}
		if len(f.few) < fewTexts {
			f.few = append(f.few, s)
			return true
		}
		f.many = make(map[string]struct{}, 4*fewTexts)
		for _, t := range f.few {
			f.many[strings.ToLower(t)] = struct{}{}
		}
	}
	k := strings.ToLower(s)
	if _, ok := f.many[k]; ok {
		return false
	}
	f.many[k] = struct{}{}
	return true
}

func (f *folded) reset() {
	clear(f.few)
	f.few, f.many = f.few[:0], nil
}
