package words

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// reopen closes the rooms and opens them again, with the index in the background
// or at once.
func reopen(t *testing.T, dir string, r *rooms, opts Options) *rooms {
	t.Helper()
	if r != nil {
		must(t, r.db.Close())
	}
	opts.Dir = filepath.Join(dir, "index")
	return openAll(t, filepath.Join(dir, "store"), opts)
}

// fillSome writes notes of several blocks, with some gone again.
func fillSome(t *testing.T, r *rooms) {
	t.Helper()
	many(t, r, 400, 7)
	r.put(t, notes.Draft{ID: "x", Title: "Kept", Body: "running 東京 cafés"})
}

func TestSRCH4_TheIndexIsKept(t *testing.T) {
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	fillSome(t, r)
	want := r.find(t, queryOf("akword blwords", 50))
	r = reopen(t, dir, r, Options{AtOnce: -1})
	res, err := r.Search(ctx, queryOf("akword blwords", 50))
	must(t, err)
	if res.Degraded != "" {
		t.Errorf("it was made anew: %s", res.Degraded)
	}
	if got := r.find(t, queryOf("akword blwords", 50)); got != want || got == "" {
		t.Errorf("%s, want %s", got, want)
	}
	r.check(t)
	r.put(t, notes.Draft{ID: "x", Title: "Kept", Body: "other"}, notes.Draft{ID: "y", Body: "akword akword"})
	if got := r.ids(t, "runn"); got != "" {
		t.Errorf("a ghost: %s", got)
	}
	many(t, r, 300, 9)
	r.check(t)
	r = reopen(t, dir, r, Options{AtOnce: -1})
	r.check(t)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Join(dir, "index", FileName))
		must(t, err)
		folder, err := os.Stat(filepath.Join(dir, "index"))
		must(t, err)
		if info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700 {
			t.Errorf("others can read it: %v %v", info.Mode(), folder.Mode())
		}
	}
}

// settled waits until the index is whole.
func settled(r *rooms) { r.building.Wait() }

func TestSRCH4_WhatDoesNotMatchIsMadeAnew(t *testing.T) {
	campaign.Only(t)
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	fillSome(t, r)
	must(t, r.db.Close())
	name := filepath.Join(dir, "index", FileName)
	whole, err := os.ReadFile(name)
	must(t, err)

	change := func(what string, alter func()) {
		t.Run(what, func(t *testing.T) {
			alter()
			r := reopen(t, dir, nil, Options{AtOnce: -1})
			settled(r)
			r.check(t)
			if res, err := r.Search(ctx, queryOf("kept", 1)); err != nil || len(res.Hits) != 1 || res.Degraded != "" {
				t.Errorf("%+v %v", res, err)
			}
			must(t, r.db.Close())
			got, err := os.ReadFile(name)
			must(t, err)
			if len(got) < len(whole)/2 {
				t.Errorf("it is not kept again: %d bytes", len(got))
			}
		})
	}
	write := func(b []byte) func() { return func() { must(t, os.WriteFile(name, b, 0o600)) } }
	for i := 0; i < len(whole); i += len(whole)/40 + 1 {
		bad := append([]byte(nil), whole...)
		bad[i] ^= 0x10
		change(fmt.Sprint("flipped at ", i), write(bad))
	}
	for _, n := range []int{0, 5, fileHeaderSize, fileHeaderSize + 20, len(whole) / 2, len(whole) - 1} {
		change(fmt.Sprint("cut at ", n), write(whole[:n]))
	}
	change("gone", func() { must(t, os.Remove(name)) })
	change("of before", func() {
		// A daemon that is killed leaves the file of its start.
		r := reopen(t, dir, nil, Options{AtOnce: -1})
		old, err := os.ReadFile(name)
		must(t, err)
		r.put(t, notes.Draft{ID: "x", Title: "Kept", Body: "later"}, notes.Draft{ID: "new", Body: "later"})
		_, err = r.notes.Delete(ctx, "m3", nil)
		if err != nil {
			_, err = r.notes.Delete(ctx, "m4", nil)
		}
		must(t, err)
		must(t, r.db.Close())
		write(old)()
	})
	change("without stems", func() {
		r := reopen(t, dir, nil, Options{Literal: true})
		must(t, r.db.Close())
	})
}

func TestSRCH4_SearchAnswersWhileTheIndexIsMade(t *testing.T) {
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	many(t, r, 900, 3)
	must(t, r.db.Close())
	must(t, os.RemoveAll(filepath.Join(dir, "index")))

	db, err := kv.Open(filepath.Join(dir, "store"), kv.Options{Format: 2, SnapshotAfter: -1})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	r = over(t, db, Options{AtOnce: -1, begin: make(chan struct{})})
	res, err := r.Search(ctx, queryOf("akword", 5))
	must(t, err)
	if len(res.Hits) != 0 || !strings.Contains(res.Degraded, "0 %") {
		t.Errorf("%+v", res)
	}
	r.put(t, notes.Draft{ID: "m1", Body: "fresh"}, notes.Draft{ID: "n", Body: "fresh"})
	if _, err := r.notes.Delete(ctx, "m2", nil); err != nil {
		t.Log(err)
	}
	if got := r.ids(t, "fresh"); got != "m1 n" && got != "n m1" {
		t.Errorf("a commit before the index is made: %q", got)
	}
	close(r.opts.begin)
	settled(r)
	r.check(t)
	if res, err := r.Search(ctx, queryOf("akword", 5)); err != nil || res.Degraded != "" || len(res.Hits) != 5 {
		t.Errorf("%+v %v", res, err)
	}
}

func TestSRCH4_NothingOfWhatIsDeletedIsLeftOnDisk(t *testing.T) {
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "confidential"}, notes.Draft{ID: "b", Body: "open"})
	r = reopen(t, dir, r, Options{})
	name := filepath.Join(dir, "index", FileName)
	holds := func() bool {
		b, err := os.ReadFile(name)
		must(t, err)
		return strings.Contains(string(b), "confidenti")
	}
	if !holds() {
		t.Fatal("the index is not kept")
	}
	_, err := r.notes.Delete(ctx, "a", nil)
	must(t, err)
	must(t, r.db.DeleteCopies(ctx))
	if holds() {
		t.Error("a word of a note that was deleted is left")
	}
	r = reopen(t, dir, r, Options{AtOnce: -1})
	r.check(t)
}
