package vectors_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search/vectors"
)

const testDims = 12

var testModel = embed.Model{Name: "test", Dims: testDims, SHA256: "00"}

// vectorOf is the vector of a text, which its key stands for.
func vectorOf(text string) []float32 {
	k := vectors.NewTextKey(text)
	r := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(k[:]), 1))
	v := make([]float32, testDims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// tokensOf are the tokens of a text; none of half of them.
func tokensOf(text string) []byte {
	k := vectors.NewTextKey(text)
	if k[0]%2 == 0 {
		return nil
	}
	return bytes.Repeat(k[1:1+testDims/4], 1+int(k[5]%40))
}

// itemOf is an item with a text for each part; "" has no vector.
func itemOf(id string, texts []string) vectors.Item {
	it := vectors.Item{ID: id, Key: vectors.NewTextKey(texts...)}
	for _, text := range texts {
		it.Parts = append(it.Parts, vectors.NewTextKey(text))
		if text == "" {
			it.New, it.Tokens = append(it.New, nil), append(it.Tokens, nil)
		} else {
			it.New, it.Tokens = append(it.New, vectorOf(text)), append(it.Tokens, tokensOf(text))
		}
	}
	return it
}

// world is an index in a file beside what it should hold.
type world struct {
	t     *rapid.T
	name  string
	index *vectors.FlatIndex
	items map[string][]string
}

func (w *world) open() {
	var err error
	w.index, err = vectors.OpenFlatIndex(w.name, testModel)
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(id string, texts []string) {
	it := itemOf(id, texts)
	old := w.index.Keep(id, it.Parts)
	for i, has := range old {
		if has {
			it.New[i] = nil // not embedded again
		}
	}
	if ok, err := w.index.Put(it, nil); !ok || err != nil {
		w.t.Fatal(ok, err)
	}
	w.items[id] = texts
}

// check compares the index with what it should hold. After damage items may be
// missing, or lack parts, but none is another than it was once.
func (w *world) check(damaged bool) {
	for id, key := range w.index.All() {
		texts, there := w.items[id]
		if !there && !damaged {
			w.t.Fatalf("%s is a ghost", id)
		}
		if !there || key != vectors.NewTextKey(texts...) {
			if !damaged {
				w.t.Fatalf("%s is of another content", id)
			}
			continue // its owner sees that it is not current
		}
		_, rows := w.index.Rows(id)
		for i, text := range texts {
			if text == "" {
				continue
			}
			unit := vectorOf(text)
			if rows[i].Vector == nil || rows[i].Key != vectors.NewTextKey(text) || cosine(rows[i].Vector, unit) < 0.999999 ||
				!bytes.Equal(rows[i].Tokens, tokensOf(text)) {
				w.t.Fatalf("part %d of %s is not what it says", i, id)
			}
		}
	}
	if damaged {
		return
	}
	if len(w.index.All()) != len(w.items) {
		w.t.Fatalf("%d items, want %d", len(w.index.All()), len(w.items))
	}
}

// restore puts what was lost again, as an owner does who compares the keys.
func (w *world) restore() {
	all := w.index.All()
	for id := range all {
		if _, there := w.items[id]; !there {
			w.index.Delete(id)
		}
	}
	for id, texts := range w.items {
		if all[id] != vectors.NewTextKey(texts...) {
			w.put(id, texts)
		}
	}
}

func (w *world) damage(r *rand.Rand) {
	data, err := os.ReadFile(w.name)
	if err != nil {
		w.t.Fatal(err)
	}
	switch r.IntN(3) {
	case 0:
		data = data[:r.IntN(len(data)+1)]
	case 1:
		for range 1 + r.IntN(4) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	case 2:
		data = append(data, make([]byte, r.IntN(100))...)
	}
	if err := os.WriteFile(w.name, data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// TestSRCH12_FileAgainstModel edits, deletes, closes, kills and damages.
func TestSRCH12_FileAgainstModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		w := &world{t: t, name: filepath.Join(dir, "v"), items: map[string][]string{}}
		_ = os.Remove(w.name)
		w.open()
		defer func() { _ = w.index.Close() }()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint("n", r.IntN(8))
			switch r.IntN(12) {
			default:
				texts := slices.Clone(w.items[id])
				for range r.IntN(3) {
					texts = append(texts, []string{"", "same", fmt.Sprint(r.IntN(50)), fmt.Sprint(r.IntN(50))}[r.IntN(4)])
				}
				if n := len(texts); n > 0 && r.IntN(2) == 0 {
					texts = slices.Delete(texts, n/2, n/2+1)
				}
				w.put(id, texts)
			case 0:
				w.index.Delete(id)
				delete(w.items, id)
			case 1:
				must(t, w.index.Flush())
			case 2:
				must(t, w.index.Compact(context.Background()))
			case 3, 4: // a kill: nothing is flushed
				old := w.index
				w.open()
				_ = old.Abandon()
				w.restore()
			case 5:
				must(t, w.index.Close())
				w.open()
				w.check(false)
			case 6:
				must(t, w.index.Close())
				w.damage(r)
				w.open()
				w.check(true)
				w.restore()
			case 7:
				must(t, w.index.Rename(w.name))
			}
			w.check(false)
		}
	})
}

