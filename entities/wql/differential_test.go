package wql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // a zone with daylight saving, wherever the test runs

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/entities/wql/syntax"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

// A case of the differential test is a random query over a random store. Each
// store lives for casesPerStore of them, and changes between them.
//
//	CTXD_CAMPAIGN=full go test ./entities/wql -run Differential -v -timeout 60m
const (
	shortCases    = 2_000
	fullCases     = 100_000
	casesPerStore = 60
)

// TestWQL_Differential runs random queries over random stores, which change in
// between, through engines and through the reference evaluator: one engine that
// Apply keeps current, one without Apply, and one that hides private entities.
// Computed fields are asked for too, and whatever Current still holds for true
// is compared with what the reference gives now.
func TestWQL_Differential(t *testing.T) {
	cases := campaign.Figure(shortCases, fullCases)
	if !campaign.Runs() {
		cases /= 8
	}
	var tally tally
	for store := range (cases + casesPerStore - 1) / casesPerStore {
		lab := newLab(t, uint64(store))
		lab.note("store %d", store)
		for range casesPerStore {
			for range lab.rnd.IntN(3) {
				lab.change()
			}
			lab.query(&tally)
			lab.askComputed(&tally)
		}
	}
	t.Logf("%+v", tally)
	if tally.Refused*3 > tally.Queries || tally.Indexed*5 < tally.Queries || tally.Kept*20 < tally.Computed || tally.Rows == 0 {
		t.Errorf("the queries exercise too little: %+v", tally)
	}
}

// tally counts what the cases were made of.
type tally struct{ Queries, Refused, Indexed, Rows, Computed, Kept int }

// lab is a random store with its engines.
type lab struct {
	t       *testing.T
	rnd     *rand.Rand
	db      *kv.Store
	store   *entities.Store
	now     time.Time
	zone    *time.Location
	engines map[string]*wql.Engine
	links   map[string]string // what a link means
	kept    []keptResult
	log     []string // what was done, for the report of a failure
}

type keptResult struct {
	engine string
	id     string
	field  entities.Field
	result *wql.Result
}

// linkRecord says what a link means; it stands for the notes.
type linkRecord struct{ ID string }

var linkRecords = kv.NewCollection[linkRecord]("wqltestlink")

func isPrivate(e *entities.Entity) bool { return e.Private }

// found is the full-text index of the test.
func found(words, id string) bool { return strings.Contains(id, words) }

