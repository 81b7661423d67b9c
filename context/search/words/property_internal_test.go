package words

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/search/notedoc"
	"github.com/ctxd/ctxd/context/search/text"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	decl "github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

// naive ranks by reading every note: the words of a query by BM25, one after the
// other.
func naive(all []text.Doc, words []string, keep func(text.Doc) bool) (ids []string, scores []float64) {
	type read struct {
		note   text.Doc
		tf     map[string]uint32
		length uint32
	}
	var texts []read
	fields := notedoc.New(nil, notedoc.Options{}).Fields()
	total := uint64(0)
	for _, n := range all {
		x := read{note: n, tf: make(map[string]uint32)}
		n.Fields(func(f int, s string) bool {
			var sp text.Splitter
			sp.Split(s, func(t text.Token) {
				x.tf[text.StemEnglish(string(t.Text))] += uint32(fields[f].Weight)
				if fields[f].Counted {
					x.length++
				}
			})
			return true
		})
		total += uint64(x.length)
		texts = append(texts, x)
	}
	var norms [256]float32
	fillNorms(&norms, max(1, float64(total)/float64(max(1, len(all)))))
	type hit struct {
		note  text.Doc
		score uint32
	}
	var hits []hit
	df := make(map[string]int)
	for _, x := range texts {
		for w := range x.tf {
			df[w]++
		}
	}
	for _, x := range texts {
		h, found := hit{note: x.note}, false
		for _, w := range words {
			stem := text.StemEnglish(w)
			if tf := x.tf[stem]; tf > 0 {
				norm := norms[lengthCode(x.length)]
				h.score += uint32(float32(idf(len(all), df[stem])*(bm25K1+1)*scoreScale) * saturation(tf, norm))
				found = true
			}
		}
		if found && keep(x.note) {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), entities.CompareNatural(a.note.Title(), b.note.Title()), strings.Compare(a.note.ID(), b.note.ID()))
	})
	for _, h := range hits {
		ids, scores = append(ids, h.note.ID()), append(scores, float64(h.score)/scoreScale)
	}
	return ids, scores
}

var vocabulary = func() (list []string) {
	for i := range 40 {
		list = append(list, fmt.Sprintf("%c%cword%s", 'a'+i%5, 'k'+i/5, []string{"", "s", "ing", "ed"}[i%4]))
	}
	return append(list, "東京都", "京都", "Café", "the", "naïve")
}()

func genText(t *rapid.T, label string, most int) string {
	n := rapid.IntRange(0, most).Draw(t, label)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	zipf := rand.NewZipf(rng, 1.2, 2, uint64(len(vocabulary)-1))
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[zipf.Uint64()])
		b.WriteByte(" \n"[rng.IntN(2)])
	}
	return b.String()
}

// genDrafts draws notes with ids of their own, of which some are short numbers as
// in TestSRCH1_RandomEdits.
func genDrafts(t *rapid.T) (list []notes.Draft) {
	first, n := rapid.IntRange(0, 30).Draw(t, "first"), rapid.IntRange(2, 60).Draw(t, "drafts")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	zipf := rand.NewZipf(rng, 1.2, 2, uint64(len(vocabulary)-1))
	for i := range n {
		var b strings.Builder
		for range rng.IntN(80) {
			b.WriteString(vocabulary[zipf.Uint64()] + " ")
		}
		list = append(list, notes.Draft{ID: fmt.Sprint("n", first+i), Title: vocabulary[rng.IntN(40)], Body: b.String()})
	}
	rng.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// TestSRCH1_ImportsInOneCommit enters many notes at once, in an index that has
// blocks of every form: full ones, such as were read from a file, and such as lost
// notes, whose numbers are given again.
func TestSRCH1_ImportsInOneCommit(t *testing.T) {
	dir := t.TempDir()
	opts := Options{Dir: t.TempDir()}
	for round := range 3 {
		db, err := kv.Open(dir, kv.Options{Durability: kv.Relaxed})
		must(t, err)
		r := over(t, db, opts)
		var list []notes.Draft
		for i := range 400 {
			list = append(list, notes.Draft{
				ID: fmt.Sprint("n", (round*150+i*7)%700), Title: "Walks", Body: fmt.Sprintf("walking walked every other%d and word%d %s", i%2, i%50, strings.Repeat("so ", i%9)),
			})
		}
		_, err = r.notes.PutMany(ctx, list)
		must(t, err)
		r.check(t)
		for i := range 60 {
			_, err := r.notes.Delete(ctx, list[i*3].ID, nil)
			must(t, err)
		}
		must(t, r.Reindex(ctx, nil)) // whose words have other numbers
		_, err = r.notes.PutMany(ctx, list[:100])
		must(t, err)
		r.check(t)
		must(t, db.Close())
	}
}

// TestSRCH1_ImportsAtOnce has large commits of the same notes on their way at the same
// time: what was prepared for one may not be true any more when its turn comes.
func TestSRCH1_ImportsAtOnce(t *testing.T) {
	db, err := kv.Open(t.TempDir(), kv.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	r := over(t, db, Options{})
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for round := range 6 {
				var list []notes.Draft
				for i := range 30 {
					list = append(list, notes.Draft{
						ID: fmt.Sprint("n", (i*7+w*3)%60), Title: fmt.Sprint("Of ", w), Body: fmt.Sprintf("writer%d round%d walks walked every", w, round),
					})
				}
				if _, err := r.notes.PutMany(ctx, list); err != nil {
					t.Error(err)
				}
				if _, err := r.notes.Delete(ctx, list[w].ID, nil); err != nil && fault.KindOf(err) != fault.NotFound {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	r.check(t)
	if n := r.ahead.Len(); n > 0 {
		t.Errorf("%d commits are kept that have come", n)
	}
}

// TestSRCH1_SharesAreWhole cuts changes into parts that are all of them, in order.
func TestSRCH1_SharesAreWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := make([]change, rapid.IntRange(1, 30).Draw(rt, "changes"))
		for i := range list {
			list[i].id = fmt.Sprint(i)
			list[i].now = notedoc.Of(&notes.Note{Note: decl.Note{Body: strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 100_000}).Draw(rt, "size"))}})
		}
		n := rapid.IntRange(1, 8).Draw(rt, "n")
		parts := shares(list, n)
		at := 0
		for _, p := range parts {
			if len(p) == 0 {
				rt.Fatal("an empty part")
			}
			for i := range p {
				if p[i].id != list[at].id {
					rt.Fatalf("%s behind %s", p[i].id, list[at].id)
				}
				at++
			}
		}
		if at != len(list) || len(parts) > n {
			rt.Fatalf("%d parts for %d, of %d of %d changes", len(parts), n, at, len(list))
		}
	})
}

