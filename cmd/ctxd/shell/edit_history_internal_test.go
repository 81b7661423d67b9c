package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
)

func openTestHistory(t *testing.T, path string) *History {
	t.Helper()
	h, err := OpenHistory(path, "CTXD_WQL_HISTORY")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestWQL10_History(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "wql_history")
	h := openTestHistory(t, path)
	added := []string{"one;", "one;", "two\nlines \\n 'x\\'", "", " kept out", "one;", `\this Alice`, "若葉;  \n"}
	for _, text := range added {
		if err := h.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"one;", "two\nlines \\n 'x\\'", "one;", `\this Alice`, "若葉;"}
	if !slices.Equal(h.entries, want) {
		t.Errorf("the history is %q, want %q", h.entries, want)
	}
	again := openTestHistory(t, path)
	if !slices.Equal(again.entries, want) || again.len() != len(want) || again.back(1) != "若葉;" {
		t.Errorf("what is read again is %q, want %q", again.entries, want)
	}
}

func TestWQL10_HistoryIsThisUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	path := filepath.Join(t.TempDir(), "made", "wql_history")
	_ = openTestHistory(t, path).Add("one;")
	check := func() {
		t.Helper()
		for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v, want %v", at, info.Mode().Perm(), err, want)
			}
		}
	}
	check()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	h := openTestHistory(t, path)
	check()
	// Also when it is written anew.
	for i := range 3 * historyKept {
		_ = h.Add(strconv.Itoa(i))
	}
	_ = openTestHistory(t, path)
	check()
}

func TestWQL10_HistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wql_history")
	h := openTestHistory(t, path)
	for i := range 2*historyKept + 5 {
		if err := h.Add("query " + strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	last := "query " + strconv.Itoa(2*historyKept+4)
	for range 2 {
		h = openTestHistory(t, path)
		if h.len() != historyKept || h.back(1) != last || h.back(historyKept) != "query "+strconv.Itoa(historyKept+5) {
			t.Fatalf("%d entries are kept, from %q to %q", h.len(), h.entries[0], h.back(1))
		}
	}
	doc, err := os.ReadFile(path)
	if n := strings.Count(string(doc), "\n"); err != nil || n != historyKept {
		t.Errorf("the file has %d lines, %v", n, err)
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Prompts that run at a time keep each other's entries.
func TestWQL10_HistoryOfTwoPrompts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wql_history")
	a, b := openTestHistory(t, path), openTestHistory(t, path)
	for _, err := range []error{a.Add("a1"), b.Add("b1"), a.Add("a2")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := openTestHistory(t, path).entries; !slices.Equal(got, []string{"a1", "b1", "a2"}) {
		t.Errorf("the history is %q", got)
	}
}

func TestWQL10_HistoryThatCannotBeKept(t *testing.T) {
	h := openTestHistory(t, "")
	if err := h.Add("one;"); err != nil || h.back(1) != "one;" {
		t.Errorf("without a file: %v, %q", err, h.entries)
	}
	h, err := OpenHistory(t.TempDir(), "CTXD_WQL_HISTORY") // a folder
	if err == nil || !strings.Contains(err.Error(), "cannot keep the history") {
		t.Errorf("in a folder: %v", err)
	}
	if err := h.Add("one;"); err != nil || h.back(1) != "one;" {
		t.Errorf("after an error: %v, %q", err, h.entries)
	}
}

// A file that something else was written into steers no terminal.
func TestWQL10_HistoryOfAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wql_history")
	if err := os.WriteFile(path, []byte("good;\n\x1b[31mred\x07;\n\xff\xfe\nends with \\"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := openTestHistory(t, path).entries; !slices.Equal(got, []string{"good;", "[31mred;", `ends with \`}) {
		t.Errorf("the history is %q", got)
	}
}

func TestWQL10_WhereTheHistoryIs(t *testing.T) {
	data := t.TempDir()
	t.Setenv("CTXD_DATA", data)
	t.Setenv("CTXD_CONFIG", "")
	for _, c := range []struct{ set, want string }{
		{"", filepath.Join(data, "wql_history")},
		{"auto", filepath.Join(data, "wql_history")},
		{"none", ""},
		{filepath.Join(data, "elsewhere"), filepath.Join(data, "elsewhere")},
	} {
		t.Setenv("CTXD_WQL_HISTORY", c.set)
		conf, err := config.Load("", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := conf.HistoryPath(); got != c.want {
			t.Errorf("%q: %q, want %q", c.set, got, c.want)
		}
	}
}
