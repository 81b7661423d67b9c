package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
)

// Health says that files of the store were deleted, and what has become of it.
func TestREL1_HealthTellsOfDeletedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open can't be deleted there")
	}
	data := t.TempDir()
	d := launch(t, rpc.Options{DataDir: data, OpenStore: func() (*kv.Store, error) { return kv.Open(data, kv.Options{}) }})
	must(t, d.srv.Load(t.Context()))
	d.do("notes.put", `{"id":"n1","title":"One"}`)
	journals, err := filepath.Glob(filepath.Join(data, "journal-*"))
	must(t, err)
	if len(journals) == 0 {
		t.Fatal("there is no journal")
	}
	for _, name := range journals {
		must(t, os.Remove(name))
	}
	d.do("notes.put", `{"id":"n2","title":"Two"}`)
	d.until("the store was made whole", func() bool { return at(d.do("admin.health", `{}`), "store.deleted.whole") == true })
	h := d.do("admin.health", `{}`)
	d.want(h, "status", "warning")
	d.want(h, "store.deleted.files.0", filepath.Base(journals[0]))
	if text := fmt.Sprint(at(h, "warnings")); !strings.Contains(text, "were deleted") || !strings.Contains(text, "nothing is lost") {
		t.Errorf("health warns of %q", text)
	}
}
