package books_test

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/books"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/recall"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes"
)

var update = flag.Bool("update", false, "write the golden files")

var mustSearch = searchtest.Must

// searchDeps is a store with books and the index of their passages.
type searchDeps struct {
	searchtest.Rooms
	shelf         *books.Store
	source        *books.Source
	index         *search.Index
	ranker        *recall.Ranker
	local, remote *audience.View
}

func openSearch(t testing.TB, opts search.Options) *searchDeps {
	t.Helper()
	db := searchtest.Open(t, kv.InMemory)
	h := &searchDeps{Rooms: searchtest.Over(t, db, notes.Options{})}
	seen := audience.Open(db, audience.Stores{Entities: h.Entities, Notes: h.Notes})
	h.local, h.remote = seen.View(audience.Local), seen.View(audience.Remote)
	var err error
	h.shelf, err = books.Open(db, books.Options{})
	mustSearch(t, err)
	t.Cleanup(func() { _ = h.shelf.Close() })
	h.source, err = books.NewSource(db, seen)
	mustSearch(t, err)
	h.index = search.Open(db, h.source, opts)
	h.ranker = recall.New(recall.Indexes{Passages: h.index, Books: books.Library{Store: h.shelf, Source: h.source}}, recall.Options{})
	return h
}

func (h *searchDeps) put(t testing.TB, d books.Draft) *record.Book {
	t.Helper()
	b, _, err := h.shelf.Put(t.Context(), h.local, d, nil)
	mustSearch(t, err)
	return b
}

func (h *searchDeps) ask(t testing.TB, v *audience.View, r recall.Request) []*record.Passage {
	t.Helper()
	r.Kinds = []string{recall.Passages}
	var res *recall.Result
	searchtest.Until(t, "the vector of the question", func() bool {
		var err error
		res, err = h.ranker.Search(t.Context(), v, r)
		mustSearch(t, err)
		return !strings.Contains(res.Degraded, "in time")
	})
	var list []*record.Passage
	for _, hit := range res.Hits {
		list = append(list, hit.Passage)
	}
	return list
}

// question is one of the labelled set: the passage that answers it has a text, and stands on a page.
type question struct {
	file, language, kind string
	page                 int // as pdftotext counts them; 0: the format has none
	passage, text        string
}

func questions(t testing.TB) (list []question) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "labelled", "questions.tsv"))
	mustSearch(t, err)
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Scan()
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		page, err := strconv.Atoi(c[3])
		mustSearch(t, err)
		list = append(list, question{c[0], c[1], c[2], page, c[4], c[5]})
	}
	return list
}

// answers reports whether a passage answers a question: of the file, on the page, with the text. A table may
// name its column otherwise, so that only what stands behind it is compared.
func (q *question) answers(p *record.Passage, file string) bool {
	_, said, ok := strings.Cut(q.passage, ": ")
	if !ok {
		said = q.passage
	}
	last := max(p.Page, p.Last)
	return file == q.file && strings.Contains(strings.Join(strings.Fields(p.Text), " "), said) &&
		(q.page == 0 || p.Page <= q.page && q.page <= last)
}

// labelled puts the files of the set, and the notes of the sample vault beside them as books of their own.
func labelled(t testing.TB, opts search.Options) (h *searchDeps, files map[string]string) {
	t.Helper()
	h, files, put := few(t, opts)
	mustSearch(t, filepath.WalkDir(filepath.Join("..", "..", "fixtures", "vault"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			if info, err := d.Info(); err == nil && info.Size() > 200 {
				put(path)
			}
		}
		return err
	}))
	return h, files
}

// few is labelled without the notes of the vault.
func few(t testing.TB, opts search.Options) (h *searchDeps, files map[string]string, put func(path string)) {
	t.Helper()
	h, files = openSearch(t, opts), make(map[string]string)
	put = func(path string) {
		abs, err := filepath.Abs(path)
		mustSearch(t, err)
		files[h.put(t, books.Draft{Path: abs}).ID] = filepath.Base(path)
	}
	list, err := os.ReadDir(filepath.Join("testdata", "labelled"))
	mustSearch(t, err)
	for _, e := range list {
		if e.Name() != "questions.tsv" {
			put(filepath.Join("testdata", "labelled", e.Name()))
		}
	}
	return h, files, put
}

