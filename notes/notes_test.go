package notes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

var ctx = context.Background()

func open(t *testing.T, dir string) (*notes.Store, *entities.Store, *kv.Store) {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	n := 0
	id := func() string { n++; return fmt.Sprintf("id-%d", n) }
	ents, err := entities.Open(db, entities.Options{NewID: id})
	if err != nil {
		t.Fatal(err)
	}
	s, err := notes.Open(db, ents, notes.Options{NewID: id})
	if err != nil {
		t.Fatal(err)
	}
	return s, ents, db
}

func put(t *testing.T, s *notes.Store, d notes.Draft) *notes.Note {
	t.Helper()
	n, err := s.Put(ctx, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ptr[T any](v T) *T { return &v }

// TestREL14_TheStoreIsUsedWhileAllAreRead: who holds a lock there, and asks for one more behind a write that waits, waits for
// ever.
func TestREL14_TheStoreIsUsedWhileAllAreRead(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{Title: "First"})
	for n := range s.All() {
		put(t, s, notes.Draft{Title: "Second"})
		if s.Get(n.ID) == nil {
			t.Error("the note is not there")
		}
	}
	person := func(name string) {
		if _, err := ents.Put(ctx, entities.Entity{Type: "Person", Name: name}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "Person"}, nil, false); err != nil {
		t.Fatal(err)
	}
	person("Ada")
	for e := range ents.All() {
		person("Bob")
		if ents.TypeOf(e) == nil {
			t.Error("the type is not there")
		}
	}
}

func TestSRCH32_TitleOfANote(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	for _, c := range []struct {
		d    notes.Draft
		want string
	}{
		{notes.Draft{Title: "Given", Body: "---\ntitle: Front\n---\n# Head"}, "Given"},
		{notes.Draft{Body: "---\ntitle: Front\n---\n# Head", Path: "a/File.md"}, "Front"},
		{notes.Draft{Body: "text\n\n# Head *one*", Path: "a/File2.md"}, "Head one"},
		{notes.Draft{Body: "text", Path: "a/File three.md"}, "File three"},
		{notes.Draft{}, "Untitled"},
		{notes.Draft{Body: "# " + strings.Repeat("é", 600)}, strings.Repeat("é", 512)},
	} {
		if n := put(t, s, c.d); n.Title != c.want {
			t.Errorf("%+v has title %q", c.d, n.Title)
		}
	}
}

func TestNotesDescribeThemselves(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	n := put(t, s, notes.Draft{
		ID: "n", Tags: []string{"#Work", "extra"}, Aliases: []string{"One"}, Path: "Folder/Sub/N.md",
		Body: "---\ntags: [work, plan]\naliases: [one, Two]\nprivate: true\ncreated: 2025-01-02\n---\nText with #inline and `#code`.",
	})
	if diff := cmp.Diff([]string{"Work", "extra", "plan", "inline"}, n.Tags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"One", "Two"}, n.Aliases); diff != "" {
		t.Error(diff)
	}
	if !n.Private || n.Folder != "Folder/Sub" || n.CreatedAt.Format(time.DateOnly) != "2025-01-02" || n.Version != 1 {
		t.Errorf("%+v", n)
	}
	if got := n.PlainText(); got != "Text with #inline and #code." {
		t.Errorf("plain text %q", got)
	}
	// A new text takes back what the old one said, and nothing else.
	n, err := s.Patch(ctx, notes.Patch{ID: "n", Body: ptr("No more.")}, ptr(1))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Work", "extra"}, n.Tags); diff != "" || n.Private || n.Title != "N" || n.Version != 2 {
		t.Errorf("%+v\n%s", n, diff)
	}
	if got := s.Tags("#W"); len(got) != 1 || got[0].Count != 1 {
		t.Errorf("tags %v", got)
	}
}

