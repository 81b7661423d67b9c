package lsp

import "strings"

// CodeFence is a block of code between lines of ``` or ~~~. Start and End enclose its lines
// of code; OpenLine and CloseLine are the lines of its marks, CloseLine the last line of
// the text when it is never closed.
type CodeFence struct {
	Info                string // what stands behind the opening mark, such as wql
	Start, End          int
	OpenLine, CloseLine int
	Closed              bool
}

// Fences are the blocks of code of the body, in their order. As in notes/markdown, a
// fence may stand behind bullets and quote marks, and runs to its closing line or to the
// end.
func (d *Document) Fences() []CodeFence { return d.fences() }

func (d *Document) findFences() (list []CodeFence) {
	if !strings.Contains(d.Text, "```") && !strings.Contains(d.Text, "~~~") {
		return nil
	}
	first := 0
	if front := d.Frontmatter(); front.Found {
		first = d.LineAt(front.End) + 1
	}
	var open CodeFence
	var mark string // of the open fence, "" without one
	for line := first; line < len(d.lines); line++ {
		start, end := d.LineSpan(line)
		s := strings.TrimLeft(d.Text[start:end], " \t>-*+0123456789.)")
		run := markRun(s)
		switch {
		case mark == "" && run != "" && !strings.Contains(s[len(run):], "`"):
			mark = run
			open = CodeFence{Info: strings.TrimSpace(s[len(run):]), OpenLine: line, Start: d.next(line)}
		case mark != "" && len(run) >= len(mark) && run[0] == mark[0] && strings.TrimSpace(s[len(run):]) == "":
			open.End, open.CloseLine, open.Closed = start, line, true
			list, mark = append(list, open), ""
		}
	}
	if mark != "" {
		open.End, open.CloseLine = len(d.Text), len(d.lines)-1
		list = append(list, open)
	}
	return list
}

// next returns where the line behind a line begins.
func (d *Document) next(line int) int {
	if line+1 < len(d.lines) {
		return int(d.lines[line+1])
	}
	return len(d.Text)
}

// markRun returns the mark of a fence that a line begins with, "" for none.
func markRun(s string) string {
	for _, c := range []byte("`~") {
		n := 0
		for n < len(s) && s[n] == c {
			n++
		}
		if n >= 3 {
			return s[:n]
		}
	}
	return ""
}

// FenceAt returns the block of code that an offset is in, its marks included.
func (d *Document) FenceAt(offset int) (CodeFence, bool) {
	line := d.LineAt(offset)
	for _, f := range d.Fences() {
		if f.OpenLine <= line && line <= f.CloseLine {
			return f, true
		}
	}
	return CodeFence{}, false
}

// WQLQuery is a WQL text within a document.
type WQLQuery struct {
	Text  string
	Start int    // where it begins
	Type  string // whose computed field it is, "" for none
	Field string
}

// Queries are the WQL texts: of fences of the language wql, and of the fields of a file
// that declares a type.
func (d *Document) Queries() (list []WQLQuery) {
	if d.IsTypeFile() {
		return d.fieldQueries()
	}
	for _, f := range d.Fences() {
		if language, _, _ := strings.Cut(f.Info, " "); strings.EqualFold(language, "wql") {
			list = append(list, WQLQuery{Text: d.Text[f.Start:f.End], Start: f.Start})
		}
	}
	return list
}

// QueryAt returns the WQL text that an offset is in, its end included.
func (d *Document) QueryAt(offset int) (WQLQuery, bool) {
	for _, q := range d.Queries() {
		if q.Start <= offset && offset <= q.Start+len(q.Text) {
			return q, true
		}
	}
	return WQLQuery{}, false
}

// IsTypeFile reports whether the document declares a type: .ctxd/types/Person.yaml.
func (d *Document) IsTypeFile() bool {
	uri := strings.ToLower(d.URI)
	return strings.Contains(uri, "/.ctxd/types/") && (strings.HasSuffix(uri, ".yaml") || strings.HasSuffix(uri, ".yml"))
}

// fieldQueries finds the values of the key query, which may run over lines that are
// indented further than the key.
func (d *Document) fieldQueries() (list []WQLQuery) {
	name, field := "", ""
	for line := 0; line < len(d.lines); line++ {
		start, end := d.LineSpan(line)
		s := d.Text[start:end]
		inner := strings.TrimLeft(s, " -")
		indent := len(s) - len(inner)
		key, value, ok := strings.Cut(inner, ":")
		if !ok {
			continue
		}
		switch {
		case key == "name" && indent == 0:
			name = unquoteScalar(value)
		case key == "name":
			field = unquoteScalar(value)
		case key == "query":
			last := line
			for next := line + 1; next < len(d.lines); next++ {
				more := d.Line(next)
				if strings.TrimSpace(more) != "" && len(more)-len(strings.TrimLeft(more, " ")) <= indent {
					break
				}
				last = next
			}
			q := WQLQuery{Start: start + indent + len("query:"), Type: name, Field: field}
			_, stop := d.LineSpan(last)
			switch v := strings.TrimSpace(value); {
			case strings.HasPrefix(v, ">"), strings.HasPrefix(v, "|"):
				q.Start = min(d.next(line), stop)
			case strings.HasPrefix(v, `"`), strings.HasPrefix(v, "'"):
				q.Start = start + indent + len("query:") + strings.IndexAny(value, `"'`) + 1
				if whole := strings.TrimRight(d.Text[q.Start:stop], " \t\r\n"); strings.HasSuffix(whole, v[:1]) {
					stop = q.Start + len(whole) - 1
				}
			default:
				q.Start += len(value) - len(strings.TrimLeft(value, " \t"))
			}
			q.Text = d.Text[q.Start:max(q.Start, stop)]
			list = append(list, q)
			line = last
		}
	}
	return list
}

// unquoteScalar is a scalar of YAML without its blanks and quotes, as far as simple ones go.
func unquoteScalar(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	if hash := strings.Index(s, " #"); hash >= 0 {
		s = strings.TrimSpace(s[:hash])
	}
	return s
}
