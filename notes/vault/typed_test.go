package vault_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// kindOf returns the type of the entity made from the note of a path, its tags, and what
// is listed of its file.
func (w *watchWorld) kindOf(t *testing.T, vault, path string) (kind string, tags, listed []string) {
	t.Helper()
	n, err := w.notes.ByPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, err := w.im.Status(ctx, vault)
	if err != nil {
		t.Fatal(err)
	}
	for _, skip := range status.Errors {
		if skip.Path == path {
			listed = append(listed, skip.Reason)
		}
	}
	return w.notes.EntityType(n), n.Tags, listed
}

// TestSRCH55_InlineFieldsAreFieldsOfEntities: of a type that declares them, as they are written; frontmatter goes before, and a
// list has both. A type that is made from frontmatter gets no field from a body.
func TestSRCH55_InlineFieldsAreFieldsOfEntities(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"Dune.md": "---\ntype: Book\nstate: read\ncolors: [red]\n---\nstate:: lent\nPages:: 0412\n- by:: [[Ann]]\n(colors:: blue) [colors:: \"a, b\"]\nshelf:: 3\n`code:: x`\n",
		"Ann.md":  "---\ntype: Human\nage: 3\n---\nage:: 4\nborn:: 1990\n",
		".ctxd/types/Book.yaml": "fields: [{name: state, type: text}, {name: pages, type: text}, {name: by, type: entity_ref}, " +
			"{name: colors, type: text_list}, {name: code, type: text}]\n",
	})
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: dir, Name: "v"})
	for path, want := range map[string]map[string]any{
		"Dune.md": {"state": "read", "pages": "0412", "by": notes.VaultID("v", "Ann.md", "entity"), "colors": []string{"red", "blue", "a, b"}},
		"Ann.md":  {"age": []string{"3", "4"}},
	} {
		n, err := w.notes.ByPath(path, nil)
		must(t, err)
		if diff := cmp.Diff(want, map[string]any(w.ents.Get(n.EntityID).Fields)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// TestSRCH37_OfSeveralTypesTheFirstThatIsDeclared makes the entity, also when it is declared
// later. The others become tags, and are listed.
func TestSRCH37_OfSeveralTypesTheFirstThatIsDeclared(t *testing.T) {
	dir := importFolder(t, map[string]string{
		"A.md":                     "---\ntype: [Novel, Book, Reading List]\ntags: [x]\npages: 12\n---\n",
		"B.md":                     "---\ntype:\n  - \"[[Book]]\"\n  - book\n---\n",
		"C.md":                     "---\ntype: [\"a\\nb\"]\n---\n",
		"E.md":                     "---\ntype: {x: 1}\n---\n",
		"D.md":                     "---\ntype: [New, Newer]\n---\n",
		".ctxd/types/Book.yaml":    "fields: [{name: pages, type: number}]\n",
		".ctxd/types/Unasked.yaml": "fields: []\n",
	})
	w := open(t, t.TempDir())
	w.imports(t, vault.ImportRequest{Path: dir, Name: "v"})
	check := func(path, wantKind string, wantTags, wantListed []string) {
		t.Helper()
		kind, tags, listed := w.kindOf(t, "v", path)
		if kind != wantKind {
			t.Errorf("%s is a %q, want %q", path, kind, wantKind)
		}
		if diff := cmp.Diff(wantTags, tags); diff != "" {
			t.Errorf("tags of %s: %s", path, diff)
		}
		if diff := cmp.Diff(wantListed, listed); diff != "" {
			t.Errorf("listed of %s: %s", path, diff)
		}
	}
	several := func(others string) []string {
		return []string{"several types: the first that is declared is the type of the entity, other types became tags: " + others}
	}
	check("A.md", "Book", []string{"x", "Novel", "Reading List"}, several("2"))
	check("B.md", "Book", []string{}, nil)
	check("C.md", "", []string{}, []string{"type left out: it is not a name of one line without backticks and brackets"})
	check("D.md", "New", []string{"Newer"}, several("1"))
	check("E.md", "", []string{}, []string{"type left out: it is not a name of one line without backticks and brackets"})

	write(t, dir, ".ctxd/types/Novel.yaml", "fields: []\n")
	if res := w.imports(t, vault.ImportRequest{Path: dir, Name: "v"}); res.Written != 1 {
		t.Errorf("%d notes were written, want the one whose type is another", res.Written)
	}
	check("A.md", "Novel", []string{"x", "Book", "Reading List"}, several("2"))
	if res := w.imports(t, vault.ImportRequest{Path: dir, Name: "v"}); res.Written != 0 {
		t.Errorf("%d notes were written although nothing changed", res.Written)
	}
	check("A.md", "Novel", []string{"x", "Book", "Reading List"}, several("2"))
}