// A tag is called as most of its notes spell it, whichever of them came first: rooms that
// are opened anew call it the same.
func TestTagsAreCalledTheSameByRoomsThatAreOpenedAnew(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	called := func(step, want string) {
		t.Helper()
		ents, err := entities.Open(db, entities.Options{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := notes.Open(db, ents, notes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for when, got := range map[string][]record.NoteTag{"now": s.Tags(""), "opened anew": again.Tags("")} {
			if len(got) != 1 || got[0].Name != want {
				t.Errorf("%s, %s: %v, want %s", step, when, got, want)
			}
		}
	}
	put(t, s, notes.Draft{ID: "z", Tags: []string{"plan"}})
	put(t, s, notes.Draft{ID: "y", Tags: []string{"PLAN"}})
	called("as often", "PLAN")
	put(t, s, notes.Draft{ID: "x", Tags: []string{"plan"}})
	put(t, s, notes.Draft{ID: "a", Tags: []string{"Plan"}})
	called("most", "plan")
	if _, err := s.Delete(ctx, "z", nil); err != nil {
		t.Fatal(err)
	}
	called("the first one is gone", "PLAN")
}

func TestBadNotes(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "old", Path: "a.md", Body: "old"})
	for _, c := range []struct {
		name    string
		d       notes.Draft
		version *int
		kind    fault.Kind
		field   string
	}{
		{"id", notes.Draft{ID: "a/b"}, nil, fault.Invalid, "id"},
		{"title", notes.Draft{Title: strings.Repeat("é", 513)}, nil, fault.Limit, "title"},
		{"body", notes.Draft{Body: strings.Repeat("x", 4<<20+1)}, nil, fault.Limit, "body"},
		{"utf8", notes.Draft{Body: "\xff"}, nil, fault.Invalid, "body"},
		{"absolute", notes.Draft{Path: "/a.md"}, nil, fault.Invalid, "path"},
		{"dots", notes.Draft{Path: "a/../../b.md"}, nil, fault.Invalid, "path"},
		{"up", notes.Draft{Path: "../b.md"}, nil, fault.Invalid, "path"},
		{"nul", notes.Draft{Path: "a\x00.md"}, nil, fault.Invalid, "path"},
		{"long path", notes.Draft{Path: strings.Repeat("x", 1025)}, nil, fault.Limit, "path"},
		{"folder", notes.Draft{Folder: "../x"}, nil, fault.Invalid, "folder"},
		{"tag", notes.Draft{Tags: []string{"two words"}}, nil, fault.Invalid, "tags"},
		{"taken path", notes.Draft{ID: "new", Path: "a.md"}, nil, fault.Conflict, "path"},
		{"exists", notes.Draft{ID: "old"}, ptr(0), fault.Conflict, "ifVersion"},
		{"stale", notes.Draft{ID: "old"}, ptr(2), fault.Conflict, "ifVersion"},
	} {
		_, err := s.Put(ctx, c.d, c.version)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != c.kind || f.Field != c.field {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := s.PutMany(ctx, []notes.Draft{{ID: "x"}, {Path: "/"}}); err == nil || s.Get("x") != nil {
		t.Errorf("putMany is all or none: %v", err)
	}
	if n := s.Get("old"); n.Version != 1 || n.Body != "old" {
		t.Errorf("a refused write left %+v", n)
	}
	for name, err := range map[string]error{
		"patch":   second(s.Patch(ctx, notes.Patch{ID: "none"}, nil)),
		"archive": second(s.Archive(ctx, "none", nil)),
		"restore": second(s.Restore(ctx, "none", nil)),
		"delete":  second(s.Delete(ctx, "none", nil)),
		"get":     second(s.ByID("none")),
		"path":    second(s.ByPath("none.md", nil)),
		"title":   second(s.ByTitle("none", nil)),
	} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s of an unknown note: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A note is found by its aliases too, but before them by titles, and live ones
// before archived ones.
func TestByTitle_Aliases(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "a", Title: "Alpha", Aliases: []string{"First", "Beta", "Both"}})
	put(t, s, notes.Draft{ID: "b", Title: "Beta", Aliases: []string{"both", "Last"}})
	put(t, s, notes.Draft{ID: "c", Title: "Old", Aliases: []string{"last"}})
	if _, err := s.Archive(ctx, "c", nil); err != nil {
		t.Fatal(err)
	}
	for title, id := range map[string]string{"first": "a", " FIRST ": "a", "beta": "b", "last": "b", "alpha": "a", "old": "c"} {
		if n, err := s.ByTitle(title, nil); err != nil || n.ID != id {
			t.Errorf("%q is %v, %v, want %s", title, n, err, id)
		}
	}
	_, err := s.ByTitle("both", nil)
	var several *fault.Error
	if !errors.As(err, &several) || several.Kind != fault.Conflict || len(several.Candidates) != 2 {
		t.Errorf("an alias of two notes: %+v", err)
	}
	notA := func(n *notes.Note) bool { return n.ID == "a" }
	if n, err := s.ByTitle("both", notA); err != nil || n.ID != "b" {
		t.Errorf("%v, %v", n, err)
	}
}

func TestPathsAreFreedAndTakenAgain(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "a", Path: "one.md"})
	put(t, s, notes.Draft{ID: "a", Path: "two.md"})
	put(t, s, notes.Draft{ID: "b", Path: "one.md"})
	if _, err := s.Delete(ctx, "a", nil); err != nil {
		t.Fatal(err)
	}
	put(t, s, notes.Draft{ID: "b", Path: "two.md"})
	if n, err := s.ByPath("two.md", nil); err != nil || n.ID != "b" {
		t.Errorf("%v, %v", n, err)
	}
}