// TestSRCH1_RandomEdits edits a store at random and has the index agree with an
// index made anew, and with one that reads every text.
func TestSRCH1_RandomEdits(t *testing.T) {
	campaign.Only(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := openAll(t, kv.InMemory, Options{})
		defer r.db.Close()
		if rapid.IntRange(0, 3).Draw(rt, "large") == 0 { // several blocks, several windows
			many(t, r, rapid.IntRange(130, 700).Draw(rt, "many"), rapid.Uint64().Draw(rt, "seed"))
		}
		id := func() string { return fmt.Sprint("n", rapid.IntRange(0, 12).Draw(rt, "id")) }
		for range rapid.IntRange(1, 25).Draw(rt, "edits") {
			switch rapid.IntRange(0, 6).Draw(rt, "edit") {
			case 6: // many in one commit, of which some are there already
				_, err := r.notes.PutMany(ctx, genDrafts(rt))
				fine(rt, err)
			case 0:
				_, err := r.notes.Delete(ctx, id(), nil)
				fine(rt, err)
			case 1:
				_, err := r.notes.Archive(ctx, id(), nil)
				fine(rt, err)
			case 2:
				text := genText(rt, "body", 400)
				_, err := r.notes.Patch(ctx, notes.Patch{ID: id(), Body: &text}, nil)
				fine(rt, err)
			default:
				d := notes.Draft{ID: id(), Title: genText(rt, "title", 3), Body: genText(rt, "body", 60)}
				if rapid.Bool().Draw(rt, "tagged") {
					d.Tags = []string{"some"}
				}
				d.Title = strings.TrimSpace(strings.ReplaceAll(d.Title, "\n", " "))
				_, err := r.notes.Put(ctx, d, nil)
				fine(rt, err)
			}
		}
		r.check(rt)
		all := slices.Collect(r.src.All())
		for range 5 {
			words := rapid.SliceOfNDistinct(rapid.SampledFrom(vocabulary[:40]), 1, 6, rapid.ID[string]).Draw(rt, "query")
			tagged := rapid.Bool().Draw(rt, "filter")
			req := queryOf(strings.Join(words, " "), rapid.IntRange(1, 15).Draw(rt, "limit"))
			req.Keep = notedoc.Keep(func(n *notes.Note) bool { return n.Live() && (!tagged || n.HasTag("some")) })
			want, scores := naive(all, words, req.Keep)
			res, err := r.Search(ctx, req)
			if err != nil {
				rt.Fatal(err)
			}
			if len(want) == 0 { // then mistakes are looked for
				continue
			}
			if len(res.Hits) != min(req.Limit, len(want)) {
				rt.Fatalf("%v: %d hits of %d", words, len(res.Hits), len(want))
			}
			for i, h := range res.Hits {
				if h.Doc.ID() != want[i] || h.Score != scores[i] {
					rt.Fatalf("%v: hit %d is %s with %g, want %s with %g", words, i, h.Doc.ID(), h.Score, want[i], scores[i])
				}
			}
		}
	})
}

func many(t *testing.T, r *rooms, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	zipf := rand.NewZipf(rng, 1.2, 2, uint64(len(vocabulary)-1))
	var drafts []notes.Draft
	for i := range n {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString(vocabulary[zipf.Uint64()] + " ")
		}
		d := notes.Draft{ID: fmt.Sprint("m", i), Title: fmt.Sprint("Many ", i), Body: b.String()}
		if i%7 == 0 {
			d.Tags = []string{"some"}
		}
		drafts = append(drafts, d)
	}
	_, err := r.notes.PutMany(ctx, drafts)
	must(t, err)
	for range n / 10 {
		_, err := r.notes.Delete(ctx, fmt.Sprint("m", rng.IntN(n)), nil)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			t.Fatal(err)
		}
	}
}

func fine(t *rapid.T, err error) {
	var known *fault.Error
	if err != nil && !errors.As(err, &known) {
		t.Fatal(err)
	}
}
