package audience_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/markdown"
)

// putNotes stores notes as a vault and a client do.
func putNotes(t rapidOrTest, w *stored, drafts ...notes.Draft) {
	t.Helper()
	err := w.db.Update(context.Background(), func(tx *kv.Tx) error {
		for _, d := range drafts {
			if _, err := w.notes.PutTx(tx, d, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
}

type rapidOrTest interface {
	Helper()
	Fatalf(format string, args ...any)
}

// SRCH-17: the vault is named while the reader sees notes of several, and only then.
func TestSRCH17_TheVaultIsNamedWhereThereAreSeveral(t *testing.T) {
	w := openRooms(t, notes.Options{})
	vaults := func() string {
		var out []string
		for _, v := range []*audience.View{w.local, w.remote} {
			out = append(out, v.VaultOf(w.notes.Get("a"))+"/"+v.VaultOf(w.notes.Get("none")))
		}
		return strings.Join(out, " ")
	}
	check := func(when, want string) {
		t.Helper()
		if got := vaults(); got != want {
			t.Errorf("%s: the vaults are %q, want %q", when, got, want)
		}
	}
	putNotes(t, w, notes.Draft{ID: "a", Vault: "A", Path: "Plan.md"}, notes.Draft{ID: "none", Title: "Plan"})
	check("one vault", "/ /")
	putNotes(t, w, notes.Draft{ID: "b", Vault: "B", Path: "Plan.md", Body: "---\nprivate: true\n---\nx"})
	check("the other is private", "A/ /")
	putNotes(t, w, notes.Draft{ID: "b", Vault: "B", Path: "Plan.md", Body: "---\nprivate: false\n---\nx"})
	check("the other is public", "A/ A/")
	putNotes(t, w, notes.Draft{ID: "b2", Vault: "B", Path: "Plan 2.md"}, notes.Draft{ID: "b", Vault: "B", Path: "Plan 3.md"})
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error { return w.notes.DeleteTx(tx, "b") }))
	check("one of the other has gone", "A/ A/")
	must(t, w.db.Update(t.Context(), func(tx *kv.Tx) error { return w.notes.DeleteTx(tx, "b2") }))
	check("the other has gone", "/ /")
	putNotes(t, w, notes.Draft{ID: "c", Vault: "C", Path: "c.md"})
	check("a third comes", "A/ A/")
}

// CTX-5: what could be meant is named by vault and path, in errors, links and lists.
func TestCTX5_CandidatesNameTheirVaults(t *testing.T) {
	w := openRooms(t, notes.Options{})
	putNotes(t, w,
		notes.Draft{ID: "a", Vault: "A", Path: "Plan.md", Body: "[[Plan]]"},
		notes.Draft{ID: "b", Vault: "B", Path: "Plan.md", Body: "---\ntype: Person\ntitle: Plan\n---\n"},
		notes.Draft{ID: "b2", Vault: "B", Path: "Deep/Person.md", Body: "---\ntype: Person\ntitle: Plan\n---\n"},
		notes.Draft{ID: "secret", Vault: "C", Path: "Plan.md", Body: "---\nprivate: true\n---\n"},
		notes.Draft{ID: "from", Title: "From", Body: "[[A/../Plan]] [[plan]]"},
	)
	placed := func(list []fault.Candidate) string {
		var out []string
		for _, c := range list {
			out = append(out, c.Vault+":"+c.Path)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	several := func(_ any, err error) string {
		t.Helper()
		var f *fault.Error
		if !errors.As(err, &f) {
			return fmt.Sprint(err)
		}
		return placed(f.Candidates)
	}
	both := "A:Plan.md B:Deep/Person.md B:Plan.md"
	for name, c := range map[string]struct{ got, want string }{
		"a title":             {several(w.remote.NoteByTitle("Plan")), both},
		"a title, locally":    {several(w.local.NoteByTitle("Plan")), both + " C:Plan.md"},
		"a path":              {several(w.remote.NoteByPath("Plan.md")), "A:Plan.md B:Plan.md"},
		"a path, locally":     {several(w.local.NoteByPath("Plan.md")), "A:Plan.md B:Plan.md C:Plan.md"},
		"a link of a message": {placed(w.remote.Candidates(w.remote.ResolveNote("Plan", "").Candidates)), "A:Plan.md B:Plan.md"},
		"entities":            {several(w.remote.EntityByName("Plan", "")), "B:Deep/Person.md B:Plan.md"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	for vault, want := range map[string]string{"A": "a", "B": "b", "C": "", "D": ""} {
		n, err := w.remote.NoteInVault(vault, "Plan.md", "")
		if (err == nil) != (want != "") || err == nil && n.ID != want {
			t.Errorf("Plan.md in %s is %v, %v; want %q", vault, n, err, want)
		}
	}
	if n, err := w.remote.NoteInVault("A", "", "plan"); err != nil || n.ID != "a" {
		t.Errorf("plan in A is %v, %v", n, err)
	}
}

// world draws the notes of a store in which names meet often.
func world(t *rapid.T) []notes.Draft {
	name := rapid.SampledFrom([]string{
		"Plan", "plan", "Same", "Ünï", "R&D", "a#b", "a|b", "50%20", "x]y", "Why?", "Plan.md", "[[Plan]]", "2.1 a-b", "c^d", "`q`",
	})
	folder := rapid.SampledFrom([]string{"", "Work/", "Home/", "Home/Work/", "work/"})
	vault := rapid.SampledFrom([]string{"", "A", "B"})
	var out []notes.Draft
	taken := make(map[string]bool)
	for i := range rapid.IntRange(1, 12).Draw(t, "notes") {
		d := notes.Draft{ID: fmt.Sprintf("n%02d", i), Vault: vault.Draw(t, "vault")}
		if d.Vault != "" || rapid.Bool().Draw(t, "path") {
			file := strings.NewReplacer("|", "", "[", "", "]", "").Replace(name.Draw(t, "file"))
			d.Path = folder.Draw(t, "folder") + file + rapid.SampledFrom([]string{".md", ".markdown", ".MD"}).Draw(t, "ending")
			if taken[d.Vault+":"+d.Path] {
				continue
			}
			taken[d.Vault+":"+d.Path] = true
		} else {
			d.Title = name.Draw(t, "title")
		}
		var head []string
		if rapid.Bool().Draw(t, "titled") {
			head = append(head, fmt.Sprintf("title: %q", name.Draw(t, "title of text")))
		}
		if rapid.Bool().Draw(t, "aliased") {
			head = append(head, fmt.Sprintf("aliases: [%q]", name.Draw(t, "alias")))
		}
		if rapid.IntRange(0, 3).Draw(t, "private") == 0 {
			head = append(head, "private: true")
		}
		if rapid.IntRange(0, 5).Draw(t, "archived") == 0 {
			head = append(head, "archived: true")
		}
		if len(head) > 0 {
			d.Body = "---\n" + strings.Join(head, "\n") + "\n---\ntext"
		}
		out = append(out, d)
	}
	return out
}

// SRCH-17: what a completion inserts leads to the note that it stands for, from every note
// and from a message, and where nothing is inserted none of the note's names does.
func TestSRCH17_WhatIsInsertedLeadsToTheNote(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := openRooms(t, notes.Options{})
		drafts := world(rt)
		putNotes(rt, w, drafts...)
		for _, v := range []*audience.View{w.local, w.remote} {
			froms := []string{""}
			for _, d := range drafts {
				if v.Note(d.ID) != nil {
					froms = append(froms, d.ID)
				}
			}
			for _, from := range froms {
				links := v.LinksFrom(from)
				for _, hit := range v.CompleteNotes("", 100) {
					checkInsert(rt, v, from, hit.ID, hit.Name, links.To(v.Note(hit.ID), hit.Name))
				}
			}
		}
	})
}

func checkInsert(t *rapid.T, v *audience.View, from, id, called, insert string) {
	n := v.Note(id)
	if insert == "" {
		for _, text := range append([]string{called, n.Title, n.Path, "/" + n.Path}, n.Aliases...) {
			plain := !strings.ContainsAny(text, "[]|#^`%&?") && v.TextOf(id, text) == text // what is not shown is not inserted
			if plain && text != "" && text != "/" && v.ResolveNote(text, from).ID == id {
				t.Fatalf("nothing is inserted for %s (%q) in %q, and [[%s]] leads there", id, n.Path, from, text)
			}
		}
		return
	}
	if got := v.ResolveNote(insert, from); got.ID != id {
		t.Fatalf("[[%s]] in %q is inserted for %s and leads to %+v", insert, from, id, got)
	}
	targets := 0
	for ref := range markdown.Mentions("see [[" + insert + "]] now") {
		if got := v.ResolveNote(ref.Target, from); got.ID != id {
			t.Fatalf("[[%s]] in a message in %q is inserted for %s and leads to %+v", insert, from, id, got)
		}
		targets++
	}
	if targets != 1 {
		t.Fatalf("[[%s]] is %d mentions", insert, targets)
	}
}

// SRCH-17: likewise for entities.
func TestSRCH17_WhatIsInsertedMeansTheEntity(t *testing.T) {
	name := rapid.SampledFrom([]string{"Al", "Al Gore", "Al-Gore", "al", "Bo]b", "O'Brien", "李", "the", "Al Gore Jr", "Ann (x)", "2nd"})
	rapid.Check(t, func(rt *rapid.T) {
		w := openRooms(t, notes.Options{})
		for _, name := range []string{"Person", "Team"} {
			if _, _, err := w.ents.PutType(context.Background(), entities.Type{Name: name}, nil, false); err != nil {
				rt.Fatalf("%v", err)
			}
		}
		for i := range rapid.IntRange(1, 8).Draw(rt, "entities") {
			e := entities.Entity{
				ID: fmt.Sprintf("e%d", i), Type: rapid.SampledFrom([]string{"Person", "Team"}).Draw(rt, "type"),
				Name: name.Draw(rt, "name"), Private: rapid.IntRange(0, 3).Draw(rt, "private") == 0,
			}
			if rapid.Bool().Draw(rt, "aliased") {
				e.Aliases = []string{name.Draw(rt, "alias")}
			}
			if _, err := w.ents.Put(context.Background(), e, nil); err != nil {
				rt.Fatalf("%v", err)
			}
		}
		for _, v := range []*audience.View{w.local, w.remote} {
			for _, hit := range v.CompleteEntities("", nil, 100) {
				e := v.Entity(hit.ID)
				insert := v.MentionOf(e, hit.Name)
				if insert == "" {
					if found := v.Named(hit.Name); len(found) == 1 && !strings.ContainsAny(hit.Name, "[]") {
						rt.Fatalf("nothing is inserted for %q, and it means %s alone", hit.Name, found[0].ID)
					}
					continue
				}
				for _, behind := range []string{"", " and more", " Gore Jr", ", then", "]"} {
					found, size := v.MentionAt(insert + behind)
					if len(found) != 1 || found[0].ID != e.ID || size != len(insert) {
						rt.Fatalf("@%s is inserted for %s and means %v before %q", insert, e.ID, found, behind)
					}
				}
			}
		}
	})
}

// PRIV-6: private notes change neither what is inserted for a remote reader nor the vault
// that is named.
func TestPRIV6_PrivateNotesChangeNoInsert(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		with, without := openRooms(t, notes.Options{}), openRooms(t, notes.Options{})
		var public []notes.Draft
		drafts := world(rt)
		for _, d := range drafts {
			if !strings.Contains(d.Body, "private: true") {
				public = append(public, d)
			}
		}
		putNotes(rt, with, drafts...)
		putNotes(rt, without, public...)
		shown := func(w *stored) (out []string) {
			for _, from := range append([]string{""}, ids(public)...) {
				links := w.remote.LinksFrom(from)
				for _, d := range public {
					n := w.remote.Note(d.ID)
					if w.remote.TitleOf(n) == n.Title && len(n.Aliases) == 0 { // else the name itself may be masked
						out = append(out, d.ID+" "+links.To(n, n.Title)+" "+w.remote.VaultOf(n))
					}
				}
			}
			return out
		}
		got, want := shown(with), shown(without)
		want = slices.DeleteFunc(want, func(s string) bool { return masked(with, s) })
		if diff := gocmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
			rt.Fatalf("without private notes (-) and with them (+):\n%s", diff)
		}
	})
}

// masked reports whether the title of the note that a line begins with is masked.
func masked(w *stored, line string) bool {
	id, _, _ := strings.Cut(line, " ")
	n := w.remote.Note(id)
	return w.remote.TitleOf(n) != n.Title
}

func ids(drafts []notes.Draft) (out []string) {
	for _, d := range drafts {
		out = append(out, d.ID)
	}
	return out
}