// TestSRCH32_Resolution is the table of the rules.
func TestSRCH32_Resolution(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	for id, d := range map[string]notes.Draft{
		"root":   {Path: "Glossary.md"},
		"a":      {Path: "A/Glossary.md"},
		"deep":   {Path: "B/C/Deep.md"},
		"spec1":  {Path: "B/Spec.md"},
		"spec2":  {Path: "A/Long/Spec.md"},
		"spec3":  {Path: "C/Spec.md"},
		"title":  {Path: "x1.md", Body: "# The Title"},
		"t2a":    {Path: "x2.md", Title: "Twice"},
		"t2b":    {Path: "x3.md", Title: "TWICE"},
		"alias":  {Path: "x4.md", Aliases: []string{"Nick", "Twice"}},
		"uni":    {Path: "Zürich.md"},
		"slash":  {Title: "1/1 Alice"},
		"from":   {Path: "A/From.md"},
		"pathls": {Title: "No Path"},
	} {
		d.ID = id
		put(t, s, d)
	}
	for _, c := range []struct {
		link, from, want string
		tier             notes.Tier
		candidates       int
	}{
		{"Glossary", "", "root", notes.TierPath, 0},
		{"Glossary", "from", "root", notes.TierPath, 0}, // the root comes before the own folder
		{"./Glossary", "from", "a", notes.TierPath, 0},
		{"A/Glossary.md", "", "a", notes.TierPath, 0},
		{"/Glossary", "from", "root", notes.TierPath, 0},
		{"../Glossary", "from", "root", notes.TierPath, 0},
		{"C/Deep", "", "deep", notes.TierPath, 0},
		{"c/DEEP.MD", "", "deep", notes.TierPath, 0},
		{"Deep", "", "deep", notes.TierName, 0},
		{"Spec", "", "spec1", notes.TierName, 0}, // the shortest path, then byte order
		{"Long/Spec", "from", "spec2", notes.TierPath, 0},
		{"the title", "", "title", notes.TierTitle, 0},
		{"Twice", "", "", notes.TierTitle, 2},
		{"nick", "", "alias", notes.TierAlias, 0},
		{"ZU\u0308RICH", "", "uni", notes.TierPath, 0},
		{"1/1 Alice", "", "slash", notes.TierTitle, 0},
		{"no path", "", "pathls", notes.TierTitle, 0},
		{"Deep#Part|shown", "", "deep", notes.TierName, 0},
		{"#Part", "from", "from", notes.TierSelf, 0},
		{"#Part", "", "", "", 0},
		{"Ghost", "", "", "", 0},
		{"../../Glossary", "from", "", "", 0},
		{"", "from", "from", notes.TierSelf, 0},
	} {
		got := s.Resolve(c.link, c.from, nil)
		if got.ID != c.want || got.Tier != c.tier || len(got.Candidates) != c.candidates {
			t.Errorf("[[%s]] in %q is %+v, want %s by %s", c.link, c.from, got, c.want, c.tier)
		}
	}
	if _, err := s.Archive(ctx, "t2a", nil); err != nil {
		t.Fatal(err)
	}
	if got := s.Resolve("Twice", "", nil); got.ID != "t2b" {
		t.Errorf("an archived note does not make a link ambiguous: %+v", got)
	}
}

