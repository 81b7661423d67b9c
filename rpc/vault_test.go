package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/notes/watch"
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
	if _, err := d.srv.Import(t.Context(), watch.Request{Path: dir, Watch: true, Await: true}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	var h protocol.Health
	must(t, json.Unmarshal(l.next().params, &h))
	if h.Status != protocol.Warning || len(h.Warnings) != 1 || !strings.Contains(h.Warnings[0], "vault.status says why") {
		t.Errorf("%+v", h)
	}
	must(t, d.srv.Replace(t.Context(), protocol.LoadRestoring, func(old *rpc.Rooms) (*rpc.Rooms, error) {
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
