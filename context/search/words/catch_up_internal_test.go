package words

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// crashes is a store with an index, of which the process can be killed.
type crashes struct {
	*rooms
	t   *testing.T
	dir string
}

// sameTime is when every note was written: only versions and texts tell them apart.
func sameTime() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }

func openCrashes(t *testing.T, dir string, opts Options) *crashes {
	t.Helper()
	opts.Dir = filepath.Join(dir, "index")
	if opts.AtOnce == 0 {
		opts.AtOnce = -1
	}
	db, err := kv.Open(filepath.Join(dir, "store"), kv.Options{Format: 2, SnapshotAfter: -1, Durability: kv.Relaxed})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	c := &crashes{overNotes(t, db, notes.Options{Now: sameTime}, notedoc.Options{}, opts), t, dir}
	settled(c.rooms) // and written, if it was made anew
	return c
}

// kill is what a start finds after the process was killed now.
func (c *crashes) kill(opts Options) *crashes {
	c.t.Helper()
	dir := c.t.TempDir()
	c.file.saving.Lock() // or the file of a writer is renamed while it is copied
	must(c.t, os.CopyFS(dir, os.DirFS(c.dir)))
	c.file.saving.Unlock()
	must(c.t, c.db.Close())
	return openCrashes(c.t, dir, opts)
}

// write makes a note of words of the vocabulary.
func (c *crashes) write(rng *rand.Rand, zipf *rand.Zipf, id int) notes.Draft {
	var b strings.Builder
	for range rng.IntN(60) {
		word := vocabulary[zipf.Uint64()]
		if i := strings.Index(word, "word"); i >= 0 { // several forms of one stem
			word = word[:i+len("word")] + []string{"", "", "s", "ing", "ed"}[rng.IntN(5)]
		}
		b.WriteString(word + " ")
	}
	if rng.IntN(4) == 0 {
		fmt.Fprintf(&b, "only%ding only%d", id, rng.IntN(9))
	}
	return notes.Draft{ID: fmt.Sprint("n", id), Title: vocabulary[rng.IntN(40)], Body: b.String()}
}

func (c *crashes) delete(id int) {
	c.t.Helper()
	if _, err := c.notes.Delete(ctx, fmt.Sprint("n", id), nil); err != nil && fault.KindOf(err) != fault.NotFound {
		c.t.Fatal(err)
	}
}

// edit changes some notes: new ones, changed ones, imports, notes that go, and notes
// that go and come back as if nothing had been.
func (c *crashes) edit(rng *rand.Rand, zipf *rand.Zipf) {
	c.t.Helper()
	id := rng.IntN(120)
	switch rng.IntN(8) {
	case 0, 1:
		c.delete(id)
	case 2:
		c.delete(id)
		c.put(c.t, c.write(rng, zipf, id))
	case 3:
		var list []notes.Draft
		for i := range 5 + rng.IntN(40) {
			list = append(list, c.write(rng, zipf, (id+i)%120))
		}
		_, err := c.notes.PutMany(ctx, list)
		must(c.t, err)
	default:
		c.put(c.t, c.write(rng, zipf, id))
	}
}

// compare compares what the index finds with what reading every note finds.
func (c *crashes) compare(queries ...string) {
	c.t.Helper()
	all := slices.Collect(c.src.All())
	for _, q := range queries {
		want, _ := naive(all, []string{q}, everything)
		if got := c.find(c.t, exactly(q, 500)); got != strings.Join(want, " ") {
			c.t.Fatalf("%s finds\n%s, want\n%s", q, got, strings.Join(want, " "))
		}
	}
}

