package search

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vectors"
	"github.com/ctxd/ctxd/notes"
)

func TestSRCH4_InspectSaysWhatTheFilesAre(t *testing.T) {
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	for i := range 200 {
		r.put(t, notes.Draft{ID: fmt.Sprint("m", i), Title: fmt.Sprint("Many ", i), Body: fmt.Sprint("word", i)})
	}
	must(t, r.db.Close())
	index := filepath.Join(dir, "index")
	model := embed.Model{Name: "m", Dims: 3, SHA256: "ab"}
	for _, name := range []string{"vectors-1", "vectors-2.part"} {
		x, err := vectors.OpenFlatIndex(filepath.Join(index, name), model)
		must(t, err)
		key := vectors.NewTextKey("a")
		_, err = x.Put(vectors.Item{ID: "a", Key: key, Parts: []vectors.TextKey{key}, New: [][]float32{{1, 0, 0}}}, func() bool { return true })
		must(t, err)
		must(t, x.Close())
	}
	for _, name := range []string{"words.tmp", "vectors-3", "mine.txt"} {
		must(t, os.WriteFile(filepath.Join(index, name), []byte("x"), 0o600))
	}
	files, err := Inspect(index)
	must(t, err)
	want := []File{
		{Name: "mine.txt", Kind: KindUnknown},
		{Name: "vectors-1", Kind: KindVectors, Model: &model, Vectors: 1, Notes: 1},
		{Name: "vectors-2.part", Kind: KindBuilding, Model: &model, Vectors: 1, Notes: 1},
		{Name: "vectors-3", Kind: KindVectors, Wrong: "it is too short"},
		{Name: "words", Kind: KindWords},
		{Name: "words.tmp", Kind: KindUnfinished},
	}
	if diff := cmp.Diff(want, files, cmpopts.IgnoreFields(File{}, "Bytes", "Seq", "Notes")); diff != "" {
		t.Error(diff)
	}
	if words := files[4]; words.Notes < 200 || words.Seq == 0 || words.Bytes == 0 {
		t.Errorf("%+v", words)
	}

	name := filepath.Join(index, "words")
	whole, err := os.ReadFile(name)
	must(t, err)
	wrong := func(content []byte) string {
		must(t, os.WriteFile(name, content, 0o600))
		files, err := Inspect(index)
		must(t, err)
		return files[4].Wrong
	}
	for i := 0; i < len(whole); i += len(whole)/200 + 1 {
		bad := append([]byte(nil), whole...)
		bad[i] ^= 0x10
		if wrong(bad) == "" {
			t.Errorf("a flipped bit at %d is not seen", i)
		}
	}
	for _, n := range []int{0, 5, 84 - 1, 84 + 4, len(whole) / 2, len(whole) - 1} {
		if wrong(whole[:n]) == "" {
			t.Errorf("a cut at %d is not seen", n)
		}
	}
	if files, err := Inspect(filepath.Join(dir, "none")); err != nil || files != nil {
		t.Error(files, err)
	}
}
