package wql_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/wql"
)

// TestWQL7_Killers sends what is known to take a process down through raw expr,
// and its like in WQL. Each ends soon, small and with an answer.
func TestWQL7_Killers(t *testing.T) {
	w := company(t, wql.Options{})
	cond := func(c string) string { return "SELECT p FROM Person WHERE " + c }
	for name, c := range map[string]struct {
		query string
		kind  fault.Kind
	}{
		"repeat":          {cond(`repeat(repeat("a",999998),1000000) = 'a'`), fault.Query},
		"all":             {cond(`all(1..9999999, all(1..9999999, true))`), fault.Query},
		"reduce":          {cond(`reduce(1..60, #acc + #acc, "aaaaaaaa") = 'a'`), fault.Query},
		"map":             {cond(`map(1..100000000, #) = 1`), fault.Query},
		"env":             {cond(`$env = 1`), fault.Query},
		"a million (":     {cond(strings.Repeat("(", 1_000_000)), fault.Limit},
		"4,000 (":         {cond(strings.Repeat("(", 4000)), fault.Query},
		"4,000 ( closed":  {cond(strings.Repeat("(", 2000) + strings.Repeat(")", 2000)), fault.Query},
		"NOT NOT":         {cond(strings.Repeat("NOT ", 1000) + "p.age = 1"), fault.Query},
		"nested calls":    {cond(strings.Repeat("lower(", 500) + "'a'" + strings.Repeat(")", 500) + " = 'a'"), fault.Query},
		"many OR":         {cond(strings.TrimSuffix(strings.Repeat("age=1 OR ", 400), " OR ")), fault.Query},
		"many in a list":  {cond("p.age IN (" + strings.TrimSuffix(strings.Repeat("1,", 1900), ",") + ")"), fault.Query},
		"long path":       {cond("p" + strings.Repeat(".team", 700) + " = 1"), fault.Query},
		"a large number":  {cond("p.age = 1e999999999"), fault.Query},
		"a long duration": {cond("p.born = today() - 999999999999999999999d"), fault.Query},
		"many keys":       {"SELECT p FROM Person ORDER BY " + strings.TrimSuffix(strings.Repeat("p.name, p.age, ", 20), ", "), fault.Query},
		"only quotes":     {strings.Repeat("'", 4095), fault.Query},
		"only brackets":   {strings.Repeat("[", 4095), fault.Query},
		"only NUL":        {strings.Repeat("\x00", 4095), fault.Query},
		"not UTF-8":       {cond("p.name = '\xff\xfe'"), fault.Query},
		"too long":        {"SELECT p FROM Person" + strings.Repeat(" ", wql.MaxSource), fault.Limit},
	} {
		t.Run(name, func(t *testing.T) {
			used := measure(func() {
				_, err := w.query(c.query, "")
				if got := fault.KindOf(err); err == nil || got != c.kind {
					t.Errorf("error %v of kind %s, want %s", err, got, c.kind)
				}
				w.wql.Check(c.query, "")
			})
			if used.bytes > 32<<20 || used.time > 30*time.Second {
				t.Errorf("took %v and %d bytes", used.time, used.bytes)
			}
		})
	}
}

type usage struct {
	time  time.Duration
	bytes uint64
}

func measure(f func()) usage {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return usage{took, after.TotalAlloc - before.TotalAlloc}
}

// TestWQL7_LongestAllowed runs queries at the limits themselves.
func TestWQL7_LongestAllowed(t *testing.T) {
	w := company(t, wql.Options{})
	deep := strings.Repeat("(", wql.MaxDepth) + "p.age = 41" + strings.Repeat(")", wql.MaxDepth)
	if got := show(w.query("SELECT p FROM Person WHERE "+deep, "")); got != "alice" {
		t.Errorf("%d parentheses: %s", wql.MaxDepth, got)
	}
	// SELECT, FROM, and three nodes a comparison, one for the chain.
	wide := strings.TrimSuffix(strings.Repeat("age=41 OR ", (wql.MaxNodes-3)/3), " OR ")
	if got := show(w.query("SELECT p FROM Person WHERE "+wide, "")); got != "alice" {
		t.Errorf("%d nodes: %s", wql.MaxNodes, got)
	}
	// A NOT and its parenthesis are two levels.
	negated := strings.Repeat("NOT (", wql.MaxDepth/2) + "age = 41" + strings.Repeat(")", wql.MaxDepth/2)
	if got := show(w.query("SELECT p FROM Person WHERE "+negated, "")); got != "alice" {
		t.Errorf("nested NOTs: %s", got)
	}
	if got := show(w.query("SELECT p FROM Person WHERE NOT ("+negated+")", "")); got != "error: the query is nested more than 64 deep" {
		t.Errorf("one more: %s", got)
	}
}