func TestSRCH32_VaultsAreWorldsOfTheirOwn(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	for _, d := range []notes.Draft{
		{ID: "w1", Vault: "work", Path: "Plan.md", Body: "[[Diary]] [[Shared]] [[Plan]]"},
		{ID: "h1", Vault: "home", Path: "Diary.md", Body: "# Day"},
		{ID: "h2", Vault: "home", Path: "Plan.md", Body: "[[Plan]]"},
		{ID: "none", Title: "Shared", Body: "[[Diary]] [[Plan]]"},
	} {
		if err := db.Update(ctx, func(tx *kv.Tx) error { _, err := s.PutTx(tx, d, nil, nil); return err }); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string][]string{"w1": {"", "none", "w1"}, "h2": {"h2"}, "none": {"h1", "h2"}} {
		if diff := cmp.Diff(want, s.Targets(id)); diff != "" {
			t.Errorf("links of %s:\n%s", id, diff)
		}
	}
}

// CTX-5: in a message, names in several vaults are not guessed between: the best of each
// vault is a candidate.
func TestCTX5_LinksFromNowhereDoNotChooseBetweenVaults(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	for _, d := range []notes.Draft{
		{ID: "a1", Vault: "a", Path: "Plan.md"},
		{ID: "a2", Vault: "a", Path: "Deep/Plan.md"},
		{ID: "b1", Vault: "b", Path: "Work/Plan.md"},
		{ID: "b2", Vault: "b", Path: "Other/Work/Plan.md"},
		{ID: "none", Path: "Client/Plan.md"},
		{ID: "a3", Vault: "a", Path: "Notes/Todo.md"},
		{ID: "b3", Vault: "b", Path: "Area/Notes/Todo.md"},
		{ID: "own", Vault: "b", Path: "Own.md"},
		{ID: "mine", Path: "Own/Own.md"},
		{ID: "old", Vault: "a", Path: "Kept.md", Body: "---\narchived: true\n---\n"},
		{ID: "new", Vault: "b", Path: "Old/Kept.md"},
		{ID: "secret", Vault: "a", Path: "Hidden.md", Body: "---\nprivate: true\n---\n"},
		{ID: "open", Vault: "b", Path: "Deep/Hidden.md"},
	} {
		if err := db.Update(ctx, func(tx *kv.Tx) error { _, err := s.PutTx(tx, d, nil, nil); return err }); err != nil {
			t.Fatal(err)
		}
	}
	private := func(n *notes.Note) bool { return n.Private }
	for _, c := range []struct {
		link, from string
		skip       notes.Skip
		want       string
		several    []string
	}{
		{"Plan", "own", nil, "b1", nil}, // of its vault or of none: the shortest path
		{"Plan", "", nil, "", []string{"a1", "b1", "none"}},
		{"Plan.md", "", nil, "", []string{"a1", "b1", "none"}},
		{"Deep/Plan", "", nil, "a2", nil},
		{"Work/Plan", "", nil, "b1", nil}, // one vault: a path from the root comes first
		{"Notes/Todo", "", nil, "", []string{"a3", "b3"}},
		{"/Notes/Todo", "", nil, "a3", nil},
		{"/Plan", "", nil, "a1", nil},
		{"./Plan", "", nil, "a1", nil},
		{"Own", "", nil, "own", nil}, // one vault and none: the rules choose
		{"Kept", "", nil, "new", nil},
		{"Hidden", "", private, "open", nil},
		{"Hidden", "", nil, "", []string{"secret", "open"}}, // the shortest path first
	} {
		got := s.Resolve(c.link, c.from, c.skip)
		if got.ID != c.want || !slices.Equal(got.Candidates, c.several) {
			t.Errorf("[[%s]] in %q is %+v, want %q or %q", c.link, c.from, got, c.want, c.several)
		}
	}
}

