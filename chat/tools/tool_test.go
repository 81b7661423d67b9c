package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxd/ctxd/chat/tools"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/notes"
)

// hives is a small world about bees.
func hives(t testing.TB) *toolsWorld {
	t.Helper()
	w := openTools(t)
	w.typ(entities.Type{Name: "Person", Fields: []entities.Field{{Name: "role", Type: "text"}, {Name: "boss", Type: "entity_ref", TargetType: "Person"}}})
	w.typ(entities.Type{Name: "Project", Fields: []entities.Field{
		{Name: "lead", Type: "entity_ref", TargetType: "Person"},
		{Name: "team", Type: "entity_ref_list"},
		{Name: "plan", Type: "note_ref"},
		{Name: "budget", Type: "number"},
	}})
	w.note(notes.Draft{ID: "cell", Title: "Load cell", Path: "docs/cell.md", Body: "---\ntags: [hive]\n---\n# Load cell\n\nIntro 🐝 text.\n\n## Drift\n\n<!-- hidden -->The load cell drifts by four grams an hour.\n\n## Cost\n\nIt costs 12 euros. See [[Roof]]."})
	w.note(notes.Draft{ID: "roof", Title: "Roof", Body: "The roof is made of wood.\n\nNothing drifts here."})
	w.note(notes.Draft{ID: "bio", Title: "Ann's page", Body: "Ann keeps bees."})
	w.entity(entities.Entity{ID: "ann", Type: "Person", Name: "Ann", NoteID: "bio", Fields: entities.Values{"role": "Keeper"}})
	w.entity(entities.Entity{ID: "bob", Type: "Person", Name: "Bob", Fields: entities.Values{"boss": "ann"}})
	w.entity(entities.Entity{ID: "hive", Type: "Project", Name: "Hive scale", Fields: entities.Values{"lead": "ann", "plan": "cell", "budget": 90.0}})
	_, err := w.memory.Add(context.Background(), w.seen.View(audience.Local), []memory.Draft{
		{ID: "m1", Statement: "Ann likes honey from the roof"}, {ID: "m2", Statement: "Bob is allergic to bees"},
	})
	mustTool(t, err)
	return w
}

