package vault_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestSRCH31_Soak changes files at random while they are followed and searched.
// At the end the notes are the files, as a plain list of them has it, and an
// import into an empty store says the same of links, titles and entities. The
// short form has some hundred files; CTXD_CAMPAIGN=full has 10,000 and 10,000
// changes.
func TestSRCH31_Soak(t *testing.T) {
	campaign.Only(t)
	all, changes := 200, 160
	if campaign.Full() {
		all, changes = 10_000, 10_000
	}
	var n atomic.Uint64
	for name, seam := range map[string]vault.Seam{
		"heard":         {},
		"every 3rd one": {Drop: func(fsnotify.Event) bool { return n.Add(1)%3 != 0 }},
		"untold":        {NoEvents: true},
	} {
		t.Run(name, func(t *testing.T) { soak(t, all, changes, seam) })
	}
}

func soak(t *testing.T, all, changes int, seam vault.Seam) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	m := &model{
		t: t, dir: importFolder(t, map[string]string{".ctxd/types/Person.yaml": "name: Person\nfields:\n  - {name: level, type: number}\n"}),
		rng: rand.New(rand.NewPCG(seed, 1)), files: make(map[string]string),
	}
	for range all {
		m.make()
	}
	sweep := 100 * time.Millisecond
	w := open(t, kv.InMemory)
	index := search.Open(w.db, notedoc.New(w.notes, notedoc.Options{}), search.Options{})
	w.im = vault.NewImporter(w.db, w.ents, w.notes, vault.ImporterOptions{SweepEvery: sweep})
	w.im.SetSeam(seam)
	w.start(t)
	w.imports(t, vault.ImportRequest{Path: m.dir, Watch: true})
	for i := range changes {
		m.change()
		if i%20 == 0 {
			if _, err := index.Search(ctx, search.Request{Query: "text of note", Limit: 10}); err != nil {
				t.Fatal(err)
			}
		}
		if i%(changes/4) == 0 { // now and then it comes to rest
			w.shows(t, m.files)
		}
	}
	w.shows(t, m.files)
	must(t, w.im.Unwatch(ctx, ""))
	fresh := open(t, kv.InMemory)
	fresh.imports(t, vault.ImportRequest{Path: m.dir})
	if diff := cmp.Diff(fresh.said(), w.said()); diff != "" {
		t.Errorf("a fresh import says otherwise:\n%.4000s", diff)
	}
	found, err := index.Search(ctx, search.Request{Query: "text of note", Limit: 100})
	must(t, err)
	for _, h := range found.Hits {
		if w.notes.Get(h.Doc.ID()) == nil {
			t.Errorf("the search finds %s, which is gone", h.Doc.ID())
		}
	}
}

// said is what a world says of its notes, by path: not by ids, which a note keeps
// when its file moves.
func (w *watchWorld) said() map[string]string {
	pathOf := func(id string) string {
		if n := w.notes.Get(id); n != nil {
			return n.Path
		}
		return "nothing"
	}
	out := make(map[string]string)
	for n := range w.notes.All() {
		out[n.Path] = n.ID
	}
	for p, id := range out {
		n := w.notes.Get(id)
		var to, from []string
		for _, id := range w.notes.Targets(id) {
			to = append(to, pathOf(id))
		}
		for _, id := range w.notes.Linking(id) {
			from = append(from, pathOf(id))
		}
		slices.Sort(from)
		e := w.ents.Get(n.EntityID)
		what := "none"
		if e.Live() {
			what = fmt.Sprintf("%s %s %v", e.Type, e.Name, e.Fields)
		}
		out[p] = fmt.Sprintf("%s %q tags %v links %v from %v entity %s", n.Title, n.Body, n.Tags, to, from, what)
	}
	return out
}

// model is a folder of files, with a plain list of what is in them.
type model struct {
	t     *testing.T
	dir   string
	rng   *rand.Rand
	files map[string]string
	paths []string // of files that some has not returned lately
	made  int
}

// place is a path at which nothing is yet.
func (m *model) place() string {
	for {
		m.made++
		parts := []string{fmt.Sprintf("n%d.md", m.made)}
		if m.rng.IntN(4) == 0 {
			parts[0] = fmt.Sprintf("name%d.md", m.rng.IntN(20)) // which others may have elsewhere
		}
		for range m.rng.IntN(4) {
			parts = append([]string{fmt.Sprintf("d%d", m.rng.IntN(5))}, parts...)
		}
		if p := path.Join(parts...); m.files[p] == "" {
			return p
		}
	}
}

