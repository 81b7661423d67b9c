package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// session runs queries one after the other, for one person or script.
type session struct {
	*Options
	view      view
	limit     int // rows; 0: the daemon's default
	audience  connect.Audience
	checkType string // queries are only checked, for a field of that type
	from      string // where the statements are from, in which lines count; "": each its own

	this struct{ id, name, typ string } // what {this} means; the zero value: nothing

	client *client.Client // nil before the first call
}

// conn returns the connection, a new one when there is none or the daemon has
// ended it.
func (s *session) conn() (*client.Client, error) {
	if s.client != nil {
		select {
		case <-s.client.Done():
			s.close()
		default:
			return s.client, nil
		}
	}
	cl, err := s.DialWith(s.audience.Options())
	if err == nil {
		s.client = cl
	}
	return cl, err
}

func (s *session) close() {
	if s.client != nil {
		_ = s.client.Close() // the answers are here
		s.client = nil
	}
}

func (s *session) call(ctx context.Context, method string, params, result any) error {
	cl, err := s.conn()
	if err != nil {
		return err
	}
	return cl.Call(ctx, method, params, result)
}

// setThis has {this} mean an entity, or nothing for "".
func (s *session) setThis(ctx context.Context, name string) error {
	this := struct{ id, name, typ string }{}
	if name != "" {
		cl, err := s.conn()
		if err != nil {
			return err
		}
		id, err := connect.FindEntity(ctx, cl, name)
		if err != nil {
			return s.audience.Explain(err)
		}
		var e protocol.EntityFull
		if err := cl.Call(ctx, "entities.get", protocol.EntityGet{Ref: id}, &e); err != nil {
			return err
		}
		this.id, this.name, this.typ = e.ID, e.Name, e.Type
	}
	s.this = this
	return nil
}

// run runs a statement and shows its answer.
func (s *session) run(ctx context.Context, st syntax.Statement) error {
	if st.IsCommand() {
		return s.command(ctx, st.Text)
	}
	if s.checkType != "" {
		return s.checkOnly(ctx, st.Text)
	}
	warnings, err := s.check(ctx, st.Text)
	if err != nil {
		return err
	}
	started := time.Now()
	ans, err := s.query(ctx, st.Text)
	if err != nil {
		return err
	}
	ans.took = time.Since(started)
	ans.columns, err = s.columns(ctx, st.Text, ans)
	if err == nil {
		err = s.view.show(s.Out, ans)
	}
	if err != nil {
		return err
	}
	if s.view.format != formatJSON && len(warnings) > 0 {
		_ = s.Out.Flush() // the last flush tells
		if s.from != "" {
			st.Move(warnings)
		}
		DrawDiagnostics(s.Err, warnings, s.from)
	}
	return nil
}

// query asks the daemon.
func (s *session) query(ctx context.Context, text string) (*answer, error) {
	ans := &answer{query: text, asked: s.limit}
	err := s.call(ctx, "wql.query", protocol.WQLQuery{
		Query: text, This: s.this.id, Limit: s.limit, Explain: s.view.explain,
	}, &ans.WQLResult)
	if err != nil {
		return nil, s.asQueryError(err, text)
	}
	return ans, nil
}

// check has a query checked. The error has all that is wrong with it; what is
// merely suspicious is returned.
func (s *session) check(ctx context.Context, text string) (warnings []entities.Diagnostic, err error) {
	var res protocol.WQLChecked
	if err := s.call(ctx, "wql.check", protocol.WQLCheck{Query: text, Type: cmp.Or(s.checkType, s.this.typ)},
		&res); err != nil {
		return nil, err
	}
	if !res.OK {
		return nil, newQueryError(res.Diagnostics)
	}
	return res.Diagnostics, nil
}

// checkOnly checks a query and says that it is sound.
func (s *session) checkOnly(ctx context.Context, text string) error {
	warnings, err := s.check(ctx, text)
	if err != nil {
		return err
	}
	if s.view.format == formatJSON {
		return s.Out.JSON(protocol.WQLChecked{OK: true, Diagnostics: append([]entities.Diagnostic{}, warnings...)})
	}
	DrawDiagnostics(s.Out, warnings, "")
	s.Out.Say(term.Styled(term.Good, "sound"), term.Styled(term.Faint, "  as a computed field of "+s.checkType))
	return nil
}