// What a link or a title most likely means is the first candidate: of the folder of the
// note, by the shortest path, in byte order, then by vault.
func TestCTX5_TheLikeliestCandidateIsFirst(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	ctx := context.Background()
	for _, d := range []notes.Draft{
		{ID: "1", Title: "Plan", Vault: "b", Path: "Deep/Folder/x.md"},
		{ID: "2", Title: "Plan", Vault: "b", Path: "y.md"},
		{ID: "3", Title: "Plan", Vault: "b", Path: "Deep/z.md"},
		{ID: "4", Title: "Plan", Vault: "b", Path: "Deep/x.md"},
		{ID: "5", Title: "Plan", Vault: "a", Path: "y.md"},
		{ID: "from", Vault: "b", Path: "Deep/Folder/From.md", Body: "[[Plan]]"},
	} {
		if err := db.Update(ctx, func(tx *kv.Tx) error { _, err := s.PutTx(tx, d, nil, nil); return err }); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string][]string{"": {"5", "2", "4", "3", "1"}, "from": {"1", "2", "4", "3"}} {
		if got := s.Resolve("Plan", from, nil).Candidates; !slices.Equal(got, want) {
			t.Errorf("[[Plan]] in %q may mean %q, want %q", from, got, want)
		}
	}
	ids := func(list []fault.Candidate) (ids []string) {
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		return ids
	}
	var several *fault.Error
	_, err := s.ByTitle("plan", nil)
	if !errors.As(err, &several) || !slices.Equal(ids(several.Candidates), []string{"5", "2", "4", "3", "1"}) {
		t.Errorf("the title may mean %v", err)
	}
	_, unresolved := s.Outgoing("from")
	if len(unresolved) != 1 || !slices.Equal(ids(unresolved[0].Candidates), []string{"1", "2", "4", "3"}) {
		t.Errorf("the link is %v", unresolved)
	}
	all := s.Unresolved("b", nil)
	if len(all) != 1 || !slices.Equal(ids(all[0].Candidates), []string{"1", "2", "4", "3"}) {
		t.Errorf("the list of such links is %v", all)
	}
}

// A file in the folder of the note comes before files of that name elsewhere, also
// when it is archived and they are not.
func TestLinksFindTheFileBesideThem(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "far", Path: "Other/Plan.md"})
	put(t, s, notes.Draft{ID: "near", Path: "Here/Plan.md", Body: "---\narchived: true\n---\n"})
	put(t, s, notes.Draft{ID: "from", Path: "Here/From.md", Body: "[[plan]] [[Plan.md]]"})
	if got := s.Targets("from"); !slices.Equal(got, []string{"near", "near"}) {
		t.Errorf("links lead to %q", got)
	}
	if r := s.Resolve("Plan", "from", nil); r.ID != "near" || r.Tier != notes.TierPath {
		t.Errorf("%+v", r)
	}
}

func TestLinksFollowTheirTargets(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "from", Body: "See [[Plan]], ![[Plan#Goals|the goals]] and\n[[Plan]] `[[Code]]`"})
	check := func(want string, resolved, incoming int) {
		t.Helper()
		out, un := s.Outgoing("from")
		if len(out) != resolved || len(un) != 3-resolved {
			t.Errorf("%d resolved, %d not", len(out), len(un))
		}
		if resolved > 0 && (out[0].ID != want || out[1].Heading != "Goals" || !out[1].Embed || out[2].Line != 2) {
			t.Errorf("links %+v", out)
		}
		in := s.Incoming("plan")
		if len(in) != incoming || incoming > 0 && (in[0].ID != "from" || in[0].Count != 3 || in[0].Line != 1) {
			t.Errorf("backlinks %+v", in)
		}
		if got := s.LinkCount("", nil); got != (notes.LinkCounts{Links: 3, Unresolved: 3 - resolved}) {
			t.Errorf("%+v", got)
		}
	}
	check("", 0, 0)
	put(t, s, notes.Draft{ID: "plan", Title: "Plan"})
	check("plan", 3, 1)
	put(t, s, notes.Draft{ID: "plan", Title: "Other"})
	check("", 0, 0)
	put(t, s, notes.Draft{ID: "plan", Title: "Other", Aliases: []string{"plan"}})
	check("plan", 3, 1)
	if _, err := s.Delete(ctx, "plan", nil); err != nil {
		t.Fatal(err)
	}
	check("", 0, 0)
	put(t, s, notes.Draft{ID: "plan", Path: "x/Plan.md"})
	check("plan", 3, 1)
	if _, err := s.Delete(ctx, "from", nil); err != nil {
		t.Fatal(err)
	}
	if in := s.Incoming("plan"); len(in) != 0 {
		t.Errorf("a deleted note still links: %+v", in)
	}
}

