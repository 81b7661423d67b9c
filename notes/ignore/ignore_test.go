package ignore_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/notes/ignore"
)

var update = flag.Bool("update", false, "have git answer anew")

// tree are the files that patterns are compared with.
var tree = strings.Fields(`
	a b ab a.md b.md ab.md A.md x-y.md [a] !b #c a1 9 *.md
	a-/b a]b/a ~/+a
	d/b.md d/ab d/a/b/a.md d/d/a d/b/d/a.md
	foo/a foo/bar/a.md foo/x/bar/a foo/bar.md foox/y/bar/b
	Foo/a Foo/.a .a/b .b`)

// blanks are names that no list of words can hold.
var blanks = []string{"e /a", "f ", " g", "h\\"}

// What patterns are made of.
var (
	usual = strings.Fields("a b d foo bar md . x A * * * ? ? ** **/ /** /**/ / / *.md *** [ab] [!a] [^b] [a-c] [[:alpha:]] [[:upper:]]")
	odd   = append(strings.Fields(`[]a] [!]a] [a [] [a-] []-a] [b-a] [![:digit:]] [[:punct:]] [[:none:]] [[:a] [:alpha:] [a/b] [\]]
		[\a-b] [[-a] [[:digit:]-a] [[:xdigit:][:space:]] [ \a \* \[ \! \# \ # ! - [*]`), " ", `\ `)
)

func part(r *rand.Rand) string {
	if r.IntN(4) == 0 {
		return odd[r.IntN(len(odd))]
	}
	return usual[r.IntN(len(usual))]
}

// patterns returns the lines of an ignore file, most of which mean something.
func patterns(r *rand.Rand) []string {
	lines := make([]string, 1+r.IntN(3))
	for i := range lines {
		line := ""
		switch r.IntN(8) {
		case 0, 1:
			line = "!"
		case 2:
			line = "/"
		}
		if r.IntN(2) == 0 { // a path of the tree, with a part of it another way
			line += tree[r.IntN(len(tree))]
			at := len(line) - r.IntN(len(line))
			line = line[:at] + part(r) + line[min(at+r.IntN(2), len(line)):]
		} else {
			for range 1 + r.IntN(3) {
				line += part(r)
			}
		}
		lines[i] = line + []string{"", "", "", "/", " ", "/ "}[r.IntN(6)]
	}
	return lines
}

