package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// wqlSession runs queries one after the other, for one person or script.
type wqlSession struct {
	*app
	view      wqlView
	limit     int // rows; 0: the daemon's default
	audience  string
	checkType string // queries are only checked, for a field of that type
	from      string // where the statements are from, in which lines count; "": each its own

	this struct{ id, name, typ string } // what {this} means; the zero value: nothing

	client *client.Client // nil before the first call
}

// conn returns the connection, a new one when there is none or the daemon has
// ended it.
func (s *wqlSession) conn() (*client.Client, error) {
	if s.client != nil {
		select {
		case <-s.client.Done():
			s.close()
		default:
			return s.client, nil
		}
	}
	cl, err := s.dial()
	if err == nil {
		s.client = cl
	}
	return cl, err
}

func (s *wqlSession) close() {
	if s.client != nil {
		_ = s.client.Close() // the answers are here
		s.client = nil
	}
}

func (s *wqlSession) call(ctx context.Context, method string, params, result any) error {
	cl, err := s.conn()
	if err != nil {
		return err
	}
	return cl.Call(ctx, method, params, result)
}

// setThis has {this} mean an entity, or nothing for "".
func (s *wqlSession) setThis(ctx context.Context, name string) error {
	this := struct{ id, name, typ string }{}
	if name != "" {
		cl, err := s.conn()
		if err != nil {
			return err
		}
		id, err := findEntity(ctx, cl, name)
		if err != nil {
			return err
		}
		var e protocol.EntityFull
		if err := cl.Call(ctx, "entities.get", protocol.EntityGet{ID: id}, &e); err != nil {
			return err
		}
		this.id, this.name, this.typ = e.ID, e.Name, e.Type
	}
	s.this = this
	return nil
}

// run runs a statement and shows its answer.
func (s *wqlSession) run(ctx context.Context, st statement) error {
	if st.isCommand() {
		return s.command(ctx, st.text)
	}
	if s.checkType != "" {
		return s.checkOnly(ctx, st.text)
	}
	warnings, err := s.check(ctx, st.text)
	if err != nil {
		return err
	}
	started := time.Now()
	ans, err := s.query(ctx, st.text)
	if err != nil {
		return err
	}
	ans.took = time.Since(started)
	if ans.columns, err = s.columns(ctx, st.text, ans); err == nil {
		err = s.view.show(s.out, ans)
	}
	if err != nil {
		return err
	}
	if s.view.format != formatJSON && len(warnings) > 0 {
		_ = s.out.flush() // the last flush tells
		if s.from != "" {
			st.move(warnings)
		}
		drawDiagnostics(s.err, warnings, s.from)
	}
	return nil
}

// query asks the daemon.
func (s *wqlSession) query(ctx context.Context, text string) (*wqlAnswer, error) {
	ans := &wqlAnswer{query: text, asked: s.limit, remote: s.audience == "remote"}
	err := s.call(ctx, "wql.query", protocol.WQLQuery{
		Query: text, This: s.this.id, Limit: s.limit, Explain: s.view.explain, Audience: s.audience,
	}, &ans.WQLResult)
	if err != nil {
		return nil, s.asQueryError(err, text)
	}
	return ans, nil
}

// check has a query checked. The error has all that is wrong with it; what is
// merely suspicious is returned.
func (s *wqlSession) check(ctx context.Context, text string) (warnings []entities.Diagnostic, err error) {
	var res protocol.WQLChecked
	if err := s.call(ctx, "wql.check", protocol.WQLCheck{Query: text, Type: cmp.Or(s.checkType, s.this.typ)}, &res); err != nil {
		return nil, err
	}
	if !res.OK {
		return nil, newQueryError(res.Diagnostics)
	}
	return res.Diagnostics, nil
}

// checkOnly checks a query and says that it is sound.
func (s *wqlSession) checkOnly(ctx context.Context, text string) error {
	warnings, err := s.check(ctx, text)
	if err != nil {
		return err
	}
	if s.view.format == formatJSON {
		return s.out.json(protocol.WQLChecked{OK: true, Diagnostics: append([]entities.Diagnostic{}, warnings...)})
	}
	drawDiagnostics(s.out, warnings, "")
	s.out.say(styled(good, "sound"), styled(faint, "  as a computed field of "+s.checkType))
	return nil
}

// queryError is a query that can't be run.
type queryError struct {
	diagnostics []entities.Diagnostic
	file        string // that the lines count in; "": the query
	first       *fault.Error
}

func (e *queryError) Error() string { return e.first.Error() }

