package text_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/entities/text"
)

func TestDiff(t *testing.T) {
	for _, tc := range []struct{ name, before, after, want string }{
		{"equal", "a\nb\n", "a\nb\n", ""},
		{"a line", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"of an empty text", "", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"},
		{"to an empty text", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"the end", "a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{
			"two places", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n12\n",
			"@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -8,5 +9,4 @@\n 8\n 9\n 10\n-11\n 12\n",
		},
	} {
		want := tc.want
		if want != "" {
			want = "--- a/n.md\n+++ b/n.md\n" + want
		}
		if got := text.UnifiedDiff("n.md", tc.before, tc.after); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, want)
		}
	}
	if got := text.UnifiedDiff("a\n\"b.md", "x", "y"); !strings.HasPrefix(got, "--- \"a/a\\n\\\"b.md\"\n+++ \"b/a\\n\\\"b.md\"\n@@") {
		t.Errorf("an odd name: %s", got)
	}
}

var header = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n$`)

// applied makes the new text of the old one as patch does, and checks every line and
// number of the diff on the way.
func applied(before, diff string) (string, error) {
	if diff == "" {
		return before, nil
	}
	old := strings.SplitAfter(before, "\n")
	if old[len(old)-1] == "" {
		old = old[:len(old)-1]
	}
	var out []string
	at := 0
	lines := strings.SplitAfter(diff, "\n")
	lines = lines[2 : len(lines)-1]
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 1
		}
		return n
	}
	for i := 0; i < len(lines); {
		m := header.FindStringSubmatch(lines[i])
		if m == nil {
			return "", fmt.Errorf("no header: %q", lines[i])
		}
		i++
		from, count, newFrom, added := number(m[1]), number(m[2]), number(m[3]), number(m[4])
		if count > 0 {
			from--
		}
		if added > 0 {
			newFrom--
		}
		out = append(out, old[at:from]...)
		at = from
		if len(out) != newFrom {
			return "", fmt.Errorf("%q begins at line %d of the new text", m[0], len(out))
		}
		for i < len(lines) && lines[i][0] != '@' {
			mark, line := lines[i][0], lines[i][1:]
			i++
			if i < len(lines) && lines[i][0] == '\\' {
				line = strings.TrimSuffix(line, "\n")
				i++
			}
			if mark != '+' {
				if at >= len(old) || old[at] != line {
					return "", fmt.Errorf("line %d is not %q", at, line)
				}
				at, count = at+1, count-1
			}
			if mark != '-' {
				out, added = append(out, line), added-1
			}
		}
		if count != 0 || added != 0 {
			return "", fmt.Errorf("%q counts wrongly", m[0])
		}
	}
	return strings.Join(append(out, old[at:]...), ""), nil
}

// TestDiffApplies: what a diff is applied to becomes the new text, whatever they are.
func TestDiffApplies(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\r\n", "\n", "@@ -1 +1 @@\n", "\\ x\n", "--- a\n", "+\n", "long line of words\n"})
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) string {
			s := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(rt, label), "")
			if rapid.Bool().Draw(rt, label+" ends") {
				s = strings.TrimSuffix(s, "\n")
			}
			return s
		}
		before, after := draw("before"), draw("after")
		diff := text.UnifiedDiff("n.md", before, after)
		got, err := applied(before, diff)
		if err != nil || got != after {
			rt.Fatalf("%v: %q becomes %q, want %q\n%s", err, before, got, after, diff)
		}
	})
}

// TestLargeTexts: two that have nothing in common are not compared to the end.
func TestLargeTexts(t *testing.T) {
	var before, after strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&before, "old %d\n", i)
		fmt.Fprintf(&after, "new %d\n", i)
	}
	diff := text.UnifiedDiff("n.md", before.String(), after.String())
	got, err := applied(before.String(), diff)
	if err != nil || got != after.String() || strings.Count(diff, "@@ -") != 1 {
		t.Errorf("%v, %d bytes", err, len(diff))
	}
}

// TestGitApplies: git reads what is written here.
func TestGitApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, tc := range []struct{ before, after string }{
		{"a\nb\nc", "a\nB\nc\nd"}, {"one\r\ntwo\r\n", "one\r\n2\r\n"}, {strings.Repeat("x\ny\n", 50), strings.Repeat("x\ny\n", 20) + "z\n" + strings.Repeat("x\ny\n", 30)},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "My note.md")
		if err := os.WriteFile(file, []byte(tc.before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		cmd.Stdin = strings.NewReader(text.UnifiedDiff("My note.md", tc.before, tc.after))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != tc.after {
			t.Errorf("%v: %q", err, got)
		}
	}
}