// paths returns all paths of the tree; those of folders have a slash at the end.
func paths() []string {
	var all []string
	for _, p := range slices.Concat(tree, blanks) {
		all = append(all, p)
		for at := path.Dir(p); at != "."; at = path.Dir(at) {
			all = append(all, at+"/")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// files are ignore files by the folder in which they lie.
type files [2]struct{ dir, text string }

// subfolders may have an ignore file, beside the root.
var subfolders = []string{"d", "foo"}

func newFiles(r *rand.Rand) files {
	f := files{{".", strings.Join(patterns(r), "\n")}, {subfolders[r.IntN(len(subfolders))], ""}}
	if r.IntN(3) == 0 {
		f[1].text = strings.Join(patterns(r), "\n")
	}
	return f
}

// ignored returns the paths that we leave out.
func (f files) ignored(folds bool) []string {
	all := slices.Concat(ignore.Parse(f[0].text, f[0].dir, folds), ignore.Parse(f[1].text, f[1].dir, folds))
	return slices.DeleteFunc(paths(), func(p string) bool {
		name, isFolder := strings.CutSuffix(p, "/")
		return !ignore.Match(all, ignore.Comparable(name, folds), isFolder)
	})
}

// repository is a folder with the tree in it, for git to answer about.
type repository struct{ dir string }

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	r := repository{t.TempDir()}
	r.git(t, "", "init", "-q")
	for _, p := range paths() {
		name, isFolder := strings.CutSuffix(p, "/")
		at := filepath.Join(r.dir, filepath.FromSlash(name))
		if isFolder {
			at = filepath.Join(at, ".keep")
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Skip("not a file system that holds all names: ", err)
		}
	}
	return r
}

// git runs git, which says 1 where nothing is ignored.
func (r repository) git(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "core.excludesFile=", "-c", "core.ignoreCase=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil && (args[0] != "check-ignore" || cmd.ProcessState.ExitCode() != 1) {
		t.Fatalf("git %s: %v", args[0], err)
	}
	return string(out)
}

// ignored returns the paths that git leaves out.
func (r repository) ignored(t *testing.T, f files) []string {
	t.Helper()
	for _, dir := range subfolders {
		_ = os.Remove(filepath.Join(r.dir, dir, ".gitignore"))
	}
	for _, in := range f {
		if err := os.WriteFile(filepath.Join(r.dir, in.dir, ".gitignore"), []byte(in.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var asked strings.Builder
	for _, p := range paths() {
		asked.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	out := strings.Split(r.git(t, asked.String(), "check-ignore", "--no-index", "--stdin", "-z"), "\x00")
	return slices.DeleteFunc(paths(), func(p string) bool { return !slices.Contains(out, strings.TrimSuffix(p, "/")) })
}

// TestCTX34_PatternsBesideGit: what git has no say in.
func TestCTX34_PatternsBesideGit(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		folds, want   bool
	}{
		{"caf?/", "café/a.md", false, true}, // a character, not a byte
		{"caf[è-ê]/", "café/a.md", false, true},
		{"caf[!e]/", "café/a.md", false, true},
		{"cafe\u0301/", "caf\u00e9/a.md", false, true},
		{"caf\u00e9/", "cafe\u0301/a.md", false, true},
		{"JOURNAL/", "Journal/a.md", false, false},
		{"JOURNAL/", "Journal/a.md", true, true},
		{"[J-K]*/", "journal/a.md", true, true},
		{"[[:upper:]]*/", "journal/a.md", true, true},
		{"[[:upper:]]*/", "journal/a.md", false, false},
		{"\ufeffa", "a", false, true},
		{"a\r", "a", false, true},
		{"?", "\xff", false, true},
		{"[", "[", false, false},
		{"", "a", false, false},
	} {
		patterns := ignore.Parse(c.pattern, ".", c.folds)
		if got := ignore.Match(patterns, ignore.Comparable(c.path, c.folds), false); got != c.want {
			t.Errorf("%q of %q, folded %v: %v", c.pattern, c.path, c.folds, got)
		}
	}
}

// FuzzCTX34_Patterns: no pattern takes long, and a name matches itself when all of it is escaped.
func FuzzCTX34_Patterns(f *testing.F) {
	f.Add("**/a*b?[c-d]*", "x/ab/c")
	f.Add(strings.Repeat("**/", 30)+"*a*a*a*b", strings.Repeat("a/aa", 30))
	f.Add("[[:", "a")
	f.Fuzz(func(t *testing.T, pattern, p string) {
		for _, folds := range []bool{false, true} {
			ignore.Match(ignore.Parse(pattern, "sub", folds), ignore.Comparable(p, folds), true)
		}
		p = ignore.Comparable(path.Clean(p), false)
		if p == "." || strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\r\n") {
			return
		}
		escaped := "/"
		for i := range len(p) {
			if p[i] != '/' && p[i] < 0x80 {
				escaped += `\`
			}
			escaped += p[i : i+1]
		}
		if !ignore.Match(ignore.Parse(escaped, ".", false), p, false) {
			t.Errorf("%q does not match %q", escaped, p)
		}
	})
}

const golden = "testdata/git.txt"

// TestCTX34_PatternsMeanWhatGitSays compares 600 ignore files with what git says of 80 paths, which -update asks.
func TestCTX34_PatternsMeanWhatGitSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cases := make([]files, 600)
	for i := range cases {
		cases[i] = newFiles(r)
	}
	if *update {
		var b strings.Builder
		git := newRepository(t)
		for _, f := range cases {
			fmt.Fprintf(&b, "%q\n", git.ignored(t, f))
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%s has %d lines", golden, len(lines))
	}
	for i, f := range cases {
		if got := fmt.Sprintf("%q", f.ignored(false)); got != lines[i] {
			t.Errorf("%q:\nwe leave out  %s\ngit leaves out %s", f, got, lines[i])
		}
	}
}

// TestCampaignCTX34_PatternsMeanWhatGitSays asks git of others each time.
func TestCampaignCTX34_PatternsMeanWhatGitSays(t *testing.T) {
	campaign.Only(t)
	n := campaign.Figure(300, 30_000)
	git := newRepository(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		f := newFiles(r)
		if got, want := f.ignored(false), git.ignored(t, f); !slices.Equal(got, want) {
			t.Errorf("%q:\nwe leave out  %q\ngit leaves out %q", f, got, want)
		}
	}
}
