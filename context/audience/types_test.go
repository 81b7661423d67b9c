package audience_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
)

// declareSecrets declares a type whose every text names a private record in one of the ways that there are, and an
// entity of it.
func declareSecrets(t *testing.T, w *masking) {
	t.Helper()
	_, _, err := w.ents.PutType(t.Context(), entities.Type{Name: "Task", Fields: []entities.Field{
		{Name: "state", Type: record.Select, Options: []string{
			"Open", "Canary Plan", "like [[Canary Plan]]", "[canary](obsidian://open?file=Canary%20Plan)", "@Canary Zoe", "Done",
		}},
		{Name: "cost", Type: record.Number, Label: "cost of [[Canary Plan]]"},
		{Name: "[[Canary Plan]] due", Type: record.Text},
		{Name: "who", Type: record.EntityRef, TargetType: "[[Canary Plan]]"},
		{Name: "secrets", Type: record.Computed, Query: `SELECT COUNT(t) FROM Task t WHERE t.state = "Canary Plan" OR t.about = 'see [[Canary Plan]]'`},
		{Name: "all", Type: record.Computed, Query: "SELECT COUNT(t) FROM Task t WHERE t.`[[Canary Plan]] due` IS NULL -- as in [[Canary Plan]]"},
		{Name: "about", Type: record.Text},
	}}, nil, false)
	must(t, err)
	_, err = w.ents.Put(t.Context(), entities.Entity{
		ID: "task", Type: "Task", Name: "Paint", Fields: entities.Values{"state": "Canary Plan", "[[Canary Plan]] due": "soon", "about": "x"},
	}, nil)
	must(t, err)
	_, err = w.ents.Put(t.Context(), entities.Entity{ID: "task2", Type: "Task", Name: "Sand", Fields: entities.Values{"state": "Open"}}, nil)
	must(t, err)
}

// TestPRIV8_TypesNameNoPrivateRecord in options, labels, names of fields, types that references lead to, and queries: not
// where types are listed, nor where one is found, nor of an entity.
func TestPRIV8_TypesNameNoPrivateRecord(t *testing.T) {
	w := newMasking(t)
	declareSecrets(t, w)
	read := func(v *audience.View) (list []*entities.Type) {
		found, err := v.FindType("task", "")
		must(t, err)
		list = append(v.Types(), found, v.Type("Task"), v.TypeOf(v.Entity("task")))
		return append(list, v.TypesNamed("task").All()...)
	}
	if list := read(w.local); !canary.MatchString(list[len(list)-1].Fields[0].Options[1]) {
		t.Error("a local reader is shown other options")
	}
	for _, typ := range read(w.remote) {
		data, err := json.Marshal(typ)
		must(t, err)
		if canary.Match(data) {
			t.Errorf("%s", data)
		}
		if typ.Name != "Task" {
			continue
		}
		if got := typ.Fields[0].Options; !slices.Equal(got, []string{"Open", "Done"}) {
			t.Errorf("options %q", got)
		}
		if f, ok := typ.Field("cost"); !ok || f.Label != "cost of (private)" {
			t.Errorf("label %q", f.Label)
		}
		want := `SELECT COUNT(t) FROM Task t WHERE t.state = "(private)" OR t.about = '(private)'`
		if f, _ := typ.Field("secrets"); f.Query != want {
			t.Errorf("query %q", f.Query)
		}
	}
	data, err := json.Marshal(w.remote.ShownEntity(w.remote.Entity("task")))
	must(t, err)
	if canary.Match(data) {
		t.Errorf("an entity: %s", data)
	}
}

