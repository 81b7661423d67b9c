package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectWQLCmd struct {
	Query []string `arg:"" help:"The query."`

	This     string `placeholder:"ENTITY" help:"Id, name or alias of the entity that {this} means."`
	Type     string `placeholder:"TYPE" help:"Read it as the query of a computed field of this type."`
	Explain  bool   `short:"e" help:"Run it, and say how it was answered."`
	Audience string `enum:"local,remote" default:"local" placeholder:"WHO" help:"Who reads the answer: local, or remote, for whom private entities do not exist. Default: local."`
}

func (inspectWQLCmd) Help() string {
	return "Shows everything that is wrong with a query or suspicious in it, and how it is read: types, fields, conditions. " +
		"With --explain it is run, and the plan says how: which index, what else could have served, how many rows were looked at for how many that match."
}

func (inspectWQLCmd) Examples() []example {
	return []example{
		{`ctxd inspect wql "SELECT p FROM Persn WHERE p.taem = 3"`, "all that is wrong, not the first"},
		{`ctxd inspect wql "SELECT p FROM Person WHERE p.manager = {this}" --this @Alice --explain`, "the plan"},
		{`ctxd inspect wql "SELECT p FROM Person WHERE p.team = {this}" --type Team`, "as a computed field of a type"},
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

func (c *inspectWQLCmd) Run(a *app) error {
	s := &wqlSession{app: a, audience: c.Audience, checkType: c.Type}
	defer s.close()
	if c.This != "" {
		if err := s.setThis(a.ctx, c.This); err != nil {
			return err
		}
	}
	query := strings.TrimSpace(strings.Join(c.Query, " "))
	if query == "" {
		return &usageError{"there is no query", "ctxd inspect wql --help"}
	}
	v, err := s.read(query)
	if err != nil {
		return err
	}
	if v.OK && c.Explain {
		s.view.explain = true
		ans, err := s.query(a.ctx, query)
		if err != nil {
			return err
		}
		v.Answer = &ans.WQLResult
	}
	if a.JSON {
		err = a.out.json(v)
	} else {
		v.draw(a.out)
	}
	if err == nil && !v.OK {
		err = newQueryError(v.Diagnostics)
	}
	return err
}

// read has a query checked, and finds out what it says.
func (s *wqlSession) read(query string) (*queryView, error) {
	var checked protocol.WQLChecked
	typ := firstOf(s.checkType, s.this.typ)
	if err := s.call(s.ctx, "wql.check", protocol.WQLCheck{Query: query, Type: typ}, &checked); err != nil {
		return nil, err
	}
	var list protocol.TypeList
	if err := s.call(s.ctx, "types.list", protocol.Empty{}, &list); err != nil {
		return nil, err
	}
	v := &queryView{OK: checked.OK, Diagnostics: checked.Diagnostics}
	q, _ := wql.Parse(query)
	if q == nil || len(q.From) == 0 {
		return v, nil
	}
	v.describe(q, list.Types)
	return v, nil
}

func (v *queryView) describe(q *wql.Query, types []protocol.TypeCount) {
	if v.OK {
		v.Query = q.String()
	}
	v.Select = "entities"
	if q.What.Kind != wql.SelectRows {
		v.Select = aggregateOf(q.Source)
	}
	if q.Distinct {
		v.Select = "distinct " + v.Select
	}
	var from []string
	for _, name := range q.From {
		i := slices.IndexFunc(types, func(t protocol.TypeCount) bool { return entities.Fold(t.Name) == entities.Fold(name.Text) })
		if i >= 0 {
			v.Types = append(v.Types, typeUse{types[i].Name, types[i].Count})
			from = append(from, types[i].Name)
		}
	}
	reader := &fieldReader{types: typesByName(types)}
	m := &mentions{query: q}
	if q.What.Path != nil {
		m.operand(q.What.Path)
	}
	if q.Where != nil {
		m.expr(q.Where)
		v.Where = conditionOf(q.Source, q.Where)
	}
	for _, key := range q.Order {
		m.operand(key.Key)
		v.Order = append(v.Order, orderText(q.Source, key))
	}
	for _, path := range m.paths {
		use, known := reader.use(from, path)
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

// use says what a path of the query leads through. A bare word on the right of
// an operator may be no field: it is not known then.
func (r *fieldReader) use(from []string, path []string) (u fieldUse, known bool) {
	u.Path = strings.Join(path, ".")
	owners := from
	var via []string
	for i, name := range path {
		if slices.ContainsFunc(builtIn, func(b string) bool { return strings.EqualFold(b, name) }) {
			u.Type, known = "text of every entity", true
			if strings.HasSuffix(strings.ToLower(name), "at") {
				u.Type = "time of every entity"
			}
			break
		}
		f := entities.Field{}
		for _, owner := range owners {
			if found, ok := r.field(owner, name); ok && f.Name == "" {
				f = found
			}
		}
		if f.Name == "" {
			return u, i > 0
		}
		known = true
		u.Type, u.Of, owners = string(f.Type), f.TargetType, declared(f.TargetType)
		if i < len(path)-1 {
			via = append(via, f.Name+" → "+firstOf(f.TargetType, "?"))
			u.Type, u.Of = "", ""
		}
	}
	u.Via = strings.Join(via, ", ")
	return u, known
}

// conditionOf returns the tree of a condition, its leaves as they are written.
func conditionOf(src string, x wql.Expr) *condition {
	switch x := x.(type) {
	case *wql.Logic:
		c := &condition{Is: "and"}
		if x.Or {
			c.Is = "or"
		}
		for _, arg := range x.Args {
			c.Args = append(c.Args, conditionOf(src, arg))
		}
		return c
	case *wql.Not:
		return &condition{Is: "not", Args: []*condition{conditionOf(src, x.X)}}
	}
	at := x.Source()
	return &condition{Is: src[at.Start:at.End]}
}

func orderText(src string, key wql.OrderKey) string {
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

func (v *queryView) draw(s *screen) {
	if v.OK { // errors are told as such, and end the command
		drawDiagnostics(s, v.Diagnostics, "")
	}
	s.heading("Read as")
	f := &facts{table{indent: 2, keep: []int{0}}}
	f.add("query", v.Query)
	f.add("selects", v.Select)
	for i, t := range v.Types {
		name := "from"
		if i > 0 {
			name = ""
		}
		f.row(line{styled(faint, name)}, line{text(t.Name), styled(faint, "  "+count(t.Entities, "entity"))})
	}
	f.add("order", strings.Join(v.Order, ", "))
	if v.Limit != nil {
		f.addf("limit", "%s", number(*v.Limit))
	}
	if v.Offset != nil {
		f.addf("offset", "%s", number(*v.Offset))
	}
	f.draw(s)
	if len(v.Fields) > 0 {
		s.heading("Fields")
		t := &table{indent: 2, keep: []int{0}}
		for _, u := range v.Fields {
			kind := firstOf(u.Type, "not declared")
			if u.Of != "" {
				kind += " → " + u.Of
			}
			t.row(line{styled(accent, u.Path)}, line{text(kind)}, line{styled(faint, u.Via)})
		}
		t.draw(s)
	}
	if v.Where != nil {
		s.heading("Conditions")
		drawTree(s, "  ", []*branch{v.Where.branch()})
	}
	if v.Answer != nil {
		s.heading("Answer")
		a := &facts{table{indent: 2}}
		if v.Answer.Value.Set {
			a.row(line{styled(faint, "value")}, cell(v.Answer.Value.Value))
		} else {
			a.add("rows", number(v.Answer.Total))
		}
		a.draw(s)
		if v.Answer.Plan != nil {
			drawPlan(s, v.Answer.Plan)
			drawKept(s, v.Answer.Plan)
		}
	}
}

func (c *condition) branch() *branch {
	b := &branch{label: line{text(c.Is)}}
	if len(c.Args) > 0 {
		words := map[string]string{"and": "all of", "or": "any of", "not": "not"}
		b.label = line{styled(strong, words[c.Is])}
	}
	for _, arg := range c.Args {
		b.children = append(b.children, arg.branch())
	}
	return b
}

// drawPlan shows how a query was answered.
func drawPlan(s *screen, p *wql.Plan) {
	s.heading("Plan", styled(faint, "  "+millis(p.Micros/1000)))
	for i := range p.Types {
		drawTypePlan(s, &p.Types[i])
	}
	f := &facts{table{indent: 2, keep: []int{0}}}
	f.addf("matched", "%s of %s examined", number(p.RowsMatched), number(p.RowsExamined))
	f.add("program", p.Program)
	for i, slot := range p.Slots {
		f.row(line{styled(faint, map[bool]string{true: "slots"}[i == 0])}, line{text(slot)})
	}
	f.add("made ready", map[bool]string{true: "before", false: "for this query"}[p.CachedProgram])
	f.draw(s)
}

// drawKept shows how long the value of a computed field with that query would be
// kept in the cache.
func drawKept(s *screen, p *wql.Plan) {
	s.heading("As a computed field")
	c := &facts{table{indent: 2, keep: []int{0}}}
	c.add("value", map[bool]string{true: "in the cache for this entity", false: "not in the cache"}[p.CachedResult])
	switch p.Expires {
	case "now":
		c.add("kept", "not at all: it changes with the time")
		c.draw(s)
		return
	case "day":
		c.add("kept", "until the day ends, or one of these changes")
	default:
		c.add("kept", "until one of these changes")
	}
	for i, what := range p.DependsOn {
		c.row(line{styled(faint, map[bool]string{true: "depends on"}[i == 0])}, line{text(what)})
	}
	c.draw(s)
}

// drawTypePlan shows how the rows of one type were found.
func drawTypePlan(s *screen, p *wql.TypePlan) {
	st := good
	if p.Access == wql.AccessScan {
		st = warn
	}
	s.say(text("  "), styled(strong, p.Type), text("  "), styled(st, p.Access), text(fmt.Sprintf("  %s of %s examined", number(p.RowsExamined), count(p.Rows, "row"))))
	t := &table{indent: 4, keep: []int{0, 1}, right: []int{3}}
	add := func(head string, list []wql.IndexUse) {
		for _, u := range list {
			t.row(line{styled(faint, head)}, line{text(u.Condition)}, line{text(indexName(u))}, line{text(rowsOf(u))}, line{styled(faint, map[bool]string{true: "built by this query"}[u.Built])})
		}
	}
	add("used", p.Uses)
	add("considered", p.Considered)
	t.draw(s)
	for i, l := range wrap(clean(p.Why), max(minWidth, s.columns()-len("    because  "))) {
		if l != "" {
			s.say(styled(faint, map[bool]string{true: "    because  ", false: "             "}[i == 0]), text(l))
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
	return count(u.Rows, "row")
}
