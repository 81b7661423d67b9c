package personality_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/personality"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
)

func open(t testing.TB, dir string) (*kv.Store, *personality.Store) {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s, err := personality.Open(db, personality.Options{Now: func() time.Time { at = at.Add(time.Second); return at }})
	if err != nil {
		t.Fatal(err)
	}
	return db, s
}

func ada(role string) string {
	return fmt.Sprintf("identity: {name: Ada, role: %q}\ncommunication: {tone: warm}\n", role)
}

func wants(t *testing.T, err error, kind fault.Kind, field, hint string) {
	t.Helper()
	var f *fault.Error
	if fault.KindOf(err) != kind || !asFault(err, &f) || f.Field != field || !strings.Contains(f.Hint, hint) {
		t.Errorf("%#v, want %v of %q with hint %q", err, kind, field, hint)
	}
}

func asFault(err error, to **fault.Error) bool {
	f, ok := err.(*fault.Error)
	*to = f
	return ok
}

func TestMEM73_PresetsStay(t *testing.T) {
	_, s := open(t, kv.InMemory)
	_, _, err := s.Put(t.Context(), personality.Draft{ID: "teacher", Template: ada("x")}, nil)
	wants(t, err, fault.Conflict, "", "my-teacher")
	wants(t, s.Delete(t.Context(), "default", nil), fault.Conflict, "", "activate another")
	list := s.List()
	if len(list) != len(personality.Presets()) || !list[0].Preset || list[0].Active || s.Active() != nil {
		t.Errorf("%+v, %v", list, s.Active())
	}
	if err := s.Activate(t.Context(), "teacher"); err != nil || s.Active() == nil || s.Active().Role != "a patient teacher" {
		t.Errorf("%v, %+v", err, s.Active())
	}
	p, err := s.Get("")
	if err != nil || p.ID != "teacher" || !p.Active || p.Version != 0 || p.Template == "" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestMEM73_Refused(t *testing.T) {
	_, s := open(t, kv.InMemory)
	one := 1
	for _, c := range []struct {
		name        string
		do          func() error
		kind        fault.Kind
		field, hint string
	}{
		{"an id with blanks", func() error {
			_, _, err := s.Put(t.Context(), personality.Draft{ID: "My Coach", Template: ada("x")}, nil)
			return err
		}, fault.Invalid, "id", "my-coach"},
		{"a name of no letters", func() error {
			_, _, err := s.Put(t.Context(), personality.Draft{Template: "identity: {name: 愛}\ncommunication: {tone: warm}\n"}, nil)
			return err
		}, fault.Invalid, "id", "give an id"},
		{"an error in the template", func() error {
			_, _, err := s.Put(t.Context(), personality.Draft{ID: "a", Template: "identity: {name: x}\n"}, nil)
			return err
		}, fault.Invalid, "template", "add it"},
		{"too large", func() error {
			_, _, err := s.Put(t.Context(), personality.Draft{ID: "a", Template: strings.Repeat("#", personality.MaxTemplateBytes+1)}, nil)
			return err
		}, fault.Limit, "template", ""},
		{"a version of what is not there", func() error {
			_, _, err := s.Put(t.Context(), personality.Draft{ID: "a", Template: ada("x")}, &one)
			return err
		}, fault.Conflict, "ifVersion", ""},
		{"none is active", func() error { _, err := s.Get(""); return err }, fault.NotFound, "", "ctxd personality list"},
		{"unknown", func() error { return s.Activate(t.Context(), "nobody") }, fault.NotFound, "", "ctxd personality list"},
		{"deleting none", func() error { return s.Delete(t.Context(), "nobody", nil) }, fault.NotFound, "", ""},
		{"a file that is none", func() error {
			_, err := s.Import(t.Context(), "personalities: [", false)
			return err
		}, fault.Invalid, "text", "personality.export"},
		{"a bad template in a file", func() error {
			_, err := s.Import(t.Context(), "personalities:\n  a: 'x: y'\n", false)
			return err
		}, fault.Invalid, `text.personalities["a"].template`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { wants(t, c.do(), c.kind, c.field, c.hint) })
	}
	if n := len(s.List()); n != len(personality.Presets()) {
		t.Errorf("%d personalities after what was refused", n)
	}
}

func TestMEM73_TheActiveOneIsNotDeleted(t *testing.T) {
	_, s := open(t, kv.InMemory)
	p, warnings, err := s.Put(t.Context(), personality.Draft{Template: ada("a coach")}, nil)
	if err != nil || p.ID != "ada" || p.Version != 1 || len(warnings) != 3 {
		t.Fatalf("%+v, %v, %v", p, warnings, err)
	}
	if err := s.Activate(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	wants(t, s.Delete(t.Context(), "ada", nil), fault.Conflict, "", "activate another")
	if p, _, err = s.Put(t.Context(), personality.Draft{ID: "ada", Template: ada("a friend")}, &p.Version); err != nil || p.Version != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if s.Active().Role != "a friend" {
		t.Errorf("the next prompt has %+v", s.Active())
	}
	if err := s.Activate(t.Context(), ""); err != nil || s.Active() != nil {
		t.Fatal(err, s.Active())
	}
	if err := s.Delete(t.Context(), "ada", &p.Version); err != nil {
		t.Fatal(err)
	}
}

func TestMEM73_ExportAndImport(t *testing.T) {
	_, from := open(t, kv.InMemory)
	texts := map[string]string{
		"a": ada("one"), "b": "# mine\n" + ada("two") + "custom_instructions: |\n  first\n\n    second \n",
		"c": "identity: {name: \"C\"}\r\ncommunication: {tone: warm}\r\n", "d": ada("no end of line")[:len(ada("no end of line"))-1],
	}
	for id, text := range texts {
		if _, _, err := from.Put(t.Context(), personality.Draft{ID: id, Template: text}, nil); err != nil {
			t.Fatal(id, err)
		}
	}
	file, err := from.Export(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, to := open(t, kv.InMemory)
	for _, want := range []int{len(texts), 0} {
		done, err := to.Import(t.Context(), file, false)
		if err != nil || len(done.IDs) != want || len(done.IDs)+len(done.Unchanged) != len(texts) {
			t.Fatalf("%+v, %v\n%s", done, err, file)
		}
	}
	for id, text := range texts {
		if p, err := to.Get(id); err != nil || p.Template != text {
			t.Errorf("%s: %q, %v", id, p.Template, err)
		}
	}
	if _, _, err := from.Put(t.Context(), personality.Draft{ID: "a", Template: ada("changed")}, nil); err != nil {
		t.Fatal(err)
	}
	file, err = from.Export([]string{"a", "teacher"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = to.Import(t.Context(), file, false)
	wants(t, err, fault.Conflict, "", "replace")
	done, err := to.Import(t.Context(), file, true)
	if err != nil || !slices.Equal(done.IDs, []string{"a"}) || !slices.Equal(done.Unchanged, []string{"teacher"}) {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err = to.Import(t.Context(), ada("alone"), false); err != nil || !slices.Equal(done.IDs, []string{"ada"}) {
		t.Errorf("one template: %+v, %v", done, err)
	}
}

// TestMEM73_Model compares any history with a map, also when it is read anew.
func TestMEM73_Model(t *testing.T) {
	campaign.Only(t)
	rapid.Check(t, func(rt *rapid.T) {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		s, err := personality.Open(db, personality.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		ids := rapid.SampledFrom([]string{"a", "b", "teacher", ""})
		roles, versions, active := map[string]string{}, map[string]int{}, ""
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				id, role := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "id"), rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "role")
				if _, _, err := s.Put(rt.Context(), personality.Draft{ID: id, Template: ada(role)}, nil); err != nil {
					rt.Fatal(err)
				}
				if roles[id] != role {
					roles[id] = role
					versions[id]++
				}
			},
			"delete": func(rt *rapid.T) {
				id := ids.Draw(rt, "id")
				err := s.Delete(rt.Context(), id, nil)
				_, have := roles[id]
				if (err == nil) != (have && id != active) {
					rt.Fatalf("delete %q: %v", id, err)
				}
				if err == nil {
					delete(roles, id)
					delete(versions, id)
				}
			},
			"activate": func(rt *rapid.T) {
				id := ids.Draw(rt, "id")
				err := s.Activate(rt.Context(), id)
				_, have := roles[id]
				if (err == nil) != (have || id == "" || id == "teacher") {
					rt.Fatalf("activate %q: %v", id, err)
				}
				if err == nil {
					active = id
				}
			},
			"": func(rt *rapid.T) {
				anew, err := personality.Open(db, personality.Options{})
				if err != nil {
					rt.Fatal(err)
				}
				for _, s := range []*personality.Store{s, anew} {
					got, was := map[string]string{}, map[string]int{}
					for _, p := range s.List() {
						if !p.Preset {
							got[p.ID], was[p.ID] = p.Role, p.Version
						}
						if p.Active != (p.ID == active) {
							rt.Fatalf("%+v, %q is active", p, active)
						}
					}
					if !maps.Equal(got, roles) || !maps.Equal(was, versions) {
						rt.Fatalf("%v %v, want %v %v", got, was, roles, versions)
					}
					if p := s.Active(); (p == nil) != (active == "") || p != nil && p.ID != active {
						rt.Fatalf("active: %+v, want %q", p, active)
					}
				}
				err = db.View(rt.Context(), func(tx *kv.Tx) error {
					problems, err := personality.Check(tx)
					if len(problems) > 0 {
						rt.Fatal(problems)
					}
					return err
				})
				if err != nil {
					rt.Fatal(err)
				}
			},
		})
	})
}

// TestMEM73_CheckFindsWhatIsWrong: admin.check tells records that nobody wrote here.
func TestMEM73_CheckFindsWhatIsWrong(t *testing.T) {
	db, _ := open(t, kv.InMemory)
	err := db.Update(t.Context(), func(tx *kv.Tx) error {
		if err := personality.Records.Put(tx, "x", &personality.Record{ID: "y", Version: 1}); err != nil {
			return err
		}
		return personality.Choices.Put(tx, "active", &personality.Choice{ID: "gone"})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), func(tx *kv.Tx) error {
		problems, err := personality.Check(tx)
		if len(problems) != 2 {
			t.Errorf("%q", problems)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
