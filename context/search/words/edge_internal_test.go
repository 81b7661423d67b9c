package words

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes"
)

// TestSRCH2_CharactersWithManyMarks has a word of one character with hundreds of
// marks come and go.
func TestSRCH2_CharactersWithManyMarks(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	for _, marks := range []string{strings.Repeat("\u0301", 200), strings.Repeat("\u3099", 90), strings.Repeat("\u0e48", 86)} {
		r.put(t, notes.Draft{ID: "a", Body: "東" + marks + "京" + marks + " e" + marks + " ก" + marks})
		r.check(t)
		_, err := r.notes.Delete(ctx, "a", nil)
		must(t, err)
		r.check(t)
	}
}

// TestSRCH4_SameVersionAndTime opens the file of before beside a note that was deleted and
// made again with the version and the time it had.
func TestSRCH4_SameVersionAndTime(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "index", FileName)
	at := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	r := reopen(t, dir, nil, Options{})
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "former", ModifiedAt: at})
	r = reopen(t, dir, r, Options{})
	old, err := os.ReadFile(name)
	must(t, err)
	_, err = r.notes.Delete(ctx, "a", nil)
	must(t, err)
	r.put(t, notes.Draft{ID: "a", Title: "A", Body: "present", ModifiedAt: at})
	must(t, r.db.Close())
	must(t, os.WriteFile(name, old, 0o600)) // the daemon was killed
	r = reopen(t, dir, nil, Options{})
	if got := r.ids(t, "former"); got != "" {
		t.Errorf("a ghost: %s", got)
	}
	if got := r.ids(t, "present"); got != "a" {
		t.Errorf("%q", got)
	}
	r.check(t)
}

// TestSRCH4_WhatAnInterruptedStartLeft removes it.
func TestSRCH4_WhatAnInterruptedStartLeft(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "index"), 0o755))
	temp := filepath.Join(dir, "index", FileName+".tmp")
	must(t, os.WriteFile(temp, []byte("half"), 0o644))
	r := reopen(t, dir, nil, Options{})
	if _, err := os.Stat(temp); err == nil {
		t.Error("the file is left")
	}
	r.put(t, notes.Draft{ID: "a", Body: "word"})
	outside := filepath.Join(dir, "outside")
	must(t, os.WriteFile(outside, []byte("mine"), 0o644))
	if err := os.Symlink(outside, temp); err != nil {
		t.Skip(err)
	}
	must(t, r.db.Close())
	if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
		t.Errorf("a file outside is overwritten: %q %v", b, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "index")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestSRCH4_ACommitDoesNotWaitForTheFile has a commit come while the file is written.
func TestSRCH4_ACommitDoesNotWaitForTheFile(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "word"})
	write := func() error {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		must(t, err)
		defer f.Close()
		_, err = r.write(f, 0)
		return err
	}
	r.mu.RLock()
	must(t, write())
	done := make(chan error, 1)
	go func() {
		_, err := r.notes.Put(ctx, notes.Draft{ID: "b", Body: "word"}, nil)
		done <- err
	}()
	for r.file.waiting.Load() == 0 {
		runtime.Gosched()
	}
	err := write()
	r.mu.RUnlock()
	if !errors.Is(err, errWriterBusy) {
		t.Errorf("%v", err)
	}
	must(t, <-done)
	r.mu.RLock()
	defer r.mu.RUnlock()
	must(t, write())
}

