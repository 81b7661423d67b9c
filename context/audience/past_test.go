package audience_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/wql"
	"github.com/ctxd/ctxd/notes"
)

// pastWorld is a store in a folder in which records lose their names.
type pastWorld struct {
	masking
	t   testing.TB
	dir string
}

func openPast(t testing.TB, dir string) *pastWorld {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	must(t, err)
	return &pastWorld{masking: masking{stored: *openAll(t, db)}, t: t, dir: dir}
}

// reopen opens what lies on the disk, as it is after a kill, in a copy of the folder.
func (w *pastWorld) reopen() *pastWorld {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "copy")
	must(w.t, os.CopyFS(dir, os.DirFS(w.dir)))
	must(w.t, os.RemoveAll(filepath.Join(dir, "lock")))
	again := openPast(w.t, dir)
	w.t.Cleanup(func() { again.db.Close() })
	return again
}

func (w *pastWorld) declare() {
	w.t.Helper()
	_, _, err := w.ents.PutType(w.t.Context(), entities.Type{Name: "P", Fields: []entities.Field{
		{Name: "about", Type: record.Text}, {Name: "file", Type: record.NoteRef}, {Name: "boss", Type: record.EntityRef},
	}}, nil, false)
	must(w.t, err)
}

func (w *pastWorld) entity(e entities.Entity) {
	w.t.Helper()
	e.Type = "P"
	_, err := w.ents.Put(w.t.Context(), e, nil)
	must(w.t, err)
}

// told returns what a remote reader is shown of all records.
func (w *pastWorld) told() string {
	w.t.Helper()
	var all []any
	v := w.remote
	list, err := v.Notes(w.t.Context(), notes.Filter{})
	must(w.t, err)
	for _, n := range list {
		resolved, unresolved := v.Links(n.ID)
		all = append(all, shownNote(v, w.notes.Get(n.ID)), n, resolved, unresolved, v.Backlinks(n.ID))
	}
	for _, e := range v.Entities("", false) {
		resolved, err := v.ResolveEntity(w.t.Context(), e.ID, 2)
		must(w.t, err)
		all = append(all, e, resolved)
	}
	res, err := v.Query(w.t.Context(), "SELECT p FROM P p", wql.QueryOptions{})
	must(w.t, err)
	all = append(all, res, v.Unresolved(""), v.Tags(""))
	raw, err := json.Marshal(all)
	must(w.t, err)
	return string(raw)
}

// pastTexts refer to records that are called %s in every form.
var pastTexts = []string{
	"see [[%s]]", "see [[%s|label]]", "see [[Private/%s|label]]", "see [label](<Private/%s.md>)", "see [label](<../Private/%s.md>)",
	"see ![[./%s]]", `see <a href="Private/%s">label</a>`, "see Private/%s.md", "see [label][r]\n\n[r]: <Private/%s.md>",
	"see [[\u200b%s]]", "see `[[%s]]`",
}

// mentionTexts refer to entities that are called %s.
var mentionTexts = []string{"see @%s, too", "see @[%s]", "see @**%s**", "see [[%s]]", "see [[Folder/%s|label]]", "see @[%s|id]", "see [label](<%s.md>)"}

