package vault_test

import (
	"bufio"
	"cmp"
	"math/rand/v2"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes/vault"
)

// The resolver here is written from the rules in words, and shares no code with the program: a link is what the lists of
// the vaults say is one, and Markdown links to .md files.

// truth are the wikilinks of a vault as somebody else counted them, by file and line.
type truth map[string]map[int][]string

func readTruth(t *testing.T, dir string) truth {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "links.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make(truth)
	lines := bufio.NewScanner(f)
	lines.Scan()
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		n, _ := strconv.Atoi(c[1])
		if out[c[0]] == nil {
			out[c[0]] = make(map[int][]string)
		}
		out[c[0]][n] = append(out[c[0]][n], c[2])
	}
	return out
}

var (
	wikilink     = regexp.MustCompile(`!?\[\[([^\[\]\n]+)\]\]`)
	markdownLink = regexp.MustCompile(`\]\(<?([^()<>\s]+\.md)(#[^()<>\s]*)?>?\)`)
)

// place is one link of a text: its target alone.
type place struct {
	start, end int // of the target
	target     string
	raw        string // the whole link as it is written
	markdown   bool
}

// placesIn finds the links of a text. Those in code are told by the list of the vault: which of the links on a line are
// some does not change with a rename, so they are found by their number on the line in the text of before.
func placesIn(text string) (lines [][]place) {
	at := 0
	for line := range strings.Lines(text) {
		var list []place
		for _, m := range wikilink.FindAllStringSubmatchIndex(line, -1) {
			inner := line[m[2]:m[3]]
			if i := strings.IndexByte(inner, '|'); i >= 0 {
				inner = strings.TrimSuffix(inner[:i], `\`)
			}
			if i := strings.IndexByte(inner, '#'); i >= 0 {
				inner = inner[:i]
			}
			target := strings.TrimSpace(inner)
			start := at + m[2] + strings.Index(inner, target)
			list = append(list, place{start, start + len(target), target, line[m[0]:m[1]], false})
		}
		for _, m := range markdownLink.FindAllStringSubmatchIndex(line, -1) {
			target := line[m[2]:m[3]]
			if strings.Contains(target, "://") {
				continue
			}
			list = append(list, place{at + m[2], at + m[3], target, line[m[0]:m[1]], true})
		}
		slices.SortFunc(list, func(a, b place) int { return a.start - b.start })
		lines = append(lines, list)
		at += len(line)
	}
	return lines
}

var caser = cases.Fold()

// memo remembers what a function of a text returned: most texts stay the same from one rename to the next.
func memo[V any](f func(string) V) func(string) V {
	known := make(map[string]V)
	return func(s string) V {
		v, ok := known[s]
		if !ok {
			v = f(s)
			known[s] = v
		}
		return v
	}
}

var (
	folded = memo(func(s string) string {
		return norm.NFC.String(caser.String(norm.NFC.String(strings.TrimSpace(s))))
	})
	placed = memo(placesIn)
	titled = memo(titleIn)
)

func stem(p string) string {
	if strings.HasSuffix(strings.ToLower(p), ".md") {
		return p[:len(p)-3]
	}
	return p
}

// renameVault is what the resolver knows of some files.
type renameVault struct {
	byPath, byName, byTitle, byDay map[string][]string
}

var (
	titleLine   = regexp.MustCompile(`(?m)^title: *["']?(.*?)["']? *\r?$`)
	headingLine = regexp.MustCompile(`^# +(.*?)(?: +#+)? *\r?\n?$`)
	frontLines  = regexp.MustCompile(`\A---\r?\n(?s:(.*?))\r?\n---\r?\n`)
)

func newVault(files map[string]string) *renameVault {
	v := &renameVault{make(map[string][]string), make(map[string][]string), make(map[string][]string), make(map[string][]string)}
	for p, text := range files {
		if !strings.HasSuffix(p, ".md") {
			continue
		}
		add := func(m map[string][]string, key string) { m[key] = append(m[key], p) }
		add(v.byPath, folded(stem(p)))
		add(v.byName, folded(stem(path.Base(p))))
		if title := titled(text); title != "" {
			add(v.byTitle, folded(title))
		}
		if day, err := time.Parse("2006_01_02", stem(path.Base(p))); err == nil && path.Dir(p) == "journals" {
			add(v.byDay, day.Format("2006-01-02"))
			for _, ending := range []string{"st", "nd", "rd", "th"} { // no text has a wrong one
				add(v.byDay, folded(day.Format("Jan 2")+ending+day.Format(", 2006")))
			}
		}
	}
	return v
}

// titleIn reads the title of a note: that of its frontmatter, or its first heading.
func titleIn(text string) string {
	if m := frontLines.FindStringSubmatch(text); m != nil {
		if t := titleLine.FindStringSubmatch(m[1]); t != nil {
			return t[1]
		}
		text = text[len(m[0]):]
	}
	fence := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t-*"), "```") {
			fence = !fence
		}
		if m := headingLine.FindStringSubmatch(line); m != nil && !fence {
			t := wikilink.ReplaceAllStringFunc(m[1], func(l string) string {
				l = strings.Trim(l, "![]")
				if _, alias, ok := strings.Cut(l, "|"); ok {
					return alias
				}
				return l
			})
			return strings.NewReplacer("`", "", "*", "", "_", "").Replace(t)
		}
	}
	return ""
}

// lead returns the file that a target means in a file; "" for none.
func (v *renameVault) lead(target, from string, markdown bool) string {
	folder := path.Dir(from)
	if markdown {
		if p, err := url.PathUnescape(target); err == nil {
			target = p
		}
	}
	t := folded(stem(strings.TrimSpace(target)))
	if t == "" {
		return from
	}
	best := func(list []string) string {
		return slices.MinFunc(list, func(a, b string) int {
			in := func(p string) int {
				if path.Dir(p) == folder {
					return 0
				}
				return 1
			}
			return cmp.Or(in(a)-in(b), len(a)-len(b), strings.Compare(a, b))
		})
	}
	beside := folded(path.Join(folder, t))
	if markdown && !strings.HasPrefix(t, "/") && len(v.byPath[beside]) > 0 {
		return best(v.byPath[beside])
	}
	switch {
	case strings.HasPrefix(t, "/"):
		if list := v.byPath[path.Clean(t)[1:]]; len(list) > 0 {
			return best(list)
		}
		return ""
	case strings.HasPrefix(t, "./"), strings.HasPrefix(t, "../"):
		if list := v.byPath[beside]; len(list) > 0 {
			return best(list)
		}
		return ""
	}
	if list := v.byPath[path.Clean(t)]; len(list) > 0 {
		return best(list)
	}
	if list := v.byPath[beside]; len(list) > 0 {
		return best(list)
	}
	if strings.Contains(t, "/") {
		var list []string
		for _, p := range v.byName[path.Base(t)] {
			if strings.HasSuffix(folded(stem(p)), "/"+path.Clean(t)) {
				list = append(list, p)
			}
		}
		if len(list) > 0 {
			return best(list)
		}
	} else if list := v.byName[t]; len(list) > 0 {
		return best(list)
	}
	if list := v.byTitle[folded(target)]; len(list) == 1 && !markdown {
		return list[0]
	}
	if list := v.byDay[folded(target)]; len(list) == 1 && !markdown && len(v.byTitle[folded(target)]) == 0 {
		return list[0]
	}
	return ""
}

// checkVault compares a vault with what a rename made of it: where each link leads, and every byte outside of links, but
// for the name itself in the lines of the note that say it.
func checkVault(t *testing.T, links truth, before, after map[string]string, moved func(string) string, problems []vault.RenameProblem, said, name string) {
	t.Helper()
	was, now := newVault(before), newVault(after)
	lead := func(v *renameVault) func(l place, from string) string {
		known := make(map[[2]string]string) // by folder and target
		return func(l place, from string) string {
			if l.target == "" {
				return from
			}
			key := [2]string{path.Dir(from), l.target}
			if l.markdown {
				key[0] += "\x00"
			}
			p, ok := known[key]
			if !ok {
				p = v.lead(l.target, from, l.markdown)
				known[key] = p
			}
			return p
		}
	}
	leadWas, leadNow := lead(was), lead(now)
	for p, text := range before {
		to := moved(p)
		got, ok := after[to]
		if !ok {
			t.Errorf("%s is gone", p)
			continue
		}
		if !strings.HasSuffix(p, ".md") {
			if text != got {
				t.Errorf("%s has changed", p)
			}
			continue
		}
		a, b := placed(text), placed(got)
		if len(a) != len(b) {
			t.Errorf("%s has %d lines, and had %d", p, len(b), len(a))
			continue
		}
		at, atNow := 0, 0
		linesA, linesB := slices.Collect(strings.Lines(text)), slices.Collect(strings.Lines(got))
		for i := range a {
			lineA, lineB := linesA[i], linesB[i]
			if len(a[i]) != len(b[i]) {
				t.Errorf("%s:%d has %d links, and had %d: %q, %q", p, i+1, len(b[i]), len(a[i]), lineB, lineA)
				continue
			}
			for k, l := range a[i] {
				if told, seen := links[p][i+1], a[i]; !l.markdown && times(told, l.raw) < times(raws(seen), l.raw) && l.target == b[i][k].target {
					continue // it stands in code, or one that is written alike does
				} else if !l.markdown && times(told, l.raw) == 0 {
					t.Errorf("%s:%d: %q is no link, and became %q", p, i+1, l.raw, b[i][k].raw)
					continue
				}
				want, leads := leadWas(l, p), leadNow(b[i][k], to)
				if want != "" {
					want = moved(want)
				}
				if want == leads {
					continue
				}
				told := slices.ContainsFunc(problems, func(r vault.RenameProblem) bool {
					return r.Path == p && r.Line == i+1 && strings.Contains(r.Text, l.target)
				})
				if !told || want != "" {
					t.Errorf("%s:%d: %q led to %q, and %q leads to %q", p, i+1, l.target, want, b[i][k].target, leads)
				}
			}
			got, want := masked(lineB, b[i], atNow), masked(lineA, a[i], at)
			for k, l := range a[i] {
				if l.raw == "[["+l.target+"]]" && b[i][k].target != l.target { // it shows the words that it showed
					got = strings.Replace(got, "[[\x00|"+l.target+"]]", "[[\x00]]", 1)
				}
			}
			if got != want {
				if name == "" || folded(strings.ReplaceAll(got, name, said)) != folded(strings.ReplaceAll(want, name, said)) {
					t.Errorf("%s:%d: %q became %q", p, i+1, lineA, lineB)
				}
			}
			at, atNow = at+len(lineA), atNow+len(lineB)
		}
	}
}

func raws(list []place) (out []string) {
	for _, l := range list {
		out = append(out, l.raw)
	}
	return out
}

func times(list []string, s string) (n int) {
	for _, item := range list {
		if item == s {
			n++
		}
	}
	return n
}

// masked is a line without the targets of its links.
func masked(line string, list []place, at int) string {
	var b strings.Builder
	from := 0
	for _, l := range list {
		b.WriteString(line[from : l.start-at])
		b.WriteString("\x00")
		from = l.end - at
	}
	return b.String() + line[from:]
}

// TestLSP6_RealVaults renames and moves notes of two real vaults. A sample by default, all of them in the campaign.
func TestLSP6_RealVaults(t *testing.T) {
	data := os.Getenv("CTXD_TESTDATA")
	if data == "" {
		t.Skip("CTXD_TESTDATA is not set: the real vaults are not at hand")
	}
	all := campaign.Full()
	for _, name := range []string{"vault-logseq", "vault-silverbullet"} {
		t.Run(name, func(t *testing.T) {
			links := readTruth(t, filepath.Join(data, name))
			w := read(t, filepath.Join(data, name, "vault"))
			var notes []string
			for p := range w.files {
				if strings.HasSuffix(p, ".md") {
					notes = append(notes, p)
				}
			}
			slices.Sort(notes)
			rnd := rand.New(rand.NewPCG(6, 6))
			edits, renames := 0, 0
			for _, p := range notes {
				if !all && rnd.IntN(12) > 0 {
					continue
				}
				other := stem(path.Base(notes[rnd.IntN(len(notes))]))
				for _, to := range []string{"Zaubër & co (new)", "100% zebra", other} {
					plan, err := vault.RenameNote(w.notes, w.ents, w.where(), vault.NoteRename{Path: p, New: to})
					if err != nil {
						if to == other {
							continue // the place is taken, or it is its own name
						}
						t.Fatalf("%s to %s: %v", p, to, err)
					}
					moved := func(q string) string {
						if q == p {
							return path.Join(path.Dir(p), to+".md")
						}
						return q
					}
					checkVault(t, links, w.files, applied(t, w.files, plan), moved, plan.Problems, stem(path.Base(p)), to)
					edits, renames = edits+count(plan), renames+1
				}
				folder := path.Dir(p)
				moves := []vault.Move{{From: p, To: "Far away/é " + path.Base(p)}}
				if folder != "." {
					moves = append(moves, vault.Move{From: folder, To: "Moved/" + path.Base(folder) + " 2"})
				}
				for _, m := range moves {
					plan, err := vault.MoveFiles(w.notes, w.where(), []vault.Move{m})
					if err != nil {
						t.Fatal(err)
					}
					moved := func(q string) string {
						if q == m.From {
							return m.To
						}
						if rest, ok := strings.CutPrefix(q, m.From+"/"); ok {
							return m.To + "/" + rest
						}
						return q
					}
					checkVault(t, links, w.files, applied(t, w.files, plan, m), moved, plan.Problems, "", "")
					edits, renames = edits+count(plan), renames+1
				}
				if t.Failed() {
					t.Fatalf("at %s", p)
				}
			}
			t.Logf("%d renames with %d edits", renames, edits)
			if edits < 40 {
				t.Errorf("%d renames made only %d edits", renames, edits)
			}
		})
	}
}

func count(plan *vault.RenamePlan) (n int) {
	for _, f := range plan.Files {
		n += len(f.Edits)
	}
	return n
}
