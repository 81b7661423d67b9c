package search

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
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

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

// TestSRCH2_OneCharacterFindsAllPairs has more pairs begin with a character than a
// beginning may mean.
func TestSRCH2_OneCharacterFindsAllPairs(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	var drafts []notes.Draft
	for i := range 120 {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Title: fmt.Sprint("T ", i), Body: "日" + string(rune(0x4E00+i))})
	}
	drafts = append(drafts, notes.Draft{ID: "other", Title: "Other", Body: "nothing"})
	_, err := r.notes.PutMany(ctx, drafts)
	must(t, err)
	for query, want := range map[string]int{"日": 120, `"日"`: 120, "-日": 1} {
		res, err := r.Search(ctx, Request{Query: query, Limit: 200})
		must(t, err)
		if len(res.Hits) != want {
			t.Errorf("%s finds %d notes, want %d", query, len(res.Hits), want)
		}
	}
}

func TestSRCH2_BeginningsFindRareWords(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	var drafts []notes.Draft
	for i := range 80 {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprint("n", i), Title: "T", Body: fmt.Sprintf("hi%c%cx", 'a'+i%26, 'a'+i/26)})
	}
	drafts[79].Tags = []string{"rare"}
	_, err := r.notes.PutMany(ctx, drafts)
	must(t, err)
	if got := r.ids(t, "tag:rare hi"); got != "n79" {
		t.Errorf("%q", got)
	}
}

// TestSRCH2_Composition has decomposed texts, as file names of macOS, found by composed
// queries and the other way round.
func TestSRCH2_Composition(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	for i, text := range []string{"한국어 검색", "ガラス プール", "Übergrößenträger", "Đặng Thị", "ﬁle Ⅷ ５", "καφές", "ёлка", "שָׁלוֹם", "مَكْتَبَة"} {
		for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
			id := fmt.Sprint("n", i)
			r.put(t, notes.Draft{ID: id, Body: form.String(text)})
			for _, asked := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
				for _, q := range []string{text, `"` + text + `"`, strings.Fields(text)[0] + " "} {
					if got := r.ids(t, asked.String(q)); got != id {
						t.Errorf("%+q in %+q finds %q", asked.String(q), form.String(text), got)
					}
				}
			}
			r.check(t)
		}
	}
}

// TestSRCH4_SameVersionAndTime opens the file of before beside a note that was deleted and
// made again with the version and the time it had.
func TestSRCH4_SameVersionAndTime(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "index", fileName)
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

// TestSRCH3_TitlesInAnyForm ranks equals whose titles begin with one letter in two forms.
func TestSRCH3_TitlesInAnyForm(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t,
		notes.Draft{ID: "1", Title: "a\u0301", Body: "word"},
		notes.Draft{ID: "2", Title: "b", Body: "word"},
		notes.Draft{ID: "3", Title: "\u00e0", Body: "word"})
	if got := r.ids(t, "word "); got != "2 3 1" {
		t.Errorf("%q", got)
	}
}

// TestSRCH4_WhatAnInterruptedStartLeft removes it.
func TestSRCH4_WhatAnInterruptedStartLeft(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "index"), 0o755))
	temp := filepath.Join(dir, "index", fileName+".tmp")
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

