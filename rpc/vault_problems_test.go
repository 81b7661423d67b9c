package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
)

// importNotes imports files as a vault and returns its folder.
func (d *daemon) importNotes(files map[string]string) (dir string) {
	d.t.Helper()
	dir = filepath.Join(d.t.TempDir(), "Notes")
	for p, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(p))
		must(d.t, os.MkdirAll(filepath.Dir(full), 0o700))
		must(d.t, os.WriteFile(full, []byte(text), 0o600))
	}
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir))
	return dir
}

// problems reads the problems of the only vault, page by page, and calls between pages.
func (d *daemon) problems(params string, between func()) (lines []string) {
	d.t.Helper()
	for cursor := ""; ; {
		page := d.do("vault.problems", `{"cursor":"`+cursor+`"`+params+`}`)
		for _, p := range page["problems"].([]any) {
			line := fmt.Sprint(at(p, "kind"), " ", at(p, "path"))
			if n := at(p, "line"); n != nil {
				line += fmt.Sprint(":", n)
			}
			lines = append(lines, line+" "+fmt.Sprint(at(p, "what"))+" | "+fmt.Sprint(at(p, "fix")))
		}
		next, more := page["nextCursor"].(string)
		if !more {
			return lines
		}
		cursor = next
		if between != nil {
			between()
		}
	}
}

// TestSRCH53_Pages: a list goes on behind the place where a page ended, also when a note has changed meanwhile.
func TestSRCH53_Pages(t *testing.T) {
	d := start(t)
	_, err := d.try("vault.problems", `{}`)
	var e *client.Error
	if !errors.As(err, &e) || e.Code != 1001 || e.Data.Hint == "" {
		t.Errorf("without a vault: %v", err)
	}
	files := map[string]string{"Same.md": "# Twin\n", "Other.md": "# Twin\n"}
	for i := range 5 {
		files[fmt.Sprintf("n%d.md", i)] = "[[Gone]] [[Lost]]\n\n[[Gone]]\n"
	}
	dir := d.importNotes(files)
	all := d.problems("", nil)
	if len(all) != 17 || !slices.IsSortedFunc(all[:15], strings.Compare) || !strings.HasPrefix(all[15], "duplicate.title Other.md:1 ") {
		t.Fatalf("%d: %s", len(all), strings.Join(all, "\n"))
	}
	for limit := 1; limit < 18; limit++ {
		if diff := cmp.Diff(all, d.problems(fmt.Sprintf(`,"limit":%d`, limit), nil)); diff != "" {
			t.Fatalf("in pages of %d: %s", limit, diff)
		}
	}
	page := d.do("vault.problems", `{"kinds":["duplicate.title"],"limit":1}`)
	d.want(page, "total", 2)
	d.want(page, "counts", `map[duplicate.title:2 link.unresolved:15]`)
	d.want(page, "vault", "Notes")
	d.want(page, "folder", dir)

	changed := 0
	got := d.problems(`,"limit":4`, func() {
		changed++
		text := map[int]string{1: "n1.md", 2: "n4.md"}[changed]
		if text == "" {
			return
		}
		must(t, os.WriteFile(filepath.Join(dir, text), []byte("a\n\n[[Gone]]\n"), 0o600))
		d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir))
	})
	want := slices.Concat(all[:4], []string{all[5]}, all[6:12], []string{all[14]}, all[15:])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with changes between the pages: %s", diff)
	}

	_, err = d.try("vault.problems", `{"kinds":["link.lost"]}`)
	if !errors.As(err, &e) || !strings.Contains(e.Message+e.Data.Hint, "link.unresolved") {
		t.Errorf("a kind that there is not: %v", err)
	}
	for _, cursor := range []string{"x", "YQ", "bm90ZS9hAHQ", "bGluay5sb3N0LzEvMABh", "bGluay51bnJlc29sdmVkL3gvMABh", "bGluay51bnJlc29sdmVkLzEALWE"} {
		_, err := d.try("vault.problems", `{"cursor":"`+cursor+`"}`)
		if !errors.As(err, &e) || e.Data.Field != "cursor" {
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	}
	must(t, os.RemoveAll(dir))
	if got := d.problems("", nil); !strings.HasPrefix(got[0], "vault.folder . its folder is not there") || len(got) < 10 {
		t.Errorf("a vault that is gone: %q", got)
	}
}

// TestSRCH53_ManyOfOneKind are all named, each once.
func TestSRCH53_ManyOfOneKind(t *testing.T) {
	d := start(t)
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "[[Gone %d]]\n", i)
	}
	d.importNotes(map[string]string{"a.md": text.String(), "b.md": text.String()})
	got := d.problems(`,"limit":1000`, nil)
	d.want(d.do("vault.status", `{}`), "unresolved", len(got))
	seen := make(map[string]bool)
	for _, line := range got {
		seen[line] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d problems, %d of them different", len(got), len(seen))
	}
}