// TestSRCH4_AfterAKillItIsAsMadeAnew kills the process again and again amid changes,
// with and without the file being written before.
func TestSRCH4_AfterAKillItIsAsMadeAnew(t *testing.T) {
	seeds := campaign.Figure(3, 400)
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 4))
			zipf := rand.NewZipf(rng, 1.2, 2, uint64(len(vocabulary)-1))
			c := openCrashes(t, t.TempDir(), Options{})
			for i := range 100 {
				c.put(t, c.write(rng, zipf, i))
			}
			must(t, c.save())
			for round := range 6 {
				changed := rng.IntN(12)
				for range changed {
					c.edit(rng, zipf)
					switch rng.IntN(12) {
					case 0:
						must(t, c.save())
					case 1:
						c.file.docs = 0 // as if the file before could not be read
						must(t, c.save())
					case 2:
						must(t, c.Reindex(ctx, nil))
					}
				}
				c = c.kill(Options{})
				c.check(t)
				c.compare("akword", "alwords", "only7", "kyoto", "the")
				if st := c.Stats(); st.Anew != "" && !strings.Contains(st.Anew, "have changed") || st.Waiting > 0 {
					t.Fatalf("round %d: %+v", round, st)
				}
			}
			must(t, c.db.Close())
			c = openCrashes(t, c.dir, Options{})
			c.check(t)
			if st := c.Stats(); st.Anew != "" || st.Differed > 0 {
				t.Errorf("after a stop: %+v", st)
			}
		})
	}
}

// TestSRCH4_DamageIsNeverTrusted kills the process with changes since the file was
// written, and damages the file everywhere: what can't be trusted is made anew.
func TestSRCH4_DamageIsNeverTrusted(t *testing.T) {
	c := openCrashes(t, t.TempDir(), Options{})
	rng := rand.New(rand.NewPCG(1, 5))
	zipf := rand.NewZipf(rng, 1.2, 2, uint64(len(vocabulary)-1))
	for i := range 40 {
		c.put(t, c.write(rng, zipf, i))
	}
	must(t, c.save())
	c.put(t, c.write(rng, zipf, 3))
	c.delete(7)
	name := filepath.Join(c.dir, "index", FileName)
	whole, err := os.ReadFile(name)
	must(t, err)
	start := func(what, anew string) {
		t.Helper()
		x := Open(c.db, c.src, Options{Dir: filepath.Join(c.dir, "index"), AtOnce: -1})
		x.building.Wait()
		x.check(t)
		if got := x.Stats().Anew; got != anew && !(anew == "?" && got != "") {
			t.Errorf("%s: made anew because of %q, want %q", what, got, anew)
		}
		x.close(true)
	}
	start("as it was", "")
	for i := 0; i < len(whole); i += 1 + len(whole)/40 {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		must(t, os.WriteFile(name, bad, 0o600))
		start(fmt.Sprint("flipped at ", i), "?")
	}
	for _, n := range []int{0, 10, fileHeaderSize, len(whole) / 2, len(whole) - 1} {
		must(t, os.WriteFile(name, whole[:n], 0o600))
		start(fmt.Sprint("cut at ", n), "?")
	}
	must(t, os.WriteFile(name, append(slices.Clone(whole), 0), 0o600))
	start("longer", "it is not whole")
	bad := slices.Clone(whole)
	bad[8]++
	must(t, os.WriteFile(name, bad, 0o600))
	start("of another version", "it is of another version")
	must(t, os.WriteFile(name, whole, 0o600))
	start("as it was", "")
}

// TestSRCH4_AnotherStoresFile finds the file of a store that has notes of the same
// ids, versions and times, with the same number of the last transaction.
func TestSRCH4_AnotherStoresFile(t *testing.T) {
	var stores [2]*crashes
	for i, word := range []string{"bridges", "turbines"} {
		c := openCrashes(t, t.TempDir(), Options{})
		c.put(t, notes.Draft{ID: "a", Body: word}, notes.Draft{ID: "b", Body: "the " + word}, notes.Draft{ID: "c", Body: "same"})
		must(t, c.db.Close())
		stores[i] = c
	}
	from, err := os.ReadFile(filepath.Join(stores[0].dir, "index", FileName))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(stores[1].dir, "index", FileName), from, 0o600))
	c := openCrashes(t, stores[1].dir, Options{})
	c.check(t)
	if got := c.ids(t, "bridge"); got != "" {
		t.Errorf("found %q by a word of another store", got)
	}
}

