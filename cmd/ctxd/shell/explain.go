package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/cmd/ctxd/connect"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/columns"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/rpc/client/rows"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Inspect is ctxd inspect wql.
type Inspect struct {
	Query []string `arg:"" help:"The query."`

	This    string `placeholder:"ENTITY" help:"Id, name or alias of the entity that {this} means."`
	Type    string `placeholder:"TYPE" help:"Check it as the query of a computed field of this type."`
	Explain bool   `short:"e" help:"Run the query and show its plan."`

	connect.Audience
}

// Help is what --help says of the command.
func (Inspect) Help() string {
	return "Shows all errors and warnings for a query, and how it is read: types, fields, conditions. " +
		"With --explain the query is run and its plan is shown: " +
		"which index was used, which others could have been, how many rows were read and how many matched."
}

// Examples are those of --help.
func (Inspect) Examples() []term.Example {
	return []term.Example{
		{`ctxd inspect wql "SELECT p FROM Persn WHERE p.taem = 3"`, "all errors, not only the first"},
		{`ctxd inspect wql "SELECT p FROM Person WHERE p.manager = {this}" --this @Alice --explain`, "the plan"},
		{`ctxd inspect wql "SELECT p FROM Person WHERE p.team = {this}" --type Team`, "as a computed field of a type"},
		{`ctxd inspect wql "SELECT p FROM Person" --explain --audience remote`, "the plan for a remote reader"},
	}
}

// queryView is how a query is read and answered.
type queryView struct {
	OK          bool                  `json:"ok"`
	Diagnostics []entities.Diagnostic `json:"diagnostics"`
	Query       string                `json:"query,omitempty"` // in its canonical form
	Select      string                `json:"select,omitempty"`
	Types       []typeUse             `json:"types,omitempty"`
	Fields      []fieldUse            `json:"fields,omitempty"`
	Where       *condition            `json:"where,omitempty"`
	Order       []string              `json:"order,omitempty"`
	Limit       *int                  `json:"limit,omitempty"`
	Offset      *int                  `json:"offset,omitempty"`

	Answer *protocol.WQLResult `json:"answer,omitempty"` // with its plan
}

// typeUse is a type of FROM.
type typeUse struct {
	Name     string `json:"name"`
	Entities int    `json:"entities"`
}

// fieldUse is a field that the query names, with what it leads through.
type fieldUse struct {
	Path string `json:"path"`
	Type string `json:"type"`             // of the value; "" when nothing declares it
	Via  string `json:"via,omitempty"`    // "team → Team, lead → Person"
	Of   string `json:"target,omitempty"` // of a reference
}

// condition is a node of WHERE: all of, any of, not, or a comparison.
type condition struct {
	Is   string       `json:"is"` // and, or, not, or the text of a comparison
	Args []*condition `json:"args,omitempty"`
}

// Run runs the command.
func (c *Inspect) Run(a *Options) error {
	s := &session{Options: a, audience: c.Audience, checkType: c.Type}
	defer s.close()
	if c.This != "" {
		if err := s.setThis(a.Ctx, c.This); err != nil {
			return err
		}
	}
	query := strings.TrimSpace(strings.Join(c.Query, " "))
	if query == "" {
		return term.Misuse("there is no query", "ctxd inspect wql --help")
	}
	v, err := s.read(query)
	if err != nil {
		return err
	}
	if v.OK && c.Explain {
		s.view.explain = true
		ans, err := s.query(a.Ctx, query)
		if err != nil {
			return err
		}
		v.Answer = &ans.WQLResult
	}
	if a.JSON {
		err = a.Out.JSON(v)
	} else {
		v.draw(a.Out)
	}
	if err == nil && !v.OK {
		err = newQueryError(v.Diagnostics)
	}
	return err
}

// read has a query checked, and finds out what it says.
func (s *session) read(query string) (*queryView, error) {
	var checked protocol.WQLChecked
	typ := cmp.Or(s.checkType, s.this.typ)
	if err := s.call(s.Ctx, "wql.check", protocol.WQLCheck{Query: query, Type: typ}, &checked); err != nil {
		return nil, err
	}
	var list protocol.TypeList
	if err := s.call(s.Ctx, "types.list", nil, &list); err != nil {
		return nil, err
	}
	v := &queryView{OK: checked.OK, Diagnostics: checked.Diagnostics}
	q, _ := syntax.Parse(query)
	if q == nil || len(q.From) == 0 {
		return v, nil
	}
	v.describe(q, list.Types)
	return v, nil
}

