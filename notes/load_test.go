package notes_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// house is a store with its rooms, whose clock and ids go on the same in every one.
type house struct {
	db   *kv.Store
	ents *entities.Store
	ns   *notes.Store
}

func newHouse(t *rapid.T, db *kv.Store) house {
	t.Helper()
	n := 0
	id := func() string { n++; return fmt.Sprintf("new-%d", n) }
	now := func() time.Time { return time.Unix(1_700_000_000, 0) }
	ents, err := entities.Open(db, entities.Options{NewID: id, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := notes.Open(db, ents, notes.Options{NewID: id, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return house{db, ents, ns}
}

// reopened returns rooms that have loaded at once what those of h took in one by
// one.
func (h house) reopened(t *rapid.T) house {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	paths := kv.NewCollection[string]("note-path")
	inherited := kv.NewCollection[map[string]string]("entity-private")
	former := kv.NewCollection[map[string]any]("note-former")
	err = h.db.View(ctx, func(from *kv.Tx) error {
		return db.Update(ctx, func(to *kv.Tx) error {
			for id, v := range entities.TypeRecords.All(from, "") {
				must(t, entities.TypeRecords.Put(to, id, v))
			}
			for id, v := range entities.EntityRecords.All(from, "") {
				must(t, entities.EntityRecords.Put(to, id, v))
			}
			for id, v := range notes.Records.All(from, "") {
				must(t, notes.Records.Put(to, id, v))
			}
			for id, v := range paths.All(from, "") {
				must(t, paths.Put(to, id, v))
			}
			for id, v := range inherited.All(from, "") {
				must(t, inherited.Put(to, id, v))
			}
			for id, v := range former.All(from, "") {
				must(t, former.Put(to, id, v))
			}
			return from.Err()
		})
	})
	must(t, err)
	return newHouse(t, db)
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	someIDs     = rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("n%d", rapid.IntRange(0, 25).Draw(t, "n")) })
	someTitles  = rapid.SampledFrom([]string{"Alpha", "alpha", "Beta", "Beta two", "Ünï", "日本", "read me", "Folder/Alpha", ""})
	someFolders = rapid.SampledFrom([]string{"", "Folder/", "Folder/Sub/", "folder/", "Other/"})
	someBases   = rapid.SampledFrom([]string{"Alpha", "alpha", "Beta", "README", "Ünï"})
	someTargets = rapid.SampledFrom([]string{
		"Alpha", "alpha", "Beta", "beta.md", "Folder/Alpha", "Sub/Alpha", "./Alpha", "../Alpha", "/Alpha", "Sub/beta.MD", "README", "ÜNÏ",
		"日本", "nothing", "#Here", "Alpha#There", "Alpha|x", "n3", "Beta two", "..", ".", "Folder/../Alpha", "A",
	})
)

// drawDraft makes a note that has names and links of all kinds.
func drawDraft(t *rapid.T) notes.Draft {
	d := notes.Draft{
		ID: someIDs.Draw(t, "id"), Title: someTitles.Draw(t, "title"), Private: rapid.Bool().Draw(t, "private"),
		Tags: rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two/three"}), 0, 2).Draw(t, "tags"),
	}
	if rapid.Bool().Draw(t, "aliased") {
		d.Aliases = []string{rapid.SampledFrom([]string{"A", "Alpha", "Beta"}).Draw(t, "alias")}
	}
	switch rapid.IntRange(0, 3).Draw(t, "place") {
	case 0:
		d.Folder = strings.TrimSuffix(someFolders.Draw(t, "folder"), "/")
	case 1:
		d.Vault = rapid.SampledFrom([]string{"v", "w"}).Draw(t, "vault")
		fallthrough
	case 2:
		d.Path = someFolders.Draw(t, "folder") + someBases.Draw(t, "base") + rapid.SampledFrom([]string{".md", ".MD", ".markdown", ""}).Draw(t, "ending")
	}
	var b strings.Builder
	if rapid.IntRange(0, 3).Draw(t, "entity") == 0 {
		fmt.Fprintf(&b, "---\ntype: Person\nknows: \"[[%s]]\"\narchived: %v\n---\n", strings.Split(someTargets.Draw(t, "knows"), "|")[0], rapid.Bool().Draw(t, "archived"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "links") {
		form := rapid.SampledFrom([]string{"text [[%s]] text\n", "text [a](<%s.md>) text\n"}).Draw(t, "form")
		fmt.Fprintf(&b, form, someTargets.Draw(t, "target"))
	}
	d.Body = b.String()
	return d
}

// change does one thing to the notes of every house; all must take it alike.
func change(t *rapid.T, houses ...house) {
	changeEach(t, len(houses), func(i int) house { return houses[i] })
}

func changeEach(t *rapid.T, n int, in func(i int) house) {
	d, what := drawDraft(t), rapid.IntRange(0, 9).Draw(t, "what")
	var first string
	for i := range n {
		h := in(i)
		err := h.db.Update(ctx, func(tx *kv.Tx) error {
			d := d // it may run again
			switch what {
			case 0:
				return h.ns.DeleteTx(tx, d.ID)
			case 1: // a file goes that another has come for
				if err := h.ns.DeleteTx(tx, d.ID); err != nil {
					return err
				}
				d.ID += "x"
			}
			_, err := h.ns.PutTx(tx, d, nil, nil)
			return err
		})
		if what == 2 && err == nil {
			_, err = h.ns.Archive(ctx, d.ID, nil)
		}
		if i == 0 {
			first = fmt.Sprint(err)
		} else if again := fmt.Sprint(err); again != first {
			t.Fatalf("one house says %q, another %q", first, again)
		}
	}
}

// shown is all that rooms tell of their notes.
func shown(h house) map[string]any {
	out := make(map[string]any)
	live, all, bytes := h.ns.Count()
	out["count"] = []any{live, all, bytes}
	out["tags"] = h.ns.Tags("")
	for _, vault := range []string{"", "v", "w"} {
		count := h.ns.LinkCount(vault, nil)
		out["links "+vault] = count
	}
	for _, typed := range []string{"", "a", "al", "bet", "t", "ünï", "日", "lph", "apa"} {
		for _, limit := range []int{2, 100} {
			out[fmt.Sprint("complete ", typed, limit)] = h.ns.Complete(typed, limit, false)
		}
	}
	var ids []string
	for n := range h.ns.All() {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	for _, id := range append(ids, "", "gone") {
		n := h.ns.Get(id)
		out["note "+id] = n
		resolved, lost := h.ns.Outgoing(id)
		out["out "+id] = []any{resolved, lost, h.ns.Targets(id), h.ns.Linked(id)}
		out["in "+id] = []any{h.ns.Incoming(id), h.ns.Linking(id)}
		for _, target := range []string{"Alpha", "beta.md", "Folder/Alpha", "./Alpha", "../Alpha", "README", "A", "#x", "Sub/Alpha"} {
			out["resolve "+target+" "+id] = h.ns.Resolve(target, id, nil)
		}
		if n != nil {
			out["entity "+id] = h.ents.Get(n.EntityID)
		}
	}
	for _, title := range []string{"alpha", "BETA", "ünï", "nothing"} {
		n, err := h.ns.ByTitle(title, nil)
		out["title "+title] = []any{n, fmt.Sprintf("%+v", err)}
		n, err = h.ns.ByPath("Folder/"+title+".md", nil)
		out["path "+title] = []any{n, fmt.Sprintf("%+v", err)}
	}
	return out
}

// TestNotesLoadedAtOnce changes notes one by one, loads them into other rooms at
// once, compares what both show, changes both and compares again.
func TestNotesLoadedAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		t.Cleanup(func() { db.Close() })
		one := newHouse(t, db)
		for range rapid.IntRange(0, 40).Draw(t, "notes") {
			change(t, one)
		}
		loaded := one.reopened(t)
		if diff := cmp.Diff(shown(one), shown(loaded)); diff != "" {
			t.Fatalf("notes loaded at once show another thing:\n%s", diff)
		}
		// From here on both are changed: ids of new entities have to go on alike.
		one = one.reopened(t)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			change(t, one, loaded)
		}
		if diff := cmp.Diff(shown(one.reopened(t)), shown(loaded)); diff != "" {
			t.Fatalf("notes loaded at once and then changed show another thing:\n%s", diff)
		}
	})
}

// TestPERF9_TheRestIsLoadedForWhoeverNeedsIt changes notes as the first thing in rooms
// that have just been opened, while others ask for what is loaded first and for what
// is loaded later, and compares with rooms that were asked by nobody.
func TestPERF9_TheRestIsLoadedForWhoeverNeedsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		must(t, err)
		t.Cleanup(func() { db.Close() })
		one := newHouse(t, db)
		for range rapid.IntRange(5, 30).Draw(t, "notes") {
			change(t, one)
		}
		loaded := one.reopened(t)
		var asking sync.WaitGroup
		for _, ask := range []func(){
			func() { loaded.ns.Count() },
			func() {
				for n := range loaded.ns.All() {
					_ = n.Title
				}
			},
			func() { loaded.ns.Get("n3") },
			func() { loaded.ns.Resolve("Alpha", "n3", nil) },
			func() { loaded.ns.Complete("al", 3, false) },
			func() { loaded.ns.Tags("") },
			func() { loaded.ents.Named("Alpha", nil) },
			func() { loaded.ents.Count("") },
			loaded.ns.LoadRest, loaded.ents.LoadRest,
		} {
			if rapid.Bool().Draw(t, "asked") {
				asking.Go(ask)
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			change(t, loaded)
		}
		asking.Wait()
		if diff := cmp.Diff(shown(loaded.reopened(t)), shown(loaded)); diff != "" {
			t.Fatalf("notes loaded in two steps show another thing:\n%s", diff)
		}
	})
}

