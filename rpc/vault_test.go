package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestSRCH31_AConfiguredFolderThatIsNotThere is told of, also by rooms that take the
// place of others, and is read when it comes.
func TestSRCH31_AConfiguredFolderThatIsNotThere(t *testing.T) {
	d := start(t)
	d.srv.SetHealth(patience, nil) // what changes is told of
	l := d.listen("health.changed")
	dir := filepath.Join(t.TempDir(), "Later")
	if _, err := d.srv.Import(t.Context(), vault.ImportRequest{Path: dir, Watch: true, Await: true}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	var h protocol.Health
	must(t, json.Unmarshal(l.next().params, &h))
	if h.Status != protocol.Warning || len(h.Warnings) != 1 || !strings.Contains(h.Warnings[0], "vault.status says why") {
		t.Errorf("%+v", h)
	}
	must(t, d.srv.Replace(t.Context(), protocol.LoadRestoring, func(old *rpc.Deps) (*rpc.Deps, error) {
		fresh, err := generation(t.Context(), 1)
		if err != nil {
			return nil, err
		}
		return fresh, old.KV.Close()
	}))
	st := d.do("vault.status", `{"vault":"Later"}`)
	if at(st, "stale") != true || at(st, "watching") != true || at(st, "path") != dir {
		t.Errorf("%v", st)
	}
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("# Here\n"), 0o600))
	until(t, "it is read", func() bool {
		var list protocol.VaultList
		must(t, d.Call(context.Background(), "vault.list", nil, &list))
		return len(list.Vaults) == 1 && list.Vaults[0].Notes == 1 && !list.Vaults[0].Stale
	})
}

// TestVaultForgetTellsHowFarItIs removes a vault of several groups.
func TestVaultForgetTellsHowFarItIs(t *testing.T) {
	d := start(t)
	dir := filepath.Join(t.TempDir(), "Notes")
	must(t, os.Mkdir(dir, 0o700))
	for i := range 450 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%d.md", i)), []byte("text"), 0o600))
	}
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir))
	var last protocol.Progress
	var res protocol.VaultForgotten
	must(t, d.CallProgress(context.Background(), "vault.forget", protocol.VaultName{Vault: "Notes"}, &res, func(p protocol.Progress) { last = p }))
	if res.Notes != 450 || last.Kind != protocol.ProgressEnd || last.Message != "forget" || last.Done != 450 || last.Total != 450 {
		t.Errorf("%+v, %+v", res, last)
	}
}

// TestLSP6_ARenameIsPlanned: places count as editors count, of texts that are not saved too, and nothing is written.
func TestLSP6_ARenameIsPlanned(t *testing.T) {
	d := start(t)
	dir := filepath.Join(t.TempDir(), "Notes")
	must(t, os.Mkdir(dir, 0o700))
	files := map[string]string{"Boss.md": "# Boss\n", "Ideas.md": "\uFEFF𝄞 [[Boss]]\r\nmore [b](Boss.md)\r\n", "Open.md": "nothing\n"}
	for p, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, p), []byte(text), 0o600))
	}
	d.do("vault.import", fmt.Sprintf(`{"path":%q}`, dir))
	var plan protocol.RenamePlan
	must(t, d.Call(context.Background(), "vault.planRename", protocol.VaultPlanRename{
		Kind: "note", Path: "Boss.md", New: "Chief", Buffers: []protocol.Buffer{{Path: "Open.md", Text: "[[boss]]\n"}},
	}, &plan))
	want := protocol.RenamePlan{
		Vault: "Notes", Folder: plan.Folder,
		Files: []protocol.FileEdits{
			{Path: "Boss.md", Edits: []protocol.TextEdit{{Range: [2]int{2, 6}, Line: 1, Old: "Boss", New: "Chief"}}},
			{Path: "Ideas.md", Edits: []protocol.TextEdit{
				{Range: [2]int{5, 9}, Line: 1, Old: "Boss", New: "Chief"}, {Range: [2]int{22, 29}, Line: 2, Old: "Boss.md", New: "Chief.md"},
			}},
			{Path: "Open.md", Edits: []protocol.TextEdit{{Range: [2]int{2, 6}, Line: 1, Old: "boss", New: "Chief"}}},
		},
		Moves: []protocol.Move{{From: "Boss.md", To: "Chief.md"}}, Problems: []protocol.RenameProblem{},
	}
	if !reflect.DeepEqual(plan, want) {
		t.Errorf("%+v\nwant %+v", plan, want)
	}
	for p, text := range files {
		if now, err := os.ReadFile(filepath.Join(dir, p)); err != nil || string(now) != text {
			t.Errorf("%s is %q, %v", p, now, err)
		}
	}
	for params, field := range map[string]string{
		`{"kind":"heading","new":"x"}`: "path", `{"kind":"files"}`: "moves", `{"kind":"tag","old":"a b","new":"x"}`: "old",
		`{"kind":"note","path":"Boss.md","new":"a|b"}`: "new",
	} {
		d.wantRefused("vault.planRename", params, protocol.CodeInvalidParams, field)
	}
}