func TestNotesMakeEntities(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "Person", Fields: []entities.Field{
		{Name: "role", Type: record.Text},
		{Name: "level", Type: record.Number},
		{Name: "boss", Type: record.EntityRef},
		{Name: "reports", Type: record.EntityRefList},
		{Name: "profile", Type: record.NoteRef},
	}}, nil, false); err != nil {
		t.Fatal(err)
	}
	ann := put(t, s, notes.Draft{ID: "n-ann", Title: "Ann", Aliases: []string{"A"}, Body: "---\ntype: person\nrole: 007\nlevel: many\nboss: [[Bob]]\nreports:\n  - Cy\n  - \"[[Dee|D]]\"\nprofile: '[[Ann]]'\n---\n"})
	e := ents.Get(ann.EntityID)
	if e == nil || e.Type != "Person" || e.Name != "Ann" || e.NoteID != "n-ann" || e.VaultBacked || e.Aliases[0] != "A" {
		t.Fatalf("entity %+v", e)
	}
	want := entities.Values{"role": "007", "boss": "[[Bob]]", "reports": []string{"[[Cy]]", "[[Dee|D]]"}, "profile": "n-ann"}
	if diff := cmp.Diff(want, e.Fields); diff != "" {
		t.Error(diff)
	}
	bob := put(t, s, notes.Draft{ID: "n-bob", Title: "Bob", Body: "---\ntype: Person\n---\n"})
	put(t, s, notes.Draft{ID: "n-dee", Title: "Dee", Body: "no entity"})
	if got := ents.Get(e.ID).Fields["boss"]; got != bob.EntityID {
		t.Errorf("boss is %v, not %s", got, bob.EntityID)
	}
	if got := ents.Get(e.ID).Strings("reports")[1]; got != "[[Dee|D]]" {
		t.Errorf("a note without an entity gives %v", got)
	}
	if _, err := s.Archive(ctx, "n-bob", nil); err != nil {
		t.Fatal(err)
	}
	if ents.Get(bob.EntityID).Live() || s.Get("n-bob").Live() {
		t.Error("archiving a note archives its entity")
	}
	if got := ents.Get(e.ID).Fields["boss"]; got != bob.EntityID {
		t.Errorf("a link to an archived note stays resolved, not %v", got)
	}
	if _, err := s.Restore(ctx, "n-bob", nil); err != nil || !ents.Get(bob.EntityID).Live() {
		t.Errorf("restoring brings the entity back: %v", err)
	}
	put(t, s, notes.Draft{ID: "n-bob", Title: "Bob", Body: "plain"})
	if ents.Get(bob.EntityID).Live() {
		t.Error("a note without a type keeps no entity")
	}
	put(t, s, notes.Draft{ID: "n-bob", Title: "Bobby", Body: "---\ntype: Person\n---\n"})
	if e := ents.Get(bob.EntityID); !e.Live() || e.Name != "Bobby" {
		t.Errorf("the entity comes back: %+v", e)
	}
	if _, err := s.Delete(ctx, "n-bob", nil); err != nil || ents.Get(bob.EntityID).Live() {
		t.Errorf("deleting a note archives its entity: %v", err)
	}
}

func TestUndeclaredTypesAreInferredAndGrow(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{Body: "---\ntype: Book\npages: 120\nread: true\nauthor: [[Ann]]\ntags: x\nby: [a, b]\nout: 2020-01-01\nnil:\n---\n"})
	n := put(t, s, notes.Draft{Body: "---\ntype: book\npages: 7\nisbn: 978-3\n---\n"})
	typ := ents.Type("Book")
	if typ == nil || !typ.Inferred || typ.Version != 2 {
		t.Fatalf("type %+v", typ)
	}
	var got []string
	for _, f := range typ.Fields {
		got = append(got, f.Name+" "+string(f.Type))
	}
	want := []string{"pages number", "read boolean", "author entity_ref", "by text_list", "out date", "isbn text"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if e := ents.Get(n.EntityID); e.Fields["isbn"] != "978-3" || e.Fields["pages"] != 7.0 {
		t.Errorf("entity %+v", e)
	}
	if _, _, err := ents.PutType(ctx, entities.Type{Name: "Book", Fields: typ.Fields[:1]}, nil, true); err != nil {
		t.Fatal(err)
	}
	put(t, s, notes.Draft{Body: "---\ntype: book\nshelf: 3\n---\n"})
	if typ := ents.Type("Book"); typ.Inferred || len(typ.Fields) != 1 {
		t.Errorf("a declared type does not grow: %+v", typ)
	}
}

