package vault_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/notes/vault"
)

// unresolved returns the targets of the links of a vault that lead nowhere.
func (w *watchWorld) unresolved() (targets []string) {
	for n := range w.notes.All() {
		_, links := w.notes.Outgoing(n.ID)
		for _, l := range links {
			targets = append(targets, l.Target)
		}
	}
	slices.Sort(targets)
	return targets
}

// TestSRCH32_LinksToDays: a link to a day leads to its note in each form that the program takes which keeps the vault, and
// to no other.
func TestSRCH32_LinksToDays(t *testing.T) {
	const config = "logseq/config.edn"
	for name, c := range map[string]struct {
		config      string // "": none
		day         string // path of the note of 2 March 2026, a Monday
		yes, beside string // targets that lead there, and that do not, on a line each
	}{
		"no settings": {"", "journals/2026_03_02.md", "Mar 2nd, 2026\nmar 2ND, 2026\n2026-03-02\n2026_03_02", "Mar 3rd, 2026\nMonday, 02.03.2026\nMar 2, 2026"},
		"settings that say nothing of days": {
			`{:meta/version 1}`, "journals/2026_03_02.md", "Mar 2nd, 2026\n2026-03-02", "2026/03/02",
		},
		"titles as of ISO": {
			`{:journal/page-title-format "yyyy-MM-dd"}`, "journals/2026_03_02.md", "2026-03-02\nMar 2nd, 2026", "2026-03-03",
		},
		"weekdays": {
			`{:journal/page-title-format "EEE, dd.MM.yyyy"}`, "journals/2026_03_02.md",
			"Mon, 02.03.2026\nMar 2nd, 2026\n2026-03-02", "Tue, 02.03.2026\n02.03.2026",
		},
		"folders in titles": {
			`{:journal/page-title-format "yyyy/MM/dd"}`, "journals/2026_03_02.md", "2026/03/02\nMar 2nd, 2026", "2026/03\n02",
		},
		"another name of the file, in another folder": {
			"{;; :journals-directory \"x\"\n :journals-directory \"log/days\"\n:journal/file-name-format \"EEEE, do 'of' MMMM yyyy\"}",
			"log/days/Monday, 2nd of March 2026.md", "Mar 2nd, 2026\n2026-03-02", "2026/03/02",
		},
		"a format that is no day": {
			`{:journal/page-title-format "EEEE"}`, "journals/2026_03_02.md", "Mar 2nd, 2026", "Monday",
		},
		"a name that is none": {
			`{:journal/page-title-format "yyyy-MM-dd '` + strings.Repeat("x", 2000) + `'"}`, "journals/2026_03_02.md", "2026_03_02", "Mar 2nd, 2026",
		},
		"not in the folder of days": {"", "pages/2026_03_02.md", "2026_03_02", "Mar 2nd, 2026\n2026-03-02"},
	} {
		t.Run(name, func(t *testing.T) {
			yes, beside := strings.Split(c.yes, "\n"), strings.Split(c.beside, "\n")
			files := map[string]string{c.day: "- a day", "pages/x.md": "[[" + strings.Join(append(yes, beside...), "]] [[") + "]]"}
			if c.config != "" {
				files[config] = c.config
			}
			w := open(t, kv.InMemory)
			w.imports(t, vault.ImportRequest{Path: importFolder(t, files)})
			slices.Sort(beside)
			if got := w.unresolved(); !slices.Equal(got, beside) {
				t.Errorf("nowhere lead %q, want %q", got, beside)
			}
			day, err := w.notes.ByPath(c.day, nil)
			must(t, err)
			if back := w.notes.Incoming(day.ID); len(back) != 1 || back[0].Count != len(yes) {
				t.Errorf("%+v", back)
			}
			if s := w.status(t); len(s.Errors) > 0 {
				t.Errorf("%+v", s.Errors)
			}
		})
	}
}

// In Obsidian the note of a day has the name that its format gives to the file, and a link says that.
func TestSRCH32_LinksToDaysOfObsidian(t *testing.T) {
	w := open(t, kv.InMemory)
	w.imports(t, vault.ImportRequest{Path: importFolder(t, map[string]string{
		".obsidian/daily-notes.json":              `{"folder":"Daily","format":"YYYY/MM/dddd, MMMM Do YYYY"}`,
		"Daily/2026/03/Monday, March 2nd 2026.md": "a day", "x.md": "[[monday, March 2nd 2026]] [[2026/03/Monday, March 2nd 2026]] [[Mar 2nd, 2026]]",
	})})
	if got := w.unresolved(); !slices.Equal(got, []string{"Mar 2nd, 2026"}) {
		t.Errorf("nowhere lead %q", got)
	}
}

