package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/context/embed/table"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// remembered waits until the index of memories has nothing left to do.
func (d *daemon) remembered(n float64) {
	d.t.Helper()
	d.until("every memory has its vectors", func() bool {
		o := at(d.do("admin.stats", `{}`), "index.others.0")
		return at(o, "documents") == n && at(o, "waiting") == 0. && at(o, "queue") == 0.
	})
}

// TestMEM12_TheIndexOfMemoriesIsServed: the daemon keeps it beside that of notes, tells how it comes on,
// makes it anew and checks it.
func TestMEM12_TheIndexOfMemoriesIsServed(t *testing.T) {
	dir := t.TempDir()
	d := meaningful(t, dir, table.BuiltinWhenAsked())
	l := d.listen("index.progress")
	d.want(d.do("admin.stats", `{}`), "index.others.0.documents", 0)
	d.do("memory.addMany", `{"memories":[
		{"statement":"I am allergic to hazelnuts"},{"statement":"My sister plays the cello"}]}`)
	d.remembered(2)
	for {
		var p protocol.IndexProgress
		must(t, json.Unmarshal(l.next().params, &p))
		if p.Kind == "memories" && p.Done == p.Total {
			break
		}
	}
	other := at(d.do("admin.stats", `{}`), "index.others.0")
	d.want(other, "kind", "memories")
	d.want(other, "vectors", 2)
	d.want(d.do("admin.health", `{}`), "index.ready", true)
	d.want(d.do("admin.reindex", `{}`), "others", 2)
	d.remembered(2)
	d.want(d.do("admin.check", `{}`), "ok", true)
	files, err := os.ReadDir(filepath.Join(dir, "index-memories"))
	must(t, err)
	if len(files) == 0 {
		t.Error("nothing is kept of the index of memories")
	}
}