// TestPRIV6_ProblemsWithoutPrivateNotes compares what a remote reader is told of two vaults: one has private notes and files
// beside what the other has. They share titles, aliases, names and links with public notes.
func TestPRIV6_ProblemsWithoutPrivateNotes(t *testing.T) {
	public := map[string]string{
		".ctxd/types/task.yaml": "name: Task\nfields:\n  - {name: n, type: number}\n  - {name: owner, type: entity_ref, targetType: Person}\n",
		"a.md":                  "# Twin\n\n[[Plan]] [[Kickof]] [[Both]] [[b#Part]] [[Al]] ![](Écrin/map.png)\n\n```wql\nSELECT p FROM Persn p\n```\n",
		"b.md":                  "---\naliases: [Al]\n---\n# Part one\n",
		"c.md":                  "# Once\n",
		"d.md":                  "# Twin\n",
		"x/Both.md":             "x [[Sec]]",
		"t.md":                  "---\ntype: Task\nn: many\nowner: Bo\n---\n",
		"broken.md":             "---\na: [\n---\n",
	}
	both := map[string]string{
		"p1.md":                                  "---\nprivate: true\naliases: [Al, Sec]\n---\n# Once\n\n[[Nowhere]] [[a#No]]\n",
		"p2.md":                                  "---\nprivate: true\ntitle: Twin\n---\n",
		"p3.md":                                  "---\nprivate: true\n---\n# Plan\n",
		"p4.md":                                  "---\nprivate: true\n---\n# Plan\n",
		"Kickoff.md":                             "---\nprivate: true\n---\nsecret\n",
		"y/Both.md":                              "---\nprivate: true\n---\n",
		"Écrin/map.png":                          "x",
		"Écrin/note.md":                          "[[Lost]]",
		"bo.md":                                  "---\ntype: Person\ntitle: Bo\nprivate: true\n---\n",
		"doubt.md":                               "---\nprivate: perhaps\n---\n",
		"bytes.md":                               "\x00",
		"a (Jo's conflicted copy 2026-11-01).md": "# Twin\n",
		"ptask.md":                               "---\ntype: Task\nn: none\nprivate: true\n---\n",
		"B.markdown":                             "---\nprivate: true\n---\n",
	}
	for p, text := range public {
		both[p] = text
	}
	answers := func(files map[string]string) (string, []string) {
		d := start(t)
		d.importNotes(files)
		page := d.do("vault.problems", `{"audience":"remote"}`)
		delete(page, "folder")
		raw, err := json.MarshalIndent(page, "", " ")
		must(t, err)
		status := d.do("vault.status", `{"audience":"remote"}`)
		return string(raw) + fmt.Sprint(status["unresolved"], status["unresolvedRefs"], status["errors"]), d.problems("", nil)
	}
	with, local := answers(both)
	without, _ := answers(public)
	// A link that means a private record is shown without its name.
	plain := strings.NewReplacer("Plan", "(private)", "Sec", "(private)", "Bo ", "(private) ", "Bo\"", "(private)\"").Replace
	if diff := cmp.Diff(plain(without), plain(with)); diff != "" {
		t.Errorf("without private notes (-) and with them (+):\n%s", diff)
	}
	for _, secret := range []string{"Plan", "Kickoff", "Sec", "Écrin/note", "p1.md", "y/Both", "bo.md", "doubt", "bytes", "conflicted", "ptask", "Lost", "Nowhere", "B.markdown"} {
		if strings.Contains(with, secret) {
			t.Errorf("a remote reader is told of %s", secret)
		}
		if !strings.Contains(strings.Join(local, "\n"), secret) && secret != "Sec" && secret != "bo.md" {
			t.Errorf("a local reader is not told of %s", secret)
		}
	}
}

// TestSRCH53_WhileOthersWrite is for the race detector, and for locks that wait for each other: each list is whole.
func TestSRCH53_WhileOthersWrite(t *testing.T) {
	d := start(t)
	files := map[string]string{"Secret.md": "---\nprivate: true\n---\nx"}
	for i := range 50 {
		files[fmt.Sprintf("n%d.md", i)] = "---\ntype: Task\nowner: Nobody\n---\n[[Gone]] [[Secret]] [[Twin]] [[n1#No]]\n"
	}
	d.importNotes(files)
	var work sync.WaitGroup
	for _, audience := range []string{"local", "remote"} {
		work.Go(func() {
			want := map[string]int{"local": 50, "remote": 100}[audience] // links to Gone, and to Secret
			for range 30 {
				page, err := d.try("vault.problems", `{"limit":1000,"audience":"`+audience+`"}`)
				if err != nil {
					t.Errorf("%s: %v", audience, err)
					return
				}
				var counts map[record.ProblemKind]int
				raw, err := json.Marshal(page["counts"])
				if err != nil || json.Unmarshal(raw, &counts) != nil {
					t.Errorf("%s: %v", audience, page["counts"])
					return
				}
				// Whether those to Twin lead anywhere depends on the moment.
				if got := counts[record.LinkUnresolved] + counts[record.LinkAmbiguous]; got < want || got > want+50 {
					t.Errorf("%s: %d links lead nowhere", audience, got)
				}
			}
		})
	}
	work.Go(func() {
		for i := range 60 {
			d.do("notes.put", fmt.Sprintf(`{"id":"w%d","title":"Twin","private":%v}`, i%2, i%3 == 0))
		}
	})
	work.Wait()
	d.do("notes.search", `{"query":"twin"}`) // it waits for the index, which goes on by itself
}