// TestPRIV8_QueriesAreAnsweredByWhatTypesSay and not by what a reader is shown of them; what is said of queries names no
// private record.
func TestPRIV8_QueriesAreAnsweredByWhatTypesSay(t *testing.T) {
	w := newMasking(t)
	declareSecrets(t, w)
	for _, f := range []string{"secrets", "all"} {
		typ := w.remote.TypeOf(w.remote.Entity("task"))
		field, ok := typ.Field(f)
		if !ok {
			t.Fatal("no field", f)
		}
		res, err := w.remote.Computed(t.Context(), w.remote.Entity("task"), field)
		if f == "secrets" { // the value of the one that has it is shown as (private), so the text finds none
			if err != nil || res.Value != 0.0 {
				t.Errorf("%s: %+v, %v", f, res, err)
			}
		}
		if err != nil && canary.MatchString(mustJSON(t, err)+err.Error()) {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, query := range []string{
		`SELECT t FROM Task t WHERE t.state = "Nope"`, `SELECT t FROM Task t WHERE t.due = "x"`, "SELECT t FROM Task t WHERE t.who.x = 1",
		"SELECT t FROM Task t WHERE t.secrets.x = 1", "SELECT t FROM Task t WHERE t.all = 'x'",
		"SELECT t FROM Task t WHERE t.`[[Canar Plan]] due` = 'x'",
	} {
		if about := said(w.remote.Check(query, "Task")); canary.MatchString(about) {
			t.Errorf("%s: %s", query, about)
		}
		_, err := w.remote.Query(t.Context(), query, wql.QueryOptions{})
		if err != nil && canary.MatchString(fault.Message(err)+mustJSON(t, err)) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestPRIV16_AQueryConfirmsNoGuess: what is said of a query repeats the reader's own words, whether they lead to something
// private or nowhere.
func TestPRIV16_AQueryConfirmsNoGuess(t *testing.T) {
	w := newMasking(t)
	declareSecrets(t, w)
	path := "Secret/Canary's Lair.md"
	_, err := w.notes.Put(t.Context(), notes.Draft{ID: "lair", Title: "Lair", Path: path, Body: "x", Private: true}, nil)
	must(t, err)
	long := strings.Repeat("x", 20) + ".md"
	for _, forms := range []string{
		"SELECT t FROM `%s` t", "SELECT t FROM [%s] t", "SELECT t FROM Task t WHERE t.`%s` = 1", "SELECT t FROM Task t WHERE t.when > date('%s')", "SELECT t FROM Task t ORDER BY t.`%s`",
		"SELECT t FROM `%s " + long + "` t", "SELECT t FROM Task t `%s`", "SELECT t FROM `%s`.Task t",
	} {
		answers := func(guess string) string {
			query := fmt.Sprintf(forms, guess)
			if strings.Contains(forms, "'") {
				query = fmt.Sprintf(forms, strings.ReplaceAll(guess, "'", "''"))
			}
			_, err := w.remote.Query(t.Context(), query, wql.QueryOptions{})
			return fault.Message(err) + mustJSON(t, err) + said(w.remote.Check(query, "Task")) + said(w.remote.Check("SELECT t FROM Task t", guess))
		}
		for hidden, none := range map[string]string{path: "Secret/Nobody's Lair.md", "ctxd://note/lair": "ctxd://note/none", "obsidian://open?file=Canary%20Plan": "obsidian://open?file=Nobody%20Plan"} {
			if got, want := answers(hidden), strings.ReplaceAll(answers(none), none, hidden); got != want {
				t.Errorf("of %s is said\n%s\nnot\n%s", fmt.Sprintf(forms, hidden), got, want)
			}
		}
	}
}

// TestPRIV8_TypesAreMaskedAnew when a record becomes private or public again, or a type is declared anew.
func TestPRIV8_TypesAreMaskedAnew(t *testing.T) {
	w := newMasking(t)
	declareSecrets(t, w)
	options := func() []string { return w.remote.Type("Task").Fields[0].Options }
	hints := func() string {
		return said(w.remote.Check(`SELECT t FROM Task t WHERE t.state = "Canary Plan"`, ""))
	}
	before := hints()
	public := false
	n := w.notes.Get("secret")
	_, err := w.notes.Patch(t.Context(), notes.Patch{ID: n.ID, Private: &public}, nil)
	must(t, err)
	if got := options(); len(got) != 5 {
		t.Errorf("after it became public: %q", got)
	}
	if after := hints(); before == "" || after != "" {
		t.Errorf("the schema of queries is the former one: %s", after)
	}
	private := true
	_, err = w.notes.Patch(t.Context(), notes.Patch{ID: n.ID, Private: &private}, nil)
	must(t, err)
	if got := options(); !slices.Equal(got, []string{"Open", "Done"}) || hints() != before {
		t.Errorf("after it became private: %q, %s", got, hints())
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return string(data)
}

// said is what is said of a query but for the query itself, which its reader has written.
func said(list []entities.Diagnostic) (text string) {
	for _, d := range list {
		text += d.Message + "\n" + d.Hint + "\n"
	}
	return text
}