func (v *queryView) describe(q *syntax.Query, types []protocol.TypeCount) {
	if v.OK {
		v.Query = q.String()
	}
	v.Select = "entities"
	if q.What.Kind != syntax.SelectRows {
		v.Select = aggregateOf(q.Source)
	}
	if q.Distinct {
		v.Select = "distinct " + v.Select
	}
	var from []string
	for _, name := range q.From {
		named := typesNamed(types, name.Text)
		if len(named) == 0 {
			continue
		}
		use := typeUse{named[0].Name, 0}
		for _, t := range named {
			use.Entities += t.Count
		}
		v.Types, from = append(v.Types, use), append(from, named[0].Name)
	}
	reader := rows.NewReader(types, nil)
	var counted []syntax.Operand
	if q.What.Path != nil {
		counted = append(counted, q.What.Path)
	}
	if q.Where != nil {
		v.Where = conditionOf(q.Source, q.Where)
	}
	for _, key := range q.Order {
		v.Order = append(v.Order, orderText(q.Source, key))
	}
	for _, path := range columns.Mentioned(q, counted...) {
		use, known := useOf(reader, from, path)
		if known && !slices.Contains(v.Fields, use) {
			v.Fields = append(v.Fields, use)
		}
	}
	if q.Limit != nil {
		v.Limit = &q.Limit.N
	}
	if q.Offset != nil {
		v.Offset = &q.Offset.N
	}
}

// useOf says what a path of the query leads through. A bare word on the right of
// an operator may be no field: it is not known then.
func useOf(r *columns.Reader, from []string, path []string) (u fieldUse, known bool) {
	u.Path = strings.Join(path, ".")
	owners := from
	var via []string
	for i, name := range path {
		if slices.ContainsFunc(syntax.BuiltIn, func(b string) bool { return strings.EqualFold(b, name) }) {
			u.Type, known = "text of every entity", true
			if strings.HasSuffix(strings.ToLower(name), "at") {
				u.Type = "time of every entity"
			}
			break
		}
		f := entities.Field{}
		for _, owner := range owners {
			if found, ok := r.Field(owner, name); ok && f.Name == "" {
				f = found
			}
		}
		if f.Name == "" {
			return u, i > 0
		}
		known = true
		u.Type, u.Of, owners = string(f.Type), f.TargetType, targetOf(f)
		if i < len(path)-1 {
			via = append(via, f.Name+" → "+cmp.Or(f.TargetType, "?"))
			u.Type, u.Of = "", ""
		}
	}
	u.Via = strings.Join(via, ", ")
	return u, known
}

// conditionOf returns the tree of a condition, its leaves as they are written.
func conditionOf(src string, x syntax.Expr) *condition {
	switch x := x.(type) {
	case *syntax.Logic:
		c := &condition{Is: "and"}
		if x.Or {
			c.Is = "or"
		}
		for _, arg := range x.Args {
			c.Args = append(c.Args, conditionOf(src, arg))
		}
		return c
	case *syntax.Not:
		return &condition{Is: "not", Args: []*condition{conditionOf(src, x.X)}}
	}
	at := x.Source()
	return &condition{Is: src[at.Start:at.End]}
}

func orderText(src string, key syntax.OrderKey) string {
	if key.Key == nil {
		return ""
	}
	at := key.Key.Source()
	out := src[at.Start:at.End]
	if key.Desc {
		out += " descending"
	}
	if key.NullsFirst {
		out += ", nulls first"
	}
	return out
}

func (v *queryView) draw(s *term.Screen) {
	if v.OK { // errors are told as such, and end the command
		DrawDiagnostics(s, v.Diagnostics, "")
	}
	s.Heading("Read as")
	f := &term.Facts{Table: term.Table{Indent: 2, Keep: []int{0}}}
	f.Add("query", v.Query)
	f.Add("selects", v.Select)
	for i, t := range v.Types {
		name := "from"
		if i > 0 {
			name = ""
		}
		f.Row(term.Line{term.Styled(term.Faint, name)},
			term.Line{term.Text(t.Name), term.Styled(term.Faint, "  "+term.Count(t.Entities, "entity"))})
	}
	f.Add("order", strings.Join(v.Order, ", "))
	if v.Limit != nil {
		f.Addf("limit", "%s", term.Number(*v.Limit))
	}
	if v.Offset != nil {
		f.Addf("offset", "%s", term.Number(*v.Offset))
	}
	f.Draw(s)
	if len(v.Fields) > 0 {
		s.Heading("Fields")
		t := &term.Table{Indent: 2, Keep: []int{0}}
		for _, u := range v.Fields {
			kind := cmp.Or(u.Type, "not declared")
			if u.Of != "" {
				kind += " → " + u.Of
			}
			t.Row(term.Line{term.Styled(term.Accent, u.Path)}, term.Line{term.Text(kind)},
				term.Line{term.Styled(term.Faint, u.Via)})
		}
		t.Draw(s)
	}
	if v.Where != nil {
		s.Heading("Conditions")
		term.DrawTree(s, "  ", []*term.Branch{v.Where.branch()})
	}
	if v.Answer != nil {
		s.Heading("Answer")
		a := &term.Facts{Table: term.Table{Indent: 2}}
		if v.Answer.Value.Set {
			a.Row(term.Line{term.Styled(term.Faint, "value")}, cell(v.Answer.Value.Value))
		} else {
			a.Add("rows", term.Number(v.Answer.Total))
		}
		a.Draw(s)
		if v.Answer.Plan != nil {
			drawPlan(s, v.Answer.Plan)
			drawKept(s, v.Answer.Plan)
		}
	}
}

