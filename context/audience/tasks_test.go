package audience_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// rowsOf returns the rows of a query, a line each.
func (q *queried) rowsOf(reader audience.Reader, query string) []string {
	q.t.Helper()
	res, err := q.rooms.View(reader).Query(q.t.Context(), query, wql.QueryOptions{Limit: wql.MaxRows})
	if err != nil {
		q.t.Fatalf("%s: %v", query, err)
	}
	out := []string{}
	for _, r := range res.Rows {
		if r.Type != "Task" && r.Type != "vault.Task" {
			out = append(out, r.Type+" "+r.Name)
			continue
		}
		data, err := json.Marshal(r.Task)
		must(q.t, err)
		out = append(out, fmt.Sprintf("%s %s %s", r.ID, r.Name, data))
	}
	return out
}

func TestSRCH55_TasksFollowThePrivacyOfTheirNote(t *testing.T) {
	q := openQueried(t)
	q.note(notes.Draft{ID: "canary", Title: "Canary", Body: "# Canary\n- [ ] feed the canary\n", Private: true})
	q.note(notes.Draft{ID: "plan", Title: "Plan", Body: "## For [[Canary]]\n- [ ] ask [[Canary|it]] 📅 2026-03-04 #work\n- [x] done [due:: [[Canary]]]\n"})
	const all, count = "SELECT t FROM Task ORDER BY t.line", "SELECT COUNT(*) FROM Task"
	if n := q.value(audience.Local, count); n != 3.0 {
		t.Errorf("a local reader counts %v", n)
	}
	if n := q.value(audience.Remote, count); n != 2.0 {
		t.Errorf("a remote reader counts %v", n)
	}
	got := strings.Join(q.rowsOf(audience.Remote, all), "\n")
	want := `plan ask (private) {"done":false,"cancelled":false,"due":"2026-03-04","tags":["work"],"note":"Plan","heading":"For (private)","line":2}` + "\n" +
		`plan done [due:: (private)] {"done":true,"cancelled":false,"tags":[],"note":"Plan","heading":"For (private)","line":3}`
	if got != want {
		t.Errorf("a remote reader sees\n%s\nwant\n%s", got, want)
	}
	for _, query := range []string{
		"SELECT COUNT(*) FROM Task t WHERE t.name CONTAINS 'Canary'", "SELECT COUNT(*) FROM Task t WHERE t.name CONTAINS 'ask it'", "SELECT COUNT(*) FROM Task t WHERE t.note = 'Canary'",
		"SELECT COUNT(*) FROM Task t WHERE t.heading LIKE '%canary%'", "SELECT COUNT(*) FROM Task t WHERE t.id = 'canary'",
	} {
		if n := q.value(audience.Remote, query); n != 0.0 {
			t.Errorf("%s: a remote reader counts %v", query, n)
		}
		if n := q.value(audience.Local, query); n == 0.0 {
			t.Errorf("%s: a local reader counts none", query)
		}
	}
	no := false
	if _, err := q.notes.Patch(t.Context(), notes.Patch{ID: "canary", Private: &no}, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(q.rowsOf(audience.Remote, all), "\n"); strings.Contains(got, "(private)") || strings.Count(got, "\n") != 2 {
		t.Errorf("with nothing private a remote reader sees\n%s", got)
	}
	// A type of that name goes first, and one that is the public's alone exists for the public alone.
	if _, _, err := q.ents.PutType(t.Context(), entities.Type{Name: "task", Fields: []entities.Field{{Name: "effort", Type: record.Number}}}, nil, false); err != nil {
		t.Fatal(err)
	}
	if _, err := q.ents.Put(t.Context(), entities.Entity{ID: "e", Type: "task", Name: "An entity"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := q.rowsOf(audience.Local, "SELECT t FROM Task t"); !slices.Equal(got, []string{"task An entity"}) {
		t.Errorf("the declared type has %q", got)
	}
	if n := q.value(audience.Local, "SELECT COUNT(*) FROM vault.Task t WHERE t.done = false"); n != 2.0 {
		t.Errorf("vault.Task has %v", n)
	}
	if n := q.value(audience.Local, "SELECT COUNT(*) FROM Task, `vault.Task`"); n != 4.0 {
		t.Errorf("both have %v", n)
	}
	if _, err := q.local.Query(t.Context(), "SELECT t FROM Task t WHERE t.done = false", wql.QueryOptions{}); fault.KindOf(err) != fault.Query {
		t.Errorf("a field of the built-in type: %v", err)
	}
}

// TestSRCH55_ARemoteReadersTasksAreThoseOfTheTextsItIsShown changes notes at random, and compares what a query gives both readers
// with the tasks of the texts that they are shown, read anew.
func TestSRCH55_ARemoteReadersTasksAreThoseOfTheTextsItIsShown(t *testing.T) {
	q := openQueried(t)
	rnd := rand.New(rand.NewPCG(55, 1))
	names := []string{"Alpha", "Beta", "Gamma", "Delta", "Epsilon"}
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	line := func() string {
		name := pick(names...)
		return pick("- [ ] ", "- [x] ", "1. [-] ", "> - [ ] ", "- TODO ", "text ", "# ", "```\n", "- [ [[", "%%") +
			pick("call [["+name+"]]", "[x]("+name+".md)", "@"+name, "[["+name+"|the\nbird]]", "[due:: [["+name+"]]]", "#tag", "plain", "] ") + pick(" 📅 2026-03-04", " ⏫", "", " ^id") + "\n"
	}
	expected := func(v *audience.View) []string {
		out := []string{}
		for n := range q.notes.All() {
			if !v.SeesNote(n) {
				continue
			}
			shown, err := v.ShownNote(t.Context(), n)
			must(t, err)
			markdown.Tasks(shown.Body, func(x record.Task) {
				x.Note, x.Tags = shown.Title, append([]string{}, x.Tags...)
				data, _ := json.Marshal(x)
				out = append(out, fmt.Sprintf("%s %s %s", n.ID, x.Name, data))
			})
		}
		slices.Sort(out)
		return out
	}
	rows := 0
	for range 300 {
		id := pick(names...)
		d := notes.Draft{ID: id, Title: id, Private: rnd.IntN(3) == 0}
		for range rnd.IntN(6) {
			d.Body += line()
		}
		q.note(d)
		for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
			got, want := q.rowsOf(reader, "SELECT t FROM Task"), expected(q.rooms.View(reader))
			slices.Sort(got)
			rows += len(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%s sees\n%s\nwant\n%s", reader, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if n := q.value(reader, "SELECT COUNT(*) FROM Task"); n != float64(len(want)) {
				t.Fatalf("%s counts %v, want %d", reader, n, len(want))
			}
		}
	}
	if rows < 1000 {
		t.Errorf("only %d rows", rows)
	}
}

// TestSRCH55_QueriesWhileNotesChange is for the race detector: a query never sees a task of a text that nobody has written.
func TestSRCH55_QueriesWhileNotesChange(t *testing.T) {
	q := openQueried(t)
	var wait sync.WaitGroup
	for w := range 2 {
		wait.Go(func() {
			for i := range 50 {
				d := notes.Draft{ID: fmt.Sprint("n", w), Title: "N", Body: strings.Repeat("- [ ] a\n", 1+i%7), Private: i%3 == 0}
				if _, err := q.notes.Put(t.Context(), d, nil); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Go(func() {
			for range 50 {
				for _, v := range []*audience.View{q.local, q.remote} {
					res, err := v.Query(t.Context(), "SELECT COUNT(*) FROM Task t WHERE t.name = 'a'", wql.QueryOptions{})
					if err != nil || res.Value.(float64) > 14 {
						t.Errorf("%v %v", res, err)
					}
				}
			}
		})
	}
	wait.Wait()
}

// BenchmarkSRCH55_Notes asks 10,000 notes of 2 KB for the open ones of their 100,000 tasks that are late: texts read for the
// first time, and again when nothing has changed, for both readers (with one private record).
func BenchmarkSRCH55_Notes(b *testing.B) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(b, err)
	b.Cleanup(func() { _ = db.Close() })
	q := openAll(b, db)
	prose := strings.Repeat("Words of a note, with a [[Link]] and *more* of them.\n\n", 30)
	drafts := []notes.Draft{{ID: "secret", Title: "Secret", Private: true}}
	for i := range 10_000 {
		d := notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("Note ", i), Body: prose + "## Tasks\n"}
		for k := range 10 {
			d.Body += fmt.Sprintf("- [%c] Task %d of [[Note %d]] 📅 2026-%02d-%02d #t%d\n", " x"[k%2], k, i+1, 1+i%12, 1+k, k%3)
		}
		drafts = append(drafts, d)
	}
	for list := range slices.Chunk(drafts, entities.MaxMany) {
		_, err := q.notes.PutMany(b.Context(), list)
		must(b, err)
	}
	ask := func(b *testing.B, v *audience.View) {
		res, err := v.Query(b.Context(), "SELECT t FROM Task t WHERE t.done = false AND t.due < date('2026-07-01') ORDER BY t.due LIMIT 50", wql.QueryOptions{})
		must(b, err)
		if res.Total < 10_000 {
			b.Fatal(res.Total)
		}
	}
	for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
		b.Run(string(reader)+"/first", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				q.rooms.ForgetTasks()
				b.StartTimer()
				ask(b, q.rooms.View(reader))
			}
		})
		b.Run(string(reader)+"/again", func(b *testing.B) {
			for b.Loop() {
				ask(b, q.rooms.View(reader))
			}
		})
	}
}
