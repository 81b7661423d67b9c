package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/client/rows"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// aboutQuery is the description of the tool query: the language, as short as a model
// can do with. entities/wql/README.md has all of it.
const aboutQuery = `Ask the entities a question in WQL, a SELECT over one or more types. A row is an entity with its name and the fields that the query mentions. list_types shows types and fields.
SELECT x FROM Type[, Type] x [WHERE cond] [ORDER BY field [DESC], …] [LIMIT n [OFFSET n]]; or SELECT COUNT(*), SUM(x.f), AVG, MIN or MAX in the place of x.
cond: = != < <= > >=, IN (…), CONTAINS, LIKE 'a%', STARTS WITH, BETWEEN a AND b, IS [NOT] NULL, MATCHES 'words', joined with AND, OR, NOT and (). A path follows references: x.team.lead.name. Every entity has name, id, type, createdAt, updatedAt. Dates: '2026-01-31', today() - 2w. {this} is the entity of the argument this.
Examples:
SELECT p FROM Person p WHERE p.team.name = 'Core' ORDER BY p.started DESC
SELECT p FROM Project p WHERE p.status IN ('active', 'paused') AND p.due < today() + 2w
SELECT COUNT(*) FROM Person p WHERE p.team IS NULL
SELECT m FROM Meeting m WHERE m.attendees CONTAINS {this} LIMIT 10
SELECT p FROM Person p WHERE p.role LIKE '%engineer%' AND NOT p.name STARTS WITH 'A'`

// queryInput are the arguments of query.
type queryInput struct {
	Query string `json:"query" jsonschema:"the WQL text"`
	This  string `json:"this,omitempty" jsonschema:"the entity that {this} means: its name or id"`
	Limit int    `json:"limit,omitempty" jsonschema:"rows of a page"`
	paging
}

// maxRows is how many rows the daemon gives at most.
const maxRows = 10_000

func querySchema() *jsonschema.Schema {
	return pagesOf[queryInput](func(p map[string]*jsonschema.Schema) { between(p["limit"], 1, 500, 50) })
}

func (c *call) query(in queryInput) (string, error) {
	l := &list{noun: "row", none: "0 rows", most: in.Limit}
	if err := l.skipUnknown(in.Cursor); err != nil {
		return "", err
	}
	this := ""
	if in.This != "" {
		e, err := c.findEntity(in.This, 0)
		if err != nil {
			return "", inField("this", err)
		}
		this = e.ID
	}
	var res protocol.WQLResult
	params := protocol.WQLQuery{Query: in.Query, This: this, Limit: min(l.from+in.Limit, maxRows)}
	if err := c.ask("wql.query", params, &res); err != nil {
		return "", c.queryError(in.Query, err)
	}
	if res.Value.Set {
		value, err := json.Marshal(res.Value.Value)
		return prompt.EscapeLine(string(value)) + "\n", err
	}
	l.total = res.Total
	q, _ := syntax.Parse(in.Query)
	if q != nil && q.Limit != nil { // the daemon counts before it
		offset := 0
		if q.Offset != nil {
			offset = q.Offset.N
		}
		l.total = min(max(l.total-offset, 0), q.Limit.N)
	}
	l.total = min(l.total, maxRows)
	rows := res.Rows[min(l.from, len(res.Rows)):]
	fields, err := c.fieldsOf(q, rows)
	if err != nil {
		return "", err
	}
	l.head = plural(l.total, "row") + "\n"
	for i, r := range rows {
		line := "- " + entityLabel(r.Name, r.Type) + idMark(r.ID)
		for _, f := range fields {
			line += ", " + inline(f.Name) + ": " + shownValue(f.Values[i])
		}
		l.items = append(l.items, line+"\n")
	}
	if l.total == 0 {
		l.head = ""
	}
	return l.page(in.MaxChars)
}

// skipUnknown is skip for items that are not read yet.
func (l *list) skipUnknown(cursor string) error {
	all := list{items: make([]string, maxRows)}
	err := all.skip(cursor)
	l.from = all.from
	return err
}

// fieldsOf reads the fields of rows that a query mentions.
func (c *call) fieldsOf(q *syntax.Query, found []record.WQLRow) ([]columns.Column, error) {
	if q == nil || len(columns.Mentioned(q)) == 0 || len(found) == 0 {
		return nil, nil
	}
	var types protocol.TypeList
	if err := c.ask("types.list", protocol.Empty{}, &types); err != nil {
		return nil, err
	}
	r := rows.NewReader(types.Types, c.daemon.call)
	r.AddMentioned(q)
	return r.Fill(c.ctx, found)
}

// shownValue writes a value of a field as ctxd wql does.
func shownValue(value any) string {
	if list, ok := value.([]any); value == nil || ok && len(list) == 0 {
		return "none"
	}
	text := columns.Text(value, moment)
	shown, cut := prompt.Cut(text, maxValue)
	if cut {
		return inline(shown) + fmt.Sprintf(" (%d characters: get_entity)", utf8.RuneCountInString(text))
	}
	return inline(shown)
}

// maxValue is how much of a value stands in a row, in characters.
const maxValue = 300

// queryError is an error of a query with all that is wrong with it: for each the
// message, the line of the query with a caret, and the hint, as the daemon gives them.
func (c *call) queryError(query string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Query || f.Line <= 0 {
		return err
	}
	var checked protocol.WQLChecked
	if c.ask("wql.check", protocol.WQLCheck{Query: query}, &checked) != nil || checked.OK {
		// It shows only when the query runs.
		checked.Diagnostics = []record.Diagnostic{{
			Line: f.Line, Column: f.Column, Message: f.Msg, Hint: f.Hint, Severity: record.SeverityError,
			Source: sourceLine(query, f.Line, f.Column),
		}}
	}
	var b strings.Builder
	for _, d := range checked.Diagnostics {
		if d.Severity != record.SeverityError {
			continue
		}
		// Messages and hints name types and fields of the store.
		fmt.Fprintf(&b, "%s at line %d, column %d\n%s\n", startOfLine(d.Message), d.Line, d.Column, d.Source)
		if d.Hint != "" {
			b.WriteString("Try: " + inline(d.Hint) + "\n")
		}
	}
	return wholeError(strings.TrimSuffix(b.String(), "\n"))
}

// wholeError is an error whose text a model gets as it is: what it quotes is the
// model's own.
type wholeError string

func (e wholeError) Error() string { return string(e) }

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
