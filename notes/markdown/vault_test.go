package markdown_test

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/notes/markdown"
)

// testVault returns the folder of a real vault, or skips.
func testVault(tb testing.TB, name string) string {
	tb.Helper()
	root := os.Getenv("CTXD_TESTDATA")
	if root == "" {
		tb.Skip("CTXD_TESTDATA is not set: the real vaults and their ground truth are not part of the repository")
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(filepath.Join(dir, "links.tsv")); err != nil {
		tb.Skipf("no %s in $CTXD_TESTDATA", name)
	}
	return dir
}

// vaultNotes reads all notes of a vault, by path relative to it.
func vaultNotes(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	notes := map[string]string{}
	fsys := os.DirFS(filepath.Join(dir, "vault"))
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != "." && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() && strings.HasSuffix(path, ".md") {
			b, err := fs.ReadFile(fsys, path)
			if err != nil {
				return err
			}
			notes[path] = string(b)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return notes
}

type linkAt struct {
	source string
	line   int
	link   string
}

// groundTruth reads links.tsv: source, line, link as written, resolved.
func groundTruth(tb testing.TB, file string) map[linkAt]int {
	tb.Helper()
	f, err := os.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	want := map[linkAt]int{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		cols := strings.Split(sc.Text(), "\t")
		if cols[0] == "source" || len(cols) < 3 {
			continue
		}
		line, err := strconv.Atoi(cols[1])
		if err != nil {
			tb.Fatal(err)
		}
		want[linkAt{cols[0], line, cols[2]}]++
	}
	if sc.Err() != nil {
		tb.Fatal(sc.Err())
	}
	return want
}

// TestVaults_LinksEqualGroundTruth: the links of two real vaults, each with
// its line and as written, none missing and none too many.
func TestVaults_LinksEqualGroundTruth(t *testing.T) {
	for _, tc := range []struct {
		vault        string
		notes, links int
	}{
		{"vault-logseq", 313, 2182},
		{"vault-silverbullet", 225, 1379},
	} {
		t.Run(tc.vault, func(t *testing.T) {
			dir := testVault(t, tc.vault)
			want := groundTruth(t, filepath.Join(dir, "links.tsv"))
			notes := vaultNotes(t, dir)
			if len(notes) != tc.notes {
				t.Errorf("%d notes, want %d", len(notes), tc.notes)
			}
			total := 0
			for path, src := range notes {
				doc := markdown.Parse(src)
				checkDocument(t, src, doc)
				if doc.FrontmatterErr != nil {
					t.Errorf("%s: frontmatter: %v", path, doc.FrontmatterErr)
				}
				total += len(slices.Collect(doc.EachLink()))
				for l := range doc.EachLink() {
					at := linkAt{path, l.Line, l.Raw}
					want[at]--
					if want[at] < 0 {
						t.Errorf("%s:%d: %s is not a link by the rules", path, l.Line, l.Raw)
					}
				}
			}
			for at, n := range want {
				if n > 0 {
					t.Errorf("%s:%d: %s missing (%d)", at.source, at.line, at.link, n)
				}
			}
			if total != tc.links {
				t.Errorf("%d links, want %d", total, tc.links)
			}
		})
	}
}

// checkDocument holds for every document of every source.
func checkDocument(tb testing.TB, src string, doc *markdown.Document) {
	tb.Helper()
	if doc.BodyStart < 0 || doc.BodyStart > len(src) || src[doc.BodyStart:] != doc.Body {
		tb.Fatalf("body starts at %d of %d and is not the rest of the source", doc.BodyStart, len(src))
	}
	if want := 1 + strings.Count(src[:doc.BodyStart], "\n"); doc.BodyLine != want {
		tb.Errorf("body line %d, want %d", doc.BodyLine, want)
	}
	lines := lineCounter{src: src, line: 1}
	last := 0
	for l := range doc.EachLink() {
		if l.Start < last || l.End > len(src) || src[l.Start:l.End] != l.Raw {
			tb.Fatalf("link %q at [%d,%d) after %d does not re-slice", l.Raw, l.Start, l.End, last)
		}
		last = l.End
		if want := lines.at(l.Start); l.Line != want {
			tb.Errorf("link %q on line %d, want %d", l.Raw, l.Line, want)
		}
		if l.InFrontmatter != (l.Start < doc.BodyStart) {
			tb.Errorf("link %q: InFrontmatter %v at %d, body from %d", l.Raw, l.InFrontmatter, l.Start, doc.BodyStart)
		}
		if l.Target == "" && l.Heading == "" && l.Block == "" || strings.ContainsAny(l.Raw, "\n") || l.Embed != strings.HasPrefix(l.Raw, "!") {
			tb.Errorf("link %+v", l)
		}
	}
	lines = lineCounter{src: src, line: 1}
	for _, h := range headings(src) {
		if h.Start > h.End || h.End > len(src) || h.Level < 1 || h.Level > 6 || strings.Contains(h.Text, "\n") {
			tb.Fatalf("heading %+v", h)
		}
		if want := lines.at(h.Start); h.Line != want {
			tb.Errorf("heading %q on line %d, want %d", h.Text, h.Line, want)
		}
	}
	lines, last = lineCounter{src: src, line: 1}, 0
	for l := range doc.EachFileLink() {
		if l.Start < last || l.End > len(src) || src[l.Start:l.End] != l.Raw || !markdown.IsLink(l.Raw) {
			tb.Fatalf("Markdown link %q at [%d,%d) after %d does not re-slice", l.Raw, l.Start, l.End, last)
		}
		last = l.End
		if want := lines.at(l.Start); l.Line != want {
			tb.Errorf("Markdown link %q on line %d, want %d", l.Raw, l.Line, want)
		}
		if !l.Markdown || l.Target == "" && l.Heading == "" && l.Block == "" || l.InFrontmatter != (l.Start < doc.BodyStart) {
			tb.Errorf("Markdown link %+v", l)
		}
	}
	for _, b := range blocks(src) {
		if b.Start > b.End || b.End > len(src) || !strings.Contains(src[b.Start:b.End], "^"+b.ID) {
			tb.Fatalf("block %+v", b)
		}
	}
}

func headings(src string) (list []markdown.Heading) {
	markdown.Headings(src, func(h markdown.Heading) { list = append(list, h) })
	return list
}

func blocks(src string) (list []markdown.Block) {
	markdown.Blocks(src, func(b markdown.Block) { list = append(list, b) })
	return list
}

// lineCounter finds the lines of rising offsets in one pass.
type lineCounter struct {
	src       string
	pos, line int
}

func (c *lineCounter) at(off int) int {
	if off > c.pos {
		c.line += strings.Count(c.src[c.pos:off], "\n")
		c.pos = off
	}
	return c.line
}
