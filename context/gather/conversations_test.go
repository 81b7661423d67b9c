package gather_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/context/search/searchtest"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes/vault"
)

// TestCTX42_TwentyConversations pins what the prompts of twenty conversations of ten turns hold: of what each message needs, and
// of what nobody needs. Words are not compared one by one.
func TestCTX42_TwentyConversations(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("testdata", "conversations.txt"))
	if err != nil {
		t.Fatal(err)
	}
	worlds := map[string]*world{"sample": embedded(t, fixtures.CopyVault), "messy": embedded(t, func(dir string) error {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "messy.txtar"))
		if err != nil {
			return err
		}
		return txtar.Write(archive, dir)
	})}
	needed, other, turns := make(map[string]*share), make(map[string]int), make(map[string]int)
	var missed strings.Builder
	kind, history := "", []prompt.HistoryMessage(nil)
	var needs []string
	for line := range strings.Lines(string(src)) {
		mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch mark {
		case "=":
			kind, _, _ = strings.Cut(rest, " ")
			history = nil
			if needed[kind] == nil {
				needed[kind] = new(share)
			}
		case ">":
			history, needs = append(history, prompt.HistoryMessage{Role: "user", Text: rest}), nil
		case "+":
			needs = strings.Split(rest, "; ")
		case "<":
			w, last := worlds[kind], len(history)-1
			res := w.inTime(t, gather.Params{Text: history[last].Text, History: history[:last], SearchNotes: 3, Audience: gather.Local})
			in := make(map[string]bool) // paths
			for _, s := range res.Report.Sections {
				for _, item := range s.Items {
					if n := w.notes.Get(item.ID); n != nil {
						in[n.Path] = false
					} else if e := w.ents.Get(item.ID); e != nil && e.NoteID != "" && item.Depth == 0 {
						in[w.notes.Get(e.NoteID).Path] = false
					}
				}
			}
			turns[kind]++
			for _, need := range needs {
				found := false
				for p := range in {
					n, err := w.notes.ByPath(p, nil)
					if err == nil && (n.Title == need || strings.HasSuffix("/"+p, "/"+need+".md")) {
						found, in[p] = true, true
					}
				}
				needed[kind].add(found)
				if !found {
					fmt.Fprintf(&missed, "%s: %q needs %s; searched for %q\n", kind, history[last].Text, need, res.Report.Query)
				}
			}
			for _, wanted := range in {
				if !wanted {
					other[kind]++
				}
			}
			history = append(history, prompt.HistoryMessage{Role: "assistant", Text: rest})
		}
	}
	var got strings.Builder
	for _, kind := range []string{"sample", "messy"} {
		fmt.Fprintf(&got, "%s: %d turns; of what they need in the prompt %v; %d other notes\n", kind, turns[kind], needed[kind], other[kind])
	}
	got.WriteString("\n" + missed.String())
	file := filepath.Join("testdata", "conversations.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got.String() {
		t.Errorf("differs from %s (go test ./context/gather -update):\n%s", file, got.String())
	}
}

// inTime makes a prompt whose search had the vector of its question, which on a busy machine comes too late at first.
func (w *world) inTime(t *testing.T, p gather.Params) (res *prompt.Result) {
	t.Helper()
	searchtest.Until(t, "the vector comes in time", func() bool {
		res = w.assemble(t, p)
		return !slices.ContainsFunc(res.Report.Stages, func(st prompt.Stage) bool { return strings.Contains(st.Why, "in time") })
	})
	return res
}

// embedded imports a vault that copied makes, and waits for its vectors.
func embedded(t *testing.T, copied func(dir string) error) *world {
	t.Helper()
	w := worldWith(t, kv.InMemory, kv.Options{}, search.Options{Embedder: embed.LazyBuiltinTable(), AtOnce: 1 << 30})
	dir := filepath.Join(t.TempDir(), "vault")
	if err := copied(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.vault.Import(ctx, vault.ImportRequest{Path: dir}); err != nil {
		t.Fatal(err)
	}
	searchtest.Until(t, "the notes get vectors", func() bool { return w.index.Stats().Meanings.Idle })
	return w
}