// queryError is a query that can't be run.
type queryError struct {
	diagnostics []entities.Diagnostic
	file        string // that the lines count in; "": the query
	first       *fault.Error
}

func (e *queryError) Error() string { return e.first.Error() }

func (e *queryError) Describe(f *term.Failure) { f.Diagnostics, f.File = e.diagnostics, e.file }

func (e *queryError) Unwrap() error { return e.first }

// newQueryError makes an error of diagnostics, one of which is an error.
func newQueryError(list []entities.Diagnostic) error {
	i := slices.IndexFunc(list, func(d entities.Diagnostic) bool { return d.Severity == record.SeverityError })
	if i < 0 {
		return fault.New(fault.Query, "the query cannot be run")
	}
	d := list[i]
	return &queryError{
		diagnostics: list,
		first:       &fault.Error{Kind: fault.Query, Msg: d.Message, Hint: d.Hint, Line: d.Line, Column: d.Column},
	}
}

// asQueryError gives an error that names a place in the query the line of the
// place, as wql.check does. It is one that only shows when the query runs.
func (s *session) asQueryError(err error, text string) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Query || f.Line <= 0 {
		return err
	}
	d := entities.Diagnostic{
		Line: f.Line, Column: f.Column, Message: f.Msg, Hint: f.Hint, Severity: record.SeverityError,
		Source: sourceLine(text, f.Line, f.Column),
	}
	if code, caret, _ := strings.Cut(d.Source, "\n"); s.this.id == "" {
		// The daemon says how a program gives it; here there is a person.
		_, rest := term.CutColumns(term.Clean(code), max(0, len(caret)-2))
		if strings.Contains(rest[:min(len(rest), len("{this}"))], "{") {
			d.Hint = "set the entity for {this} with --this NAME"
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
	head := term.Decode16(units[:min(max(column-1, 0), len(units))])
	return lines[row-1] + "\n" + strings.Repeat(" ", term.Columns(term.Clean(head))) + "^"
}

// inScript counts the lines of an error from the beginning of the script that
// the statement stands in.
func inScript(err error, st syntax.Statement, file string) error {
	var q *queryError
	if file == "" || !errors.As(err, &q) {
		return err
	}
	moved, first := *q, *q.first
	moved.file = file
	first.Line, first.Column = st.Place(first.Line, first.Column)
	moved.first = &first
	moved.diagnostics = slices.Clone(q.diagnostics)
	st.Move(moved.diagnostics)
	return &moved
}

// DrawDiagnostics shows what there is to say of a query: errors, then warnings.
// file names where the lines count, "" for the query.
func DrawDiagnostics(s *term.Screen, list []entities.Diagnostic, file string) {
	for _, severity := range []string{record.SeverityError, record.SeverityWarning} {
		head := term.Styled(term.Bad, "Error: ")
		if severity == record.SeverityWarning {
			head = term.Styled(term.Warn, "Warning: ")
		}
		for _, d := range list {
			if d.Severity != severity {
				continue
			}
			s.SayWhole(head, term.Text(d.Message))
			s.Say(term.Text(fmt.Sprintf("       at line %d, column %d of %s", d.Line, d.Column,
				cmp.Or(file, "the query"))))
			drawSource(s, d.Source)
			if d.Hint != "" {
				s.SayWhole(term.Styled(term.Good, "Try: "), term.Text(d.Hint))
			}
		}
	}
}

// sourceIndent stands before a line of a query.
const sourceIndent = "       "

// drawSource shows a line of a query and the caret under it, cut on the left
// when the caret would not be on the screen.
func drawSource(s *term.Screen, source string) {
	code, caret, ok := strings.Cut(source, "\n")
	if !ok {
		return
	}
	room := s.Columns() - len(sourceIndent) - 1
	if over := term.Columns(term.Clean(caret)) - room; over > 0 {
		_, code = term.CutColumns(term.Clean(code), over+room/2)
		_, caret = term.CutColumns(term.Clean(caret), over+room/2)
		code, caret = "…"+code, " "+caret
	}
	s.Say(term.Styled(term.Faint, sourceIndent), term.Text(code))
	s.Say(term.Styled(term.Faint, sourceIndent), term.Styled(term.Bad, caret))
}
