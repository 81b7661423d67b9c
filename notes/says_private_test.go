package notes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestPRIV9_WhatATextSays has texts that ask to be private, in plain words and in ways
// that YAML reads as something else or not at all. In doubt a note is private, and why
// is told.
func TestPRIV9_WhatATextSays(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	huge := strings.Repeat("k: "+strings.Repeat("x", 1000)+"\n", 300)
	for i := range 300 {
		huge = strings.Replace(huge, "k: ", fmt.Sprintf("k%d: ", i), 1)
	}
	for _, c := range []struct {
		body string
		want notes.PrivateRule
	}{
		{"---\nprivate: true\n---\nx", notes.RuleText},
		{"---\nPrivate: True\n---\nx", notes.RuleText},
		{"---\nPRIVATE: yes\n---\nx", notes.RuleText},
		{"---\n\"private\": true\n---\nx", notes.RuleText},
		{"---\n'private' : true\n---\nx", notes.RuleText},
		{"---\n\"pri\\u0076ate\": true\n---\nx", notes.RuleText},
		{"\uFEFF---\nprivate: true\n---\nx", notes.RuleText},
		{"---\r\nprivate: true\r\n---\r\nx", notes.RuleText},
		{"---\nprivate:\n  true\n---\nx", notes.RuleText},
		{"---\n? private\n: true\n---\nx", notes.RuleText},
		{"---\n{a: 1, private: true}\n---\nx", notes.RuleText},
		{"---\nbase: &b\n  private: true\n<<: *b\n---\nx", notes.RuleText},
		{"---\nprivate: false\nPrivate: true\n---\nx", notes.RuleText},
		{"---\nprivate: 1\n---\nx", notes.RuleText},

		{"---\nprivate: maybe\n---\nx", notes.RuleDoubt},
		{"---\nprivate: [false]\n---\nx", notes.RuleDoubt},
		{"---\nprivate: \"\"\n---\nx", notes.RuleDoubt},
		{"---\nprivate:true\n---\nx", notes.RuleDoubt},
		{"---\ntitle: x\nprivate:true\n---\nx", notes.RuleDoubt},
		{"---\nprivate:true\ntitle: x\n---\nx", notes.RuleDoubt},
		{"---\ntitle: x\nprivate:\u00a0true\n---\nx", notes.RuleDoubt},
		{"---\nprivate:\u00a0true\n---\nx", notes.RuleDoubt},
		{"---\nprivate:\u2003true\ntitle: x\n---\nx", notes.RuleDoubt},
		{"---\n\u00a0private: true\n---\nx", notes.RuleDoubt},
		{"---\nprivate\u00a0: true\n---\nx", notes.RuleDoubt},
		{"---\npri\u200bvate: true\n---\nx", notes.RuleDoubt},
		{"---\npri\u00advate: true\n---\nx", notes.RuleDoubt},
		{"---\nｐｒｉｖａｔｅ： true\n---\nx", notes.RuleDoubt},
		{"---\nprivate=true\ntitle: x\n---\nx", notes.RuleDoubt},
		{"---\n{title: x, private:true}\n---\nx", notes.RuleText},
		{"---\nprivate:\ntrue\n---\nx", notes.RuleText},
		{"---\ntitle: x\nprivate:\ntrue\n---\nx", notes.RuleText},
		{"---\ntitle: a: b\nprivate: true\n---\nx", notes.RuleDoubt},
		{"---\nprivate: true\nprivate: false\n---\nx", notes.RuleDoubt},
		{"---\ntags: [a, private: true\n---\nx", notes.RuleDoubt},
		{"---\n\tprivate: true\n---\nx", notes.RuleDoubt},
		{"---\ntitle: a: b\n\"\\x70rivate\": true\n---\nx", notes.RuleDoubt},
		{"---\n" + huge + "private: true\n---\nx", notes.RuleDoubt},
		{"---\nprivate: true\nx", notes.RuleDoubt},
		{"---\nprivate:true\nx", notes.RuleDoubt},
		{"---\rprivate: true\r---\rx", notes.RuleDoubt},
		{"\uFEFF---\rtitle: x\rprivate: true\r---\rx", notes.RuleDoubt},
		{"---\u2028private: true\u2028---\u2028x", notes.RuleDoubt},
		{"\n---\nprivate: true\n---\nx", notes.RuleDoubt},
		{" ---\nprivate: true\n---\nx", notes.RuleDoubt},
		{"\u200b---\nprivate: true\n---\nx", notes.RuleDoubt},
		{"----\nprivate: true\n----\nx", notes.RuleDoubt},
		{"—\nprivate: true\n—\nx", notes.RuleDoubt},
		{"+++\nprivate = true\n+++\nx", notes.RuleDoubt},

		{"", notes.RuleNone},
		{"x", notes.RuleNone},
		{"private: true", notes.RuleNone},
		{"# Private: a talk\n\n---\nprivate: true\n---\n", notes.RuleNone},
		{"---\nprivate: false\n---\nx", notes.RuleNone},
		{"---\nprivate: no\n---\nx", notes.RuleNone},
		{"---\nprivate: 'off'\n---\nx", notes.RuleNone},
		{"---\nprivate: 0\n---\nx", notes.RuleNone},
		{"---\nprivate:\n---\nx", notes.RuleNone},
		{"---\n# private: true\ntitle: x\n---\nx", notes.RuleNone},
		{"---\nprivateer: true\n---\nx", notes.RuleNone},
		{"---\nnotprivate:true\ntitle: x\n---\nx", notes.RuleNone},
		{"---\nvisibility:\n  private: true\n---\nx", notes.RuleNone},
		{"---\nabout: |\n  private: of a person\n---\nx", notes.RuleNone},
		{"---\ntitle: private: no\nprivates: x\n", notes.RuleNone},
		{"---\ntitle: a: b\nprivateer: x\n---\nx", notes.RuleNone},
		{"---\n\nA talk in private: all of it.\n", notes.RuleNone},
		{"- private: true\n- x\n", notes.RuleNone},
	} {
		n := put(t, s, notes.Draft{Body: c.body})
		why := s.WhyPrivate(n)
		if n.Private != (c.want != notes.RuleNone) || why.Rule != c.want {
			t.Errorf("%.80q: private %v by %+v, want %q", c.body, n.Private, why, c.want)
		}
		if (why.Doubt != "") != (c.want == notes.RuleDoubt) {
			t.Errorf("%.80q: the doubt is %q", c.body, why.Doubt)
		}
	}
}

