package vectors

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed/embedtest"
	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/notes"
)

// TestREL1_VectorsOfAClockThatWasSetBack starts with the vectors of two models, of which
// those of the other one have a time to come: those of the model serve.
func TestREL1_VectorsOfAClockThatWasSetBack(t *testing.T) {
	dir := t.TempDir()
	index := filepath.Join(dir, "index")
	var files []string
	models := []*embedtest.Bags{{Name: "a"}, {Name: "b"}}
	for _, b := range models {
		db := searchtest.Open(t, dir)
		r := over(t, db, Options{Dir: index, Embedder: b})
		r.put(t, notes.Draft{ID: "n", Title: "Note", Body: "The keeper looks after " + b.Name})
		r.settled(t)
		until(t, "one model is left", func() bool { return len(r.files()) == 1 })
		name := r.servingFile()
		must(t, db.Close())
		must(t, os.Rename(name, filepath.Join(dir, filepath.Base(name))))
		files = append(files, filepath.Base(name))
	}
	for i, b := range models {
		for k, name := range files {
			at := time.Now().Add(-time.Hour)
			if k != i {
				at = at.AddDate(1, 0, 0)
			}
			must(t, os.Rename(filepath.Join(dir, name), filepath.Join(index, name)))
			must(t, os.Chtimes(filepath.Join(index, name), at, at))
		}
		db := searchtest.Open(t, dir)
		on := searchtest.Over(t, db, notes.Options{})
		x := Open(db, notedoc.New(on.Notes, notedoc.Options{}), Options{Dir: index, Embedder: b})
		x.load()
		if x.serving == nil || x.serving.model.Name != b.Name {
			t.Errorf("the vectors of %s are not those that serve", b.Name)
		}
		must(t, db.Close())
		for _, name := range files {
			must(t, os.Rename(filepath.Join(index, name), filepath.Join(dir, name)))
		}
	}
}
