package shell

import (
	"encoding/csv"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// The forms of an answer.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatCSV   = "csv"
	formatTSV   = "tsv"
)

var wqlFormats = []string{formatTable, formatJSON, formatCSV, formatTSV}

// view says how answers are shown.
type view struct {
	format   string
	expanded bool     // a table shows each row as a block
	fields   []string // that are shown; none: those that the query mentions
	explain  bool
	timing   bool // how long it took stands under a table
	prompt   bool // the person can type commands
	several  bool // answers follow each other: a blank line stands between tables
	shown    int  // answers so far
}

// show writes an answer.
func (v *view) show(s *term.Screen, ans *answer) error {
	v.shown++
	switch v.format {
	case formatJSON:
		return v.json(s, ans)
	case formatCSV, formatTSV:
		return v.separated(s, ans)
	}
	if v.several && v.shown > 1 {
		s.Say()
	}
	switch {
	case ans.Value.Set:
		t := &term.Table{Head: []string{aggregateOf(ans.query)}}
		if _, number := ans.Value.Value.(float64); number {
			t.Right = []int{0}
		}
		t.Row(cell(ans.Value.Value))
		t.Draw(s)
	case v.expanded:
		v.blocks(s, ans)
	case len(ans.Rows) > 0:
		v.table(s, ans)
	}
	v.foot(s, ans)
	if ans.Plan != nil {
		drawPlan(s, ans.Plan)
	}
	return nil
}

// aggregateOf returns the aggregate as the query writes it.
func aggregateOf(query string) string {
	q, _ := syntax.Parse(query)
	if q == nil || q.What.End <= q.What.Start || q.What.End > len(query) {
		return "value"
	}
	return query[q.What.Start:q.What.End]
}

func (v *view) table(s *term.Screen, ans *answer) {
	t := &term.Table{Head: []string{"id", "name", "type"}, Keep: []int{1}}
	for i, c := range ans.columns {
		t.Head = append(t.Head, c.Name)
		if numeric(&c) {
			t.Right = append(t.Right, i+3)
		}
	}
	for i, row := range ans.Rows {
		cells := []term.Line{{term.Styled(term.Faint, row.ID)}, {term.Text(row.Name)}, {term.Text(row.Type)}}
		for _, c := range ans.columns {
			cells = append(cells, cell(c.Values[i]))
		}
		t.Row(cells...)
	}
	t.Draw(s)
}

// blocks draws each row as a block, a field on a line.
func (v *view) blocks(s *term.Screen, ans *answer) {
	for i, row := range ans.Rows {
		if i > 0 {
			s.Say()
		}
		s.Say(term.Styled(term.Faint, fmt.Sprintf("-- %d ", i+1)), term.Styled(term.Strong, row.Name))
		t := &term.Table{Indent: 2}
		t.Row(term.Line{term.Styled(term.Faint, "id")}, term.Line{term.Text(row.ID)})
		t.Row(term.Line{term.Styled(term.Faint, "type")}, term.Line{term.Text(row.Type)})
		for _, c := range ans.columns {
			t.Row(term.Line{term.Styled(term.Accent, c.Name)}, cell(c.Values[i]))
		}
		t.Draw(s)
	}
}

// foot says how many rows there are, why not all are shown, and how long it
// took.
func (v *view) foot(s *term.Screen, ans *answer) {
	var l term.Line
	if !ans.Value.Set {
		rows := term.Count(len(ans.Rows), "row")
		if ans.Total > len(ans.Rows) {
			rows = term.Number(len(ans.Rows)) + " of " + term.Count(ans.Total, "row")
		}
		l = term.Line{term.Styled(term.Faint, "("+rows+")")}
	}
	if v.timing {
		if len(l) > 0 {
			l = append(l, term.Text("  "))
		}
		l = append(l, term.Styled(term.Faint, term.Elapsed(ans.took)))
	}
	if len(l) > 0 {
		s.Say(l...)
	}
	if most := ans.most(); ans.Truncated && len(ans.Rows) == most && most < wql.MaxRows {
		how := "--limit"
		if v.prompt {
			how = `\limit`
		}
		s.Say(term.Styled(term.Warn, fmt.Sprintf("there are more rows; %s %d shows them", how, min(ans.Total, wql.MaxRows))))
	}
}

// most is how many rows the request allowed, whatever the query says.
func (ans *answer) most() int {
	if ans.asked > 0 {
		return ans.asked
	}
	return wql.DefaultRows
}

// numeric reports whether a column holds numbers.
func numeric(c *columns.Column) bool {
	some := false
	for _, v := range c.Values {
		if v == nil {
			continue
		}
		if _, ok := v.(float64); !ok {
			return false
		}
		some = true
	}
	return some
}

// nullText stands where there is no value.
const nullText = "NULL"

func cell(value any) term.Line {
	if value == nil {
		return term.Line{term.Styled(term.Faint, nullText)}
	}
	if list, ok := value.([]any); ok && len(list) == 0 {
		return term.Line{term.Styled(term.Faint, "none")}
	}
	return term.Line{term.Text(valueText(value))}
}

// valueText writes a value as people do; "" for none.
func valueText(value any) string { return columns.Text(value, term.Day) }

// json writes an answer as the daemon gave it, with the fields that were asked
// for.
func (v *view) json(s *term.Screen, ans *answer) error {
	type row struct {
		wql.Row
		Fields map[string]any `json:"fields,omitempty"`
	}
	doc := struct {
		Rows []row `json:"rows"` // in place of those of the result
		protocol.WQLResult
	}{Rows: []row{}, WQLResult: ans.WQLResult}
	for i, r := range ans.Rows {
		out := row{Row: r}
		if len(ans.columns) > 0 {
			out.Fields = make(map[string]any, len(ans.columns))
		}
		for _, c := range ans.columns {
			out.Fields[c.Name] = c.Values[i]
		}
		doc.Rows = append(doc.Rows, out)
	}
	return s.JSON(doc)
}

// separated writes an answer as CSV (RFC 4180) or as TSV, where a backslash
// escapes tabs, line breaks and itself. A value that is not there is empty. A cell
// that begins like a formula is written as it is, as other query tools do: a mark
// before it would be part of the value to every program but a spreadsheet, and
// make a text of a negative number.
func (v *view) separated(s *term.Screen, ans *answer) error {
	var records [][]string
	if ans.Value.Set {
		records = [][]string{{aggregateOf(ans.query)}, {valueText(ans.Value.Value)}}
	} else {
		head := []string{"id", "name", "type"}
		for _, c := range ans.columns {
			head = append(head, c.Name)
		}
		records = append(records, head)
	}
	for i, row := range ans.Rows {
		record := []string{row.ID, row.Name, row.Type}
		for _, c := range ans.columns {
			value := c.Values[i]
			if at, ok := value.(time.Time); ok {
				value = at.UTC().Format(time.RFC3339)
			}
			record = append(record, valueText(value))
		}
		records = append(records, record)
	}
	return v.write(s, records)
}

// write writes records as CSV or TSV.
func (v *view) write(s *term.Screen, records [][]string) error {
	for _, record := range records {
		for i := range record {
			record[i] = term.CleanLines(record[i])
		}
	}
	if v.format == formatCSV {
		return csv.NewWriter(s).WriteAll(records)
	}
	for _, record := range records {
		for i := range record {
			record[i] = tsvEscapes.Replace(record[i])
		}
		if _, err := fmt.Fprintln(s, strings.Join(record, "\t")); err != nil {
			return err
		}
	}
	return nil
}

var tsvEscapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)