// TestSRCH1_WhatIsWrittenIsFound looks for words wherever Markdown hides them.
func TestSRCH1_WhatIsWrittenIsFound(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Title: "T", Body: "See <https://example.org/kljensen/snow> and [text](https://host.example/pathword \"hover\").\n" +
		"[[Targetnote|shown]] and [[Deep/Foldername#Headingword]]\n![pictured](img/filename.png)\n![[embedded.png]]\n`inlinecode`\n\n```go\nfencedcode()\n```\n" +
		"| cellone | celltwo |\n|---|---|\n| cellthree | x |\n\n<div title=\"attrib\">htmltext</div>\n\n- [ ] taskword #hashtag\n> [!note] calloutword\n\n[^1]: footnoteword\n$$mathword$$\n%%commentword%%\n~~struck~~ **bo**ld\n\nx ^blockid\n\n[ref]: https://refhost.example/refpath\n"})
	for _, q := range strings.Fields("kljensen snow text pathword hover Targetnote shown Foldername Headingword pictured filename embedded inlinecode fencedcode " +
		"cellone celltwo cellthree htmltext taskword hashtag calloutword footnoteword mathword commentword struck bold refpath host.example") {
		if got := r.find(t, Request{Query: q, Plain: true, exact: true}); got != "a" {
			t.Errorf("%s finds %q", q, got)
		}
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
	if !errors.Is(err, errBusy) {
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
				if err := r.save(); err != nil && !errors.Is(err, errBusy) {
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
	if res, err := r.Search(ctx, Request{Query: "word", Limit: 1}); err != nil || res.Degraded != "" {
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
	name := filepath.Join(dir, "index", fileName)
	whole, err := os.ReadFile(name)
	must(t, err)
	seal := func(b []byte) {
		le := binary.LittleEndian
		le.PutUint32(b[headerSize-4:], crc32.Checksum(b[:headerSize-4], castagnoli))
		for at := headerSize; at+8 < len(b); {
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
			at = 16 + round%(headerSize-20)
		}
		bad[at] ^= byte(1 + rng.IntN(255))
		seal(bad)
		must(t, os.WriteFile(name, bad, 0o600))
		_, _ = readStored(r.opts.Dir)
	}
}

// TestSRCH3_ASearchThatNobodyWaitsForEnds looks no words up for one that is cancelled.
func TestSRCH3_ASearchThatNobodyWaitsForEnds(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	r.put(t, notes.Draft{ID: "a", Body: "alpha beta"})
	over, cancel := context.WithCancel(ctx)
	cancel()
	var work run
	if p := work.plan(over, r.x, parse("alpha beta", true), true); len(p.terms) > 0 {
		t.Errorf("%d words were looked up", len(p.terms))
	}
	for _, q := range []string{"alpha", "alphx", `"alpha beta"`, "tag:x", "-alpha", ""} {
		if res, err := r.Search(over, Request{Query: q, Limit: 3, Snippets: true}); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %+v %v", q, res, err)
		}
	}
}

// TestSRCH3_RangesOfAnyText has snippets show what they found, whatever folding does
// to the length of texts.
func TestSRCH3_RangesOfAnyText(t *testing.T) {
	r := openAll(t, kv.InMemory, Options{})
	for i, c := range []struct{ body, query, want string }{
		{"😀 Straße 😀 end", "strasse ", "Straße"},
		{"𝔘𝔫𝔦𝔠𝔬𝔡𝔢 😀", "unicode ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢"},
		{"İstanbul ﬃ", "istanbul ", "İstanbul"},
		{"😀 İ İ oﬃce", "office ", "oﬃce"},
		{"𠮷野家 😀", "𠮷野", "𠮷野"},
		{"e\u0301te\u0301 😀 ﬁn", "ete fin ", "e\u0301te\u0301|ﬁn"},
		{"ﬀ ΐ ŉ ǰ ᾳ Ὂ", "ff ", "ﬀ"},
		{strings.Repeat("😀 ", 300) + "Größe" + strings.Repeat(" 😀", 300), "grosse ", "Größe"},
		{strings.Repeat("漢字", 300) + "東京" + strings.Repeat("漢字", 300), "東京", "東京"},
	} {
		id := fmt.Sprint("n", i)
		r.put(t, notes.Draft{ID: id, Title: "T", Body: c.body})
		res, err := r.Search(ctx, Request{Query: c.query, Limit: 1, Snippets: true})
		must(t, err)
		if len(res.Hits) != 1 || res.Hits[0].Note.ID != id {
			t.Errorf("%q finds %+v", c.query, res.Hits)
			continue
		}
		units := utf16.Encode([]rune(res.Hits[0].Snippet))
		var got []string
		for _, at := range res.Hits[0].Ranges {
			got = append(got, string(utf16.Decode(units[at[0]:at[1]])))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q shows %q, want %q", c.query, got, c.want)
		}
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