func newLab(t *testing.T, seed uint64) *lab {
	t.Helper()
	l := &lab{t: t, rnd: rand.New(rand.NewPCG(seed, 8)), links: map[string]string{}}
	var err error
	l.zone, err = time.LoadLocation(pickOf(l, "Europe/Vienna", "America/Sao_Paulo", "Asia/Kathmandu"))
	if err != nil {
		t.Fatal(err)
	}
	l.now = time.Date(2018, 2, 17, 22, 30, 0, 0, time.UTC) // a night of which Sao Paulo had an hour twice
	l.db, err = kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.db.Close() })
	l.store, err = entities.Open(l.db, entities.Options{
		Now: func() time.Time { return l.now },
		CheckQuery: func(ty *entities.Type, f entities.Field) []entities.Diagnostic {
			return l.engines["applied"].CheckField(ty, f)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.store.SetResolver(entities.Resolver{
		Resolve: func(link, _ string) (string, string) { return "", l.links[link] },
		Keys:    func(link string) []string { return []string{link} },
	})
	l.db.OnCommit(func(cs *kv.ChangeSet) {
		var keys []string
		for _, d := range linkRecords.Each(cs) {
			l.links[d.ID] = ""
			if d.New != nil {
				l.links[d.ID] = d.New.ID
			}
			keys = append(keys, d.ID)
		}
		l.store.Relink(cs, keys, nil)
	})
	opts := wql.Options{
		Now: func() time.Time { return l.now }, Location: l.zone,
		Match: func(_ context.Context, words string) (func(string) bool, error) {
			return func(id string) bool { return found(words, id) }, nil
		},
	}
	l.engines = map[string]*wql.Engine{"applied": wql.New(l.store, opts), "alone": wql.New(l.store, opts)}
	l.engines["hiding"] = l.engines["applied"].Showing(wql.Visibility{Hides: isPrivate})
	l.db.OnCommit(l.engines["applied"].Apply)
	l.db.OnCommit(l.engines["hiding"].Apply)
	for _, name := range typeNames {
		l.declare(name)
	}
	for range 20 {
		l.put()
	}
	return l
}

func pickOf[T any](l *lab, list ...T) T { return list[l.rnd.IntN(len(list))] }

func (l *lab) chance(percent int) bool { return l.rnd.IntN(100) < percent }

var typeNames = []string{"A", "B", "Größe"}

// fieldTypes are the fields that a type may have, by what they mostly are.
var fieldTypes = []struct {
	name string
	kind entities.FieldType
}{
	{"txt", record.Text},
	{"num", record.Number},
	{"flag", record.Boolean},
	{"due", record.Date},
	{"sel", record.Select},
	{"tags", record.TextList},
	{"boss", record.EntityRef},
	{"peers", record.EntityRefList},
	{"note", record.NoteRef},
	{"mail", record.Email},
	{"übrig", record.Text},
}

var options = []string{"Red", "GREEN", "3", "true", "Straße"}

// declare declares a type, or declares it anew: mostly with the fields as they
// mostly are.
func (l *lab) declare(name string) {
	var fields []entities.Field
	for _, f := range fieldTypes {
		kind := f.kind
		if l.chance(8) {
			kind = pickOf(l, fieldTypes...).kind
		}
		if l.chance(10) {
			continue
		}
		field := entities.Field{Name: f.name, Type: kind}
		switch {
		case kind == record.Select:
			field.Options = options
		case kind.IsRef() && kind != record.NoteRef && l.chance(50):
			field.TargetType = pickOf(l, typeNames...)
		}
		fields = append(fields, field)
	}
	t := entities.Type{Name: name, Fields: fields}
	if _, _, err := l.store.PutType(context.Background(), t, nil, true); err != nil {
		l.t.Fatal(err)
	}
	// Computed fields of two levels; what the checker refuses is left out.
	for _, f := range []string{"c1", "c1b", "c2"} {
		names := rowFields
		if f == "c2" {
			names = append(slices.Clone(rowFields), "x.c1", "x.boss.c1", "x.c1.num", "x.peers.c1b")
		}
		g := generator{l, names}
		with := t
		with.Fields = append(slices.Clone(t.Fields), entities.Field{Name: f, Type: record.Computed, Query: g.query(true)})
		if _, _, err := l.store.PutType(context.Background(), with, nil, true); err == nil {
			t = with
		}
	}
	l.note("type %s %v", name, t.Fields)
}

func (l *lab) note(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf(format, args...))
}

var ids = []string{"a0", "a1", "a2", "a3", "a4", "a5", "b0", "b1", "b2", "b3", "b4", "b5", "c0", "c1", "go", "true", "3", "2026-02-28"}

func (l *lab) id() string { return pickOf(l, ids...) }

func (l *lab) ref() string {
	return pickOf(l, l.id(), l.id(), l.id(), "gone", "[[Ghost]]", "[[Caf\u00e9]]")
}

var (
	texts = []string{
		"go", "Go", "3", "03", "x3", "true", "TRUE ", "2026-02-28", "2018-02-17T23:30", "2018-02-18T01:00:00Z", "Cafe\u0301", "caf\u00e9", "Item 9",
		"Item 10", "red", "a1", "NaN", "Inf", "-0", "1e2", "100%", "a_c", "b\\d", "STRASSE", "Straße", "日本語",
	}
	dates   = []string{"2026-02-28", "2024-02-29", "2018-02-17", "2018-02-18", "2018-01-31", "2024-01-31", "2018-01-30", "0001-01-01", "9999-12-31"}
	numbers = []float64{-1, 0, 0.25, 2, 3, 100, 1e9}
)

// value is a random value for a field.
func (l *lab) value(kind entities.FieldType) any {
	switch kind {
	case record.Number:
		return pickOf(l, numbers...)
	case record.Boolean:
		return l.chance(50)
	case record.Date:
		if l.chance(60) { // about now
			return l.now.In(l.zone).AddDate(0, 0, l.rnd.IntN(5)-2).Format(time.DateOnly)
		}
		return pickOf(l, dates...)
	case record.Select:
		return pickOf(l, options...)
	case record.TextList:
		list := make([]string, 1+l.rnd.IntN(3))
		for i := range list {
			list[i] = pickOf(l, texts...)
		}
		return list
	case record.EntityRef:
		return l.ref()
	case record.EntityRefList:
		list := make([]string, 1+l.rnd.IntN(3))
		for i := range list {
			list[i] = l.ref()
		}
		return list
	case record.NoteRef:
		return pickOf(l, "n1", "a1", "[[Ghost]]")
	case record.Email:
		return pickOf(l, "a@example.org", "B@example.org")
	}
	return pickOf(l, texts...)
}

func (l *lab) put() {
	name := pickOf(l, typeNames...)
	ent := entities.Entity{ID: l.id(), Type: name, Name: pickOf(l, texts...), Private: l.chance(25), Fields: entities.Values{}}
	for _, f := range l.store.Type(name).Fields {
		if f.Type != record.Computed && l.chance(75) {
			ent.Fields[f.Name] = l.value(f.Type)
		}
	}
	_, err := l.store.Put(context.Background(), ent, nil)
	l.note("put %s %s %q %v private %v: %v", ent.Type, ent.ID, ent.Name, ent.Fields, ent.Private, err)
}

// change does something to the store or to the clock.
func (l *lab) change() {
	ctx, id := context.Background(), l.id()
	switch n := l.rnd.IntN(40); {
	case n < 8:
		l.put()
	case n < 24:
		l.patch(id)
	case n < 27:
		_, err := l.store.Archive(ctx, id, nil)
		l.note("trash %s: %v", id, err)
	case n < 30:
		_, err := l.store.Restore(ctx, id, nil)
		l.note("restore %s: %v", id, err)
	case n < 31:
		_, err := l.store.Delete(ctx, id, nil)
		l.note("delete %s: %v", id, err)
	case n < 34:
		link := pickOf(l, "Ghost", "Caf\u00e9")
		err := l.db.Update(ctx, func(tx *kv.Tx) error {
			if l.chance(30) {
				return linkRecords.Delete(tx, link)
			}
			return linkRecords.Put(tx, link, &linkRecord{ID: id})
		})
		l.note("link %s to %s or to nothing: %v", link, id, err)
	case n < 39:
		l.now = l.now.Add(pickOf(l, time.Second, 20*time.Minute, time.Hour, 24*time.Hour, 24*time.Hour))
		l.note("it is %s", l.now)
	default:
		l.declare(pickOf(l, typeNames...))
	}
}

// patch changes one thing of an entity.
func (l *lab) patch(id string) {
	ent := l.store.Get(id)
	if ent == nil {
		return
	}
	p := entities.Patch{ID: id}
	name, private := pickOf(l, texts...), !ent.Private
	switch fields := l.store.Type(ent.Type).Fields; {
	case l.chance(15):
		p.Name = &name
	case l.chance(10):
		p.Private = &private
	default:
		f := pickOf(l, fields...)
		if f.Type == record.Computed {
			return
		}
		p.Fields = entities.Values{f.Name: nil}
		if l.chance(80) {
			p.Fields[f.Name] = l.value(f.Type)
		}
	}
	_, err := l.store.Patch(context.Background(), p, nil)
	l.note("patch %s name %v private %v fields %v: %v", id, p.Name != nil, p.Private != nil, p.Fields, err)
}

func (l *lab) reference(engine string) reference {
	r := reference{store: l.store, now: l.now, loc: l.zone, match: found}
	if engine == "hiding" {
		r.hide = isPrivate
	}
	return r
}

// query compares one random query.
func (l *lab) query(tally *tally) {
	g := generator{l, append(slices.Clone(rowFields), "x.c1", "x.c1b", "x.c2", "x.c1.num", "x.boss.c1", "x.boss.c2", "{this.c1}", "{this.boss.c2}", "x.c2.name")}
	text := g.query(false)
	this, limit := l.id(), pickOf(l, 0, 0, 3)
	q, findings := syntax.Parse(text)
	if len(findings) > 0 {
		l.t.Fatalf("%s: %v", text, findings)
	}
	if again, _ := syntax.Parse(q.String()); again == nil || again.String() != q.String() {
		l.t.Fatalf("%s is written as %s, which is read as something else", text, q)
	}
	tally.Queries++
	for _, name := range []string{"applied", "alone", "hiding"} {
		engine := l.engines[name]
		res, err := engine.Query(context.Background(), text, wql.QueryOptions{This: this, Limit: limit, Explain: l.chance(50)})
		thisEnt := l.store.Get(this)
		ref := l.reference(name)
		if thisEnt == nil || name == "hiding" && thisEnt.Private {
			if err == nil {
				l.fail(name, text, this, "an answer", "an error: there is no "+this)
			}
			continue
		}
		if refused(engine.Check(text, thisEnt.Type)) {
			tally.Refused++
			if err == nil {
				l.fail(name, text, this, show(res, err), "the errors that Check finds")
			}
			return
		}
		ref.this = thisEnt
		want := ref.run(q, cmpOr(limit, wql.DefaultRows))
		if got := show(res, err); got != want {
			l.fail(name, text, this, got, want)
		}
		if err == nil && res.Plan != nil {
			tally.Rows += len(res.Rows)
			if res.Plan.Access != wql.AccessScan {
				tally.Indexed++
			}
		} else {
			tally.Indexed++ // not asked, so that half of the queries count
		}
	}
}

func cmpOr(a, b int) int {
	if a == 0 {
		return b
	}
	return a
}

func refused(list []syntax.Diagnostic) bool {
	return slices.ContainsFunc(list, func(d syntax.Diagnostic) bool { return d.Severity == record.SeverityError })
}

// askComputed compares the computed fields of an entity, and the results that
// are said to hold still.
func (l *lab) askComputed(tally *tally) {
	l.kept = slices.DeleteFunc(l.kept, func(k keptResult) bool {
		if !l.engines[k.engine].Current(k.result) {
			return true
		}
		tally.Kept++
		l.sameComputed(k.engine, k.id, k.field, k.result, nil, "kept")
		return false
	})
	for _, name := range []string{"applied", "alone", "hiding"} {
		ent := l.store.Get(l.id())
		if ent == nil || name == "hiding" && ent.Private {
			continue
		}
		for _, f := range l.store.Type(ent.Type).Fields {
			if f.Type != record.Computed || !l.chance(50) {
				continue
			}
			tally.Computed++
			res, err := l.engines[name].Computed(context.Background(), ent, f)
			if err != nil && refused(l.engines[name].CheckField(l.store.Type(ent.Type), f)) {
				continue // a declaration that came later broke it
			}
			l.sameComputed(name, ent.ID, f, res, err, "computed")
			if err == nil && len(l.kept) < 20 {
				l.kept = append(l.kept, keptResult{name, ent.ID, f, res})
			}
		}
	}
}

func (l *lab) sameComputed(engine, id string, f entities.Field, res *wql.Result, err error, what string) {
	q, _ := syntax.Parse(f.Query)
	ref := l.reference(engine)
	ref.this = l.store.Get(id)
	if ref.this == nil {
		l.fail(engine, f.Query, id, "a value of an entity that is gone", "none")
		return
	}
	if got, want := show(res, err), ref.run(q, wql.DefaultRows); got != want {
		l.fail(engine, what+" "+f.Name+": "+f.Query, id, got, want)
	}
}

func (l *lab) fail(engine, query, this, got, want string) {
	l.t.Helper()
	plan := ""
	if res, err := l.engines[engine].Query(context.Background(), strings.TrimSpace(query[strings.Index(query, "SELECT"):]), wql.QueryOptions{This: this, Explain: true}); err == nil {
		plan = fmt.Sprintf("%+v", *res.Plan)
	}
	l.t.Errorf("%s engine: %s with this = %s at %s\n got %s\nwant %s\nplan %s\nlast changes:\n%s", engine, query, this, l.now.In(l.zone), got, want, plan,
		strings.Join(l.log[max(0, len(l.log)-40):], "\n"))
	for _, t := range l.store.Types() {
		l.t.Logf("%s %+v", t.Name, t.Fields)
		for _, e := range l.store.OfType(t.Name) {
			l.t.Logf("  %s %q %v private %v created %s updated %s", e.ID, e.Name, e.Fields, e.Private, e.CreatedAt, e.UpdatedAt)
		}
	}
	l.t.FailNow()
}

// generator writes query texts.
type generator struct {
	*lab
	fields []string
}

// rowFields are the stored fields and what can be made of them. Ordered ones
// come first.
var rowFields = []string{
	"x.txt", "x.num", "x.flag", "x.due", "x.sel", "x.name", "x.type", "x.mail", "x.übrig", "x.createdAt", "x.updatedAt", "x.boss.num", "x.boss.txt",
	"x.boss.due", "x.boss.createdAt", "{this.num}", "{this.due}", "{this.boss.txt}", "{this.updatedAt}",
	"lower(x.txt)", "upper(x.sel)", "trim(x.txt)", "length(x.tags)", "length(x.name)", "coalesce(x.txt, x.num)", "coalesce(x.boss, x.tags, 'none')",
	"x.due + 1m", "x.due - 2w", "x.due + 36h", "x.createdAt + 1d", "today() - 1y", "now() - 2h", "today()", "today() + 1d", "year(x.due)", "month(x.createdAt)", "day(x.txt)",
	"days_between(x.due, today())", "date(x.txt)",
	"x.tags", "x.boss", "x.peers", "x.note", "x.id", "x", "x.boss.boss", "x.boss.name", "x.boss.type", "x.boss.sel", "x.peers.txt", "x.peers.boss.num", "x.boss.peers", "x.peers.tags",
	"{this.peers}", "{this.tags}", "{this.boss}", "{this.sel}", "{this.peers.num}", "length(x.peers.name)",
}

const orderedFields = 38

var literals = []string{
	"'go'", "'Go'", "'3'", "3", "-1", "0", "2.0", "100", "true", "false", "'true'", "null", "'red'", "'RED'", "'2026-02-28'", "date('2018-02-17')", "'2018-02-18T01:30'",
	"'2018-02-17T23:30:00Z'", "{this}", "{this.boss}", "{this.num}", "{this.sel}", "'a1'", "'b0'", "'[[Ghost]]'", "'caf\u00e9'", "'Cafe\u0301'", "'a@example.org'", "'strasse'", "today()", "'日本語'", "Green",
}

// suited are values that a field is likely to have, or to be compared with.
var suited = map[string][]string{
	"x.txt":       {"'go'", "'Go'", "3", "'3'", "'2018-02-18'", "today()", "'Caf\u00e9'", "'100%'", "true", "{this.txt}", "{this.sel}", "100"},
	"x.num":       {"-1", "0", "0.25", "2", "3", "'3'", "100", "{this.num}", "{this.boss.num}", "{this.peers.num}"},
	"x.due + 1m":  {"'2018-02-28'", "'2024-02-29'", "{this.due}", "today() + 1m", "x.due"},
	"x.flag":      {"true", "false", "'TRUE'", "{this.flag}"},
	"x.due":       {"today()", "today()", "today() - 1d", "today() + 1d", "'2018-02-18'", "{this.due}", "date('2026-02-28')", "now()", "{this.createdAt}"},
	"x.sel":       {"'red'", "'RED'", "'Green'", "3", "true", "'STRASSE'", "'stra\u00dfe'", "{this.sel}", "{this.txt}"},
	"x.tags":      {"'go'", "'Go'", "3", "{this.tags}", "{this.txt}", "'Cafe\u0301'", "'2018-02-18'", "today()"},
	"x.boss":      {"{this}", "{this}", "{this.boss}", "'a0'", "'b1'", "'go'", "'[[Ghost]]'", "'gone'", "{this.peers}", "{this.txt}"},
	"x.peers":     {"{this}", "{this}", "{this.peers}", "{this.boss}", "'a0'", "'c1'", "'true'", "'[[Ghost]]'"},
	"x.mail":      {"'a@example.org'", "'A@example.org'"},
	"x.id":        {"'a0'", "{this}", "'go'", "{this.boss}", "{this.peers}"},
	"x.name":      {"'go'", "'Item 9'", "3", "'caf\u00e9'", "{this.name}"},
	"x.type":      {"'a'", "'B'", "'gr\u00f6\u00dfe'", "{this.type}"},
	"x.createdAt": {"today()", "today() - 1d", "now() - 1h", "now()", "{this.createdAt}", "'2018-02-18'", "'2018-02-18T01:30'", "{this.due}"},
	"x.updatedAt": {"today()", "today() - 1d", "now() - 1h", "now()", "{this.updatedAt}", "'2018-02-17T23:30:00Z'"},
}

// words are fields of the row, which conditions are mostly about.
func (g generator) field() string {
	if g.chance(50) {
		return g.fields[g.rnd.IntN(9)]
	}
	return pickOf(g.lab, g.fields...)
}

func (g generator) ordered() string {
	if g.chance(60) {
		return pickOf(g.lab, "x.num", "x.due", "x.due", "x.due + 1m", "x.createdAt", "x.updatedAt", "x.txt", "x.sel")
	}
	return g.fields[g.rnd.IntN(orderedFields)]
}

func (g generator) plain() string {
	if g.chance(60) {
		return pickOf(g.lab, "x.txt", "x.num", "x.flag", "x.due", "x.sel", "x.tags", "x.boss", "x.peers", "x.mail", "x.id", "x.name", "x.type", "x.createdAt")
	}
	if g.chance(40) {
		return pickOf(g.lab, "x.boss.num", "x.boss.txt", "x.boss.name", "x.boss.due", "x.peers.txt", "x.peers.num", "x.boss.boss", "x.boss.boss.name", "{this.boss.txt}", "{this.peers.num}")
	}
	return g.field()
}

// value is what a field is compared with: mostly one that suits it.
func (g generator) value(field string) string {
	if i := strings.LastIndex(field, "."); i > 1 {
		field = "x" + field[i:]
	}
	switch list := suited[strings.TrimSuffix(field, "}")]; {
	case len(list) > 0 && g.chance(70):
		return pickOf(g.lab, list...)
	case g.chance(75):
		return pickOf(g.lab, literals...)
	}
	return g.field()
}

func (g generator) query(computed bool) string {
	what := pickOf(g.lab, "x", "x", "x", "x", "DISTINCT x", "*")
	if g.chance(25) {
		what = pickOf(g.lab, "COUNT(*)", "COUNT(x.tags)", "SUM(x.num)", "AVG(x.boss.num)", "MIN(x.due)", "MAX(x.txt)", "MAX(x.peers.num)", "MIN(x.createdAt)", "COUNT(x.peers.boss)", "MAX(x.sel)")
	}
	from := pickOf(g.lab, "A", "B", "a", "`Größe`", "A, B", "B, [größe], A")
	text := "SELECT " + what + " FROM " + from + " x"
	if g.chance(90) {
		text += " WHERE " + g.cond(g.rnd.IntN(4))
	}
	if !strings.Contains(what, "(") {
		for i := range g.rnd.IntN(3) {
			text += []string{" ORDER BY ", ", "}[i] + pickOf(g.lab, g.field(), g.field(), "x.updatedAt", "x.boss", "x.boss.name") + pickOf(g.lab, "", " ASC", " DESC") + pickOf(g.lab, "", "", " NULLS FIRST", " NULLS LAST")
		}
		if g.chance(30) {
			text += fmt.Sprintf(" LIMIT %d", g.rnd.IntN(6))
			if g.chance(50) {
				text += fmt.Sprintf(" OFFSET %d", g.rnd.IntN(4))
			}
		}
	}
	if computed && g.chance(70) && !strings.Contains(text, "{this}") {
		text = strings.Replace(text, " WHERE ", " WHERE "+pickOf(g.lab, "x.boss = {this} AND ", "{this} = x.peers OR ", "x.num >= {this.num} AND ", "x.due <= today() AND ", "x.due = today() OR "), 1)
	}
	return text
}

func (g generator) cond(depth int) string {
	if depth > 0 {
		switch g.rnd.IntN(5) {
		case 0:
			return "NOT (" + g.cond(depth-1) + ")"
		case 1, 2:
			return "(" + g.cond(depth-1) + " OR " + g.cond(depth-1) + ")"
		default:
			return "(" + g.cond(depth-1) + " AND " + g.cond(depth-1) + ")"
		}
	}
	not := pickOf(g.lab, "", "", "NOT ")
	x := g.plain()
	switch g.rnd.IntN(14) {
	case 0:
		return g.field() + " IS " + not + "NULL"
	case 1:
		return x + " " + not + "IN (" + g.value(x) + ", " + g.value(x) + ")"
	case 2:
		return g.value(x) + " " + not + "IN (" + x + ", " + g.value(x) + ", " + g.value(x) + ")"
	case 3:
		return x + " " + not + "CONTAINS " + g.value(x)
	case 4, 5:
		x = g.ordered()
		return x + " " + not + "BETWEEN " + g.value(x) + " AND " + g.value(x)
	case 6, 7, 8:
		x = g.ordered()
		op := pickOf(g.lab, " < ", " <= ", " > ", " >= ")
		if g.chance(30) {
			return g.value(x) + op + x
		}
		return x + op + g.value(x)
	case 9:
		return g.field() + " " + not + "LIKE " + pickOf(g.lab, "'%o%'", "'_'", "'r%'", `'100\%'`, "'%'", "'ITEM _'", `'b\\d'`, "'caf_'", "'_o'", g.value(x))
	case 10:
		return x + " STARTS WITH " + g.value(x)
	case 11:
		if g.chance(20) {
			return not + "MATCHES " + pickOf(g.lab, "'a'", `"1"`)
		}
	}
	return x + pickOf(g.lab, " = ", " = ", " = ", " == ", " != ", " <> ") + g.value(x)
}
