package gather_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/graph"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

var update = flag.Bool("update", false, "write the golden prompts anew")

var ctx = context.Background()

// world is a wired set of rooms.
type world struct {
	db     *kv.Store
	ents   *entities.Store
	notes  *notes.Store
	wql    *wql.Engine
	graph  *graph.Graph
	index  *search.Index
	rooms  *audience.Views
	gather *gather.Gatherer
	vault  *vault.Importer
	now    time.Time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldIn(t, kv.InMemory, kv.Options{})
}

// worldIn opens the store in a folder.
func worldIn(t testing.TB, dir string, opts kv.Options) *world {
	t.Helper()
	return worldWith(t, dir, opts, search.Options{})
}

// worldWith is one with an index that may know of meaning.
func worldWith(t testing.TB, dir string, opts kv.Options, finding search.Options) *world {
	t.Helper()
	w := &world{now: time.Date(2025, 10, 31, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	var err error
	must := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.db, err = kv.Open(dir, opts)
	must()
	t.Cleanup(func() { w.db.Close() })
	w.ents, err = entities.Open(w.db, entities.Options{Now: clock})
	must()
	w.notes, err = notes.Open(w.db, w.ents, notes.Options{Now: clock})
	must()
	w.wql = wql.New(w.ents, wql.Options{Now: clock, Location: time.UTC})
	w.db.OnCommit(w.wql.Apply)
	w.graph = graph.Open(w.db, w.ents, w.notes, w.wql)
	w.rooms = audience.Open(w.db, audience.Stores{Entities: w.ents, Notes: w.notes, WQL: w.wql, Graph: w.graph})
	w.index = search.Open(w.db, notedoc.New(w.notes, notedoc.Options{Public: w.rooms.Public, Revealed: w.rooms.Revealed}), finding)
	w.rooms.SetSearch(w.index)
	w.gather = w.fresh()
	w.vault = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{Now: clock})
	return w
}

// fresh makes a gatherer that has nothing in its cache.
func (w *world) fresh() *gather.Gatherer {
	return gather.Open(w.db, w.rooms, gather.Options{
		Now: func() time.Time { return w.now }, NewSecret: func() []byte { return []byte("thirty-two bytes for all of them") },
	})
}

// assembled makes a prompt over a local connection.
func (w *world) assembled(ctx context.Context, g *gather.Gatherer, p gather.Params) (*prompt.Result, error) {
	reader := audience.Reader(p.Audience)
	return g.Assemble(ctx, gather.Readers{Prompt: w.rooms.View(reader), Report: w.rooms.View(audience.Local)}, p)
}

// sample imports the sample vault.
func sample(t testing.TB) *world {
	t.Helper()
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "vault")
	if err := fixtures.CopyVault(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.vault.Import(ctx, vault.ImportRequest{Path: dir}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) note(t testing.TB, path string) *notes.Note {
	t.Helper()
	n, err := w.notes.ByPath(path, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return n
}

// params turns a question into parameters.
func (w *world) params(t testing.TB, q fixtures.Question) gather.Params {
	t.Helper()
	p := gather.Params{Text: q.Text, Audience: q.Audience, SearchNotes: q.SearchNotes, MaxDepth: q.MaxDepth}
	for _, path := range q.Pinned {
		p.MentionedNoteIDs = append(p.MentionedNoteIDs, w.note(t, path).ID)
	}
	for _, path := range q.Explicit {
		p.MentionedEntityIDs = append(p.MentionedEntityIDs, w.note(t, path).EntityID)
	}
	if q.Budgets != nil {
		p.Budgets = &gather.Budgets{}
		for i, budget := range prompt.AllBudgets {
			if n, ok := q.Budgets[budget.Name]; ok {
				*(*prompt.BudgetTable[*int])(p.Budgets).At(i) = &n
			}
		}
	}
	return p
}

func (w *world) assemble(t testing.TB, p gather.Params) *prompt.Result {
	t.Helper()
	res, err := w.assembled(ctx, w.gather, p)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// golden writes a prompt and its report the way they are compared.
func golden(q fixtures.Question, res *prompt.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "question: %s\nshows: %s\n\n%s\n==== report\n", q.Text, q.Why, res.System)
	fmt.Fprintf(&b, "chars %d of %d, sha256 %s\n", res.Report.Chars, res.Report.Budget, res.Report.Hash)
	for _, s := range res.Report.Sections {
		fmt.Fprintf(&b, "%s: %d of %d\n", s.Name, s.Chars, s.Budget)
		for _, item := range s.Items {
			cut := "false"
			if item.Cut != nil {
				cut = item.Cut.String()
			}
			fmt.Fprintf(&b, "  %s %s: %d chars, cut %s, depth %d, %s\n", item.Kind, item.Title, item.Chars, cut, item.Depth, item.Reason)
		}
	}
	for _, d := range res.Report.Dropped {
		fmt.Fprintf(&b, "dropped %s %q %s: %s", d.Kind, d.Title, d.ID, d.Reason)
		for _, c := range d.Candidates {
			fmt.Fprintf(&b, " | %s %s %s", c.Title, c.Type, c.Path)
		}
		b.WriteString("\n")
	}
	for _, e := range res.Report.QueryErrors {
		fmt.Fprintf(&b, "query error %s.%s: %s\n", e.Entity, e.Field, e.Message)
	}
	return b.String()
}

// TestGoldenPrompts compares the prompts for the sample questions with files.
func TestGoldenPrompts(t *testing.T) {
	w := sample(t)
	type prompted struct {
		fixtures.Question
		format, file string
	}
	var list []prompted
	for _, q := range fixtures.Questions {
		list = append(list, prompted{q, gather.Markdown, q.Name + ".golden"})
		if q.XML {
			list = append(list, prompted{q, gather.XML, q.Name + ".xml.golden"})
		}
	}
	for _, q := range list {
		t.Run(strings.TrimSuffix(q.file, ".golden"), func(t *testing.T) {
			q, format, file := q.Question, q.format, filepath.Join("..", "..", "fixtures", "prompts", q.file)
			p := w.params(t, q)
			p.Format = format
			res := w.assemble(t, p)
			got := golden(q, res)
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the prompt differs (-want +got); write it anew with -update when it should:\n%s", diff)
			}
			mentionsOf(t, w, q, res)
			accounted(t, res)
			again, err := w.assembled(ctx, w.fresh(), p)
			if err != nil || again.System != res.System {
				t.Errorf("an empty cache gives other bytes: %v", err)
			}
		})
	}
}

// mentionsOf checks that a question's mentions went where it says.
func mentionsOf(t *testing.T, w *world, q fixtures.Question, res *prompt.Result) {
	t.Helper()
	somewhere := make(map[string]bool)
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			somewhere[item.Kind+" "+item.ID] = true
		}
	}
	unclear := make(map[string][]string)
	for _, d := range res.Report.Dropped {
		somewhere[d.Kind+" "+d.ID] = true
		if d.ID == "" && (d.Reason == prompt.Ambiguous || d.Reason == prompt.Unknown) {
			var ids []string
			for _, c := range d.Candidates {
				ids = append(ids, c.ID)
			}
			slices.Sort(ids)
			unclear[d.Kind+" "+d.Title] = ids
		}
	}
	for _, path := range q.Entities {
		if id := w.note(t, path).EntityID; !somewhere["entity "+id] {
			t.Errorf("%s is neither in the prompt nor reported", path)
		}
	}
	for _, path := range q.Notes {
		if id := w.note(t, path).ID; !somewhere["note "+id] {
			t.Errorf("%s is neither in the prompt nor reported", path)
		}
	}
	for _, u := range q.Unclear {
		kind := "entity "
		if u.Note {
			kind = "note "
		}
		var want []string
		for _, path := range u.Candidates {
			if n := w.note(t, path); u.Note {
				want = append(want, n.ID)
			} else {
				want = append(want, n.EntityID)
			}
		}
		slices.Sort(want)
		got, ok := unclear[kind+u.Text]
		if !ok || !slices.Equal(got, want) {
			t.Errorf("the mention %q is reported as %v (%v), want %v", u.Text, got, ok, want)
		}
	}
}