// TestMEM69_TheRightPageIsAmongTheFirstFive: 100 questions over files that real programs wrote.
func TestMEM69_TheRightPageIsAmongTheFirstFive(t *testing.T) {
	campaign.Only(t)
	builtin, err := embed.BuiltinTable()
	mustSearch(t, err)
	var b strings.Builder
	b.WriteString("what\tquestions\trecall@1\trecall@5\n")
	all := questions(t)
	for _, by := range []string{"words and meaning", "words"} {
		opts := search.Options{}
		if by != "words" {
			opts = search.Options{Embedder: builtin, AtOnce: 1 << 30}
		}
		h, files := labelled(t, opts)
		if opts.Embedder != nil {
			searchtest.Until(t, "vectors", func() bool { return h.index.Stats().Meanings.Idle })
		}
		type count struct{ n, first, five int }
		counts := map[string]*count{}
		for i := range all {
			q := &all[i]
			place := 0
			for n, p := range h.ask(t, h.local, recall.Request{Query: q.text, Limit: 5}) {
				if q.answers(p, files[p.BookID]) {
					place = n + 1
					break
				}
			}
			if place == 0 && by != "words" {
				t.Logf("not found: %s %s", q.file, q.text)
			}
			for _, key := range []string{"all", q.kind, q.language, strings.TrimPrefix(filepath.Ext(q.file), ".")} {
				c := counts[key]
				if c == nil {
					c = new(count)
					counts[key] = c
				}
				c.n++
				if place == 1 {
					c.first++
				}
				if place > 0 {
					c.five++
				}
			}
		}
		for _, key := range []string{"all", "text", "table", "en", "de", "fr", "pdf", "docx", "xlsx", "epub", "html", "md", "csv", "txt"} {
			if c := counts[key]; c != nil && (by != "words" || key == "all") {
				fmt.Fprintf(&b, "%s, by %s\t%d\t%.0f\t%.0f\n", key, by, c.n, 100*float64(c.first)/float64(c.n), 100*float64(c.five)/float64(c.n))
			}
		}
		if c := counts["all"]; by != "words" && float64(c.five) < 0.85*float64(c.n) {
			t.Errorf("%d of %d are found", c.five, c.n)
		}
	}
	golden := filepath.Join("testdata", "recall.golden")
	if *update {
		mustSearch(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != b.String() {
		t.Errorf("%v: %s is now\n%s", err, golden, b.String())
	}
}

// TestCTX42_WhatNoBookAnswers: of questions on foreign subjects four in five are told to be off topic, and of those that a book
// answers one in fifty at most, by a dozen books as well as by two hundred.
func TestCTX42_WhatNoBookAnswers(t *testing.T) {
	campaign.Only(t)
	builtin, err := embed.BuiltinTable()
	mustSearch(t, err)
	opts := search.Options{Embedder: builtin, AtOnce: 1 << 30}
	dozen, _, _ := few(t, opts)
	hundreds, _ := labelled(t, opts)
	all := questions(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "nothing.tsv"))
	mustSearch(t, err)
	for name, h := range map[string]*searchDeps{"a dozen": dozen, "hundreds": hundreds} {
		searchtest.Until(t, "vectors", func() bool { return h.index.Stats().Meanings.Idle })
		lost, refused, foreign := 0, 0, 0
		for i := range all {
			if h.isOffTopic(t, all[i].text) {
				lost++
				t.Logf("%s: lost: %s", name, all[i].text)
			}
		}
		for line := range strings.Lines(string(data)) {
			if set, question, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && set == "foreign" {
				foreign++
				if h.isOffTopic(t, question) {
					refused++
				}
			}
		}
		t.Logf("%s: %d of %d questions with an answer are lost, %d of %d foreign ones refused", name, lost, len(all), refused, foreign)
		if 50*lost > len(all) || 5*refused < 4*foreign {
			t.Errorf("%s: that is too much of the one, or too little of the other", name)
		}
	}
}

// isOffTopic asks for passages, with the vector of the question.
func (h *searchDeps) isOffTopic(t *testing.T, question string) bool {
	t.Helper()
	var res *recall.Result
	searchtest.Until(t, "the vector of the question", func() bool {
		var err error
		res, err = h.ranker.Search(t.Context(), h.local, recall.Request{Query: question, Kinds: []string{recall.Passages}, Limit: 3})
		mustSearch(t, err)
		return !strings.Contains(res.Degraded, "in time")
	})
	return res.IsOffTopic()
}