func (m *model) text() string {
	var b strings.Builder
	if m.rng.IntN(3) == 0 {
		fmt.Fprintf(&b, "---\ntype: Person\nlevel: %d\ntags: [t%d]\n---\n", m.rng.IntN(9), m.rng.IntN(9))
	}
	fmt.Fprintf(&b, "# Title %d\ntext of note %d\n", m.rng.IntN(200), m.rng.Uint64())
	for range m.rng.IntN(4) {
		fmt.Fprintf(&b, "to [[%s]]\n", [...]string{
			fmt.Sprintf("n%d", m.rng.IntN(m.made+5)), fmt.Sprintf("name%d", m.rng.IntN(25)), fmt.Sprintf("Title %d", m.rng.IntN(220)),
			fmt.Sprintf("d%d/name%d", m.rng.IntN(6), m.rng.IntN(20)), "./name3", "../name4", "/name5",
		}[m.rng.IntN(7)])
	}
	return b.String()
}

func (m *model) make() {
	p := m.place()
	m.files[p] = m.text()
	write(m.t, m.dir, p, m.files[p])
}

// some returns the path of a file that is there.
func (m *model) some() string {
	for {
		if len(m.paths) == 0 {
			m.paths = slices.Sorted(maps.Keys(m.files))
		}
		i := m.rng.IntN(len(m.paths))
		p := m.paths[i]
		m.paths[i] = m.paths[len(m.paths)-1]
		m.paths = m.paths[:len(m.paths)-1]
		if m.files[p] != "" {
			return p
		}
	}
}

func (m *model) full(p string) string { return filepath.Join(m.dir, filepath.FromSlash(p)) }

// change does one thing that people and their programs do.
func (m *model) change() {
	if len(m.files) < 50 {
		m.make()
		return
	}
	p := m.some()
	switch m.rng.IntN(12) {
	case 0, 1:
		m.make()
	case 2, 3: // in place
		m.files[p] = m.text()
		write(m.t, m.dir, p, m.files[p])
	case 4, 5: // beside, and renamed
		m.files[p] = m.text()
		write(m.t, m.dir, p+".tmp", m.files[p])
		must(m.t, os.Rename(m.full(p+".tmp"), m.full(p)))
	case 6: // set aside
		must(m.t, os.Rename(m.full(p), m.full(p+"~")))
		m.files[p] = m.text()
		write(m.t, m.dir, p, m.files[p])
		must(m.t, os.Remove(m.full(p+"~")))
	case 7:
		must(m.t, os.Remove(m.full(p)))
		delete(m.files, p)
	case 8, 9:
		to := m.place()
		must(m.t, os.MkdirAll(filepath.Dir(m.full(to)), 0o700))
		must(m.t, os.Rename(m.full(p), m.full(to)))
		m.files[to] = m.files[p]
		delete(m.files, p)
	case 10:
		m.moveFolder(path.Dir(p))
	case 11:
		if m.rng.IntN(4) == 0 && path.Dir(p) != "." {
			m.removeFolder(path.Dir(p))
		}
	}
}

func (m *model) moveFolder(from string) {
	m.made++
	to := fmt.Sprintf("moved%d", m.made)
	if from == "." {
		return
	}
	if m.rng.IntN(2) == 0 {
		to = path.Join(path.Dir(from), to)
	}
	must(m.t, os.Rename(m.full(from), m.full(to)))
	for p, text := range maps.Clone(m.files) {
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			delete(m.files, p)
			m.files[path.Join(to, rest)] = text
		}
	}
}

// removeFolder removes a small folder, or soon there would be none.
func (m *model) removeFolder(dir string) {
	in := 0
	for p := range m.files {
		if strings.HasPrefix(p, dir+"/") {
			in++
		}
	}
	if in > 10 {
		return
	}
	must(m.t, os.RemoveAll(m.full(dir)))
	maps.DeleteFunc(m.files, func(p, _ string) bool { return strings.HasPrefix(p, dir+"/") })
}