// accounted checks that nothing is in a report twice.
func accounted(t *testing.T, res *prompt.Result) {
	t.Helper()
	seen := make(map[string]bool)
	count := func(kind, id string) {
		if id == "" {
			return
		}
		if key := kind + " " + id; seen[key] {
			t.Errorf("%s is in the report twice", key)
		} else {
			seen[key] = true
		}
	}
	for _, s := range res.Report.Sections {
		for _, item := range s.Items {
			count(item.Kind, item.ID)
		}
	}
	for _, d := range res.Report.Dropped {
		if d.Reason != prompt.Duplicate {
			count(d.Kind, d.ID)
		}
	}
}

func TestCTX10_SameVaultSameBytes(t *testing.T) {
	a, b := sample(t), sample(t)
	for _, q := range fixtures.Questions {
		if x, y := a.assemble(t, a.params(t, q)), b.assemble(t, b.params(t, q)); x.System != y.System || x.Report.Hash != y.Report.Hash {
			t.Errorf("%s differs between two imports", q.Name)
		}
	}
}

func TestCTX34_NothingPrivateReachesARemoteAudience(t *testing.T) {
	w := sample(t)
	var private []string
	for n := range w.notes.All() {
		if n.Private {
			private = append(private, n.Title, n.ID, n.EntityID)
		}
	}
	if len(private) != 3*fixtures.Expected.Private {
		t.Fatalf("%d private notes", len(private)/3)
	}
	// The title of one note quotes another's, as text.
	quoting := prompt.EscapeInline(w.note(t, "Inbox/Fan Mail.md").Title)
	leaks := func(res *prompt.Result) (out []string) {
		system := strings.ReplaceAll(res.System, quoting, "")
		for _, s := range private {
			if s != "" && strings.Contains(system, s) {
				out = append(out, s)
			}
		}
		return out
	}
	local := 0
	for _, q := range fixtures.Questions {
		p := w.params(t, q)
		p.SearchNotes, p.Audience = prompt.MaxFound, gather.Remote
		if found := leaks(w.assemble(t, p)); len(found) > 0 {
			t.Errorf("%s shows %v", q.Name, found)
		}
		p.Audience = gather.Local
		local += len(leaks(w.assemble(t, p)))
	}
	if local == 0 {
		t.Error("a local audience sees nothing private either: the test proves nothing")
	}
}