// TestPRIV4_NamesThatAPrivateNoteHadStayPrivate loses a name in each way. Links by it show
// nothing, now and after a restart, and what was never called so is shown.
func TestPRIV4_NamesThatAPrivateNoteHadStayPrivate(t *testing.T) {
	const old = "Canary Plan"
	for name, lose := range map[string]func(w *pastWorld){
		"a new title": func(w *pastWorld) {
			w.put(w.t, notes.Draft{ID: "n", Title: "New", Path: "Private/New.md", Private: true})
		},
		"a patch": func(w *pastWorld) {
			for title, p := range map[string]string{"Middle": "x/Middle.md", "New": "New.md"} {
				_, err := w.notes.Patch(w.t.Context(), notes.Patch{ID: "n", Title: &title, Path: &p, Aliases: &[]string{}}, nil)
				must(w.t, err)
			}
		},
		"a deletion": func(w *pastWorld) {
			_, err := w.notes.Delete(w.t.Context(), "n", nil)
			must(w.t, err)
		},
		"an erasure": func(w *pastWorld) {
			must(w.t, w.db.Update(w.t.Context(), func(tx *kv.Tx) error { return w.notes.EraseTx(tx, "n") }))
		},
		"made anew by others": func(w *pastWorld) {
			_, err := w.notes.Delete(w.t.Context(), "n", nil)
			must(w.t, err)
			w.put(w.t, notes.Draft{ID: "n", Title: "New"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openPast(t, filepath.Join(t.TempDir(), "store"))
			defer w.db.Close()
			w.declare()
			w.put(t, notes.Draft{ID: "n", Title: old, Path: "Private/" + old + ".md", Aliases: []string{"Canary Alias"}, Private: true})
			lose(w)
			if w.notes.Privates() == 0 {
				w.put(t, notes.Draft{ID: "later", Title: "Later"}) // masks stand without any private record
			}
			for range 2 {
				check := func(text, want string) {
					t.Helper()
					n := w.put(t, notes.Draft{ID: "open", Title: "Open", Body: text})
					got := shownNote(w.remote, n).Body
					if want == "" && (canary.MatchString(got) || strings.Contains(got, "label]") || strings.Contains(got, "|label")) || want != "" && got != want {
						t.Errorf("%q is shown as %q", text, got)
					}
				}
				for _, text := range pastTexts {
					check(fmt.Sprintf(text, old), "")
					check(strings.ToUpper(fmt.Sprintf(text, strings.ToLower(old))), "")
				}
				check("see [[Canary Alias|label]]", "")
				check("---\nabout: "+old+"\n---\nx", "")
				for _, text := range pastTexts {
					if strings.Contains(text, "Private/") {
						check(fmt.Sprintf(text, "Other"), fmt.Sprintf(text, "Other"))
					}
				}
				for _, text := range []string{"[[Plan]]", "[[Public/" + old + "]]", "[[" + old + "s]]", "[[Private]]", "[label](Private/x.md)"} {
					check(text, text)
				}
				w = w.reopen()
			}
		})
	}
}

// TestPRIV4_NamesThatAPrivateEntityHadStayPrivate is the same for entities.
func TestPRIV4_NamesThatAPrivateEntityHadStayPrivate(t *testing.T) {
	const old = "Canary Zoe"
	note := "---\ntype: P\naliases: [Canarynick]\n---\n# " + old
	for name, lose := range map[string]func(w *pastWorld){
		"a new name": func(w *pastWorld) {
			w.entity(entities.Entity{ID: "e", Name: "New", Private: true})
		},
		"a deletion": func(w *pastWorld) {
			_, err := w.ents.Delete(w.t.Context(), "e", nil)
			must(w.t, err)
		},
		"from a note that has another heading": func(w *pastWorld) {
			_, err := w.ents.Delete(w.t.Context(), "e", nil)
			must(w.t, err)
			w.put(w.t, notes.Draft{ID: "n", Path: "n.md", Body: note, Private: true})
			w.put(w.t, notes.Draft{ID: "n", Path: "n.md", Body: "---\ntype: P\n---\n# New", Private: true})
		},
		"from a note that is gone, and then itself": func(w *pastWorld) {
			_, err := w.ents.Delete(w.t.Context(), "e", nil)
			must(w.t, err)
			id := w.put(w.t, notes.Draft{ID: "n", Path: "n.md", Body: note, Private: true}).EntityID
			_, err = w.notes.Delete(w.t.Context(), "n", nil)
			must(w.t, err)
			_, err = w.ents.Delete(w.t.Context(), id, nil)
			must(w.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openPast(t, filepath.Join(t.TempDir(), "store"))
			defer w.db.Close()
			w.declare()
			w.entity(entities.Entity{ID: "e", Name: old, Aliases: []string{"Canarynick"}, Private: true})
			lose(w)
			for range 2 {
				check := func(text, want string) {
					t.Helper()
					n := w.put(t, notes.Draft{ID: "open", Title: "Open", Body: text})
					got := shownNote(w.remote, n).Body
					if want == "" && (canary.MatchString(got) || strings.Contains(got, "label")) || want != "" && got != want {
						t.Errorf("%q is shown as %q", text, got)
					}
				}
				for _, text := range mentionTexts {
					check(fmt.Sprintf(text, old), "")
					check(fmt.Sprintf(text, "Canarynick"), "")
				}
				check("see @canary_zoe_p_entity, too", "")
				check("@Canary Zoe", "")
				for _, text := range []string{"@Canaries", "@Zoe", "@Canary", "@[Zoe]", "[[Zoe]]"} {
					check(text, text)
				}
				w = w.reopen()
			}
		})
	}
}

// TestPRIV4_IdsOfPrivateRecordsThatAreGoneStayPrivate: values that are ids show nothing.
func TestPRIV4_IdsOfPrivateRecordsThatAreGoneStayPrivate(t *testing.T) {
	w := openPast(t, filepath.Join(t.TempDir(), "store"))
	defer w.db.Close()
	w.declare()
	w.put(t, notes.Draft{ID: "canarynote", Title: "A", Private: true})
	w.put(t, notes.Draft{ID: "gone", Title: "B"})
	w.entity(entities.Entity{ID: "canaryentity", Name: "C", Private: true})
	w.entity(entities.Entity{ID: "goner", Name: "D"})
	w.entity(entities.Entity{ID: "bob", Name: "Bob", Fields: entities.Values{"file": "canarynote", "boss": "canaryentity"}})
	w.entity(entities.Entity{ID: "ann", Name: "Ann", Fields: entities.Values{"file": "gone", "boss": "goner"}})
	for _, id := range []string{"canarynote", "gone"} {
		_, err := w.notes.Delete(t.Context(), id, nil)
		must(t, err)
	}
	for _, id := range []string{"canaryentity", "goner"} {
		_, err := w.ents.Delete(t.Context(), id, nil)
		must(t, err)
	}
	for range 2 {
		told := w.told()
		if canary.MatchString(told) {
			t.Errorf("told: %s", told)
		}
		if !strings.Contains(told, `"file":"gone"`) || !strings.Contains(told, `"boss":"goner"`) {
			t.Errorf("ids that were never private are masked: %s", told)
		}
		w = w.reopen()
	}
	w.put(t, notes.Draft{ID: "canarynote", Title: "Public"})
	if told := w.told(); !strings.Contains(told, `"file":"canarynote"`) || strings.Contains(told, "canaryentity") {
		t.Errorf("with a public note of that id: %s", told)
	}
}

// TestPRIV4_WhatBecomesPublicIsSecretNoMore: all that a record was called is shown when it
// is public.
func TestPRIV4_WhatBecomesPublicIsSecretNoMore(t *testing.T) {
	for name, publish := range map[string]func(w *pastWorld){
		"a put": func(w *pastWorld) { w.put(w.t, notes.Draft{ID: "n", Path: "n.md", Body: "---\ntype: P\n---\n# New"}) },
		"a patch": func(w *pastWorld) {
			public := false
			_, err := w.notes.Patch(w.t.Context(), notes.Patch{ID: "n", Private: &public}, nil)
			must(w.t, err)
		},
		"a note that comes back": func(w *pastWorld) {
			was := *w.notes.Get("n")
			_, err := w.notes.Delete(w.t.Context(), "n", nil)
			must(w.t, err)
			w.put(w.t, notes.Draft{ID: "n", Path: "n.md", Body: "---\ntype: P\n---\n# New", Was: &was})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openPast(t, filepath.Join(t.TempDir(), "store"))
			defer w.db.Close()
			w.declare()
			for _, title := range []string{"Old", "New"} {
				w.put(t, notes.Draft{ID: "n", Path: "n.md", Body: "---\ntype: P\n---\n# " + title, Private: true})
			}
			w.entity(entities.Entity{ID: "e", Name: "Former", NoteID: "n"})
			w.entity(entities.Entity{ID: "e", Name: "Latter", NoteID: "n"})
			texts := []string{"[[Old|label]]", "@Old", "@Former"}
			for _, text := range texts {
				if got := w.remote.TextOf("", text); got != "(private)" {
					t.Errorf("%q shows %q", text, got)
				}
			}
			publish(w)
			if w.ents.Get("e").Private {
				texts = texts[:2] // what else was made of a note that was deleted stays private
			}
			for _, text := range texts {
				if got := w.remote.TextOf("", text); got != text {
					t.Errorf("%q shows %q when its record is public", text, got)
				}
			}
		})
	}
}