// shownAs are references in short.
func shownAs(list []tools.Reference) (out []string) {
	for _, r := range list {
		out = append(out, fmt.Sprint(r.NoteID, r.MemoryID, " ", r.How, " ", r.Used, " ", strings.Join(r.Tools, ","), " ", r.Snippet))
	}
	return out
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestCHAT12_EachToolSaysWhatItShows(t *testing.T) {
	w := hives(t)
	for _, tc := range []struct {
		name, args string
		text       []string
		refs       []string
	}{
		{
			"read_note", `{"path":"docs/cell.md"}`,
			[]string{"[[Load cell]] [id:cell]\n", "path: docs/cell.md\n", "tags: hive\n", "links: [[Roof]] [id:roof]", "\n\n# Load cell\n\nIntro"},
			[]string{"cell read true read_note Retrieved via read_note"},
		},
		{
			"read_note", `{"id":"Load cell","heading":"drift"}`,
			[]string{"part: drift\n", "\n\n## Drift\n\nThe load cell drifts by four grams an hour."},
			[]string{"cell read true read_note Retrieved via read_note"},
		},
		{
			"find_excerpts", `{"query":"how much does the load cell drift?","limit":1}`,
			[]string{"[[Load cell]] [id:cell] docs/cell.md\nunder Load cell > Drift:\n> The load cell drifts by four grams an hour.\n"},
			[]string{"cell excerpt true find_excerpts The load cell drifts by four grams an hour."},
		},
		{
			"search_notes", `{"query":"wood"}`,
			[]string{"1. [[Roof]] [id:roof]\n   The roof is made of wood."},
			[]string{"roof found false search_notes Found via semantic search"},
		},
		{
			"get_entity", `{"entity":"@Hive scale"}`,
			[]string{"### @Hive scale (Project) [id:hive]\n", "lead: @Ann [id:ann]\n", "plan: [[Load cell]] [id:cell]\n", "### @Ann (Person) [id:ann]\n", "role: Keeper\n"},
			[]string{"bio shown true get_entity Shown by get_entity", "cell shown true get_entity Shown by get_entity"},
		},
		{
			"explore_graph", `{"record":"roof"}`,
			[]string{"2 records, 1 edge\n- [[Roof]] [id:roof], 0 steps\n", "[[Load cell]] --link--> [[Roof]]"},
			[]string{"roof shown true explore_graph Shown by explore_graph", "cell shown true explore_graph Shown by explore_graph"},
		},
		{
			"query", `{"query":"SELECT p FROM Person p WHERE p.role = 'Keeper'"}`,
			[]string{"1 row\n- @Ann (Person) [id:ann], role: Keeper\n"},
			[]string{"bio shown true query Shown by query"},
		},
		{
			"search_memory", `{"query":"honey of Ann"}`,
			[]string{"Confidence: ", "Ann likes honey from the roof [id:m1] #1\n"},
			[]string{"m1 read true search_memory Ann likes honey from the roof"},
		},
	} {
		res := w.local(tc.name, tc.args)
		has(t, res.Text, tc.text...)
		got, want := shownAs(res.References), slices.Clone(tc.refs)
		slices.Sort(got)
		slices.Sort(want)
		same(t, got, want)
		if res.Private || res.Proposal != nil {
			t.Errorf("%s: private %v, proposal %v", tc.name, res.Private, res.Proposal)
		}
		if tc.name == "read_note" && strings.Contains(tc.args, "drift") && (strings.Contains(res.Text, "12 euros") || strings.Contains(res.Text, "hidden")) {
			t.Errorf("%s", res.Text)
		}
	}
}

// TestCHAT12_PlacesOfExcerpts: they are those of the note as it is stored, in UTF-16 code units.
func TestCHAT12_PlacesOfExcerpts(t *testing.T) {
	w := hives(t)
	n := w.note(notes.Draft{ID: "long", Title: "Long", Body: "---\na: b\n---\n# Bees 🐝🐝\n\nAbout queens. %%not this%%\r\nQueens lay eggs.\n\n## Other\n\n" +
		strings.Repeat("Words about something else that fill the note.\n\n", 40) + "## Eggs\n\nQueens lay 2000 eggs a day 🐝."})
	res := w.local("find_excerpts", `{"query":"how many eggs do queens lay"}`)
	var r *tools.Reference
	for i := range res.References {
		if res.References[i].NoteID == "long" {
			r = &res.References[i]
		}
	}
	if r == nil {
		t.Fatal(res.Text)
	}
	if len(r.Hash) != 64 || len(r.Ranges) == 0 {
		t.Fatalf("%+v", r)
	}
	var all []string
	for _, place := range r.Ranges {
		all = append(all, utf16Slice(n.Body, place))
	}
	has(t, strings.Join(all, "|"), "Queens lay 2000 eggs a day 🐝.")
	for _, s := range all {
		if strings.TrimSpace(s) != s || s == "" {
			t.Errorf("%q", s)
		}
	}
}

func utf16Slice(s string, place [2]int) string {
	return string(utf16.Decode(utf16.Encode([]rune(s))[place[0]:place[1]]))
}

// TestCHAT12_ReferencesOfATurn: of each note there is one, whatever tools and rounds it came from.
func TestCHAT12_ReferencesOfATurn(t *testing.T) {
	w := hives(t)
	turn := w.set.Turn(w.env(audience.Local), nil)
	round := func(calls ...tools.Call) {
		t.Helper()
		_, err := turn.Round(t.Context(), calls)
		mustTool(t, err)
	}
	round(tools.Call{Name: "search_notes", Arguments: `{"query":"drifts roof"}`})
	same(t, shownAs(turn.References()), []string{
		"roof found false search_notes Found via semantic search", "cell found false search_notes Found via semantic search",
	})
	round(tools.Call{Name: "read_note", Arguments: `{"id":"cell"}`}, tools.Call{Name: "find_excerpts", Arguments: `{"query":"load cell drift hour","limit":1}`},
		tools.Call{Name: "search_memory", Arguments: `{"query":"honey"}`})
	round(tools.Call{Name: "search_notes", Arguments: `{"query":"grams"}`}, tools.Call{Name: "get_entity", Arguments: `{"entity":"hive"}`},
		tools.Call{Name: "search_memory", Arguments: `{"query":"honey from the roof"}`})
	same(t, shownAs(turn.References()), []string{
		"roof found false search_notes Found via semantic search",
		"cell excerpt true search_notes,read_note,find_excerpts,get_entity The load cell drifts by four grams an hour.",
		"m1 read true search_memory Ann likes honey from the roof",
		"bio shown true get_entity Shown by get_entity",
	})
	round(tools.Call{Name: "search_notes", Arguments: `{"query":"grams an hour"}`})
	if r := turn.References()[1]; r.NoteID != "cell" || !r.Used || r.How != tools.ExtentExcerpt {
		t.Errorf("found again after it was read: %+v", r)
	}
	if turn.Rounds() != 4 || turn.Private() || turn.Done() {
		t.Errorf("%d rounds, private %v, done %v", turn.Rounds(), turn.Private(), turn.Done())
	}
	turn.References()[0].Tools[0] = "x"
	if turn.References()[0].Tools[0] != "search_notes" {
		t.Error("references are shared with the caller")
	}
}

func TestCHAT13_WhatIsWrongIsToldToTheModel(t *testing.T) {
	w := hives(t)
	big := strings.Repeat("a", 1<<20)
	deep := strings.Repeat("[", 20_000)
	for _, tc := range []struct{ name, args, want string }{
		{"read_not", `{}`, `there is no tool "read_not"` + "\nTry: did you mean read_note?; the tools are read_note, find_excerpts,"},
		{"", `{}`, "there is no tool"},
		{big, `{}`, "there is no tool"},
		{"read_note", ``, "read_note needs either id or path"},
		{"read_note", `null`, "read_note needs either id or path"},
		{"read_note", `{"id":null,"path":null}`, "read_note needs either id or path"},
		{"read_note", `{"id":"cell","path":"x"}`, "read_note needs either id or path"},
		{"read_note", `{"pth":"x"}`, `read_note has no argument "pth"` + "\nTry: did you mean path?; its arguments are id, path, heading, cursor"},
		{"read_note", `{"id":true}`, "id must be a text in quotes"},
		{"read_note", `{"id":["cell","roof"]}`, "id must be a text in quotes"},
		{"read_note", `{"id":"` + big + `"}`, "the arguments have"},
		{"read_note", `{"id":"` + big[:2000] + `"}`, "id has 2000 bytes, and at most 1024 are allowed"},
		{"read_note", `{"id":`, "the arguments are no valid JSON"},
		{"read_note", `{"id":` + deep, "the arguments are no valid JSON"},
		{"read_note", `["cell"]`, "the arguments are no JSON object"},
		{"read_note", `"cell"`, "the arguments are no JSON object"},
		{"read_note", `{"id":"cell"} {"id":"roof"}`, "something follows the arguments"},
		{"read_note", `{"id":"Lod cell"}`, `no such note` + "\nTry: did you mean one of these?\n- Load cell [id:cell] docs/cell.md\n"},
		{"read_note", `{"path":"docs/nothing.md"}`, `no such note`},
		{"read_note", `{"path":"../../etc/passwd"}`, "no such note"},
		{"read_note", `{"id":"cell","heading":"Drft"}`, `the note has no heading "Drft"` + "\nTry: did you mean Drift?"},
		{"read_note", `{"id":"roof","heading":"x"}`, "it has none: read it without heading"},
		{"read_note", `{"id":"cell","cursor":"x"}`, "the cursor is not from this tool"},
		{"read_note", `{"id":"cell","cursor":"v9.3"}`, "the note has changed since its first part was read"},
		{"search_notes", `{}`, "search_notes needs the argument query: what to look for"},
		{"search_notes", `{"query":"  "}`, "query is empty"},
		{"search_notes", `{"limit":"five","zz":[1]}`, "search_notes has no argument \"zz\"\nTry: give another one; its arguments are query, limit\nsearch_notes needs the argument query: what to look for"},
		{"search_notes", `{"limit":"five","zz":[1]}`, "\nlimit must be a whole number\n"},
		{"search_notes", `{"query":"bees","limit":21}`, "limit is 21, and must be from 1 to 20"},
		{"search_notes", `{"query":"bees","limit":0}`, "limit is 0, and must be from 1 to 20"},
		{"search_notes", `{"query":"bees","limit":1e400}`, "limit must be a whole number"},
		{"search_notes", `{"query":"bees","limit":"five"}`, "limit must be a whole number"},
		{"search_notes", `{"query":"bees","limit":2.5}`, "limit must be a whole number"},
		{"find_excerpts", `{"query":{"a":1}}`, "query must be a text in quotes"},
		{"get_entity", `{"entity":"An"}`, `no such entity` + "\nTry: did you mean one of these?\n- Ann (Person) [id:ann]"},
		{"get_entity", `{"entity":"ann","depth":9}`, "depth is 9, and must be from 0 to 3"},
		{"explore_graph", `{"record":"[[Nowhere]]"}`, `no such note`},
		{"explore_graph", `{"record":"Nowhere at all"}`, `no note or entity has the name or id in "record"` + "\nTry: search_notes and query find them"},
		{"explore_graph", `{"record":"roof","kinds":["nodes"]}`, `kinds is "nodes", which is none of its values` + "\nTry: did you mean note?; its values are note, entity"},
		{"explore_graph", `{"record":"roof","kinds":[null]}`, "kinds must be a list of texts"},
		{"explore_graph", `{"record":"roof","kinds":"note, entity"}`, "kinds must be a list of texts"},
		{"query", `{"query":"SELECT p FROM Persn p"}`, "at line 1, column 15\nSELECT p FROM Persn p\n              ^\nTry: did you mean Person?"},
		{"query", `{"query":"SELECT"}`, "at line 1"},
		{"query", `{"query":"SELECT p FROM Person p","this":"nobody"}`, `no such entity (this)`},
		{"search_memory", `{"query":"honey","kinds":["memory"]}`, "did you mean memories"},
		{"create_task", `{"title":"x","due":"tomorrow"}`, "due is no day"},
		{"create_task", `{"title":"x","entities":["Zoe"]}`, `no such entity`},
		{"create_task", `{"title":"x","note":"Zoe"}`, `no such note`},
		{"assign_entity", `{"entity":"hive","field":"led","to":"bob"}`, "Project has no field \"led\" that refers to records\nTry: did you mean lead?"},
		{"assign_entity", `{"entity":"hive","field":"budget","to":"bob"}`, "that refers to records"},
		{"assign_entity", `{"entity":"hive","field":"lead","to":"hive"}`, "the field lead refers to entities of the type Person, and that is one of Project"},
		{"assign_entity", `{"entity":"hive","field":"lead","to":"ann"}`, "refers to that already"},
	} {
		res := w.call(audience.Local, tc.name, tc.args)
		if !res.Error || !strings.Contains(res.Text, tc.want) {
			t.Errorf("%.40s %.60s: error %v\n%s\nwant %s", tc.name, tc.args, res.Error, res.Text, tc.want)
		}
		if n := utf8.RuneCountInString(res.Text); n > 2000 || len(res.References) > 0 || res.Proposal != nil {
			t.Errorf("%.40s %.60s: %d characters, %v, %v", tc.name, tc.args, n, res.References, res.Proposal)
		}
	}
}

func TestCHAT13_NothingFoundIsSaid(t *testing.T) {
	w := openTools(t)
	for name, args := range map[string]string{
		"search_notes": `{"query":"bees"}`, "find_excerpts": `{"query":"bees"}`, "search_memory": `{"query":"bees"}`,
	} {
		res := w.local(name, args)
		if strings.TrimSpace(res.Text) == "" || len(res.References) > 0 {
			t.Errorf("%s: %q %v", name, res.Text, res.References)
		}
	}
	w.typ(entities.Type{Name: "Person"})
	has(t, w.local("query", `{"query":"SELECT p FROM Person p"}`).Text, "0 rows")
	res, err := tools.NewSet(tools.SetOptions{Views: w.seen}).Call(t.Context(), w.env(audience.Local), "search_memory", json.RawMessage(`{"query":"x"}`))
	mustTool(t, err)
	if !res.Error {
		t.Errorf("without memories: %+v", res)
	}
}

// TestCHAT13_NoResultIsTooLong: not of the longest notes, lists and names, and nothing that is left out is silent.
func TestCHAT13_NoResultIsTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	w := hives(t)
	w.note(notes.Draft{ID: "tome", Title: strings.Repeat("T🐝", 200), Body: strings.Repeat("Honey is sweet. ", 4_000), Tags: []string{strings.Repeat("x", 60)}})
	fields := []entities.Field{}
	values := entities.Values{}
	for i := range 150 {
		name := fmt.Sprint("field", i)
		fields = append(fields, entities.Field{Name: name, Type: "text"})
		values[name] = strings.Repeat("honey ", 200)
	}
	w.typ(entities.Type{Name: "Wide", Fields: fields})
	for i := range 60 {
		w.note(notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint(i, " ", strings.Repeat("honey ", 80)), Body: strings.Repeat("Honey and bees.\n\n", 100) + "[[Roof]]"})
		w.entity(entities.Entity{ID: fmt.Sprint("w", i), Type: "Wide", Name: fmt.Sprint("W", i, strings.Repeat(" wide", 90)), Fields: values})
	}
	drafts := []memory.Draft{}
	for i := range 60 {
		drafts = append(drafts, memory.Draft{Statement: fmt.Sprint(i, " honey ", strings.Repeat("sweet ", 200))})
	}
	_, err := w.memory.Add(context.Background(), w.seen.View(audience.Local), drafts)
	mustTool(t, err)
	for _, tc := range []struct{ name, args, rest string }{
		{"read_note", `{"id":"tome"}`, "goes on: "},
		{"find_excerpts", `{"query":"honey","limit":20}`, ""},
		{"search_notes", `{"query":"honey","limit":20}`, ""},
		{"get_entity", `{"entity":"w0"}`, "with cursor "},
		{"explore_graph", `{"record":"roof"}`, "with cursor "},
		{"query", `{"query":"SELECT w FROM Wide w ORDER BY w.field0, w.field1, w.field2, w.field3, w.field4","limit":500}`, "with cursor "},
		{"search_memory", `{"query":"honey","limit":50}`, "have no room here"},
	} {
		res := w.local(tc.name, tc.args)
		n := utf8.RuneCountInString(res.Text)
		if n > tools.MaxResultText || n < 1000 || !strings.Contains(res.Text, tc.rest) {
			t.Errorf("%s: %d characters, ends with %q", tc.name, n, res.Text[len(res.Text)-200:])
		}
		for _, r := range res.References {
			if id := r.NoteID + r.MemoryID; r.NoteID != "" && !strings.Contains(res.Text, "[id:"+id+"]") {
				t.Errorf("%s: a reference to %s, which is not shown", tc.name, id)
			}
		}
		small, err := w.set.Call(t.Context(), tools.CallEnv{View: w.seen.View(audience.Local), MaxText: 4_000}, tc.name, json.RawMessage(tc.args))
		mustTool(t, err)
		if n := utf8.RuneCountInString(small.Text); n > 4_000 {
			t.Errorf("%s: %d characters, want 4000", tc.name, n)
		}
	}
}