func must(t interface {
	Helper()
	Fatal(...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newFile(t *testing.T) (*vectors.FlatIndex, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "vectors")
	x, err := vectors.OpenFlatIndex(name, testModel)
	must(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return x, name
}

func TestSRCH12_NothingOfADeletedItemStaysOnDisk(t *testing.T) {
	x, name := newFile(t)
	for _, id := range []string{"a", "secret-id", "b"} {
		_, err := x.Put(itemOf(id, []string{id, id + "2"}), nil)
		must(t, err)
	}
	units := [][]byte{[]byte("secret-id")}
	_, rows := x.Rows("secret-id")
	for _, r := range rows {
		units = append(units, bytesOf(r.Vector), r.Key[:])
	}
	holds := func() (n int) {
		data, err := os.ReadFile(name)
		must(t, err)
		for _, u := range units {
			if bytes.Contains(data, u) {
				n++
			}
		}
		return n
	}
	if holds() != len(units) {
		t.Fatal("the test does not see what it looks for")
	}
	x.Delete("secret-id")
	must(t, x.Flush())
	if n := holds(); n > 0 {
		t.Errorf("%d of %d traces are left", n, len(units))
	}
	if got := x.Sizes(); got.Waste == 0 || got.Disk == 0 {
		t.Errorf("sizes %+v", got)
	}
	before := x.Sizes()
	must(t, x.Compact(t.Context()))
	if got := x.Sizes(); got.Waste != 0 || got.Disk != before.Disk-before.Waste {
		t.Errorf("sizes %+v after compaction, before %+v", got, before)
	}
	if _, err := os.Stat(name + ".tmp"); err == nil {
		t.Error("a file is left")
	}
}

func bytesOf(v []float32) (b []byte) {
	for _, f := range v {
		b, _ = binary.Append(b, binary.LittleEndian, f)
	}
	return b
}

func TestSRCH12_FileIsPrivateAndOfItsModel(t *testing.T) {
	x, name := newFile(t)
	_, err := x.Put(itemOf("a", []string{"a"}), nil)
	must(t, err)
	must(t, x.Close())
	info, err := os.Stat(name)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if m, err := vectors.FileModel(name); err != nil || m != testModel {
		t.Errorf("model %+v, %v", m, err)
	}
	other := testModel
	other.SHA256 = "01"
	y, err := vectors.OpenFlatIndex(name, other)
	must(t, err)
	defer y.Close()
	if y.Len() != 0 {
		t.Error("vectors of another model were taken in")
	}
}

// A vector that is damaged while the index is open counts by its codes until
// Check takes it out.
func TestSRCH12_DamageUnderWay(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		t.Run(fmt.Sprint("mapped ", mapped), func(t *testing.T) {
			x, name := newFile(t)
			_, err := x.Put(itemOf("a", []string{"one", "two"}), nil)
			must(t, err)
			_, err = x.Put(itemOf("b", []string{"three"}), nil)
			must(t, err)
			if mapped {
				must(t, x.Rename(name)) // maps it anew
			} else {
				must(t, x.Unmap())
			}
			data, err := os.ReadFile(name)
			must(t, err)
			_, rows := x.Rows("a")
			at := bytes.Index(data, bytesOf(rows[1].Vector))
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt([]byte{1, 2, 3, 4, 5, 6, 7, 8}, int64(at))
			must(t, err)
			must(t, f.Close())
			hits := x.Search(vectorOf("two"), 1, nil)
			if len(hits) != 1 || hits[0].ID != "a" || hits[0].Part != 1 || hits[0].Score < 0.99 || !x.Broken() {
				t.Errorf("hits %+v, broken %v", hits, x.Broken())
			}
			damaged, err := x.Check(t.Context())
			must(t, err)
			if !slices.Equal(damaged, []string{"a"}) || x.Broken() || x.All()["a"] != (vectors.TextKey{}) || x.Len() != 1 {
				t.Errorf("damaged %v, broken %v, %d rows", damaged, x.Broken(), x.Len())
			}
		})
	}
}

// A file that is cut under the mapping must not end the process.
func TestSRCH12_FileIsCutUnderWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nobody can cut a file that is open")
	}
	x, name := newFile(t)
	for i := range 200 {
		_, err := x.Put(itemOf(fmt.Sprint(i), []string{fmt.Sprint("t", i)}), nil)
		must(t, err)
	}
	must(t, x.Rename(name))
	must(t, os.Truncate(name, 100))
	if hits := x.Search(vectorOf("t7"), 1, nil); len(hits) != 1 || hits[0].ID != "7" || !x.Broken() {
		t.Errorf("hits %+v, broken %v", hits, x.Broken())
	}
}

