package wql_test

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql/syntax"
)

// The reference evaluator works on the syntax tree, row by row, in the plainest
// way: NOT is NOT, truth values are Kleene's, dates are time.Time, LIKE is a
// regular expression; there are no programs, slots, indexes, plans or caches.
// Values are nil, string, choice, float64, written, bool, day, moment, ref or []any.
type (
	choice  string
	ref     string
	written string    // a number that is shown as it was written
	day     time.Time // midnight UTC of the date
	moment  time.Time
)

// no, unknown and yes are the truth values, in the order min and max need.
const (
	no = iota
	unknown
	yes
)

// reference evaluates queries over a store at one moment.
type reference struct {
	store *entities.Store
	now   time.Time
	loc   *time.Location
	hide  func(*entities.Entity) bool
	match func(words, id string) bool
	this  *entities.Entity
	row   *entities.Entity
	from  []syntax.Name
}

func truth(b bool) int {
	if b {
		return yes
	}
	return no
}

func (r reference) exists(e *entities.Entity) bool { return e.Live() && (r.hide == nil || !r.hide(e)) }

// run returns what show gives for the whole query.
func (r reference) run(q *syntax.Query, limit int) string {
	r.from = q.From
	found := r.rows(q)
	if q.What.Kind != syntax.SelectRows {
		return fmt.Sprintf("= %v", wire(r.aggregate(q, found)))
	}
	total, offset := len(found), 0
	if q.Limit != nil {
		limit = min(limit, q.Limit.N)
	}
	if q.Offset != nil {
		offset = q.Offset.N
	}
	found = found[min(offset, total):]
	found = found[:min(limit, len(found))]
	s := ""
	for _, e := range found {
		s += " " + e.ID
	}
	if offset+len(found) < total {
		s += fmt.Sprintf(" …%d", total)
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}

// rows are the entities that meet the condition, in order.
func (r reference) rows(q *syntax.Query) []*entities.Entity {
	var found []*entities.Entity
	for e := range r.store.All() {
		if r.exists(e) && slices.ContainsFunc(q.From, func(n syntax.Name) bool { return entities.Fold(n.Text) == entities.Fold(e.Type) }) {
			found = append(found, e)
		}
	}
	found = slices.DeleteFunc(found, func(e *entities.Entity) bool {
		r.row = e
		return q.Where != nil && r.cond(q.Where) != yes
	})
	slices.SortFunc(found, func(a, b *entities.Entity) int {
		for _, k := range q.Order {
			x, y := r.of(a).operand(k.Key), r.of(b).operand(k.Key)
			if x == nil || y == nil {
				c := cmp.Compare(truth(x == nil), truth(y == nil))
				if k.NullsFirst {
					c = -c
				}
				if c != 0 {
					return c
				}
				continue
			}
			c := r.rank(x, y)
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Or(entities.CompareNatural(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return found
}

func (r reference) of(row *entities.Entity) reference {
	r.row = row
	return r
}

// rank orders two values of ORDER BY, MIN and MAX.
func (r reference) rank(x, y any) int {
	x, y = plain(x), plain(y)
	kind := func(v any) int {
		switch v.(type) {
		case string, choice, ref:
			return 0
		case float64:
			return 1
		case bool:
			return 2
		case day, moment:
			return 3
		}
		return 4
	}
	if c := cmp.Compare(kind(x), kind(y)); c != 0 {
		return c
	}
	switch kind(x) {
	case 1:
		return cmp.Compare(x.(float64), y.(float64))
	case 2:
		return cmp.Compare(number(x.(bool)), number(y.(bool)))
	case 3:
		return at(x).Compare(at(y))
	}
	return entities.CompareNatural(r.sortText(x), r.sortText(y))
}

// plain is the number of one that is shown as it was written.
func plain(v any) any {
	if w, ok := v.(written); ok {
		n, _ := strconv.ParseFloat(string(w), 64)
		return n
	}
	return v
}

func at(v any) time.Time {
	if d, ok := v.(day); ok {
		return time.Time(d)
	}
	return time.Time(v.(moment))
}

// sortText is the text by which a text, a reference or a list is ordered.
func (r reference) sortText(v any) string {
	switch v := v.(type) {
	case ref:
		if e := r.store.Get(string(v)); r.exists(e) {
			return e.Name + "\x00" + string(v)
		}
		return string(v)
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = r.sortText(item)
		}
		return strings.Join(texts, "\x00")
	}
	s, _ := text(v)
	return s
}

func (r reference) aggregate(q *syntax.Query, found []*entities.Entity) any {
	if q.What.Path == nil {
		return float64(len(found))
	}
	var values []any
	for _, e := range found {
		switch v := r.of(e).operand(q.What.Path).(type) {
		case nil:
		case []any:
			values = append(values, v...)
		default:
			values = append(values, v)
		}
	}
	var best any
	total, n := 0.0, 0
	for _, v := range values {
		if x, ok := plain(v).(float64); ok {
			total += x
			n++
		}
		if _, isRef := v.(ref); isRef {
			continue
		}
		if best == nil || q.What.Kind == syntax.SelectMin && r.rank(v, best) < 0 || q.What.Kind == syntax.SelectMax && r.rank(v, best) > 0 {
			best = v
		}
	}
	switch {
	case q.What.Kind == syntax.SelectCount:
		return float64(len(values))
	case q.What.Kind == syntax.SelectMin || q.What.Kind == syntax.SelectMax:
		return best
	case n == 0:
		return nil
	case q.What.Kind == syntax.SelectAvg:
		return total / float64(n)
	}
	return total
}

// wire is a value as it is handed out.
func wire(v any) any {
	switch v.(type) {
	case nil, float64, bool:
		return v
	}
	s, _ := text(v)
	return s
}

func (r reference) cond(x syntax.Expr) int {
	not := func(n bool, t int) int {
		if n {
			return yes - t
		}
		return t
	}
	switch x := x.(type) {
	case *syntax.Logic:
		t := yes
		if x.Or {
			t = no
		}
		for _, arg := range x.Args {
			if x.Or {
				t = max(t, r.cond(arg))
			} else {
				t = min(t, r.cond(arg))
			}
		}
		return t
	case *syntax.Not:
		return yes - r.cond(x.X)
	case *syntax.Compare:
		return not(x.Not, r.compare(x.Op, r.operand(x.Left), r.operand(x.Right), isNullLit(x.Left) || isNullLit(x.Right)))
	case *syntax.In:
		t := no
		for _, item := range x.Items {
			t = max(t, r.compare(syntax.OpEq, r.operand(x.X), r.operand(item), false))
		}
		return not(x.Not, t)
	case *syntax.Between:
		v := r.operand(x.X)
		return not(x.Not, min(r.compare(syntax.OpGe, v, r.operand(x.Low), false), r.compare(syntax.OpLe, v, r.operand(x.High), false)))
	case *syntax.IsNull:
		return not(x.Not, truth(r.operand(x.X) == nil))
	case *syntax.Matches:
		return truth(r.match(x.Words, r.row.ID))
	}
	panic(fmt.Sprintf("no reference for %T", x))
}

func isNullLit(x syntax.Operand) bool {
	l, ok := x.(*syntax.Literal)
	return ok && l.Kind == syntax.LitNull
}

func (r reference) operand(x syntax.Operand) any {
	switch x := x.(type) {
	case *syntax.Literal:
		switch x.Kind {
		case syntax.LitText:
			return norm.NFC.String(x.Text)
		case syntax.LitNumber:
			return x.Number
		case syntax.LitBool:
			return x.Bool
		}
		return nil
	case *syntax.This:
		if len(x.Segments) == 0 {
			return ref(r.this.ID)
		}
		return r.path(r.this, []*entities.Type{r.store.Type(r.this.Type)}, x.Segments)
	case *syntax.Path:
		segments := x.Segments
		if segments[0].Text == "x" {
			segments = segments[1:]
		}
		if len(segments) == 0 {
			return ref(r.row.ID)
		}
		if len(x.Segments) == 1 && !r.declared(x.Segments[0].Text) {
			return x.Segments[0].Text // a bare word is a text
		}
		var types []*entities.Type
		for _, n := range r.from {
			types = append(types, r.store.Type(n.Text))
		}
		return r.path(r.row, types, segments)
	case *syntax.Shift:
		return r.shift(r.operand(x.X), x.Amount, x.Unit)
	case *syntax.Call:
		return r.call(x)
	}
	panic(fmt.Sprintf("no reference for %T", x))
}

func (r reference) declared(name string) bool {
	if slices.Contains([]string{"id", "name", "type", "createdat", "updatedat"}, strings.ToLower(name)) {
		return true
	}
	return slices.ContainsFunc(r.from, func(n syntax.Name) bool {
		t := r.store.Type(n.Text)
		if t == nil {
			return false
		}
		_, ok := t.Field(name)
		return ok
	})
}

// parse reads a text as a date or a moment.
func (r reference) parse(s string) any {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.DateOnly, s); err == nil && t.Year() > 0 {
		return day(t)
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return moment(t)
	}
	if t, err := time.ParseInLocation("2006-01-02T15:04", s, r.loc); err == nil {
		return moment(t)
	}
	return nil
}

// dateOf is the calendar day of a moment.
func (r reference) dateOf(t time.Time) day {
	y, m, d := t.In(r.loc).Date()
	return day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
}

// dated is the day of a value, and whether it has one.
func (r reference) dated(v any) (time.Time, bool) {
	switch x := v.(type) {
	case string:
		v = r.parse(x)
	case choice:
		v = r.parse(string(x))
	}
	switch v := v.(type) {
	case day:
		return time.Time(v), true
	case moment:
		return time.Time(r.dateOf(time.Time(v))), true
	}
	return time.Time{}, false
}

func (r reference) shift(v any, amount int, unit byte) any {
	switch x := v.(type) {
	case string:
		return r.shift(r.parse(x), amount, unit)
	case choice:
		return r.shift(r.parse(string(x)), amount, unit)
	case day:
		if unit == 'h' {
			y, m, d := time.Time(x).Date()
			return r.bound(moment(time.Date(y, m, d, 0, 0, 0, 0, r.loc).Add(time.Duration(amount) * time.Hour)))
		}
		return r.bound(day(addDate(time.Time(x), amount, unit)))
	case moment:
		if unit == 'h' {
			return r.bound(moment(time.Time(x).Add(time.Duration(amount) * time.Hour)))
		}
		t := time.Time(x).In(r.loc)
		y, m, d := addDate(time.Time(r.dateOf(t)), amount, unit).Date()
		return r.bound(moment(time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), r.loc)))
	}
	return nil
}

// bound is NULL outside the years 1 to 9999.
func (r reference) bound(v any) any {
	if t, _ := r.dated(v); t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return v
}

func addDate(t time.Time, amount int, unit byte) time.Time {
	switch unit {
	case 'd':
		return t.AddDate(0, 0, amount)
	case 'w':
		return t.AddDate(0, 0, 7*amount)
	case 'y':
		amount *= 12
	}
	first := time.Date(t.Year(), t.Month()+time.Month(amount), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func (r reference) call(x *syntax.Call) any {
	var args []any
	for _, a := range x.Args {
		args = append(args, r.operand(a))
	}
	switch x.Name.Text {
	case "today":
		return r.dateOf(r.now)
	case "now":
		return moment(r.now)
	case "coalesce":
		for _, a := range args {
			if a != nil {
				return a
			}
		}
		return nil
	}
	for _, a := range args {
		if a == nil {
			return nil
		}
	}
	if l, ok := args[0].([]any); ok && x.Name.Text == "length" {
		return float64(len(l))
	}
	if change := map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper, "trim": strings.TrimSpace}[x.Name.Text]; change != nil {
		s, ok := text(args[0])
		if !ok {
			return nil
		}
		return norm.NFC.String(change(s))
	}
	if x.Name.Text == "length" {
		s, _ := text(args[0])
		return float64(len([]rune(s)))
	}
	t, ok := r.dated(args[0])
	if !ok {
		return nil
	}
	switch x.Name.Text {
	case "date":
		return day(t)
	case "year":
		return float64(t.Year())
	case "month":
		return float64(t.Month())
	case "day":
		return float64(t.Day())
	case "days_between":
		to, ok := r.dated(args[1])
		if !ok {
			return nil
		}
		return math.Round(to.Sub(t).Hours() / 24)
	}
	panic("no reference for " + x.Name.Text)
}

// leadTo returns the types that a path arrives at, by what is declared for a
// field of some types; nil stands for any type.
func (r reference) leadTo(types []*entities.Type, field string) []*entities.Type {
	var next []*entities.Type
	for _, t := range cmpList(types, r.store.Types()) {
		f, ok := t.Field(field)
		if !ok {
			continue
		}
		names := []string{f.TargetType}
		switch f.Type {
		case record.Computed:
			q, _ := syntax.Parse(f.Query)
			names = nil
			if q.What.Kind == syntax.SelectRows {
				for _, n := range q.From {
					names = append(names, n.Text)
				}
			}
		case record.EntityRef, record.EntityRefList:
		default:
			continue
		}
		for _, name := range names {
			to := r.store.Type(name)
			if to == nil {
				return nil
			}
			next = append(next, to)
		}
	}
	return next
}

func cmpList(types, otherwise []*entities.Type) []*entities.Type {
	if types == nil {
		return otherwise
	}
	return types
}

func (r reference) path(e *entities.Entity, types []*entities.Type, segments []syntax.Name) any {
	level := []*entities.Entity{e}
	many := false
	for i, seg := range segments {
		if i > 0 {
			types = r.leadTo(types, segments[i-1].Text)
		}
		var next []*entities.Entity
		var values []any
		for _, e := range level {
			v, leads := r.field(e, seg.Text)
			if f, ok := r.store.Type(e.Type).Field(seg.Text); ok && f.Type == record.Computed && types != nil && !slices.Contains(types, r.store.Type(e.Type)) {
				// A target of another type than the reference declares: what its own
				// type computes is not asked for.
				v, leads = nil, false
			}
			items, isList := v.([]any)
			if !isList {
				items = []any{v}
			}
			many = many || isList
			for _, item := range items {
				if item != nil {
					values = append(values, item)
				}
				id, isRef := item.(ref)
				if target := r.store.Get(string(id)); leads && isRef && r.exists(target) && !slices.Contains(next, target) {
					next = append(next, target)
				}
			}
		}
		if i == len(segments)-1 {
			switch {
			case len(values) == 0:
				return nil
			case many:
				return values
			}
			return values[0]
		}
		level = next
	}
	return nil
}

// field returns the value of a field, and whether paths lead on from it.
func (r reference) field(e *entities.Entity, name string) (v any, leads bool) {
	switch strings.ToLower(name) {
	case "id":
		return ref(e.ID), false
	case "name":
		return norm.NFC.String(e.Name), false
	case "type":
		return choice(e.Type), false
	case "createdat":
		return moment(e.CreatedAt), false
	case "updatedat":
		return moment(e.UpdatedAt), false
	}
	f, ok := r.store.Type(e.Type).Field(name)
	if !ok {
		return nil, false
	}
	if f.Type == record.Computed {
		return r.computed(e, f)
	}
	leads = f.Type == record.EntityRef || f.Type == record.EntityRefList
	switch v := e.Fields[f.Name].(type) {
	case float64, bool:
		return v, false
	case []string:
		var items []any
		for _, s := range v {
			if f.Type.IsRef() {
				items = append(items, ref(norm.NFC.String(s)))
			} else {
				items = append(items, norm.NFC.String(s))
			}
		}
		return items, leads
	case string:
		switch f.Type {
		case record.Number:
			return written(v), false
		case record.Date:
			return r.parse(v), false
		case record.Select:
			return choice(v), false
		case record.EntityRef, record.NoteRef:
			return ref(norm.NFC.String(v)), leads
		}
		return norm.NFC.String(v), false
	}
	return nil, false
}

func (r reference) computed(e *entities.Entity, f entities.Field) (v any, leads bool) {
	q, _ := syntax.Parse(f.Query)
	r.this, r.from = e, q.From
	found := r.rows(q)
	if q.What.Kind != syntax.SelectRows {
		return r.aggregate(q, found), false
	}
	if q.Offset != nil {
		found = found[min(q.Offset.N, len(found)):]
	}
	if q.Limit != nil {
		found = found[:min(q.Limit.N, len(found))]
	}
	if len(found) == 0 {
		return nil, true
	}
	var items []any
	for _, e := range found {
		items = append(items, ref(e.ID))
	}
	return items, true
}

func (r reference) compare(op syntax.CompareOp, a, b any, nullLiteral bool) int {
	if nullLiteral {
		return unknown
	}
	if op == syntax.OpNe {
		if a == nil || b == nil {
			return yes
		}
		return yes - r.compare(syntax.OpEq, a, b, false)
	}
	if a == nil || b == nil {
		return unknown
	}
	la, aList := a.([]any)
	lb, bList := b.([]any)
	_, aRef := a.(ref)
	_, bRef := b.(ref)
	switch op {
	case syntax.OpContains, syntax.OpStartsWith:
		if bList {
			t := yes
			for _, x := range lb {
				t = min(t, r.compare(syntax.OpContains, a, x, false))
			}
			return t
		}
		if aList || aRef {
			return r.compare(syntax.OpEq, a, b, false)
		}
		if op == syntax.OpContains {
			return textual(a, b, strings.Contains)
		}
		return textual(a, b, strings.HasPrefix)
	case syntax.OpLike:
		pattern, ok := text(b)
		if !ok {
			return unknown
		}
		if !aList {
			la = []any{a}
		}
		t := no
		for _, x := range la {
			s, ok := text(x)
			if !ok {
				t = max(t, unknown)
				continue
			}
			t = max(t, truth(likePattern(pattern).MatchString(s)))
		}
		return t
	}
	if op == syntax.OpEq && (aList || bList) {
		if !aList {
			la, b = lb, a
		}
		t := no
		for _, x := range la {
			t = max(t, r.compare(op, x, b, false))
		}
		return t
	}
	if aList || bList || op != syntax.OpEq && (aRef || bRef) {
		return unknown
	}
	c, ok := r.order(a, b)
	if !ok {
		return unknown
	}
	return truth(map[syntax.CompareOp]bool{
		syntax.OpEq: c == 0, syntax.OpLt: c < 0, syntax.OpLe: c <= 0, syntax.OpGt: c > 0, syntax.OpGe: c >= 0,
	}[op])
}

// likePattern writes a pattern of LIKE as a regular expression.
func likePattern(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?is)\A`)
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '\\' && i+1 < len(runes):
			i++
			b.WriteString(regexp.QuoteMeta(string(runes[i])))
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return regexp.MustCompile(b.String() + `\z`)
}

// text returns the text of a value that has one.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case nil, []any:
		return "", false
	case choice:
		return string(v), true
	case ref:
		return string(v), true
	case written:
		return string(v), true
	case day:
		return time.Time(v).Format(time.DateOnly), true
	case moment:
		return time.Time(v).UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return fmt.Sprint(v), true
}

func textual(a, b any, test func(s, part string) bool) int {
	s, _ := text(a)
	part, _ := text(b)
	if _, ok := a.(choice); ok {
		s, part = entities.Fold(s), entities.Fold(part)
	}
	return truth(test(s, part))
}

// order compares two single values; ok is false when they have no order.
func (r reference) order(a, b any) (c int, ok bool) {
	a, b = plain(a), plain(b)
	isText := func(v any) bool {
		switch v.(type) {
		case string, choice, ref:
			return true
		}
		return false
	}
	if isText(a) && isText(b) {
		x, _ := text(a)
		y, _ := text(b)
		_, xChoice := a.(choice)
		_, yChoice := b.(choice)
		_, xRef := a.(ref)
		_, yRef := b.(ref)
		if (xChoice || yChoice) && !xRef && !yRef {
			x, y = entities.Fold(x), entities.Fold(y)
		}
		return cmp.Compare(x, y), true
	}
	if isText(b) {
		c, ok = r.order(b, a)
		return -c, ok
	}
	if _, isRef := a.(ref); isRef {
		return 0, false
	}
	if isText(a) { // it is read as what the other one is
		s, _ := text(a)
		s = strings.TrimSpace(s)
		a = nil
		switch b.(type) {
		case float64:
			if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
				a = n
			}
		case bool:
			if l := strings.ToLower(s); l == "true" || l == "false" {
				a = l == "true"
			}
		default:
			a = r.parse(s)
		}
	}
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return cmp.Compare(x, y), ok
	case bool:
		y, ok := b.(bool)
		return cmp.Compare(number(x), number(y)), ok
	case day:
		y, ok := r.dated(b)
		return time.Time(x).Compare(y), ok
	case moment:
		switch y := b.(type) {
		case day:
			return time.Time(r.dateOf(time.Time(x))).Compare(time.Time(y)), true
		case moment:
			return time.Time(x).Truncate(time.Microsecond).Compare(time.Time(y).Truncate(time.Microsecond)), true
		}
	}
	return 0, false
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
