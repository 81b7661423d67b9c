package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// file writes a file of a vault.
func file(t *testing.T, dir, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// shows waits until the text of a note is that of its file.
func (d *daemon) shows(path, body string) {
	d.t.Helper()
	until(d.t, path+" is "+body, func() bool {
		n, err := d.try("notes.get", fmt.Sprintf(`{"path":%q}`, path))
		return err == nil && n["body"] == body
	})
}

func TestSRCH31_AFollowedVaultOverTheSocket(t *testing.T) {
	d, dir := start(t), t.TempDir()
	file(t, dir, "a.md", "one, to [[b]] and [[b|again]]")
	d.want(d.do("vault.import", fmt.Sprintf(`{"path":%q,"name":"v","watch":true}`, dir)), "watching", true)
	d.want(d.do("vault.status", `{}`), "watching", true)
	lost := d.do("vault.unresolved", `{}`)
	d.want(lost, "links", 2.0)
	d.want(lost, "unresolved.0.target", "b")
	d.want(lost, "unresolved.0.from.0.path", "a.md")
	l := d.listen("notes.changed")
	file(t, dir, "b.md", "two")
	var ev changed
	must(t, json.Unmarshal((<-l.told).params, &ev))
	if ev.Kind != "put" || len(ev.IDs) != 1 {
		t.Errorf("%+v", ev)
	}
	d.shows("b.md", "two")
	d.want(d.do("vault.unresolved", `{}`), "targets", 0.0)
	must(t, os.Rename(dir, dir+" away"))
	until(t, "the health warns", func() bool { return at(d.do("admin.health", `{}`), "status") == "warning" })
	d.want(d.do("vault.status", `{}`), "stale", true)
	d.want(d.do("vault.status", `{}`), "notes", 2.0)
	must(t, os.Rename(dir+" away", dir))
	until(t, "the health is good again", func() bool { return at(d.do("admin.health", `{}`), "status") == string(protocol.Healthy) })
	d.want(d.do("vault.unwatch", `{"vault":"v"}`), "watching", false)
	d.do("vault.forget", `{"vault":"v"}`)
}

// A vault is followed in the rooms that there are, also when others have taken the
// place of those that it was imported into.
func TestSRCH31_FollowedThroughACheckAndARestore(t *testing.T) {
	d, dir := startOn(t, t.TempDir(), rpc.Options{}), t.TempDir()
	file(t, dir, "a.md", "one")
	d.do("vault.import", fmt.Sprintf(`{"path":%q,"watch":true}`, dir))
	for i := range 3 {
		file(t, dir, "a.md", fmt.Sprint("while it is checked ", i))
		d.want(d.do("admin.check", `{}`), "ok", true)
		d.shows("a.md", fmt.Sprint("while it is checked ", i))
	}
	backup := filepath.Join(t.TempDir(), "b.ctxdbackup")
	d.do("admin.backup", fmt.Sprintf(`{"path":%q}`, backup))
	file(t, dir, "a.md", "after the backup")
	file(t, dir, "b.md", "new since")
	d.shows("b.md", "new since")
	d.do("admin.restore", fmt.Sprintf(`{"path":%q}`, backup))
	d.shows("a.md", "after the backup")
	d.shows("b.md", "new since")
	file(t, dir, "a.md", "after the restore")
	d.shows("a.md", "after the restore")
}