// TestLinkToADeletedNote deletes a note that a link finds by its path and by no
// other name: the K of its ending is the Kelvin sign, which folds to a letter that
// makes it an ending. The next note gets its place in the index, not the link.
func TestLinkToADeletedNote(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	put(t, s, notes.Draft{ID: "to", Title: "One", Path: "a/x.mar\u212Adown"})
	put(t, s, notes.Draft{ID: "from", Title: "Two", Body: "[[a/x]]"})
	if got := s.Targets("from"); !slices.Equal(got, []string{"to"}) {
		t.Fatalf("the link leads to %q", got)
	}
	if _, err := s.Delete(ctx, "to", nil); err != nil {
		t.Fatal(err)
	}
	put(t, s, notes.Draft{ID: "other", Title: "Three"})
	if got := s.Targets("from"); !slices.Equal(got, []string{""}) {
		t.Errorf("the link to a note that is gone leads to %q", got)
	}
	if got := s.Incoming("other"); len(got) != 0 {
		t.Errorf("links lead to a note that nobody has linked to: %+v", got)
	}
}

// TestLinkFromAFolder resolves a path that counts from the folder of the note, where
// the same path from another folder would be shorter.
func TestLinkFromAFolder(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	for _, path := range []string{"Work/Sub/x.md", "Own/Sub/x.md", "A/Sub/x.md"} {
		put(t, s, notes.Draft{ID: strings.ReplaceAll(strings.TrimSuffix(path, ".md"), "/", "-"), Path: path})
	}
	put(t, s, notes.Draft{ID: "from", Path: "Work/from.md", Body: "[[Sub/x]]"})
	put(t, s, notes.Draft{ID: "elsewhere", Path: "Else/from.md", Body: "[[Sub/x]]"})
	if got := s.Targets("from"); !slices.Equal(got, []string{"Work-Sub-x"}) {
		t.Errorf("from its folder it leads to %q", got)
	}
	if got := s.Targets("elsewhere"); !slices.Equal(got, []string{"A-Sub-x"}) {
		t.Errorf("from elsewhere it leads to %q", got)
	}
}
