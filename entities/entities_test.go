package entities_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
)

var ctx = context.Background()

// open opens a store in dir with one type of every kind of field.
func open(t *testing.T, dir string, opts entities.Options) (*entities.Store, *kv.Store) {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	n := 0
	if opts.NewID == nil {
		opts.NewID = func() string { n++; return fmt.Sprintf("id-%d", n) }
	}
	s, err := entities.Open(db, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

var person = entities.Type{Name: "Person", Fields: []entities.Field{
	{Name: "role", Type: record.Text},
	{Name: "skills", Type: record.TextList},
	{Name: "level", Type: record.Number},
	{Name: "remote", Type: record.Boolean},
	{Name: "email", Type: record.Email},
	{Name: "site", Type: record.URL},
	{Name: "born", Type: record.Date},
	{Name: "status", Type: record.Select, Options: []string{"Active", "On leave"}},
	{Name: "team", Type: record.EntityRef, TargetType: "Team"},
	{Name: "reports", Type: record.EntityRefList, TargetType: "Person"},
	{Name: "profile", Type: record.NoteRef},
	{Name: "peers", Type: record.Computed, Query: "SELECT p FROM Person"},
}}

func mustType(t *testing.T, s *entities.Store, typ entities.Type) {
	t.Helper()
	if _, _, err := s.PutType(ctx, typ, nil, false); err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestValuesOfEveryFieldType(t *testing.T) {
	s, _ := open(t, kv.InMemory, entities.Options{})
	mustType(t, s, person)
	for _, c := range []struct {
		field string
		in    any
		want  any // nil: left out
		fails bool
	}{
		{"role", "Manager", "Manager", false},
		{"role", "  ", nil, false},
		{"role", 3.0, nil, true},
		{"ROLE", "x", "x", false},
		{"role", "bad\xff", nil, true},
		{"skills", []any{"Go", " ", "SQL"}, []string{"Go", "SQL"}, false},
		{"skills", `["a, b","c"]`, []string{"a, b", "c"}, false},
		{"skills", "a, b", []string{"a", "b"}, false},
		{"skills", []any{1.0}, nil, true},
		{"skills", []any{}, nil, false},
		{"level", 3.5, 3.5, false},
		{"level", "3", 3.0, false},
		{"level", "03", "03", false},
		{"level", "1e3", "1e3", false},
		{"level", "1.10", "1.10", false},
		{"level", "1234567890123456789", nil, true},
		{"level", "Inf", nil, true},
		{"level", "0x10", nil, true},
		{"level", "three", nil, true},
		{"remote", true, true, false},
		{"remote", "yes", nil, true},
		{"email", "a@example.org", "a@example.org", false},
		{"email", "Ann <a@example.org>", nil, true},
		{"email", "nobody", nil, true},
		{"site", "https://example.org/x", "https://example.org/x", false},
		{"site", "example.org", nil, true},
		{"born", "1990-02-28", "1990-02-28", false},
		{"born", "1990-02-30", nil, true},
		{"born", "28.2.1990", nil, true},
		{"status", "on LEAVE", "On leave", false},
		{"status", "away", nil, true},
		{"team", "t-1", "t-1", false},
		{"team", "[[Team One]]", "[[Team One]]", false},
		{"team", "Team One", nil, true},
		{"reports", "a,b", []string{"a", "b"}, false},
		{"reports", []any{"[[A, B]]", "c"}, []string{"[[A, B]]", "c"}, false},
		{"reports", "[[A, B]], c", []string{"[[A, B]]", "c"}, false},
		{"reports", []any{"no id!"}, nil, true},
		{"profile", "n1", "n1", false},
		{"peers", "x", nil, true},
		{"nope", "x", nil, true},
		{"role", nil, nil, false},
	} {
		e, err := s.Put(ctx, entities.Entity{ID: "p", Type: "person", Name: "P", Fields: entities.Values{c.field: c.in}}, nil)
		if c.fails {
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Invalid || !strings.HasPrefix(f.Field, "fields."+c.field) {
				t.Errorf("%s = %v: error %v", c.field, c.in, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s = %v: %v", c.field, c.in, err)
			continue
		}
		want := entities.Values{}
		if c.want != nil {
			want[map[string]string{"ROLE": "role"}[c.field]+map[bool]string{true: "", false: c.field}[c.field == "ROLE"]] = c.want
		}
		if diff := cmp.Diff(want, e.Fields); diff != "" {
			t.Errorf("%s = %v:\n%s", c.field, c.in, diff)
		}
	}
}

func TestBadEntities(t *testing.T) {
	s, _ := open(t, kv.InMemory, entities.Options{})
	mustType(t, s, person)
	if _, err := s.Put(ctx, entities.Entity{ID: "old", Type: "Person", Name: "Old"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		e       entities.Entity
		version *int
		kind    fault.Kind
		field   string
	}{
		{"id", entities.Entity{ID: "a b", Type: "Person", Name: "x"}, nil, fault.Invalid, "id"},
		{"type", entities.Entity{Type: "Nope", Name: "x"}, nil, fault.Invalid, "type"},
		{"no name", entities.Entity{Type: "Person", Name: " \n"}, nil, fault.Invalid, "name"},
		{"long name", entities.Entity{Type: "Person", Name: strings.Repeat("é", 513)}, nil, fault.Limit, "name"},
		{"long alias", entities.Entity{Type: "Person", Name: "x", Aliases: []string{strings.Repeat("é", 513)}}, nil, fault.Limit, "aliases"},
		{"fields", entities.Entity{Type: "Person", Name: "x", Fields: entities.Values{"role": strings.Repeat("x", 256<<10)}}, nil, fault.Limit, "fields"},
		{"exists", entities.Entity{ID: "old", Type: "Person", Name: "x"}, ptr(0), fault.Conflict, "ifVersion"},
		{"stale", entities.Entity{ID: "old", Type: "Person", Name: "x"}, ptr(7), fault.Conflict, "ifVersion"},
		{"not there", entities.Entity{ID: "new", Type: "Person", Name: "x"}, ptr(1), fault.Conflict, "ifVersion"},
	} {
		_, err := s.Put(ctx, c.e, c.version)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || f.Field != c.field {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if e := s.Get("old"); e.Version != 1 || e.Name != "Old" || s.Count("") != 1 {
		t.Errorf("a refused write left %+v, %d entities", e, s.Count(""))
	}
	if _, err := s.Put(ctx, entities.Entity{ID: "wide", Type: "Person", Name: strings.Repeat("é", 512)}, ptr(0)); err != nil {
		t.Errorf("a name of 512 characters: %v", err)
	}
}

func TestLifeOfAnEntity(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	s, _ := open(t, kv.InMemory, entities.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	mustType(t, s, person)
	e, err := s.Put(ctx, entities.Entity{Type: "person", Name: " Ann ", Aliases: []string{"A", "a", " "}, Fields: entities.Values{"role": "Dev", "level": 2.0}}, ptr(0))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(e.ID, "id-") || e.Type != "Person" || e.Name != "Ann" || len(e.Aliases) != 1 || e.Version != 1 {
		t.Errorf("created %+v", e)
	}
	e, err = s.Patch(ctx, entities.Patch{ID: e.ID, Fields: entities.Values{"level": nil, "born": "1990-01-01"}}, ptr(1))
	if err != nil || e.Version != 2 || e.Name != "Ann" {
		t.Fatalf("patched %+v, %v", e, err)
	}
	if diff := cmp.Diff(entities.Values{"role": "Dev", "born": "1990-01-01"}, e.Fields); diff != "" {
		t.Error(diff)
	}
	created := e.CreatedAt
	e, err = s.Put(ctx, entities.Entity{ID: e.ID, Type: "Person", Name: "Ann B"}, ptr(2))
	if err != nil || len(e.Fields) != 0 || !e.CreatedAt.Equal(created) {
		t.Errorf("put replaces: %+v, %v", e, err)
	}
	e, err = s.Archive(ctx, e.ID, nil)
	if err != nil || e.ArchivedAt == nil || len(s.OfType("Person")) != 0 || len(s.Complete("Ann", nil, 9, false)) != 0 {
		t.Errorf("trashed %+v, %v", e, err)
	}
	if got := s.Named("ann b", nil); len(got) != 1 || got[0].Live() {
		t.Errorf("the trash is found by name when nothing else is: %v", got)
	}
	e, err = s.Restore(ctx, e.ID, nil)
	if err != nil || !e.Live() || len(s.OfType("person")) != 1 {
		t.Errorf("restored %+v, %v", e, err)
	}
	version, err := s.Delete(ctx, e.ID, ptr(e.Version))
	if err != nil || version != e.Version+1 || s.Get(e.ID) != nil || len(s.Named("Ann B", nil)) != 0 {
		t.Errorf("deleted: %d, %v", version, err)
	}
	for name, err := range map[string]error{
		"trash":   second(s.Archive(ctx, "gone", nil)),
		"restore": second(s.Restore(ctx, "gone", nil)),
		"patch":   second(s.Patch(ctx, entities.Patch{ID: "gone"}, nil)),
		"delete":  second(s.Delete(ctx, "gone", nil)),
	} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s of an unknown id: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestPutManyIsAllOrNone(t *testing.T) {
	s, _ := open(t, kv.InMemory, entities.Options{})
	mustType(t, s, person)
	_, err := s.PutMany(ctx, []entities.Entity{{ID: "a", Type: "Person", Name: "A"}, {ID: "b", Type: "Person", Name: ""}})
	var f *fault.Error
	if !errors.As(err, &f) || f.Field != "entities[1].name" || s.Get("a") != nil {
		t.Errorf("%v, a is %v", err, s.Get("a"))
	}
	list, err := s.PutMany(ctx, []entities.Entity{
		{ID: "a", Type: "Person", Name: "A", Fields: entities.Values{"reports": []string{"b"}}}, {ID: "b", Type: "Person", Name: "B"},
	})
	if err != nil || len(list) != 2 || list[1].Name != "B" {
		t.Errorf("%v, %v", list, err)
	}
}

// TestPERF5_CompletionOrdersWhatIsEqualByName writes entities together by a clock that
// never stands still, and under ids in both orders: completions of them come in one.
func TestPERF5_CompletionOrdersWhatIsEqualByName(t *testing.T) {
	together := []entities.Entity{
		{Type: "Team", Name: "Zoe Alpha"},
		{Type: "Person", Name: "Anna Alpha"},
		{Type: "Person", Name: "anna Alpha"},
		{Type: "Team", Name: "Anna Alpha"},
		{Type: "Person", Name: "Mia Tal"},
		{Type: "Person", Name: "Bo Falk"},
	}
	want := "Person Anna Alpha, Team Anna Alpha, Person anna Alpha, Team Zoe Alpha, Person Bo Falk, Person Mia Tal, "
	for _, rising := range []bool{true, false} {
		n, clock := 500, time.Unix(1e9, 0)
		s, _ := open(t, kv.InMemory, entities.Options{
			NewID: func() string {
				n--
				if rising {
					n += 2
				}
				return fmt.Sprintf("id-%d", n)
			},
			Now: func() time.Time { clock = clock.Add(time.Second); return clock },
		})
		mustType(t, s, person)
		mustType(t, s, entities.Type{Name: "Team"})
		_, err := s.PutMany(ctx, together)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, h := range s.Complete("al", nil, 8, false) {
			got += s.Get(h.ID).Type + " " + h.Name + ", "
		}
		if got != want {
			t.Errorf("ids rise: %t: %s", rising, got)
		}
	}
}

func TestTypes(t *testing.T) {
	s, _ := open(t, kv.InMemory, entities.Options{CheckQuery: func(_ *entities.Type, f entities.Field) []entities.Diagnostic {
		if strings.Contains(f.Query, "Ghost") {
			return []entities.Diagnostic{{Line: 1, Column: 15, Message: "unknown type", Severity: record.SeverityWarning}}
		}
		if strings.Contains(f.Query, "SELEC ") {
			return []entities.Diagnostic{{Line: 1, Column: 1, Message: "SELECT expected", Severity: record.SeverityError}}
		}
		return nil
	}})
	_, found, err := s.PutType(ctx, entities.Type{Name: "Team", Fields: []entities.Field{
		{Name: "lead", Type: record.EntityRef, TargetType: "Person"},
		{Name: "self", Type: record.EntityRef, TargetType: "team"},
		{Name: "all", Type: record.Computed, Query: "SELECT g FROM Ghost"},
	}}, nil, false)
	if err != nil || len(found) != 2 || found[0].Field != "lead" || found[1].Field != "all" {
		t.Errorf("diagnostics %+v, %v", found, err)
	}
	for _, c := range []struct {
		name  string
		field entities.Field
		at    string
		kind  fault.Kind
	}{
		{"type", entities.Field{Name: "a", Type: "texts"}, "fields[0].type", fault.Invalid},
		{"name", entities.Field{Name: "", Type: "text"}, "fields[0].name", fault.Invalid},
		{"builtin", entities.Field{Name: "CreatedAt", Type: "text"}, "fields[0].name", fault.Invalid},
		{"options", entities.Field{Name: "a", Type: "select"}, "fields[0].options", fault.Invalid},
		{"repeated options", entities.Field{Name: "a", Type: "select", Options: []string{"x", "X"}}, "fields[0].options", fault.Invalid},
		{"target", entities.Field{Name: "a", Type: "text", TargetType: "T"}, "fields[0].targetType", fault.Invalid},
		{"query missing", entities.Field{Name: "a", Type: "computed"}, "fields[0].query", fault.Invalid},
		{"query unwanted", entities.Field{Name: "a", Type: "text", Query: "x"}, "fields[0].query", fault.Invalid},
		{"query broken", entities.Field{Name: "a", Type: "computed", Query: "SELEC x"}, "fields[0].query", fault.Query},
		{"query long", entities.Field{Name: "a", Type: "computed", Query: strings.Repeat("x", 4097)}, "fields[0].query", fault.Limit},
		{"colon", entities.Field{Name: "a: b", Type: "text"}, "fields[0].name", fault.Invalid},
	} {
		_, _, err := s.PutType(ctx, entities.Type{Name: "T", Fields: []entities.Field{c.field}}, nil, false)
		var f *fault.Error
		if !errors.As(err, &f) || f.Field != c.at || f.Kind != c.kind {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, _, err := s.PutType(ctx, entities.Type{Name: "A (B)"}, nil, false); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a type with brackets: %v", err)
	}
	if _, _, err := s.PutType(ctx, entities.Type{Name: "T", Fields: make([]entities.Field, 201)}, nil, false); fault.KindOf(err) != fault.Limit {
		t.Errorf("201 fields: %v", err)
	}
}

// TestTypesChangeAndValuesStay drops a field, sees its values hidden, and has
// them back when it is declared again.
func TestTypesChangeAndValuesStay(t *testing.T) {
	s, _ := open(t, kv.InMemory, entities.Options{})
	mustType(t, s, person)
	if _, err := s.Put(ctx, entities.Entity{ID: "a", Type: "Person", Name: "A", Fields: entities.Values{"role": "Dev", "level": 2.0}}, nil); err != nil {
		t.Fatal(err)
	}
	small := entities.Type{Name: "person", Fields: []entities.Field{{Name: "level", Type: record.Number}}}
	_, _, err := s.PutType(ctx, small, nil, false)
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "1 value") {
		t.Errorf("orphans: %v", err)
	}
	_, _, err = s.PutType(ctx, small, ptr(1), true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entities.Values{"level": 2.0}, s.Get("a").Fields); diff != "" {
		t.Error(diff)
	}
	mustType(t, s, person)
	if got := s.Get("a").Fields["role"]; got != "Dev" {
		t.Errorf("the value came back as %v", got)
	}
	if _, err := s.DeleteType(ctx, "Person", "", false); fault.KindOf(err) != fault.Conflict {
		t.Errorf("delete of a type in use: %v", err)
	}
	if _, err := s.DeleteType(ctx, "PERSON", "", true); err != nil || s.Type("Person") != nil || s.Get("a").Live() {
		t.Errorf("forced delete: %v", err)
	}
	if _, err := s.DeleteType(ctx, "Person", "", false); fault.KindOf(err) != fault.NotFound {
		t.Errorf("second delete: %v", err)
	}
}

func TestReopenGivesTheSame(t *testing.T) {
	dir := t.TempDir()
	s, db := open(t, dir, entities.Options{})
	mustType(t, s, person)
	if _, err := s.Put(ctx, entities.Entity{ID: "a", Type: "Person", Name: "Änne", Fields: entities.Values{
		"skills": []string{"Go"}, "level": 2.5, "remote": false, "reports": []string{"a"},
	}}, nil); err != nil {
		t.Fatal(err)
	}
	before := *s.Get("a")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, dir, entities.Options{})
	if diff := cmp.Diff(before, *s.Get("a")); diff != "" {
		t.Error(diff)
	}
	if got := s.Named("änne", nil); len(got) != 1 || len(s.Types()) != 1 {
		t.Errorf("named %v", got)
	}
}

func TestSRCH32_LinksResolveAndFollow(t *testing.T) {
	s, db := open(t, kv.InMemory, entities.Options{})
	target := map[string][2]string{}
	s.SetResolver(entities.Resolver{
		Resolve: func(link, _ string) (string, string) { return target[link][0], target[link][1] },
		Keys:    func(link string) []string { return []string{entities.Fold(link)} },
	})
	var last []kv.Change
	db.OnCommit(func(cs *kv.ChangeSet) { s.Relink(cs, []string{"team one"}, nil); last = cs.Changes })
	mustType(t, s, person)
	put := func() {
		t.Helper()
		if _, err := s.Put(ctx, entities.Entity{ID: "a", Type: "Person", Name: "A", Fields: entities.Values{
			"team": "[[Team One]]", "reports": []string{"b", "[[Ghost]]"}, "profile": "[[Team One]]",
		}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	put()
	if got := s.Get("a").Fields["team"]; got != "[[Team One]]" {
		t.Errorf("unresolved it is %v", got)
	}
	target["Team One"] = [2]string{"note-1", "team-1"}
	gen := s.Gen()
	if _, err := s.Put(ctx, entities.Entity{ID: "other", Type: "Person", Name: "O"}, nil); err != nil {
		t.Fatal(err)
	}
	e := s.Get("a")
	if e.Fields["team"] != "team-1" || e.Fields["profile"] != "note-1" || e.Version != 1 || s.Gen() == gen {
		t.Errorf("resolved it is %+v", e)
	}
	if len(last) != 2 || last[1].ID != "a" || last[1].New.(*entities.Entity) != e {
		t.Errorf("the change set has %+v", last)
	}
	if diff := cmp.Diff([]string{"b", "[[Ghost]]"}, e.Fields["reports"]); diff != "" {
		t.Error(diff)
	}
	// A patch starts from what is stored, not from what is shown.
	if _, err := s.Patch(ctx, entities.Patch{ID: "a", Name: ptr("AA")}, nil); err != nil {
		t.Fatal(err)
	}
	delete(target, "Team One")
	if _, err := s.Put(ctx, entities.Entity{ID: "third", Type: "Person", Name: "T"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Get("a").Fields["team"]; got != "[[Team One]]" {
		t.Errorf("unresolved again it is %v", got)
	}
}

func TestVaultBackedEntitiesFollowTheirFile(t *testing.T) {
	s, db := open(t, kv.InMemory, entities.Options{})
	mustType(t, s, person)
	err := db.Update(ctx, func(tx *kv.Tx) error {
		var problems []string
		_, err := s.PutTx(tx, entities.Entity{ID: "v", Type: "Person", Name: "V", Fields: entities.Values{
			"level": "12", "remote": "yes", "team": "Team One", "reports": "Bob, [[Cy]]", "status": "gone", "born": "2020-13-01", "role": 7.0,
		}}, entities.PutOptions{FromNote: true, VaultBacked: true, Lenient: true, Problem: func(err error) { problems = append(problems, err.Error()) }})
		if len(problems) != 2 {
			t.Errorf("problems %q", problems)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := entities.Values{"level": 12.0, "remote": true, "team": "[[Team One]]", "reports": []string{"[[Bob]]", "[[Cy]]"}, "role": "7"}
	if diff := cmp.Diff(want, s.Get("v").Fields); diff != "" {
		t.Error(diff)
	}
	_, putErr := s.Put(ctx, entities.Entity{ID: "v", Type: "Person", Name: "W"}, nil)
	_, patchErr := s.Patch(ctx, entities.Patch{ID: "v", Fields: entities.Values{"role": "x"}}, nil)
	_, deleteErr := s.Delete(ctx, "v", nil)
	for _, err := range []error{putErr, patchErr, deleteErr} {
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Conflict || !strings.Contains(f.Hint, "edit the file") {
			t.Errorf("%v", err)
		}
	}
	if e, err := s.Patch(ctx, entities.Patch{ID: "v", Private: ptr(true)}, nil); err != nil || !e.Private {
		t.Errorf("private is no part of the file: %v", err)
	}
}