// The settings change, and so does what leads to days; a note that is called so itself goes before a day.
func TestSRCH32_OtherSettingsOfDays(t *testing.T) {
	const config = "logseq/config.edn"
	dir := importFolder(t, map[string]string{
		"journals/2026_03_02.md": "- a day", "journals/2026_03_03.md": "---\nprivate: true\n---\n",
		"pages/x.md": "[[02.03.2026]] [[2.3.26]] [[Mar 2nd, 2026]]",
	})
	w := open(t, kv.InMemory)
	leads := func(when string, want ...string) {
		t.Helper()
		if got := w.unresolved(); !slices.Equal(got, want) {
			t.Errorf("%s: nowhere lead %q, want %q", when, got, want)
		}
	}
	w.imports(t, vault.ImportRequest{Path: dir})
	leads("no settings", "02.03.2026", "2.3.26")
	if whole, _ := w.notes.MatchPrivate("mar 3rd, 2026"); !whole {
		t.Error("what a private day is called is not private")
	}
	write(t, dir, config, `{:journal/page-title-format "dd.MM.yyyy"}`)
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Written != 2 {
		t.Errorf("%d notes were written, want the two days", res.Written)
	}
	leads("settings", "2.3.26")
	if res := w.imports(t, vault.ImportRequest{Path: dir}); res.Written != 0 {
		t.Errorf("the same settings: %d notes were written", res.Written)
	}
	if runtime.GOOS != "windows" {
		must(t, os.Remove(filepath.Join(dir, config)))
		must(t, os.Symlink("elsewhere", filepath.Join(dir, config)))
		res := w.imports(t, vault.ImportRequest{Path: dir})
		leads("settings that can't be read", "02.03.2026", "2.3.26")
		if !slices.ContainsFunc(res.Skipped, func(s vault.ImportSkip) bool { return strings.Contains(s.Reason, "links to days") }) {
			t.Errorf("it is not said: %+v", res.Skipped)
		}
		must(t, os.Remove(filepath.Join(dir, config)))
	}
	write(t, dir, config, `{:journal/page-title-format "d.M.yy"}`)
	write(t, dir, "pages/Mar 2nd, 2026.md", "a page")
	w.imports(t, vault.ImportRequest{Path: dir})
	leads("other settings", "02.03.2026")
	if to := w.notes.Resolve("Mar 2nd, 2026", "", nil); to.Tier != notes.TierName {
		t.Errorf("%+v", to)
	}
}

// A vault that is followed takes changed settings in.
func TestSRCH32_SettingsOfDaysThatAreFollowed(t *testing.T) {
	skipWithoutEvents(t)
	dir := importFolder(t, map[string]string{"journals/2026_03_02.md": "- a day", "pages/x.md": "[[02.03.2026]]", "logseq/config.edn": "{}"})
	w := follows(t, dir, kv.InMemory, never, vault.Seam{})
	write(t, dir, "logseq/config.edn", `{:journal/page-title-format "dd.MM.yyyy"}`)
	until(t, "the link leads to its day", func() bool { return len(w.unresolved()) == 0 })
	rename(t, dir, "journals/2026_03_02.md", "journals/2026_03_04.md")
	until(t, "it is another day", func() bool { return len(w.unresolved()) == 1 })
	if to := w.notes.Resolve("04.03.2026", "", nil); to.Tier != notes.TierAlias {
		t.Errorf("%+v", to)
	}
}

// TestLSP6_ADayBecomesAnother: links to it say the other day, in the form that they had.
func TestLSP6_ADayBecomesAnother(t *testing.T) {
	files := map[string]string{
		"logseq/config.edn":      `{:journal/page-title-format "EEE, dd.MM.yyyy"}`,
		"journals/2026_03_02.md": "- a day", "pages/x.md": "[[Mon, 02.03.2026]] [[Mar 2nd, 2026|then]] [[2026-03-02]] [[2026_03_02]] [[Mar 9th, 2026]]\n",
	}
	w := read(t, folder(t, files))
	for name, c := range map[string]struct {
		links   string
		problem string
	}{
		"2026_03_03": {"[[Tue, 03.03.2026]] [[Mar 3rd, 2026|then]] [[2026-03-03]] [[2026_03_03]] [[Mar 9th, 2026]]\n", ""},
		"2026_03_09": {"[[Mon, 09.03.2026]] [[Mar 9th, 2026|then]] [[2026-03-09]] [[2026_03_09]] [[Mar 9th, 2026]]\n", "[[Mar 9th, 2026]]"},
		"Meeting":    {"[[Meeting]] [[Meeting|then]] [[Meeting]] [[Meeting]] [[Mar 9th, 2026]]\n", ""},
	} {
		plan, err := vault.RenameNote(w.notes, w.ents, w.where(), vault.NoteRename{Path: "journals/2026_03_02.md", New: name})
		must(t, err)
		check(t, applied(t, w.files, plan), files, map[string]string{"journals/" + name + ".md": "- a day", "pages/x.md": c.links}, "journals/2026_03_02.md")
		var problems []string
		for _, p := range plan.Problems {
			problems = append(problems, p.Text)
		}
		if strings.Join(problems, " ") != c.problem {
			t.Errorf("%s: problems %v, want %q", name, plan.Problems, c.problem)
		}
	}
}