// TestPRIV4_AnEntityThatAClientPublishesIsSecretNoMore by a put and by a patch.
func TestPRIV4_AnEntityThatAClientPublishesIsSecretNoMore(t *testing.T) {
	for name, publish := range map[string]func(w *pastWorld){
		"a put": func(w *pastWorld) { w.entity(entities.Entity{ID: "e", Name: "New"}) },
		"a patch": func(w *pastWorld) {
			public := false
			_, err := w.ents.Patch(w.t.Context(), entities.Patch{ID: "e", Private: &public}, nil)
			must(w.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openPast(t, kv.InMemory)
			defer w.db.Close()
			w.declare()
			w.entity(entities.Entity{ID: "other", Name: "Other", Private: true})
			w.entity(entities.Entity{ID: "e", Name: "Old", Private: true})
			w.entity(entities.Entity{ID: "e", Name: "New", Private: true})
			if got := w.remote.TextOf("", "by @Old"); got != "by (private)" {
				t.Errorf("shown as %q", got)
			}
			publish(w)
			if got := w.remote.TextOf("", "by @Old"); got != "by @Old" {
				t.Errorf("of a public entity: shown as %q", got)
			}
		})
	}
}

// TestPRIV8_WhatNamesOfThePastRevealIsKnown: a public record takes such a name, and leaves
// it, and the record that had it becomes public. The notes that name it are told, and
// that texts are shown otherwise.
func TestPRIV8_WhatNamesOfThePastRevealIsKnown(t *testing.T) {
	w := openPast(t, kv.InMemory)
	defer w.db.Close()
	var revealed []string
	w.db.OnCommit(func(cs *kv.ChangeSet) { revealed = w.rooms.Revealed(cs) })
	w.declare()
	w.put(t, notes.Draft{ID: "other", Title: "Other", Private: true})
	w.put(t, notes.Draft{ID: "n", Title: "Old", Private: true})
	w.put(t, notes.Draft{ID: "n", Title: "New", Private: true})
	w.put(t, notes.Draft{ID: "text", Title: "Text", Body: "see [[Old|label]]"})
	w.put(t, notes.Draft{ID: "far", Title: "Far", Body: "see [[Text]]"})
	public := false
	for _, step := range []struct {
		name string
		do   func() error
		want string
	}{
		{"a note takes it", func() error {
			_, err := w.notes.Put(t.Context(), notes.Draft{ID: "taker", Title: "Old"}, nil)
			return err
		}, "see [[Old|label]]"},
		{"the note leaves it", func() error {
			_, err := w.notes.Put(t.Context(), notes.Draft{ID: "taker", Title: "Left"}, nil)
			return err
		}, "see (private)"},
		{"the record becomes public", func() error {
			_, err := w.notes.Patch(t.Context(), notes.Patch{ID: "n", Private: &public}, nil)
			return err
		}, "see [[Old|label]]"},
	} {
		w.rooms.ReadReferences() // what is not read yet is told as well
		before := w.remote.Privacy()
		must(t, step.do())
		if got := shownNote(w.remote, w.notes.Get("text")).Body; got != step.want {
			t.Errorf("%s: shown as %q", step.name, got)
		}
		if !slices.Contains(revealed, "text") || slices.Contains(revealed, "far") {
			t.Errorf("%s: %q are told", step.name, revealed)
		}
		if w.remote.Privacy() == before {
			t.Errorf("%s: texts are said to show what they did", step.name)
		}
	}
}