func TestSRCH24_AVectorOfATextThatChangedIsNotPut(t *testing.T) {
	x, _ := newFile(t)
	ok, err := x.Put(itemOf("a", []string{"old"}), func() bool { return false })
	if ok || err != nil || x.Len() != 0 || x.Items() != 0 {
		t.Errorf("put %v, %v: %d rows", ok, err, x.Len())
	}
}

// What was deleted after a cut is overwritten all the same, and so is what lies
// before it.
func TestSRCH12_ACutFileForgetsWhatIsDeleted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nobody can cut a file that is open")
	}
	x, name := newFile(t)
	for i := range 20 {
		_, err := x.Put(itemOf(fmt.Sprint("id-", i), []string{fmt.Sprint("t", i)}), nil)
		must(t, err)
	}
	info, err := os.Stat(name)
	must(t, err)
	must(t, os.Truncate(name, info.Size()/2))
	x.Delete("id-19") // beyond the cut
	x.Delete("id-1")
	if err := x.Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
	data, err := os.ReadFile(name)
	must(t, err)
	if key := vectors.NewTextKey("t1"); bytes.Contains(data, key[:]) {
		t.Error("what was deleted is still there")
	}
}

// Where a link of the name leads nothing is touched, and nobody waits for the
// other end of a pipe.
func TestSRCH12_WhatIsNoFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	other, name := filepath.Join(dir, "other"), filepath.Join(dir, "vectors")
	must(t, os.WriteFile(other, []byte("not ours"), 0o644))
	if err := os.Symlink(other, name); err != nil {
		t.Skip("no links here:", err)
	}
	if _, err := vectors.FileModel(name); err == nil {
		t.Error("a link has a model")
	}
	if _, err := vectors.InspectFile(name); err == nil {
		t.Error("a link is inspected")
	}
	x, err := vectors.OpenFlatIndex(name, testModel)
	must(t, err)
	defer x.Close()
	if text, err := os.ReadFile(other); err != nil || string(text) != "not ours" {
		t.Errorf("the other file holds %q, %v", text, err)
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		t.Errorf("still no file: %v", err)
	}
}

// A large file whose last record was not written to its end, as by a crash, keeps
// all others.
func TestSRCH12_AnUnfinishedRecordOfALargeFile(t *testing.T) {
	x, name := newFile(t)
	texts := make([]string, 20_000) // more than is read at a time
	for i := range texts {
		texts[i] = fmt.Sprint("t", i)
	}
	_, err := x.Put(itemOf("a", texts), nil)
	must(t, err)
	must(t, x.Close())
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(make([]byte, 1000))
	must(t, err)
	must(t, f.Close())
	y, err := vectors.OpenFlatIndex(name, testModel)
	must(t, err)
	defer y.Close()
	if y.Len() != len(texts) || y.Key("a") != vectors.NewTextKey(texts...) {
		t.Errorf("%d of %d vectors are left", y.Len(), len(texts))
	}
}
