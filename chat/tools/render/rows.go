package render

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// Row writes a row of a query with the fields that it mentions. at is its place in their values.
func Row(r record.WQLRow, fields []columns.Column, at int) string {
	line := "- " + Entity(r.Name, r.Type) + ID(r.ID)
	if r.Task != nil { // no record that a text could mention
		line = "- " + Inline(r.Name) + " (" + Inline(r.Type) + ", line " + strconv.Itoa(r.Task.Line) + " of " + Note(r.Task.Note) + ID(r.ID) + ")"
	}
	for _, f := range fields {
		line += ", " + Inline(f.Name) + ": " + column(f.Values[at])
	}
	return line + "\n"
}

// maxValue is how much of a value stands in a row, in characters.
const maxValue = 300

// column writes a value of a field as ctxd wql does.
func column(value any) string {
	if list, ok := value.([]any); value == nil || ok && len(list) == 0 {
		return "none"
	}
	text := columns.Text(value, Timestamp)
	shown, cut := prompt.Cut(text, maxValue)
	if cut {
		return Inline(shown) + fmt.Sprintf(" (%d characters: get_entity)", utf8.RuneCountInString(text))
	}
	return Inline(shown)
}

// QueryError writes an error of a query with all that is wrong with it: for each the message, the line of the query
// with a caret, and the hint. check says everything that is to be said about the query. It reports false for another
// error.
func QueryError(query string, err error, check func() []record.Diagnostic) (text string, ok bool) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Query || f.Line <= 0 {
		return "", false
	}
	var b strings.Builder
	for _, d := range check() {
		if d.Severity == record.SeverityError {
			writeDiagnostic(&b, d)
		}
	}
	if b.Len() == 0 { // it shows only when the query runs
		writeDiagnostic(&b, record.Diagnostic{
			Line: f.Line, Column: f.Column, Message: f.Msg, Hint: f.Hint, Source: sourceLine(query, f.Line, f.Column),
		})
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// writeDiagnostic writes one. Messages and hints name types and fields of the store.
func writeDiagnostic(b *strings.Builder, d record.Diagnostic) {
	fmt.Fprintf(b, "%s at line %d, column %d\n%s\n", Line(d.Message), d.Line, d.Column, d.Source)
	if d.Hint != "" {
		b.WriteString("Try: " + Inline(d.Hint) + "\n")
	}
}

// sourceLine returns a line of a query with a caret under a column of UTF-16 code
// units, both from 1.
func sourceLine(text string, row, column int) string {
	lines := strings.Split(text, "\n")
	if row > len(lines) {
		return ""
	}
	units := utf16.Encode([]rune(lines[row-1]))
	before := utf16.Decode(units[:min(max(column-1, 0), len(units))])
	return lines[row-1] + "\n" + strings.Repeat(" ", len(before)) + "^"
}

// Rows returns how many rows a query gives of so many that match it: the engine counts them before its limit.
func Rows(q *syntax.Query, matching int) int {
	if q == nil || q.Limit == nil {
		return matching
	}
	offset := 0
	if q.Offset != nil {
		offset = q.Offset.N
	}
	return min(max(matching-offset, 0), q.Limit.N)
}