// TestPRIV9_PlacesAreComparedInOneForm configures private folders in one form of
// Unicode and has notes in the other, and letter case where the file system folds it.
func TestPRIV9_PlacesAreComparedInOneForm(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ents, err := entities.Open(db, entities.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const composed, decomposed = "Priv\u00e9", "Prive\u0301"
	s, err := notes.Open(db, ents, notes.Options{PrivateFolders: []string{"/" + composed + "/", "./" + decomposed + "2/", "Work/HR"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetFoldsCase(ctx, "folding", true); err != nil {
		t.Fatal(err)
	}
	if err := s.SetFoldsCase(ctx, "telling", false); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    notes.Draft
		want bool
	}{
		{notes.Draft{Vault: "telling", Path: composed + "/a.md"}, true},
		{notes.Draft{Vault: "telling", Path: decomposed + "/a.md"}, true},
		{notes.Draft{Vault: "telling", Path: composed + "2/sub/a.md"}, true},
		{notes.Draft{Vault: "telling", Path: "Work/HR/a.md"}, true},
		{notes.Draft{Vault: "telling", Path: "PRIV\u00c9/a.md"}, false},
		{notes.Draft{Vault: "telling", Path: "work/hr/a.md"}, false},
		{notes.Draft{Vault: "telling", Path: "Other/" + composed + "/a.md"}, false},
		{notes.Draft{Vault: "folding", Path: "PRIVE\u0301/a.md"}, true},
		{notes.Draft{Vault: "folding", Path: "work/hr/a.md"}, true},
		{notes.Draft{Vault: "folding", Path: "work/a.md"}, false},
		{notes.Draft{Path: "priv\u00e9/client.md"}, true}, // nobody knows where a client has it
		{notes.Draft{Folder: composed}, true},
		{notes.Draft{Folder: decomposed + "/sub"}, true},
		{notes.Draft{Folder: "Work/HR"}, true},
		{notes.Draft{Folder: "Work"}, false},
		{notes.Draft{Folder: "Work/HRM"}, false},
	} {
		n := put(t, s, c.d)
		if n.Private != c.want || n.Private && s.WhyPrivate(n).Rule != notes.RuleFolder {
			t.Errorf("%+v: private %v by %+v", c.d, n.Private, s.WhyPrivate(n))
		}
	}
	n := put(t, s, notes.Draft{ID: "moves", Folder: "Open"})
	n, err = s.Patch(ctx, notes.Patch{ID: n.ID, Folder: ptr("Work/HR/2026")}, nil)
	if err != nil || !n.Private {
		t.Errorf("a patch of the folder: %+v, %v", n, err)
	}
	n, err = s.Patch(ctx, notes.Patch{ID: n.ID, Path: ptr("Open/a.md")}, nil)
	if err != nil || n.Private {
		t.Errorf("a patch of the path: %+v, %v", n, err)
	}
	n, err = s.Patch(ctx, notes.Patch{ID: n.ID, Path: ptr("work/hr/a.md")}, nil)
	if err != nil || !n.Private {
		t.Errorf("a patch of the path: %+v, %v", n, err)
	}
}

// storePublic stores a note as a program does that takes nothing for private.
func storePublic(t *testing.T, db *kv.Store, n *notes.Note) {
	t.Helper()
	was := *n
	was.Private = false
	if err := db.Update(ctx, func(tx *kv.Tx) error { return notes.Records.Put(tx, n.ID, &was) }); err != nil {
		t.Fatal(err)
	}
}

// TestPRIV14_NotesOfEarlierRules opens a store whose notes were written by a program that took less for private. They are
// looked at once.
func TestPRIV14_NotesOfEarlierRules(t *testing.T) {
	dir := t.TempDir()
	s, _, db := open(t, dir)
	if err := s.HideAnew(ctx); err != nil {
		t.Fatal(err)
	}
	want := make(map[string]*notes.Note)
	for i, text := range slices.Concat(privateHeads, publicHeads, []string{"---\ntitle: x\nprivate:true\n---\nx", "---\nprivate: no\n---\nx"}) {
		n := put(t, s, notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("n", i), Body: text})
		want[n.ID] = n
		storePublic(t, db, n)
	}
	reopen := func() {
		t.Helper()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s, _, db = open(t, dir)
		if err := s.HideAnew(ctx); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	for id, n := range want {
		if got := s.Get(id); got.Private != n.Private || got.Body != n.Body || !got.UpdatedAt.Equal(n.UpdatedAt) {
			t.Errorf("%.80q: private %v, want %v", n.Body, got.Private, n.Private)
		}
	}
	storePublic(t, db, want["n0"])
	before := db.Seq()
	reopen()
	if s.Get("n0").Private || db.Seq() != before {
		t.Error("the notes were looked at again")
	}
}

// Heads in other forms than frontmatter.
var (
	privateHeads = []string{
		"private:: true\n\ntext", "title:: Plan\nPrivate:: yes\ntext", "- type:: x\n  private:: true\n- text", "\uFEFF\nprivate:: maybe\n",
		"alias:: a\n\nprivate:: true\n",
		"#+TITLE: Plan\n#+PRIVATE: true\ntext", "#+private: t\n", "# comment\n#+private: T\n", ":PROPERTIES:\n:PRIVATE: t\n:END:\ntext",
		"#+private: perhaps\n",
		`<html><head><meta name="private" content="true"></head><body>x`, `<!doctype html><META CONTENT=yes NAME='Private' />`,
		`<meta name="private" content="&#116;rue">`, "<!-- x --><meta name=private content=1>",
		";;;\n{\"private\": true}\n;;;\ntext", "{\n  \"title\": \"Plan\",\n  \"Private\": \"yes\"\n}\n\ntext", "{\"private\": 1} text",
		";;;\n\"private\": true\n;;;\n",
		"+++\nprivate = true\n+++\ntext",
		"---\ntitle: x\n---\nprivate:: true\n",
	}
	publicHeads = []string{
		"private:: false\ntext", "title:: x\n\ntext\nprivate:: true\n", "#+private: nil\n", "#+TITLE: private\n", "text\n#+PRIVATE: t",
		`<head><meta name="private" content="false"></head>`, `<head></head><body><meta name="private" content="true">`,
		`<!-- <meta name="private" content="true"> --><p>x`, `<meta name="robots" content="private">`,
		`{"private": false}`, `{"title": "private"}`, "{{template}} about private: things", "{% note %}\nprivate\n", "a private:: thing",
		"private: true\n", "# Private\n\ntext", "",
	}
)

func TestPRIV14_HeadsInOtherForms(t *testing.T) {
	s, _, _ := open(t, kv.InMemory)
	for _, text := range privateHeads {
		if !notes.SaysPrivate(text) {
			t.Errorf("public: %q", text)
		}
		d := notes.Draft{Title: "x", Body: text}
		if !s.WillBePrivate(&d) {
			t.Errorf("the note is public: %q", text)
		}
	}
	for _, text := range publicHeads {
		if notes.SaysPrivate(text) {
			t.Errorf("private: %q", text)
		}
	}
	for _, data := range []string{`{"private": true}`, `{"private": true, "title": `, "{\"private\":true}\n{\"private\":false}\n"} {
		if d := (notes.Draft{Title: "x", Body: data}); notes.SaysPrivate(data) || !s.WillBePrivate(&d) {
			t.Errorf("JSON alone is a head in a note and data in a file: %q", data)
		}
	}
}