func TestArchivedByFrontmatterOrByAClient(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "a", Body: "---\narchived: true\n---\n"})
	if s.Get("a").Live() {
		t.Error("archived by its frontmatter")
	}
	if _, err := s.Restore(ctx, "a", nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("its text still says so: %v", err)
	}
	put(t, s, notes.Draft{ID: "a", Body: "text"})
	if !s.Get("a").Live() {
		t.Error("the text no longer says so")
	}
	if _, err := s.Archive(ctx, "a", ptr(2)); err != nil {
		t.Fatal(err)
	}
	put(t, s, notes.Draft{ID: "a", Body: "another text"})
	if s.Get("a").Live() {
		t.Error("a client archived it, a new text does not undo that")
	}
	if len(s.List(notes.Filter{})) != 0 || len(s.List(notes.Filter{Archived: true})) != 1 || len(s.Complete("", 5, false)) != 0 {
		t.Error("archived notes are out of lists and menus")
	}
}

func TestTheTrashIsLeftAlone(t *testing.T) {
	s, ents, _ := open(t, kv.InMemory)
	const body = "---\ntype: P\n---\n"
	n := put(t, s, notes.Draft{ID: "a", Body: body})
	if _, err := ents.Archive(ctx, n.EntityID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Patch(ctx, notes.Patch{ID: "a", Private: ptr(true)}, nil); err != nil || ents.Get(n.EntityID).Live() {
		t.Errorf("somebody put the entity there: %v", err)
	}
	put(t, s, notes.Draft{ID: "b", Body: "x"})
	if _, err := s.Archive(ctx, "b", nil); err != nil {
		t.Fatal(err)
	}
	b := put(t, s, notes.Draft{ID: "b", Body: "---\ntype: P\narchived: true\n---\n"})
	if _, err := s.Restore(ctx, "b", nil); fault.KindOf(err) != fault.Conflict || ents.Get(b.EntityID).Live() {
		t.Errorf("a note that stays archived keeps its entity archived: %v", err)
	}
}

func TestAmbiguousLinksNameAFewCandidates(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	for range 50 {
		put(t, s, notes.Draft{Title: "Same"})
	}
	put(t, s, notes.Draft{ID: "a", Body: strings.Repeat("[[Same]] ", 300)})
	_, unresolved := s.Outgoing("a")
	if len(unresolved) != 300 || len(unresolved[299].Candidates) != 20 {
		t.Errorf("%d links, %d candidates", len(unresolved), len(unresolved[0].Candidates))
	}
}

func TestVaultNotesFollowTheirFile(t *testing.T) {
	s, _, db := open(t, kv.InMemory)
	err := db.Update(ctx, func(tx *kv.Tx) error {
		_, err := s.PutTx(tx, notes.Draft{ID: "v", Vault: "home", Path: "v.md", Body: "text"}, nil, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"put":    second(s.Put(ctx, notes.Draft{ID: "v", Body: "x"}, nil)),
		"patch":  second(s.Patch(ctx, notes.Patch{ID: "v", Title: ptr("x")}, nil)),
		"delete": second(s.Delete(ctx, "v", nil)),
	} {
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Conflict || !strings.Contains(f.Hint, "edit the file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := s.Patch(ctx, notes.Patch{ID: "v", Private: ptr(true)}, nil); err != nil || !n.Private || !n.VaultBacked || n.Body != "text" {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestReopenGivesTheSame(t *testing.T) {
	dir := t.TempDir()
	s, _, db := open(t, dir)
	put(t, s, notes.Draft{ID: "a", Title: "Ä", Tags: []string{"t"}, Body: "---\ntype: Thing\nof: [[B]]\n---\nto [[B]]\nand [[C|c]]\n\n"})
	put(t, s, notes.Draft{ID: "b", Title: "B", Body: "---\ntype: Thing\n---\n"})
	if _, err := s.Archive(ctx, "b", nil); err != nil {
		t.Fatal(err)
	}
	before, links := *s.Get("a"), fmt.Sprint(s.Outgoing("a"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, ents, _ := open(t, dir)
	if diff := cmp.Diff(before, *s.Get("a")); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(s.Outgoing("a")); got != links {
		t.Errorf("links %s, want %s", got, links)
	}
	if e := ents.Get(s.Get("a").EntityID); e.Fields["of"] != s.Get("b").EntityID {
		t.Errorf("the reference is %v", e.Fields["of"])
	}
	if _, err := s.ByPath("x", nil); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}