// TestCHAT13_AllPagesAreTheWhole: page by page nothing is missing and nothing comes twice.
func TestCHAT13_AllPagesAreTheWhole(t *testing.T) {
	w := hives(t)
	var body strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&body, "line %d\n", i)
	}
	w.note(notes.Draft{ID: "tome", Title: "Tome", Body: body.String()})
	text, cursor := "", ""
	for range 20 {
		res := w.local("read_note", fmt.Sprintf(`{"id":"tome","cursor":%q}`, cursor))
		head, part, _ := strings.Cut(res.Text, "\n\n")
		text += part
		_, cursor, _ = strings.Cut(head, "cursor ")
		if cursor == "" {
			break
		}
	}
	if strings.TrimSpace(text) != strings.TrimSpace(body.String()) {
		t.Errorf("%d characters of %d", len(text), body.Len())
	}
}

// waiting is a Recaller that answers when its call has ended.
type waiting func(ctx context.Context)

func (w waiting) Search(ctx context.Context, _ *audience.View, _ recall.Request) (*recall.Result, error) {
	w(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &recall.Result{}, nil
}

func TestCHAT13_ASlowToolIsStopped(t *testing.T) {
	w := hives(t)
	set := tools.NewSet(tools.SetOptions{Views: w.seen, Timeout: time.Millisecond, Recall: waiting(func(ctx context.Context) { <-ctx.Done() })})
	for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
		res, err := set.Call(t.Context(), w.env(reader), "search_memory", json.RawMessage(`{"query":"x"}`))
		mustTool(t, err)
		if !res.Error || !strings.Contains(res.Text, "took too long") {
			t.Errorf("%+v", res)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	set = tools.NewSet(tools.SetOptions{Views: w.seen, Recall: waiting(func(context.Context) { cancel() })})
	if _, err := set.Call(ctx, w.env(audience.Local), "search_memory", json.RawMessage(`{"query":"x"}`)); err == nil {
		t.Error("a cancelled call has a result")
	}
	turn := set.Turn(w.env(audience.Local), nil)
	if _, err := turn.Round(ctx, []tools.Call{{Name: "search_notes", Arguments: `{"query":"x"}`}}); err == nil {
		t.Error("a cancelled round has results")
	}
}

// TestCHAT13_BoundsOfATurn: eight rounds, a minute, and 32 calls of a message.
func TestCHAT13_BoundsOfATurn(t *testing.T) {
	w := hives(t)
	turn := w.set.Turn(w.env(audience.Local), nil)
	one := func(i int) []tools.Call {
		return []tools.Call{{Name: "search_notes", Arguments: fmt.Sprintf(`{"query":"bees %d"}`, i)}}
	}
	for i := range tools.MaxRounds {
		if turn.Done() {
			t.Fatalf("done after %d rounds", i)
		}
		got, err := turn.Round(t.Context(), one(i))
		mustTool(t, err)
		if len(got) != 1 || got[0].Error {
			t.Fatalf("%+v", got)
		}
	}
	got, err := turn.Round(t.Context(), one(99))
	mustTool(t, err)
	if !turn.Done() || turn.Rounds() != tools.MaxRounds || !got[0].Error || !strings.Contains(got[0].Text, "Answer with what you have") {
		t.Errorf("the round behind the last: %+v", got[0])
	}

	at := time.Unix(0, 0)
	clock := func() time.Time { return at }
	slow := tools.NewSet(tools.SetOptions{Views: w.seen, Recall: waiting(func(context.Context) { at = at.Add(15 * time.Second) })})
	turn = slow.Turn(w.env(audience.Remote), clock)
	for i := range 4 {
		if turn.Done() {
			t.Fatalf("done after %d rounds, %v", i, turn.Spent())
		}
		_, err := turn.Round(t.Context(), []tools.Call{{Name: "search_memory", Arguments: fmt.Sprintf(`{"query":"bees %d"}`, i)}})
		mustTool(t, err)
	}
	if !turn.Done() || turn.Spent() != time.Minute {
		t.Errorf("after %v", turn.Spent())
	}

	turn = w.set.Turn(w.env(audience.Local), nil)
	many := make([]tools.Call, 40)
	for i := range many {
		many[i] = one(i)[0]
	}
	got, err = turn.Round(t.Context(), many)
	mustTool(t, err)
	for i, r := range got {
		if r == nil || r.Error != (i >= tools.MaxCalls) {
			t.Errorf("call %d: %+v", i, r)
		}
	}
	if got, err := turn.Round(t.Context(), nil); err != nil || len(got) > 0 || turn.Rounds() != 1 {
		t.Errorf("a round without calls: %v %v", got, err)
	}
}

// TestCHAT13_TheSameCallIsRunOnce: in one round and in later ones, however its arguments are written.
func TestCHAT13_TheSameCallIsRunOnce(t *testing.T) {
	w := hives(t)
	ran := 0
	set := tools.NewSet(tools.SetOptions{Views: w.seen, Recall: waiting(func(context.Context) { ran++ })})
	turn := set.Turn(w.env(audience.Remote), nil)
	first, err := turn.Round(t.Context(), []tools.Call{
		{Name: "search_memory", Arguments: `{"query":"bees","limit":3}`}, {Name: "search_memory", Arguments: `{ "limit": 3, "query": "bees" }`},
	})
	mustTool(t, err)
	second, err := turn.Round(t.Context(), []tools.Call{
		{Name: "create_task", Arguments: `{"title":"x"}`}, {Name: "search_memory", Arguments: `{"query":"bees","limit":3}`}, {Name: "create_task", Arguments: `{"title":"x"}`},
	})
	mustTool(t, err)
	if ran != 1 || first[0] != first[1] || second[1] != first[0] || second[0] != second[2] || len(turn.Proposals()) != 1 {
		t.Errorf("ran %d times, %d proposals", ran, len(turn.Proposals()))
	}
	other, err := turn.Round(t.Context(), []tools.Call{{Name: "search_memory", Arguments: `{"query":"bees","limit":4}`}})
	mustTool(t, err)
	if ran != 2 || other[0] == first[0] {
		t.Errorf("another call: ran %d times", ran)
	}
}

// TestCHAT13_APanicIsThatOfTheCaller: a tool that breaks does not end the daemon.
func TestCHAT13_APanicIsThatOfTheCaller(t *testing.T) {
	w := hives(t)
	set := tools.NewSet(tools.SetOptions{Views: w.seen, Recall: waiting(func(context.Context) { panic("broken") })})
	defer func() {
		if recover() != "broken" {
			t.Error("no panic in the caller")
		}
	}()
	_, _ = set.Turn(w.env(audience.Remote), nil).Round(t.Context(), []tools.Call{{Name: "search_memory", Arguments: `{"query":"bees"}`}})
}

// TestCHAT13_SchemasAreValid: each is one, and accepts what its tool accepts.
func TestCHAT13_SchemasAreValid(t *testing.T) {
	w := hives(t)
	examples := map[string]string{
		"read_note": `{"id":"cell"}`, "find_excerpts": `{"query":"bees","limit":5}`, "search_notes": `{"query":"bees"}`,
		"get_entity": `{"entity":"ann"}`, "explore_graph": `{"record":"ann","kinds":["note"]}`, "query": `{"query":"SELECT p FROM Person p"}`,
		"search_memory": `{"query":"bees","kinds":["memories"]}`, "create_task": `{"title":"x","entities":["ann"],"note":"cell","due":"2026-02-01"}`,
		"assign_entity": `{"entity":"hive","field":"team","to":"bob","reason":"because"}`,
	}
	list := tools.List(true)
	if len(list) != len(examples) {
		t.Errorf("%d tools, %d examples", len(list), len(examples))
	}
	for _, d := range list {
		if d.Proposes != slices.Contains([]string{"create_task", "assign_entity"}, d.Name) {
			t.Errorf("%s: proposes %v", d.Name, d.Proposes)
		}
		if d.Title == "" || d.Description == "" {
			t.Errorf("%s has no title or description", d.Name)
		}
		var schema jsonschema.Schema
		mustTool(t, json.Unmarshal(d.Schema, &schema))
		resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		mustTool(t, err)
		var args any
		mustTool(t, json.Unmarshal([]byte(examples[d.Name]), &args))
		mustTool(t, resolved.Validate(args))
		w.local(d.Name, examples[d.Name])
		if resolved.Validate(map[string]any{"nothing": 1}) == nil || !w.call(audience.Local, d.Name, `{"nothing":1}`).Error {
			t.Errorf("%s takes any argument", d.Name)
		}
	}
	if all := tools.ListInConversation(); len(all) != len(list)+1 || all[len(list)].Name != "record_response" {
		t.Errorf("a conversation offers %d tools", len(all))
	}
	for _, d := range tools.List(false) {
		if d.Proposes {
			t.Errorf("%s is listed among those that read", d.Name)
		}
	}
}

func TestCHAT21_ProposalsChangeNothing(t *testing.T) {
	w := hives(t)
	front := "---\ntype: Project\nLead: \"[[Cara]]\"\nteam: [\"[[Cara]]\"]\n---\n"
	w.note(notes.Draft{ID: "cara", Vault: "v", Path: "people/Cara.md", Body: "---\ntype: Person\n---\nHi"})
	w.note(notes.Draft{ID: "dan", Vault: "v", Path: "people/Dan.md", Body: "---\ntype: Person\n---\nHi"})
	w.note(notes.Draft{ID: "vp", Vault: "v", Path: "Vault project.md", Body: front + "Text"})
	before := w.db.Seq()
	for _, tc := range []struct {
		name, args string
		want       tools.Proposal
		text       []string
	}{
		{
			"create_task", `{"title":"Buy\n a  cell","due":"2026-02-01","entities":["Ann","ann","Hive scale"],"note":"Load cell","details":"the big one","reason":"It drifts"}`,
			tools.Proposal{
				Type: tools.CreateTask, Reason: "It drifts",
				Args: json.RawMessage(`{"title":"Buy a cell","details":"the big one","due":"2026-02-01","entityIds":["ann","hive"],"noteId":"cell"}`),
			},
			[]string{"Task: Buy a cell\n", "about: @Ann (Person) [id:ann]\n", "from: [[Load cell]] [id:cell]\n", "due: 2026-02-01\n", "Nothing has changed yet"},
		},
		{
			"assign_entity", `{"entity":"Hive scale","field":"LEAD","to":"Bob"}`,
			tools.Proposal{Type: tools.AssignEntity, Version: 1, Args: json.RawMessage(`{"entityId":"hive","field":"lead","targetId":"bob"}`)},
			[]string{"The field lead of @Hive scale (Project) [id:hive] refers to @Bob (Person) [id:bob].\n", "Nothing has changed yet"},
		},
		{
			"assign_entity", `{"entity":"hive","field":"plan","to":"[[Roof]]"}`,
			tools.Proposal{Type: tools.AssignEntity, Version: 1, Args: json.RawMessage(`{"entityId":"hive","field":"plan","targetId":"roof"}`)},
			[]string{"refers to [[Roof]] [id:roof]"},
		},
		{
			"assign_entity", `{"entity":"Vault project","field":"lead","to":"Dan"}`,
			tools.Proposal{
				Type: tools.AssignEntity, Version: 1, Args: json.RawMessage(`{"entityId":"` + w.entityOf("vp") + `","field":"lead","targetId":"` + w.entityOf("dan") + `"}`),
				Edit: &tools.Edit{NoteID: "vp", Path: "Vault project.md", Field: "Lead", Value: "[[Dan]]", Line: `Lead: "[[Dan]]"`},
			},
			[]string{"comes from a file, which the user changes: Vault project.md\n", "Nothing has changed yet"},
		},
		{
			"assign_entity", `{"entity":"Vault project","field":"team","to":"Dan"}`,
			tools.Proposal{
				Type: tools.AssignEntity, Version: 1, Args: json.RawMessage(`{"entityId":"` + w.entityOf("vp") + `","field":"team","targetId":"` + w.entityOf("dan") + `"}`),
				Edit: &tools.Edit{NoteID: "vp", Path: "Vault project.md", Field: "team", Value: "[[Dan]]", Line: `team: ["[[Cara]]", "[[Dan]]"]`},
			},
			nil,
		},
	} {
		for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
			res := w.call(reader, tc.name, tc.args)
			has(t, res.Text, tc.text...)
			if res.Error || res.Proposal == nil {
				t.Errorf("%s: %+v", tc.args, res)
				continue
			}
			same(t, *res.Proposal, tc.want)
		}
	}
	if w.db.Seq() != before {
		t.Error("a proposal has changed the store")
	}
}

// entityOf returns the id of the entity that a note describes.
func (w *toolsWorld) entityOf(note string) string {
	w.t.Helper()
	n := w.notes.Get(note)
	if n == nil || n.EntityID == "" {
		w.t.Fatalf("%s describes nothing", note)
	}
	return n.EntityID
}

// TestSRCH55_AToolShowsTasksAndStandsOnTheirNotes: a task is no record that a text could mention, and what is made of it follows
// the privacy of its note (PRIV-13).
func TestSRCH55_AToolShowsTasksAndStandsOnTheirNotes(t *testing.T) {
	w := openTools(t)
	w.note(notes.Draft{ID: "plan", Title: "Plan", Body: "- [ ] Call *Bob* 📅 2026-03-04\n- [x] b\n"})
	w.note(notes.Draft{ID: "other", Title: "Other", Body: "- [x] c\n"})
	res := w.local("query", `{"query":"SELECT t FROM Task t WHERE t.done = false AND t.due < '2026-04-01'"}`)
	has(t, res.Text, "- Call Bob (Task, line 1 of [[Plan]] [id:plan]), done: false, due: 2026-03-04")
	if len(res.References) != 1 || res.References[0].NoteID != "plan" || !slices.Equal(res.StandsOn.Notes, []string{"plan"}) || len(res.StandsOn.Entities) > 0 {
		t.Errorf("%+v stands on %+v", res.References, res.StandsOn)
	}
	res = w.local("query", `{"query":"SELECT COUNT(*) FROM Task t WHERE t.done = true"}`)
	if res.Text != "2\n" || len(res.StandsOn.Notes) != 2 || len(res.StandsOn.Entities) > 0 {
		t.Errorf("%q stands on %+v", res.Text, res.StandsOn)
	}
}

// TestCTX44_AModelIsToldOfOtherFilesOfALink: those that the reader sees, and no more.
func TestCTX44_AModelIsToldOfOtherFilesOfALink(t *testing.T) {
	w := hives(t)
	w.note(notes.Draft{ID: "lamp-a", Vault: "v", Path: "A/Lamp.md", Body: "of A"})
	w.note(notes.Draft{ID: "lamp-b", Vault: "v", Path: "B/Lamp.md", Body: "of B"})
	w.note(notes.Draft{ID: "lamp-c", Vault: "v", Path: "C/Lamp.md", Body: "of C", Private: true})
	const told = "\na link to it could also mean: [[B/Lamp]] [id:lamp-b]"
	for _, c := range []struct {
		reader audience.Reader
		name   string
		want   string
	}{
		{audience.Local, "[[Lamp]]", told + ", [[C/Lamp]] [id:lamp-c]\n"},
		{audience.Remote, "[[Lamp]]", told + "\n"},
		{audience.Local, "A/Lamp.md", ""},
		{audience.Local, "lamp-a", ""},
	} {
		got := w.call(c.reader, "read_note", fmt.Sprintf(`{"id":%q}`, c.name)).Text
		if !strings.Contains(got, "of A") || !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "could also mean") {
			t.Errorf("%v %s:\n%s", c.reader, c.name, got)
		}
	}
}
