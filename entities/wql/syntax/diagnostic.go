package syntax

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/names"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/text"
)

// Diagnostic is a finding about a query: what is wrong where, and what to do.
type Diagnostic = record.Diagnostic

// finding is a Diagnostic that still has its place as byte offsets.
type finding struct {
	Span
	message, hint string
	warning       bool
}

// Findings collects what is to be said about one source.
type Findings struct {
	list []finding
	bad  bool // there was an error

	unclosed bool // the last text or quoted name did not end
}

// maxFindings is how many findings about one text are kept: nobody reads more,
// and a text of nothing but errors must not cost more than another.
const maxFindings = 100

// Fail adds an error, found at a place of the source.
func (f *Findings) Fail(at Span, message, hint string) {
	f.bad = true
	if len(f.list) < maxFindings {
		f.list = append(f.list, finding{Span: at, message: message, hint: hint})
	}
}

// Warn adds what is suspicious and no error.
func (f *Findings) Warn(at Span, message, hint string) {
	if len(f.list) < maxFindings/2 { // the other half is kept for errors
		f.list = append(f.list, finding{Span: at, message: message, hint: hint, warning: true})
	}
}

// Failed reports whether there was an error.
func (f *Findings) Failed() bool { return f.bad }

// Diagnostics returns the findings in the order of the source, one of a kind
// at a place.
func (f *Findings) Diagnostics(src string) []Diagnostic {
	slices.SortStableFunc(f.list, func(a, b finding) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]Diagnostic, 0, len(f.list))
	seen := make(map[finding]bool, len(f.list))
	for _, x := range f.list {
		if seen[x] {
			continue
		}
		seen[x] = true
		d := Diagnostic{Message: x.message, Hint: x.hint, Severity: record.SeverityError}
		if x.warning {
			d.Severity = record.SeverityWarning
		}
		d.Line, d.Column, d.Source = Locate(src, x.Start)
		out = append(out, d)
	}
	return out
}

// FirstError returns the first error as a fault, or nil when there are only
// warnings.
func FirstError(list []Diagnostic) error {
	for _, d := range list {
		if d.Severity == record.SeverityError {
			return &fault.Error{Kind: fault.Query, Msg: d.Message, Hint: d.Hint, Line: d.Line, Column: d.Column}
		}
	}
	return nil
}

// excerpt is the number of code points of a source line that are shown on
// either side of the caret.
const excerpt = 60

// Locate returns line and UTF-16 column of a byte offset, and the source line
// with a caret below the place. A long line is cut around the caret.
func Locate(src string, offset int) (line, column int, source string) {
	offset = min(max(offset, 0), len(src))
	start := strings.LastIndexByte(src[:offset], '\n') + 1
	line = strings.Count(src[:start], "\n") + 1
	text := strings.ToValidUTF8(src[start:offset], "\uFFFD")
	column = names.UTF16Len(text) + 1
	after := strings.ToValidUTF8(strings.TrimSuffix(src[offset:lineEnd(src, offset)], "\r"), "\uFFFD")
	before := []rune(text)
	prefix := ""
	if behind := []rune(after); len(before)+len(behind) > 2*excerpt {
		if len(before) > excerpt {
			before, prefix = before[len(before)-excerpt:], "…"
		}
		if len(behind) > excerpt {
			after = string(behind[:excerpt]) + "…"
		}
	}
	var caret strings.Builder
	for _, r := range prefix + string(before) {
		caret.WriteString(blankFor(r))
	}
	return line, column, prefix + string(before) + after + "\n" + caret.String() + "^"
}

// blankFor returns what takes as much room on a terminal as r.
func blankFor(r rune) string {
	switch {
	case r == '\t':
		return "\t"
	case r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 ||
		r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD):
		return "\u3000"
	case norm.NFC.PropertiesString(string(r)).CCC() != 0:
		return ""
	}
	return " "
}

// Nearest returns up to three of the names that are spelt most like name.
func Nearest(name string, names []string) []string {
	type near struct {
		name     string
		distance int
	}
	if len(name) > 4*record.MaxTypeName {
		return nil // no declared name is near, and looking costs its length
	}
	key := text.Fold(name)
	limit := max(1, utf8.RuneCountInString(key)/3+1)
	var close []near
	for _, candidate := range names {
		folded := text.Fold(candidate)
		d := editDistance(key, folded)
		// What was begun and not finished is near whatever the length.
		if len(key) >= 2 && strings.HasPrefix(folded, key) {
			d = min(d, 1)
		}
		if d <= limit {
			close = append(close, near{candidate, d})
		}
	}
	slices.SortFunc(close, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range close {
		if len(out) < 3 && c.distance == close[0].distance && !slices.Contains(out, c.name) {
			out = append(out, c.name)
		}
	}
	return out
}

// editDistance is the number of insertions, deletions, substitutions and swaps
// of neighbours between two texts (optimal string alignment).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	two, one, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(y)]
}

// DidYouMean makes a hint of the nearest names, or falls back to listing what
// there is.
func DidYouMean(name string, names []string, none string) string {
	if close := Nearest(name, names); len(close) > 0 {
		return "did you mean " + strings.Join(close, ", ") + "?"
	}
	if len(names) == 0 {
		return none
	}
	shown := slices.Clone(names)
	more := ""
	if len(shown) > 12 {
		shown, more = shown[:12], " and "+strconv.Itoa(len(names)-12)+" more"
	}
	return "there are " + strings.Join(shown, ", ") + more
}

// Clip shortens a text of the query for a message.
func Clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

func quoteRune(r rune) string {
	if r < ' ' || r == utf8.RuneError {
		return strconv.QuoteRune(r)
	}
	return "'" + string(r) + "'"
}
