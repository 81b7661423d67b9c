package convert_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/context/books/convert"
)

// wordsOf counts the words of a text; characters of a script without blanks are words.
func wordsOf(s string) map[string]int {
	out := make(map[string]int)
	word := strings.Builder{}
	end := func() {
		if word.Len() > 0 {
			out[word.String()]++
			word.Reset()
		}
	}
	for _, r := range norm.NFKC.String(strings.ToLower(s)) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			end()
			out[string(r)]++
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			word.WriteRune(r)
		default:
			end()
		}
	}
	end()
	return out
}

// shares returns which share of the words of want is in got, and the reverse.
func shares(want, got map[string]int) (found, right float64) {
	both, all, said := 0, 0, 0
	for w, n := range want {
		both += min(n, got[w])
		all += n
	}
	for _, n := range got {
		said += n
	}
	return float64(both) / float64(max(all, 1)), float64(both) / float64(max(said, 1))
}

// allText is what a document says, the names of columns once.
func allText(d *convert.Document) string {
	var b strings.Builder
	named := make(map[string]bool)
	for i := range d.Blocks {
		x := &d.Blocks[i]
		if x.Kind != convert.RowBlock {
			b.WriteString(x.Text + "\n")
			continue
		}
		for cell := range strings.SplitSeq(x.Text, "; ") {
			name, value, ok := strings.Cut(cell, ": ")
			if ok && named[name] {
				cell = value
			}
			named[name] = ok
			b.WriteString(cell + " ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// onTheirPages returns the share of the words that stand on the page of their block, or on the next one, where paragraphs go on.
func onTheirPages(d *convert.Document, truth string) float64 {
	var pages []map[string]int
	for page := range strings.SplitSeq(truth, "\f") {
		pages = append(pages, wordsOf(page))
	}
	right, all := 0, 0
	for i := range d.Blocks {
		x := &d.Blocks[i]
		for w, n := range wordsOf(x.Text) {
			all += n
			for p := x.Page - 1; p <= x.Page; p++ {
				if p >= 0 && p < len(pages) && pages[p][w] > 0 {
					right += n
					break
				}
			}
		}
	}
	return float64(right) / float64(max(all, 1))
}

// TestMEM85_RealFiles reads files that programs have written, and compares the words with those of their source, or of pdftotext.
func TestMEM85_RealFiles(t *testing.T) {
	dir := os.Getenv("CTXD_REALFILES")
	if dir == "" {
		t.Skip("CTXD_REALFILES names no folder: testdata/realfiles.sh builds one")
	}
	list, err := os.ReadFile(filepath.Join(dir, "set.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-34s %7s %7s %7s %6s %6s  %s\n", "file", "found", "right", "pages", "count", "ms", "title")
	for line := range strings.Lines(string(list)) {
		name, source, _ := strings.Cut(strings.TrimSpace(line), "\t")
		packed, err := os.ReadFile(filepath.Join(dir, "files", name))
		if err != nil {
			t.Fatal(err)
		}
		said, err := os.ReadFile(filepath.Join(dir, "truth", source))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, in, err := convert.Unpack(name, bytes.NewReader(packed), 64<<20)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		began := time.Now()
		d, err := shared.Convert(t.Context(), convert.Detect(convert.ByName(unpacked), bytes.NewReader(data), int64(len(data))), data, nil)
		took := time.Since(began)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		truth := string(said)
		found, right := shares(wordsOf(truth), wordsOf(allText(d)))
		onPage, pages := 1.0, true
		if strings.HasSuffix(name, ".pdf") {
			onPage, pages = onTheirPages(d, truth), d.Pages == strings.Count(truth, "\f")
		}
		fmt.Fprintf(&table, "%-34s %6.1f%% %6.1f%% %6.1f%% %6d %6d  %.40s\n", name, 100*found, 100*right, 100*onPage, d.Pages, took.Milliseconds(), d.Title)
		least := 0.97
		if strings.HasSuffix(name, ".pdf") { // heads and feet of pages are left out, and PDFium joins words that troff sets close
			least = 0.93
		}
		if found < least || right < 0.96 || onPage < 0.97 || !pages {
			t.Errorf("%s: %.1f %% of its words are found, %.1f %% are right, %.1f %% on their pages; %d pages", name, 100*found, 100*right, 100*onPage, d.Pages)
		}
	}
	t.Log("\n" + table.String())
}
