package lsp

import (
	"strings"
)

// FrontLine is where a cursor stands in frontmatter: typed text that the reader of
// frontmatter cannot read yet.
type FrontLine struct {
	Key   string // whose value it is, or what is typed of a key
	Value bool   // the cursor is in a value
	List  bool   // which is an item of a list
	Start int    // where the typed key or value begins, its quote included
	Typed string // up to the cursor
}

// FrontEnd returns where the YAML at the head of the text ends: at its closing mark, or,
// when that is not written yet, at the first line that is none of YAML. It is 0 without any.
func (d *Document) FrontEnd() int {
	front := d.Frontmatter()
	switch {
	case front.Found:
		return front.End
	case !strings.HasPrefix(strings.TrimPrefix(d.Text, "\ufeff"), "---") || len(d.lines) < 2 || strings.Trim(strings.TrimPrefix(d.Line(0), "\ufeff"), "- \t") != "":
		return 0
	}
	line := 1
	for line < len(d.lines) && !strings.HasPrefix(d.Line(line), "#") && strings.TrimSpace(d.Line(line)) != "" {
		line++
	}
	start, _ := d.LineSpan(line)
	return start
}

// FrontLineAt returns what stands before a cursor in the frontmatter.
func (d *Document) FrontLineAt(at int) (FrontLine, bool) {
	line := d.LineAt(at)
	if line == 0 || at > d.FrontEnd() {
		return FrontLine{}, false
	}
	start, _ := d.LineSpan(line)
	before := d.Text[start:at]
	inner := strings.TrimLeft(before, " \t")
	switch {
	case strings.HasPrefix(inner, "#"):
		return FrontLine{}, false // a comment
	case strings.HasPrefix(inner, "-"):
		item := strings.TrimLeft(strings.TrimPrefix(inner, "-"), " \t")
		return FrontLine{Key: d.keyAbove(line), Value: true, List: true, Start: at - len(item), Typed: item}, true
	case len(inner) < len(before):
		return FrontLine{}, false // below a key whose value is a map
	}
	key, value, ok := strings.Cut(before, ":")
	if !ok {
		return FrontLine{Key: before, Start: start, Typed: before}, true
	}
	f := FrontLine{Key: strings.TrimSpace(key), Value: true}
	value = strings.TrimLeft(value, " \t")
	if open := strings.TrimPrefix(value, "["); open != value && !strings.HasPrefix(value, "[[") {
		f.List = true
		if comma := lastComma(open); comma >= 0 {
			open = open[comma+1:]
		}
		value = strings.TrimLeft(open, " \t")
	}
	f.Start, f.Typed = at-len(value), value
	return f, true
}

// lastComma returns where the last comma stands that is not in quotes.
func lastComma(s string) int {
	last := -1
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ',':
			last = i
		}
	}
	return last
}

// keyAbove returns the key at the margin above a line.
func (d *Document) keyAbove(line int) string {
	for line--; line > 0; line-- {
		s := d.Line(line)
		if s == "" || s[0] == ' ' || s[0] == '\t' || s[0] == '-' || s[0] == '#' {
			continue
		}
		key, _, _ := strings.Cut(s, ":")
		return strings.TrimSpace(key)
	}
	return ""
}

// FrontKey is a key at the margin of the frontmatter.
type FrontKey struct {
	Key   string
	Value string // on its line, without quotes
	Line  int
}

// FrontKeys are the keys at the margin, also of frontmatter that cannot be read as YAML
// because it is being typed.
func (d *Document) FrontKeys() (list []FrontKey) {
	end := d.FrontEnd()
	for line := 1; line < len(d.lines); line++ {
		start, stop := d.LineSpan(line)
		if start >= end {
			break
		}
		s := d.Text[start:stop]
		if s == "" || strings.ContainsAny(s[:1], " \t-#") {
			continue
		}
		if key, value, ok := strings.Cut(s, ":"); ok {
			list = append(list, FrontKey{strings.TrimSpace(key), unquoteScalar(value), line})
		}
	}
	return list
}