func (c *condition) branch() *term.Branch {
	b := &term.Branch{Label: term.Line{term.Text(c.Is)}}
	if len(c.Args) > 0 {
		words := map[string]string{"and": "all of", "or": "any of", "not": "not"}
		b.Label = term.Line{term.Styled(term.Strong, words[c.Is])}
	}
	for _, arg := range c.Args {
		b.Children = append(b.Children, arg.branch())
	}
	return b
}

// drawPlan shows how a query was answered.
func drawPlan(s *term.Screen, p *wql.Plan) {
	s.Heading("Plan", term.Styled(term.Faint, "  "+term.Millis(p.Micros/1000)))
	for i := range p.Types {
		drawTypePlan(s, &p.Types[i])
	}
	f := &term.Facts{Table: term.Table{Indent: 2, Keep: []int{0}}}
	f.Addf("matched", "%s of %s examined", term.Number(p.RowsMatched), term.Number(p.RowsExamined))
	f.Add("program", p.Program)
	for i, slot := range p.Slots {
		f.Row(term.Line{term.Styled(term.Faint, map[bool]string{true: "slots"}[i == 0])}, term.Line{term.Text(slot)})
	}
	f.Add("made ready", map[bool]string{true: "before", false: "for this query"}[p.CachedProgram])
	f.Draw(s)
}

// drawKept shows how long the value of a computed field with that query would be
// kept in the cache.
func drawKept(s *term.Screen, p *wql.Plan) {
	s.Heading("As a computed field")
	c := &term.Facts{Table: term.Table{Indent: 2, Keep: []int{0}}}
	c.Add("value", map[bool]string{true: "in the cache for this entity", false: "not in the cache"}[p.CachedResult])
	switch p.Expires {
	case "now":
		c.Add("kept", "not cached: it changes with the time")
		c.Draw(s)
		return
	case "day":
		c.Add("kept", "until the day ends, or one of these changes")
	default:
		c.Add("kept", "until one of these changes")
	}
	for i, what := range p.DependsOn {
		c.Row(term.Line{term.Styled(term.Faint, map[bool]string{true: "depends on"}[i == 0])},
			term.Line{term.Text(what)})
	}
	c.Draw(s)
}

// drawTypePlan shows how the rows of one type were found.
func drawTypePlan(s *term.Screen, p *wql.TypePlan) {
	st := term.Good
	if p.Access == wql.AccessScan {
		st = term.Warn
	}
	s.Say(term.Text("  "), term.Styled(term.Strong, p.Type), term.Text("  "), term.Styled(st, p.Access),
		term.Text(fmt.Sprintf("  %s of %s examined", term.Number(p.RowsExamined), term.Count(p.Rows, "row"))))
	t := &term.Table{Indent: 4, Keep: []int{0, 1}, Right: []int{3}}
	add := func(head string, list []wql.IndexUse) {
		for _, u := range list {
			t.Row(term.Line{term.Styled(term.Faint, head)}, term.Line{term.Text(u.Condition)},
				term.Line{term.Text(indexName(u))}, term.Line{term.Text(rowsOf(u))},
				term.Line{term.Styled(term.Faint, map[bool]string{true: "built by this query"}[u.Built])})
		}
	}
	add("used", p.Uses)
	add("considered", p.Considered)
	t.Draw(s)
	for i, l := range term.Wrap(term.Clean(p.Why), max(term.MinWidth, s.Columns()-len("    because  "))) {
		if l != "" {
			s.Say(term.Styled(term.Faint, map[bool]string{true: "    because  ", false: "             "}[i == 0]),
				term.Text(l))
		}
	}
}

func indexName(u wql.IndexUse) string {
	if u.Kind == wql.IndexID {
		return "by id"
	}
	return u.Kind + " index of " + u.Field
}

func rowsOf(u wql.IndexUse) string {
	if u.Rows < 0 {
		return "not counted"
	}
	return term.Count(u.Rows, "row")
}

// targetOf returns the type that a field refers to, nothing when it names none.
func targetOf(f entities.Field) []string {
	if f.TargetType == "" {
		return nil
	}
	return []string{f.TargetType}
}