// TestSRCH4_SeveralSave has what is known of the file come out right when it is
// written by several.
func TestSRCH4_SeveralSave(t *testing.T) {
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	var all sync.WaitGroup
	for i := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := range 15 {
				if i == 0 {
					_, err := r.notes.Put(ctx, notes.Draft{ID: fmt.Sprint("n", j), Body: "word"}, nil)
					if err != nil {
						t.Error(err)
					}
				}
				if err := r.save(); err != nil && !errors.Is(err, errWriterBusy) {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	must(t, r.save())
	if n := len(r.file.fresh); n > 0 {
		t.Errorf("%d notes changed since the file was written", n)
	}
	r.put(t, notes.Draft{ID: "last", Body: "word"})
	r = reopen(t, dir, r, Options{AtOnce: -1})
	if res, err := r.Search(ctx, queryOf("word", 1)); err != nil || res.Degraded != "" {
		t.Errorf("the index was not kept: %+v %v", res, err)
	}
}

// TestSRCH4_HostileFiles reads files whose checksums are right and whose contents are
// not: they can be refused, or be taken for what they say, but not end the program.
func TestSRCH4_HostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	fillSome(t, r)
	must(t, r.db.Close())
	name := filepath.Join(dir, "index", FileName)
	whole, err := os.ReadFile(name)
	must(t, err)
	seal := func(b []byte) {
		le := binary.LittleEndian
		le.PutUint32(b[fileHeaderSize-4:], crc32.Checksum(b[:fileHeaderSize-4], castagnoli))
		for at := fileHeaderSize; at+8 < len(b); {
			size := int(le.Uint32(b[at:]))
			if size > len(b)-at-8 {
				return
			}
			le.PutUint32(b[at+4:], crc32.Checksum(b[at+8:at+8+size], castagnoli))
			at += 8 + size
		}
	}
	r = reopen(t, dir, nil, Options{})
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 600 {
		bad := slices.Clone(whole)
		at := 20 + rng.IntN(len(bad)-20)
		if round < 120 {
			at = 16 + round%(fileHeaderSize-20)
		}
		bad[at] ^= byte(1 + rng.IntN(255))
		seal(bad)
		must(t, os.WriteFile(name, bad, 0o600))
		_, _ = readStored(r.opts.Dir)
	}
}

// TestSRCH4_ARestoreEndsTheWorkOnWhatItReplaces restores a backup while the index is
// being made.
func TestSRCH4_ARestoreEndsTheWorkOnWhatItReplaces(t *testing.T) {
	dir := t.TempDir()
	r := reopen(t, dir, nil, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "former"})
	backup := filepath.Join(dir, "backup")
	_, err := r.db.Backup(ctx, backup, kv.BackupOptions{})
	must(t, err)
	body := "later"
	_, err = r.notes.Patch(ctx, notes.Patch{ID: "a", Body: &body}, nil)
	must(t, err)
	r.put(t, notes.Draft{ID: "b", Body: "later"})
	must(t, r.save())
	_, err = r.db.Restore(ctx, backup, kv.RestoreOptions{})
	must(t, err)
	if !r.stopped() {
		t.Error("the index of what was replaced is at work")
	}
	r = reopen(t, dir, nil, Options{})
	if got := r.ids(t, "later"); got != "" {
		t.Errorf("a ghost: %s", got)
	}
	if got := r.ids(t, "former"); got != "a" {
		t.Errorf("%q", got)
	}
	r.check(t)
}

// TestSRCH3_NoWordsAreLookedUpForNobody plans a search that nobody waits for.
func TestSRCH3_NoWordsAreLookedUpForNobody(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "alpha beta"})
	over, cancel := context.WithCancel(ctx)
	cancel()
	var work run
	work.see(r.Index, false)
	q := queryOf("alpha beta", 1)
	p := work.plan(over, &work.world, &q, true)
	if len(p.terms) > 0 {
		t.Errorf("%d words were looked up", len(p.terms))
	}
}

// TestWQL3_HoldersAreRefusedWhileTheIndexIsMade has an answer without some of the documents
// not look like one that is right.
func TestWQL3_HoldersAreRefusedWhileTheIndexIsMade(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "road maps"})
	held, why := r.Holders([]string{"road", "", "nowhere"}, false)
	if why != "" || len(held) != 1 || held["a"] != 1 {
		t.Errorf("%v %q", held, why)
	}
	r.mu.Lock()
	r.waiting["x"] = struct{}{}
	r.mu.Unlock()
	held, why = r.Holders([]string{"road"}, false)
	if why == "" || held != nil {
		t.Errorf("while the index is made: %v %q", held, why)
	}
}
