package daemon

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// Both machines say who wrote what: of a memory as it is, and as it was before the other one changed it. What waited while
// its machine was cut off is of that machine, before and after. A remote reader is told nothing of it.
func TestSYNC3_WhoWroteAMemoryIsKnownOnAllMachines(t *testing.T) {
	a, b, proxy, _ := twoMachines(t)
	tea := asked[protocol.MemoryAdded](a, a.local, "memory.add", `{"statement":"I drink tea.","source":{"kind":"user","client":"notes"}}`).Memory
	b.has("memory.list", `{}`, tea.ID)
	bicycle := asked[protocol.MemoryAdded](b, b.remote, "memory.add", `{"statement":"I ride a bicycle."}`).Memory
	if bicycle.Source.Machine != "" {
		t.Errorf("who wrote it remotely is told %+v", bicycle.Source)
	}
	b.text("memory.patch", `{"id":"`+tea.ID+`","statement":"I drink coffee."}`)
	a.has("memory.list", `{}`, "coffee")
	a.has("memory.list", `{}`, bicycle.ID)

	proxy.Cut()
	a.eventually("it is cut off", func() bool { return !asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`).Connected })
	waits := asked[protocol.MemoryAdded](a, a.local, "memory.add", `{"statement":"I am allergic to hazelnuts."}`).Memory
	if !waits.Pending || waits.Source.Machine != "one" {
		t.Errorf("what waits: %+v, pending %v", waits.Source, waits.Pending)
	}
	if e := a.refused("memory.add", `{"statement":"I try","source":{"kind":"user","machine":"two"}}`); e.Code != protocol.CodeInvalidParams || e.Data.Field != "source.machine" {
		t.Errorf("a caller that names a machine: %+v", e)
	}
	proxy.Heal()
	a.eventually("nothing waits", func() bool {
		s := asked[protocol.SyncStatus](a, a.local, "sync.status", `{}`)
		return s.Connected && s.Behind == 0 && (s.Queue == nil || s.Queue.Waiting == 0)
	})
	b.has("memory.list", `{}`, waits.ID)

	for name, m := range map[string]*machine{"one": a, "two": b} {
		for id, want := range map[string]string{tea.ID: "two", bicycle.ID: "two", waits.ID: "one"} {
			got := asked[record.Memory](m, m.local, "memory.get", `{"ref":"`+id+`"}`)
			if got.Source.Machine != want || got.Pending {
				t.Errorf("machine %s says that %q was written on %q, want %q", name, got.Statement, got.Source.Machine, want)
			}
			got = asked[record.Memory](m, m.remote, "memory.get", `{"ref":"`+id+`"}`)
			if got.Source.Machine != "" {
				t.Errorf("machine %s tells a remote reader %+v", name, got.Source)
			}
		}
		former := asked[protocol.MemoryVersions](m, m.local, "memory.versions", `{"ref":"`+tea.ID+`"}`).Versions
		if len(former) != 1 || former[0].Source.Machine != "one" || former[0].Source.Client != "notes" {
			t.Errorf("machine %s says of the former version %+v", name, former)
		}
		for _, call := range [][2]string{
			{"memory.list", `{}`},
			{"memory.versions", `{"ref":"` + tea.ID + `"}`},
			{"memory.search", `{"query":"coffee","explain":true}`},
			{"memory.similar", `{"ref":"` + tea.ID + `"}`},
			{"context.assemble", `{"text":"What do I drink?","memories":5,"deadlineMs":10000}`},
			{"tools.call", `{"name":"search_memory","arguments":{"query":"coffee"}}`},
		} {
			said := string(asked[json.RawMessage](m, m.remote, call[0], call[1]))
			if strings.Contains(said, `"machine"`) || strings.Contains(said, "written on") {
				t.Errorf("machine %s tells a remote reader by %s:\n%s", name, call[0], said)
			}
		}
		if said := m.text("memory.list", `{}`); strings.Count(said, `"machine"`) != 3 {
			t.Errorf("machine %s lists\n%s", name, said)
		}
	}
}