// TestWQL7_Deadline runs queries that take long and must end with their
// context, whether the work is in many rows or in one.
func TestWQL7_Deadline(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	list := things(3000)
	list[0].Fields["s"] = strings.Repeat("a", 200_000)
	everybody := make([]string, 0, 3000)
	for i := range 3000 {
		everybody = append(everybody, fmt.Sprintf("t%d", i))
	}
	for i := range 40 {
		list[i].Fields["peers"] = everybody
	}
	w.put(list...)
	for _, query := range []string{
		"SELECT t FROM Thing WHERE t.s LIKE '%" + strings.Repeat("a", 1500) + "b" + strings.Repeat("a", 1500) + "%'",
		"SELECT t FROM Thing WHERE t.peers.peers.peers.peers.s = 'nothing'",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		_, err := w.wql.Query(ctx, query, wql.QueryOptions{})
		took := time.Since(start)
		cancel()
		if fault.KindOf(err) != fault.Deadline || took > 30*time.Second {
			t.Errorf("%.60s…: %v after %v", query, err, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.wql.Query(ctx, "SELECT t FROM Thing", wql.QueryOptions{}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWQL7_Memory sorts everything by all fields: rows beyond the limit are not
// kept.
func TestWQL7_Memory(t *testing.T) {
	w := open(t, wql.Options{})
	w.declare(typeOf("Thing"))
	w.put(things(10_000)...)
	used := measure(func() {
		r, err := w.wql.Query(t.Context(), "SELECT t FROM Thing ORDER BY t.s, t.team.name, t.peers, t.n DESC, t.name, t.createdAt", wql.QueryOptions{Limit: 10})
		if got := show(r, err); !strings.HasSuffix(got, "…10000") {
			t.Error(got)
		}
	})
	if used.bytes > 64<<20 {
		t.Errorf("allocated %d bytes in all", used.bytes)
	}
}

// TestWQL3_Matches goes through the hook.
func TestWQL3_Matches(t *testing.T) {
	asked := []string{}
	w := company(t, wql.Options{Match: func(_ context.Context, words string) (func(string) bool, error) {
		asked = append(asked, words)
		return func(id string) bool { return id == "bob" || id == "p1" }, nil
	}})
	for query, want := range map[string]string{
		`SELECT p FROM Person WHERE MATCHES "road map"`:               "bob",
		`SELECT p FROM Person WHERE NOT MATCHES 'x' AND p.age = 29`:   "carl",
		`SELECT p FROM Person WHERE MATCHES "x" AND p.team = {this}`:  "bob",
		`SELECT p FROM Person WHERE MATCHES ""`:                       "error: MATCHES needs words",
		`SELECT p FROM Person WHERE MATCHES "a" OR NOT MATCHES "bee"`: "alice bob carl dora emil",
	} {
		if got := show(w.query(query, "eng")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if len(asked) != 5 {
		t.Errorf("the index was asked %q", asked)
	}
	w = company(t, wql.Options{})
	if _, err := w.query(`SELECT p FROM Person WHERE MATCHES "x"`, ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without an index: %v", err)
	}
}

// FuzzParse: whatever the text, the parser ends, its findings have a place, and
// what it accepts it can write and read again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT p FROM Person WHERE p.team = {this}",
		"SELECT COUNT(p.x) FROM `A b`, [c] q WHERE NOT (q.a.b IN ('x', \"y\", 1, null) OR q.c BETWEEN today() - 7d AND date('2026-01-31')) ORDER BY lower(q.x) DESC NULLS FIRST LIMIT 5 OFFSET 2; -- end",
		"select * from T where a NOT CONTAINS 'it''s' and MATCHES \"w\" and b STARTS WITH c or d is not null",
		"SELECT p FROM WHERE ( ) AND ORDER BY , LIMIT x",
		"SELECT p FROM T WHERE p.größe = -1.5e3 + 3d",
	} {
		f.Add(seed)
	}
	w := company(f, wql.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		q, found := wql.Parse(text)
		bad := false
		for _, d := range found {
			if d.Line < 1 || d.Column < 1 || d.Message == "" || d.Hint == "" || !strings.HasSuffix(d.Source, "^") {
				t.Fatalf("finding without a place or a hint: %+v", d)
			}
			bad = bad || d.Severity == entities.SeverityError
		}
		w.wql.Check(text, "Person")
		if bad {
			return
		}
		if q == nil {
			t.Fatal("no tree and no error")
		}
		written := q.String()
		again, found := wql.Parse(written)
		if len(written) <= wql.MaxSource && (len(found) > 0 || again.String() != written) {
			t.Fatalf("written as %s, which is read as %v with %v", written, again, found)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := w.wql.Query(ctx, text, wql.QueryOptions{This: "alice"}); err != nil && fault.KindOf(err) == fault.Internal {
			t.Fatal(err)
		}
	})
}
