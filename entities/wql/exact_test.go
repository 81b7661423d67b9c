package wql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
)

// roles are people who change their role and, with it, their name.
func roles(tb testing.TB, n int) *world {
	tb.Helper()
	w := open(tb, wql.Options{})
	w.declare(entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "role", Type: record.Select, Options: []string{"Lead", "Guest"}},
		{Name: "age", Type: record.Number},
		{Name: "born", Type: record.Date},
		{Name: "likes", Type: record.TextList},
		{Name: "word", Type: record.Text},
	}})
	list := make([]entities.Entity, n)
	for i := range list {
		list[i] = e("Person", fmt.Sprintf("p%03d", i), "Lead", entities.Values{"role": "Lead"})
	}
	w.put(list...)
	return w
}

// TestWQL8_IndexedRowsMeetTheCondition has people take another role while others
// ask for one: a row that an index gave, but that has changed since, is looked at
// again.
func TestWQL8_IndexedRowsMeetTheCondition(t *testing.T) {
	const people, rounds = 400, 12
	w := roles(t, people)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for round := range rounds {
			role := []string{"Guest", "Lead"}[round%2]
			for i := 0; i < people; i += 40 {
				list := make([]entities.Entity, 40)
				for n := range list {
					list[n] = e("Person", fmt.Sprintf("p%03d", i+n), role, entities.Values{"role": role})
				}
				if _, err := w.store.PutMany(context.Background(), list); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	defer func() { <-done }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		for _, role := range []string{"lead", "guest"} {
			r, err := w.query("SELECT p FROM Person WHERE p.role = '"+role+"' LIMIT 1000", "")
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				if !strings.EqualFold(row.Name, role) {
					t.Fatalf("%s, who is a %s by now, is found as a %s", row.ID, row.Name, role)
				}
			}
		}
	}
}

// TestWQL8_WhatAnIndexCantDecide are conditions of which an index holds only a
// part, beside some that it holds whole.
func TestWQL8_WhatAnIndexCantDecide(t *testing.T) {
	w := roles(t, 0)
	list := make([]entities.Entity, 200)
	for i := range list {
		list[i] = e("Person", fmt.Sprintf("p%03d", i), fmt.Sprintf("P %d", i), entities.Values{
			"role": []string{"Lead", "Guest"}[i%2], "age": float64(i % 20), "born": fmt.Sprintf("2000-01-%02d", 1+i%28),
			"likes": []string{fmt.Sprint(i % 10), fmt.Sprint(i % 7)}, "word": fmt.Sprintf("W%d", i%10),
		})
	}
	w.put(list...)
	for where, want := range map[string]func(i int) bool{
		"p.age = 3":                                    func(i int) bool { return i%20 == 3 },
		"p.age = '3'":                                  func(i int) bool { return i%20 == 3 },
		"p.age > 17":                                   func(i int) bool { return i%20 > 17 },
		"p.age > 15 AND p.age <= 16":                   func(i int) bool { return i%20 == 16 },
		"p.age BETWEEN 15 AND 16":                      func(i int) bool { return i%20 == 15 || i%20 == 16 },
		"NOT (p.age < 19)":                             func(i int) bool { return i%20 == 19 },
		"p.age = 3 AND p.role = 'guest'":               func(i int) bool { return i%20 == 3 },
		"p.age = 3 AND p.role = 'lead'":                func(i int) bool { return false },
		"p.age > 15 AND p.born = '2000-01-20'":         func(i int) bool { return i%20 > 15 && i%28 == 19 },
		"p.age > 15 AND p.age != 17":                   func(i int) bool { return i%20 > 15 && i%20 != 17 },
		"p.age > 17 AND length(p.name) = 4":            func(i int) bool { return i%20 > 17 && i > 9 && i < 100 },
		"p.age IN (3, 4) AND p.age > 3":                func(i int) bool { return i%20 == 4 },
		"p.likes CONTAINS '3'":                         func(i int) bool { return i%10 == 3 || i%7 == 3 },
		"p.word = 'w3'":                                func(i int) bool { return false },
		"p.born >= '2000-01-27'":                       func(i int) bool { return i%28 >= 26 },
		"p.age > 17 AND p.age > 18":                    func(i int) bool { return i%20 == 19 },
		"p.age = 3 AND p.age = 4":                      func(i int) bool { return false },
		"p.age >= 3 AND p.age = 3":                     func(i int) bool { return i%20 == 3 },
		"p.role = 'LEAD' AND p.role = 'guest'":         func(i int) bool { return false },
		"p.age > 17 AND (p.age < 19 OR 1 = 2)":         func(i int) bool { return i%20 == 18 },
		"p.age > 17 AND NOT (p.age BETWEEN 18 AND 18)": func(i int) bool { return i%20 == 19 },
	} {
		for range 2 { // with the index made, and with it there
			r, err := w.query("SELECT p FROM Person WHERE "+where+" LIMIT 1000", "")
			if err != nil {
				t.Errorf("%s: %v", where, err)
				break
			}
			var wanted, got []string
			for i := range list {
				if want(i) {
					wanted = append(wanted, list[i].ID)
				}
			}
			for _, row := range r.Rows {
				got = append(got, row.ID)
			}
			slices.Sort(got)
			if !slices.Equal(got, wanted) {
				t.Errorf("%s: %v, want %v", where, got, wanted)
			}
		}
	}
}