// TestPRIV4_NamesOfThePastAreNotStoredInClear looks for a deleted title in the files.
func TestPRIV4_NamesOfThePastAreNotStoredInClear(t *testing.T) {
	w := openPast(t, filepath.Join(t.TempDir(), "store"))
	defer w.db.Close()
	w.put(t, notes.Draft{ID: "n", Title: "Canary Plan", Path: "Canary/Plan.md", Private: true})
	_, err := w.notes.Delete(t.Context(), "n", nil)
	must(t, err)
	for i := range 2 { // one generation of snapshots is kept beside the newest
		w.put(t, notes.Draft{ID: fmt.Sprint(i), Title: "Later"})
		must(t, w.db.Snapshot(t.Context()))
	}
	must(t, w.db.DeleteCopies(t.Context()))
	must(t, filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if canary.Match(raw) {
			t.Errorf("%s names what is deleted", filepath.Base(path))
		}
		return err
	}))
	if w.ents.Past().Len() == 0 {
		t.Error("nothing is kept")
	}
}

// TestPRIV8_AGuessedNameMakesNoLinkPublic: a client that may write gives a note the name
// of a private one, in each way. What links to that said stays private.
func TestPRIV8_AGuessedNameMakesNoLinkPublic(t *testing.T) {
	for name, guess := range map[string]notes.Draft{
		"a title":       {Title: "Canary Plan"},
		"an alias":      {Title: "x", Aliases: []string{"canary plan"}},
		"a path":        {Title: "x", Path: "Canary Plan.md"},
		"the same path": {Title: "x", Path: "Public/Canary Plan.md"},
		"an entity":     {Title: "x", Body: "---\ntype: P\naliases: [Canary Plan, Canary Zoe]\n---\nx"},
		"another file":  {Title: "Canary Zoe", Path: "Canary Zoe.md"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newMasking(t)
			n := w.put(t, notes.Draft{ID: "open", Path: "Public/Open.md", Body: "[[Canary Plan|label]] [[Canary Zoe|label]] @Canary Zoe"})
			guess.ID = "guess"
			w.put(t, guess)
			if got := shownNote(w.remote, n).Body; got != "(private) (private) (private)" {
				t.Errorf("shown as %q", got)
			}
			resolved, unresolved := w.remote.Links("open")
			if len(resolved)+len(unresolved) > 0 {
				t.Errorf("the links are %v and %v", resolved, unresolved)
			}
		})
	}
	w := newMasking(t)
	w.put(t, notes.Draft{ID: "file", Title: "Canary Plan", Path: "Canary Plan.md", Vault: "v"})
	w.put(t, notes.Draft{ID: "longer", Title: "x", Path: "Public/Canary Plan.md"})
	for _, text := range []string{"[[Canary Plan|label]]", "[[Public/Canary Plan|label]]", "[[#Heading]]"} {
		if got := w.remote.TextOf("other", text); got != text {
			t.Errorf("%q shows %q", text, got)
		}
	}
}