func TestBadParams(t *testing.T) {
	w := newWorld(t)
	n := func(i int) *int { return &i }
	for _, c := range []struct {
		p     gather.Params
		kind  fault.Kind
		field string
	}{
		{gather.Params{Text: strings.Repeat("x", 1<<20+1)}, fault.Limit, "text"},
		{gather.Params{Format: "html"}, fault.Invalid, "format"},
		{gather.Params{MaxDepth: n(5)}, fault.Invalid, "maxDepth"},
		{gather.Params{MaxDepth: n(-1)}, fault.Invalid, "maxDepth"},
		{gather.Params{SearchNotes: 9}, fault.Invalid, "searchNotes"},
		{gather.Params{MentionedNoteIDs: make([]string, 1001)}, fault.Limit, "mentionedNoteIds"},
		{gather.Params{Budgets: &gather.Budgets{Linked: n(-1)}}, fault.Invalid, "budgets.linked"},
		{gather.Params{ActionItems: []prompt.Action{{ID: "] [id:x", Text: "x"}}}, fault.Invalid, "actionItems[0].id"},
		{gather.Params{ActionItems: []prompt.Action{{ID: "a", Text: "x"}, {ID: "b", Text: " "}}}, fault.Invalid, "actionItems[1].text"},
		{gather.Params{ActionItems: []prompt.Action{{ID: "a", Text: "x", EntityIDs: []string{"e", "e e"}}}}, fault.Invalid, "actionItems[0].entityIds[1]"},
		{gather.Params{CalendarEvents: []prompt.Event{{Title: "x"}, {}}}, fault.Invalid, "calendarEvents[1].title"},
		{gather.Params{ConversationID: "no id"}, fault.Invalid, "conversationId"},
	} {
		_, err := w.assembled(ctx, w.gather, c.p)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || f.Field != c.field || f.Kind == fault.Invalid && f.Hint == "" {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.assembled(done, w.gather, gather.Params{Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	res := w.assemble(t, gather.Params{})
	if res.System != "" || len(res.Sections) != 0 || res.Report.Hash == "" {
		t.Errorf("nothing asked for: %+v", res)
	}
}

func TestCTX33_RecentReports(t *testing.T) {
	w := newWorld(t)
	for i := range 53 {
		w.assemble(t, gather.Params{ConversationID: fmt.Sprint(i)})
	}
	all := w.gather.Recent(1000, audience.Local)
	if len(all) != 50 || all[0].ConversationID != "52" || all[49].ConversationID != "3" || len(w.gather.Recent(2, audience.Local)) != 2 {
		t.Errorf("%d reports, the newest of %s", len(all), all[0].ConversationID)
	}
}
