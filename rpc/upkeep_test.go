package rpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

func TestMEM61_UpkeepOverTheSocket(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("memory.add", `{"id":"old","statement":"I live in Leeds."}`)
	d.do("memory.add", `{"id":"new","statement":"I moved to York."}`)
	d.do("memory.add", `{"id":"a","statement":"I have 25 days of leave."}`)
	d.do("memory.add", `{"id":"b","statement":"I have 28 days of leave."}`)
	dry := d.do("memory.upkeep", `{"dryRun":true,"steps":["contradictions"]}`)
	d.want(dry, "changesTotal", 4)
	d.want(d.do("memory.get", `{"ref":"old"}`), "status", "active")
	run := d.do("memory.upkeep", `{}`)
	d.want(run, "changesTotal", 4)
	d.want(run, "changes.0.kind", "superseded")
	d.want(d.do("memory.get", `{"ref":"old"}`), "status", "superseded")
	d.want(d.do("memory.upkeep", `{}`), "changesTotal", 0)

	open := d.do("memory.conflicts", `{}`)
	d.want(open, "conflicts.0.id", "b")
	d.want(open, "conflicts.0.with", "a")
	d.want(open, "conflicts.0.state", "contested")
	settled := d.do("memory.settle", `{"id":"b","with":"a","resolution":"keep"}`)
	d.want(settled, "memories.0.status", "active")
	d.want(settled, "memories.1.status", "retracted")
	if list := at(d.do("memory.conflicts", `{}`), "conflicts").([]any); len(list) != 0 {
		t.Errorf("%v", list)
	}
	d.want(d.do("memory.events", `{"id":"b","limit":1}`), "events.0.kind", "settled")
	if got := d.remote().answer("memory.upkeep", `{}`); !strings.Contains(got, fmt.Sprint(protocol.CodeUnavailable)) {
		t.Errorf("a remote connection keeps facts in order: %s", got)
	}
	d.want(d.do("admin.check", `{}`), "ok", true)
}

func TestMEM61_ARunIsUndoneOverTheSocket(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("memory.add", `{"id":"old","statement":"I live in Leeds."}`)
	d.do("memory.add", `{"id":"new","statement":"I moved to York."}`)
	run := at(d.do("memory.upkeep", `{}`), "runId").(string)
	d.want(d.do("memory.upkeep", fmt.Sprintf(`{"undo":%q}`, run)), "changesTotal", 2)
	d.want(d.do("memory.get", `{"ref":"old"}`), "status", "active")
	d.wantRefused("memory.upkeep", fmt.Sprintf(`{"undo":%q}`, run), protocol.CodeNotFound, "")
}

func TestPRIV6_ConflictsOfAPrivateMemory(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	d.do("memory.add", `{"id":"a","statement":"I have 25 days of leave.","private":true}`)
	d.do("memory.add", `{"id":"b","statement":"I have 28 days of leave.","private":true}`)
	d.do("memory.upkeep", `{}`)
	d.want(d.do("memory.conflicts", `{}`), "conflicts.0.id", "b")
	far := d.remote()
	if got := far.answer("memory.conflicts", `{}`); !strings.Contains(got, `"conflicts":[]`) {
		t.Errorf("a remote reader is told %s", got)
	}
	if got := far.answer("memory.settle", `{"id":"a","with":"b","resolution":"keep"}`); !strings.Contains(got, fmt.Sprint(protocol.CodeNotFound)) {
		t.Errorf("a remote reader settles: %s", got)
	}
}