// TestSRCH4_ReadBesideTheStore reads the file before there are notes, also when it is
// replaced meanwhile.
func TestSRCH4_ReadBesideTheStore(t *testing.T) {
	c := openCrashes(t, t.TempDir(), Options{})
	c.put(t, notes.Draft{ID: "a", Body: "bridges"})
	must(t, c.db.Close())
	index := filepath.Join(c.dir, "index")
	ahead := ReadAhead(index)
	c = openCrashes(t, c.dir, Options{Ahead: ahead})
	if st := c.Stats(); st.Kept != 1 || st.Anew != "" || ahead.file != nil {
		t.Errorf("%+v", st)
	}
	ahead = ReadAhead(index)
	<-ahead.done
	c.put(t, notes.Draft{ID: "b", Body: "bridges running"})
	must(t, c.db.Close())
	c = openCrashes(t, c.dir, Options{Ahead: ahead})
	if st := c.Stats(); st.Kept != 2 || st.Differed != 0 {
		t.Errorf("the file that was replaced is used: %+v", st)
	}
	must(t, c.save())
	c.check(t)
	must(t, c.db.Close())
	c = openCrashes(t, c.dir, Options{Ahead: ReadAhead(t.TempDir())})
	if st := c.Stats(); st.Kept != 2 {
		t.Errorf("the file of another folder is used: %+v", st)
	}
}

// TestSRCH4_ItIsSavedNowAndThen has the file written while the store is open, so that
// a kill costs little.
func TestSRCH4_ItIsSavedNowAndThen(t *testing.T) {
	c := openCrashes(t, t.TempDir(), Options{pace: &pace{many: 3, rest: time.Hour, most: time.Hour, share: 1}})
	saved := func() bool { st := c.Stats(); return st.Unsaved == 0 && !st.Saved.IsZero() }
	c.put(t, notes.Draft{ID: "a", Body: "bridges"}, notes.Draft{ID: "b", Body: "weighed"})
	if saved() {
		t.Error("it is written for every note")
	}
	c.put(t, notes.Draft{ID: "c", Body: "running"})
	until(t, "three notes changed", saved)
	c = c.kill(Options{pace: &pace{many: 100, rest: time.Millisecond, most: time.Hour, share: 1}})
	if st := c.Stats(); st.Kept != 3 || st.Differed != 0 {
		t.Errorf("after a kill: %+v", st)
	}
	c.delete(0)
	c.put(t, notes.Draft{ID: "a", Body: "turbines"})
	until(t, "notes rest", saved)
	c = c.kill(Options{})
	if st := c.Stats(); st.Kept != 3 || st.Differed != 0 || c.ids(t, "bridge") != "" || c.ids(t, "turbine") != "a" {
		t.Errorf("after another: %+v", st)
	}
	c.check(t)
}

// TestSRCH4_WhenTheFileIsDue tells when the file is written.
func TestSRCH4_WhenTheFileIsDue(t *testing.T) {
	p := pace{many: 10, quiet: 10 * time.Second, rest: time.Minute, most: time.Hour, again: 30 * time.Second, share: 100}
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		fresh int
		k     keeping
		want  time.Duration // -1: not at all
	}{
		{"nothing changed", 0, keeping{}, -1},
		{"few changed", 3, keeping{first: start, last: start.Add(time.Second)}, 61 * time.Second},
		{"many changed", 10, keeping{first: start, last: start.Add(time.Second)}, 11 * time.Second},
		{"they go on", 3, keeping{first: start, last: start.Add(2 * time.Hour)}, time.Hour},
		{"it is dear", 10, keeping{first: start, last: start, written: start, cost: time.Second}, 100 * time.Second},
		{"a commit was in the way", 10, keeping{first: start, last: start, tried: start.Add(9 * time.Second)}, 39 * time.Second},
		{"it was removed", 0, keeping{first: start, last: start, removed: true}, time.Minute},
	} {
		s := snapshots{fresh: make(map[docID]record), keeping: c.k}
		s.pace = p
		for d := range c.fresh {
			s.fresh[docID(d)] = record{}
		}
		at, ok := s.due()
		if got := at.Sub(start); ok != (c.want >= 0) || ok && got != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, got, ok, c.want)
		}
	}
}

func everything(text.Doc) bool { return true }

// exactly is a Query that looks for no mistakes.
func exactly(words string, limit int) Query {
	q := queryOf(words, limit)
	q.Exact = true
	return q
}
