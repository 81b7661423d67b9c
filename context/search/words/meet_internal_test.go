package words

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/kv"
	decl "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// TestPERF10_StemsOfACommitThatDidNotNeedThem takes notes apart for a commit that then
// enters none of their words, since another one was quicker, and others with the same
// glossary.
func TestPERF10_StemsOfACommitThatDidNotNeedThem(t *testing.T) {
	x := newInverted(text.StemEnglish)
	r := new(reading)
	apart := func(body string) *analysis {
		r.forget(manyWords)
		a := analyse(r, notedoc.New(nil, notedoc.Options{}).Fields(), notedoc.Of(&notes.Note{Note: decl.Note{Body: body}}))
		r.lookUp(&x.dictionary)
		r.stemRest(x.stem)
		return a
	}
	apart("walked painted")
	c := x.take(apart("baking singing"))
	for _, id := range c.words {
		if word := string(x.bytes(id)); string(x.bytes(x.words[id].stem)) != text.StemEnglish(word) {
			t.Errorf("the stem of %s is %q", word, x.bytes(x.words[id].stem))
		}
	}
}

// TestSRCH4_ABrokenIndexIsNotKept stops the store after a commit broke off in the
// middle of the index: the file must not hold half of it.
func TestSRCH4_ABrokenIndexIsNotKept(t *testing.T) {
	for _, many := range []int{1, 2 * fewChanges} {
		c := openCrashes(t, t.TempDir(), Options{})
		c.put(t, notes.Draft{ID: "a", Body: "bridges"})
		must(t, c.save())
		before, err := os.ReadFile(filepath.Join(c.dir, "index", FileName))
		must(t, err)
		c.mu.Lock()
		c.heads = nil // so that a commit breaks off
		c.mu.Unlock()
		var list []notes.Draft
		for i := range many {
			list = append(list, notes.Draft{ID: fmt.Sprint("b", i), Body: "turbines"})
		}
		_, _ = c.notes.PutMany(ctx, list) // is durable; who asked may hear of the panic or not
		_ = c.db.Close()
		after, err := os.ReadFile(filepath.Join(c.dir, "index", FileName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && string(after) != string(before) {
			t.Errorf("%d notes: the file of an index that broke was written", many)
		}
		c = openCrashes(t, c.dir, Options{})
		c.check(t)
		if got := len(strings.Fields(c.ids(t, "turbine"))); got != min(10, many) {
			t.Errorf("%d notes: %d are found after a start", many, got)
		}
	}
}

var oddWords = func() (list []string) {
	for n := 14; n <= 18; n++ {
		list = append(list, strings.Repeat("a", n), strings.Repeat("ab", n)[:n], strings.Repeat("z", n-3)+"ing", strings.Repeat("é", n), strings.Repeat("д", n/2))
	}
	return append(list, strings.Repeat("w", 63), strings.Repeat("w", 64), strings.Repeat("w", 65), strings.Repeat("w", 200),
		"a\x00b", "\x00", "東京都庁舎", "a\u200db", "1,000", "can't", "running", "runs", "runner", "bridges", "bridge")
}()

// TestPERF10_WritersOfManyNotesMeet has several writers put and delete the same notes,
// few and many at a time, while the file is written, and compares the index with one made anew.
func TestPERF10_WritersOfManyNotesMeet(t *testing.T) {
	seeds := campaign.Figure(2, 200)
	for seed := range seeds {
		c := openCrashes(t, t.TempDir(), Options{pace: &pace{many: 1, share: 1}})
		for round := range 2 {
			var all sync.WaitGroup
			for w := range 4 {
				all.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(seed*10+round), uint64(w)))
					zipf := rand.NewZipf(rng, 1.2, 2, uint64(len(vocabulary)-1))
					for range 12 {
						c.storm(rng, zipf)
					}
				})
			}
			all.Wait()
			c.check(t)
			c = c.kill(Options{pace: &pace{many: 1, share: 1}})
			c.check(t)
		}
		must(t, c.db.Close())
		c = openCrashes(t, c.dir, Options{})
		c.check(t)
		if st := c.Stats(); st.Anew != "" || st.Differed > 0 {
			t.Errorf("seed %d: after a stop: %+v", seed, st)
		}
		must(t, c.db.Close())
	}
}

// storm is one transaction of many notes, or of a few.
func (c *crashes) storm(rng *rand.Rand, zipf *rand.Zipf) {
	n, from := 1+rng.IntN(150), rng.IntN(200)
	if rng.IntN(3) == 0 {
		n = 1 + rng.IntN(12)
	}
	what := rng.IntN(3)
	err := c.db.Update(ctx, func(tx *kv.Tx) error {
		for i := range n {
			id := (from + i) % 250
			if what == 0 || what == 1 && rng.IntN(2) == 0 {
				if err := c.notes.DeleteTx(tx, fmt.Sprint("n", id)); err != nil {
					return err
				}
				continue
			}
			d := c.write(rng, zipf, id)
			for range rng.IntN(4) {
				d.Body += " " + oddWords[rng.IntN(len(oddWords))] + fmt.Sprintf(" w%dings", rng.IntN(3000))
			}
			if _, err := c.notes.PutTx(tx, d, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.t.Error(err)
	}
}

// TestSRCH4_AStampIsOfWhatIsInTheFile has a commit come between the look at what the
// file lacks and its stamp: the file must not be marked as of that state.
func TestSRCH4_AStampIsOfWhatIsInTheFile(t *testing.T) {
	c := openCrashes(t, t.TempDir(), Options{})
	c.put(t, notes.Draft{ID: "n1", Body: "bridges"}, notes.Draft{ID: "n2", Body: "weighed"}, notes.Draft{ID: "n3", Body: "painted"})
	must(t, c.save())
	c.delete(1)
	c.put(t, notes.Draft{ID: "n1", Body: "turbines"}) // of the version and the time that it had
	c.stamp()
	c = c.kill(Options{})
	c.check(t)
	if got := c.ids(t, "turbine"); got != "n1" {
		t.Errorf("found %q", got)
	}
}