// had is what a private record is or was called: a title, a path or a name of an entity.
type had struct {
	kind byte
	name string
}

const (
	hadTitle  = 't'
	hadPath   = 'p'
	hadEntity = 'e'
)

// namings are texts that refer to a record by a name, and as what it has to have that.
var namings = []struct{ text, kinds string }{
	{"see [[%s]]", "tpe"},
	{"see [[%s|label]]", "tpe"},
	{"see `[[%s]]`", "tpe"},
	{"see [[\u200b%s]]", "tpe"},
	{"see [label](<%s.md>)", "pe"},
	{"see [[Private/%s|label]]", "pe"},
	{"see [label](<Private/%s.md>)", "pe"},
	{`see <a href="Private/%s">label</a>`, "pe"},
	{"see @%s, too", "tpe"},
	{"see @[%s]", "tpe"},
	{"see @**%s**", "tpe"},
	{"see [[Folder/%s|label]]", "e"},
}

func textID(naming, name int) string { return fmt.Sprint("text", naming, "-", name) }

// TestPRIV4_NoNameOfThePastIsTold changes two notes and two entities in all ways, beside
// a model that knows what each was called since it was public last. A remote reader is
// shown no link by such a name, and every other link as it is written.
func TestPRIV4_NoNameOfThePastIsTold(t *testing.T) {
	masked, shown := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w, dir := openPast(t, kv.InMemory), ""
		if rapid.IntRange(0, 9).Draw(rt, "on disk") == 0 {
			w.db.Close()
			dir = t.TempDir()
			w = openPast(t, filepath.Join(dir, "store"))
		}
		defer func() { w.db.Close() }()
		w.declare()
		names := []string{"Canary Ant", "canary Bee", "CANARY Cé", "O'Canary"}
		var texts []notes.Draft
		for i, naming := range namings {
			for j, name := range names {
				texts = append(texts, notes.Draft{ID: textID(i, j), Title: "Text", Body: fmt.Sprintf(naming.text, name)})
			}
		}
		_, err := w.notes.PutMany(t.Context(), texts)
		must(t, err)
		secrets := make(map[string]map[had]bool) // by the id of the record
		learn := func(id string, kind byte, name string) {
			if secrets[id] == nil {
				secrets[id] = make(map[had]bool)
			}
			secrets[id][had{kind, name}] = true
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "id")
			name := rapid.SampledFrom(names).Draw(rt, "name")
			n := w.notes.Get(id)
			switch rapid.IntRange(0, 10).Draw(rt, "what") {
			case 0:
				w.put(t, notes.Draft{ID: id, Title: name, Private: true})
				learn(id, hadTitle, name)
			case 1:
				n := w.put(t, notes.Draft{ID: id, Body: "---\ntype: P\n---\n# " + name, Private: true})
				learn(id, hadTitle, name)
				learn(n.EntityID, hadEntity, name)
			case 2:
				_, err := w.notes.Put(t.Context(), notes.Draft{ID: id, Title: "T" + id, Path: "Private/" + name + ".md", Private: true}, nil)
				if err == nil { // else the other has the path
					learn(id, hadPath, name)
				}
			case 3:
				w.put(t, notes.Draft{ID: id, Title: "Private " + id, Private: true})
			case 4:
				_, _ = w.notes.Delete(t.Context(), id, nil)
			case 5:
				w.entity(entities.Entity{ID: "e" + id, Name: name, Private: true})
				learn("e"+id, hadEntity, name)
			case 6:
				_, _ = w.ents.Delete(t.Context(), "e"+id, nil)
			case 7:
				_, _ = w.ents.Archive(t.Context(), "e"+id, nil)
			case 8:
				w.put(t, notes.Draft{ID: id, Body: "---\ntype: P\n---\n# Public " + id})
				if n == nil || !n.Private {
					break
				}
				delete(secrets, id)
				if e := w.ents.Get(n.EntityID); e != nil && !e.Private {
					delete(secrets, e.ID)
				}
			case 9:
				old := w.ents.Get("e" + id)
				w.entity(entities.Entity{ID: "e" + id, Name: "Public " + id})
				if old != nil && old.Private {
					delete(secrets, "e"+id)
				}
			case 10:
				if dir != "" {
					must(t, w.db.Close())
					w = openPast(t, filepath.Join(dir, "store"))
				}
			}
		}
		secret := make(map[had]bool)
		for _, of := range secrets {
			maps.Copy(secret, of)
		}
		for i, naming := range namings {
			for j, name := range names {
				text := fmt.Sprintf(naming.text, name)
				hides := strings.ContainsFunc(naming.kinds, func(kind rune) bool { return secret[had{byte(kind), name}] })
				got := shownNote(w.remote, w.notes.Get(textID(i, j))).Body
				if hides {
					masked++
				} else {
					shown++
				}
				if hides && (canary.MatchString(got) || strings.Contains(got, "label")) {
					rt.Fatalf("%q is shown as %q", text, got)
				}
				if !hides && got != text {
					rt.Fatalf("%q, which means nothing private, is shown as %q", text, got)
				}
			}
		}
	})
	if masked == 0 || shown == 0 {
		t.Errorf("%d masked and %d shown: the test proves nothing", masked, shown)
	}
}
