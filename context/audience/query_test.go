package audience_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
)

// queried is a store with its Views.
type queried struct {
	stored
	t *testing.T
}

func openQueried(t *testing.T) *queried {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	q := &queried{t: t, stored: *openAll(t, db)}
	_, _, err = q.ents.PutType(t.Context(), entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "about", Type: record.Text}, {Name: "boss", Type: record.EntityRef}, {Name: "met", Type: record.TextList},
	}}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func (q *queried) put(e entities.Entity) {
	q.t.Helper()
	e.Type = "Person"
	if _, err := q.ents.Put(q.t.Context(), e, nil); err != nil {
		q.t.Fatal(err)
	}
}

func (q *queried) note(d notes.Draft) {
	q.t.Helper()
	if _, err := q.notes.Put(q.t.Context(), d, nil); err != nil {
		q.t.Fatal(err)
	}
}

// value returns what a query gives a reader.
func (q *queried) value(reader audience.Reader, query string) any {
	q.t.Helper()
	res, err := q.rooms.View(reader).Query(context.Background(), query, wql.QueryOptions{})
	if err != nil {
		q.t.Fatalf("%s: %v", query, err)
	}
	if res.IsValue {
		return res.Value
	}
	return fmt.Sprint(res.Rows)
}

// TestPRIV1_ConditionsSeeWhatTheReaderMaySee: masked text can't be read letter by
// letter, by any comparison, order or index.
func TestPRIV1_ConditionsSeeWhatTheReaderMaySee(t *testing.T) {
	q := openQueried(t)
	q.note(notes.Draft{ID: "secret", Title: "Canary", Private: true})
	q.put(entities.Entity{ID: "a", Name: "Ann", Fields: entities.Values{"about": "see [[Canary]]", "met": []string{"[[Canary]]", "Bob"}}})
	q.put(entities.Entity{ID: "b", Name: "Ben [[Canary]]", Fields: entities.Values{"about": "plain", "boss": "z"}})
	q.put(entities.Entity{ID: "z", Name: "Zed", Private: true, Fields: entities.Values{"about": "Canary"}})
	for range 3 { // the second time an index may answer
		for _, where := range []string{
			"p.about LIKE 'see [[c%'", "p.about CONTAINS 'Canary'", "p.about = 'see [[Canary]]'", "p.about STARTS WITH 'see [['",
			"p.met CONTAINS '[[Canary]]'", "p.name LIKE '%canary%'", "p.boss.about = 'Canary'", "p.boss.name = 'Zed'", "p.boss = 'z'",
			"length(p.about) = 14", "p.about IN ('see [[Canary]]', 'x')",
		} {
			if got := q.value(audience.Remote, "SELECT COUNT(*) FROM Person p WHERE "+where); got != 0.0 {
				t.Errorf("%s is true of %v", where, got)
			}
			if got := q.value(audience.Local, "SELECT COUNT(*) FROM Person p WHERE "+where); got == 0.0 {
				t.Errorf("a local reader: %s is true of none", where)
			}
		}
		for where, want := range map[string]any{
			"p.about = 'see (private)'": 1.0, "p.name = 'Ben (private)'": 1.0, "p.met CONTAINS 'Bob'": 1.0, "p.about = 'plain'": 1.0,
		} {
			if got := q.value(audience.Remote, "SELECT COUNT(*) FROM Person p WHERE "+where); got != want {
				t.Errorf("%s is true of %v, want %v", where, got, want)
			}
		}
		if got := q.value(audience.Remote, "SELECT MIN(p.about) FROM Person p WHERE p.about STARTS WITH 'see'"); got != "see (private)" {
			t.Errorf("MIN gives %v", got)
		}
	}
}

// TestPRIV1_WhatBecomesPublicIsComparedAgain: what queries keep does not outlive what
// made it.
func TestPRIV1_WhatBecomesPublicIsComparedAgain(t *testing.T) {
	q := openQueried(t)
	q.put(entities.Entity{ID: "a", Name: "Ann", Fields: entities.Values{"about": "see [[Canary]]"}})
	count := func(where string) any {
		return q.value(audience.Remote, "SELECT COUNT(*) FROM Person p WHERE p.about = '"+where+"'")
	}
	for i, private := range []bool{false, true, false, true} {
		q.note(notes.Draft{ID: "secret", Title: "Canary", Private: private})
		for range 2 {
			want := 1.0
			if private {
				want = 0.0
			}
			if got := count("see [[Canary]]"); got != want {
				t.Errorf("step %d: the link is true of %v, want %v", i, got, want)
			}
			if got := count("see (private)"); got != 1-want {
				t.Errorf("step %d: the mask is true of %v, want %v", i, got, 1-want)
			}
		}
	}
	if _, err := q.notes.Delete(t.Context(), "secret", nil); err != nil {
		t.Fatal(err)
	}
	if got := count("see [[Canary]]"); got != 0.0 {
		t.Errorf("when the note is gone the link is true of %v", got)
	}
	q.note(notes.Draft{ID: "other", Title: "Canary"})
	if got := count("see [[Canary]]"); got != 1.0 {
		t.Errorf("with a public note of that name the link is true of %v", got)
	}
}