func (e *queryError) Unwrap() error { return e.first }

// newQueryError makes an error of diagnostics, one of which is an error.
func newQueryError(list []entities.Diagnostic) error {
	i := slices.IndexFunc(list, func(d entities.Diagnostic) bool { return d.Severity == entities.SeverityError })
	if i < 0 {
		return fault.New(fault.Query, "the query can't be run")
	}
	d := list[i]
	return &queryError{
		diagnostics: list,
		first:       &fault.Error{Kind: fault.Query, Msg: d.Message, Hint: d.Hint, Line: d.Line, Column: d.Column},
	}
}

// asQueryError gives an error that names a place in the query the line of the
// place, as wql.check does. It is one that only shows when the query runs.
func (s *wqlSession) asQueryError(err error, text string) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Query || f.Line <= 0 {
		return err
	}
	d := entities.Diagnostic{
		Line: f.Line, Column: f.Column, Message: f.Msg, Hint: f.Hint, Severity: entities.SeverityError, Source: sourceLine(text, f.Line, f.Column),
	}
	if code, caret, _ := strings.Cut(d.Source, "\n"); s.this.id == "" {
		// The daemon says how a program gives it; here there is a person.
		_, rest := cutColumns(clean(code), max(0, len(caret)-2))
		if strings.Contains(rest[:min(len(rest), len("{this}"))], "{") {
			d.Hint = "name the entity that {this} means: --this NAME"
			if s.view.prompt {
				d.Hint = `name the entity that {this} means: \this NAME`
			}
		}
	}
	return newQueryError([]entities.Diagnostic{d})
}

// sourceLine returns a line of a text with a caret under a column of UTF-16 code
// units, both from 1.
func sourceLine(text string, row, column int) string {
	lines := strings.Split(text, "\n")
	if row > len(lines) {
		return ""
	}
	units := utf16.Encode([]rune(lines[row-1]))
	head := decode16(units[:min(max(column-1, 0), len(units))])
	return lines[row-1] + "\n" + strings.Repeat(" ", columns(clean(head))) + "^"
}

// inScript counts the lines of an error from the beginning of the script that
// the statement stands in.
func inScript(err error, st statement, file string) error {
	var q *queryError
	if file == "" || !errors.As(err, &q) {
		return err
	}
	moved, first := *q, *q.first
	moved.file = file
	first.Line, first.Column = st.place(first.Line, first.Column)
	moved.first = &first
	moved.diagnostics = slices.Clone(q.diagnostics)
	st.move(moved.diagnostics)
	return &moved
}

// move counts the places of diagnostics from the beginning of the whole text.
func (s statement) move(list []entities.Diagnostic) {
	for i := range list {
		list[i].Line, list[i].Column = s.place(list[i].Line, list[i].Column)
	}
}

// place returns where a place in the statement is in the whole text.
func (s statement) place(row, column int) (int, int) {
	if row == 1 {
		column += s.column - 1
	}
	return row + s.line - 1, column
}

// drawDiagnostics shows what there is to say of a query: errors, then warnings.
// file names where the lines count, "" for the query.
func drawDiagnostics(s *screen, list []entities.Diagnostic, file string) {
	for _, severity := range []string{entities.SeverityError, entities.SeverityWarning} {
		head := styled(bad, "Error: ")
		if severity == entities.SeverityWarning {
			head = styled(warn, "Warning: ")
		}
		for _, d := range list {
			if d.Severity != severity {
				continue
			}
			s.sayWhole(head, text(d.Message))
			s.say(text(fmt.Sprintf("       at line %d, column %d of %s", d.Line, d.Column, firstOf(file, "the query"))))
			drawSource(s, d.Source)
			if d.Hint != "" {
				s.sayWhole(styled(good, "Try: "), text(d.Hint))
			}
		}
	}
}

// sourceIndent stands before a line of a query.
const sourceIndent = "       "

// drawSource shows a line of a query and the caret under it, cut on the left
// when the caret would not be on the screen.
func drawSource(s *screen, source string) {
	code, caret, ok := strings.Cut(source, "\n")
	if !ok {
		return
	}
	room := s.columns() - len(sourceIndent) - 1
	if over := columns(clean(caret)) - room; over > 0 {
		_, code = cutColumns(clean(code), over+room/2)
		_, caret = cutColumns(clean(caret), over+room/2)
		code, caret = "…"+code, " "+caret
	}
	s.say(styled(faint, sourceIndent), text(code))
	s.say(styled(faint, sourceIndent), styled(bad, caret))
}
