package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/fixtures/provider"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// exampleRecords are the records that the examples of the contract name, by the calls that make them.
func exampleRecords() []string {
	now := time.Now()
	return []string{
		`notes.put {"id":"kickoff","title":"Kickoff","body":"# Kickoff\n\nThe goals of the kickoff #planning, see [[Project Alpha]]"}`,
		`notes.put {"id":"alpha","title":"Project Alpha","body":"We met at the [[Kickoff]] #planning","path":"docs/params.md"}`,
		`notes.put {"id":"5f0c9f36-90a2-5c11-8f0e-6f0a5c9d1a77","title":"Huts in the Alps"}`,
		`notes.put {"id":"n1","title":"Told"}`,
		`types.put {"name":"Team","fields":[]}`,
		`types.put {"name":"Person","fields":[{"name":"role","type":"text"},{"name":"team","type":"entity_ref","targetType":"Team"},{"name":"manager","type":"text"}]}`,
		`entities.put {"id":"core","type":"Team","name":"Core"}`,
		`entities.put {"id":"alice","type":"Person","name":"Alice","fields":{"role":"Engineer","team":"core"}}`,
		`memory.add {"id":"550e8400-e29b-41d4-a716-446655440000","handle":"ssdva","statement":"I work out in the morning","importance":0.9}`,
		`memory.add {"id":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c01","statement":"The roof leaks at the chimney"}`,
		`memory.add {"id":"5b1c9a10-0c55-4a37-8d0e-2f1f3a0b7c02","statement":"The roof is tight at the chimney"}`,
		`synonyms.put {"words":["ux","user experience"]}`,
		`contexts.put {"id":"health","name":"Health Goals"}`,
		`contexts.link {"id":"health","memoryIds":["550e8400-e29b-41d4-a716-446655440000"]}`,
		`books.add {"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","text":"# Winter\n\nBees need stores for the winter.","mimeType":"md","title":"Beekeeping"}`,
		`chat.import ` + strings.NewReplacer("talk-m2", "26fd2706-8baf-433b-82eb-8c7fada847da").Replace(imported("talk", "Weekend hike in May", now, false,
			proposal("36fd2706-8baf-433b-82eb-8c7fada847da", "createTask", `{"title":"Book a hut"}`, now),
			proposal("46fd2706-8baf-433b-82eb-8c7fada847da", "createTask", `{"title":"Buy boots"}`, now))),
		`chat.put {"id":"6fa459ea-ee8a-3ca4-894e-db77e160355e","title":"Weekend trip"}`,
		`chat.send {"conversationId":"6fa459ea-ee8a-3ca4-894e-db77e160355e","text":"Where could we hike in May?","stream":false}`,
		`personality.put {"id":"ada","template":"identity: {name: Ada, role: an assistant}\ncommunication: {tone: warm}\n"}`,
		`vault.import {"path":"/home/me/Notes"}`,
	}
}

// exampleFirst is what has to be done before the example of a method.
var exampleFirst = map[string][]string{
	"notes.put":          {`notes.delete {"id":"kickoff"}`},
	"notes.delete":       {`notes.patch {"id":"kickoff","tags":["a"]}`, `notes.patch {"id":"kickoff","tags":["b"]}`},
	"entities.put":       {`entities.delete {"id":"alice"}`},
	"entities.delete":    {`entities.patch {"id":"alice","aliases":["Al"]}`, `entities.patch {"id":"alice","aliases":["Ally"]}`},
	"memory.restore":     {`memory.archive {"id":"550e8400-e29b-41d4-a716-446655440000"}`},
	"personality.import": {`personality.delete {"id":"ada"}`},
}

// exampleRefused are the examples that this store has no use for, and what they are refused with.
var exampleRefused = map[string]fault.Kind{
	"sync.remove": fault.Conflict, "sync.leave": fault.Conflict, "sync.settle": fault.Conflict, // it is not shared
	"admin.reindex": fault.Unavailable, // no embedder
	"vault.undo":    fault.NotFound,    // nothing was written into its vault
}

// TestContract_ItsExamplesWork calls every example of the contract: those that read on one store, those that change each on
// its own. What a call returns must fit its schema.
func TestContract_ItsExamplesWork(t *testing.T) {
	home := shortDir(t)
	must(t, os.Mkdir(filepath.Join(home, "Notes"), 0o700))
	for name, text := range map[string]string{
		"Notes/Boss.md": "# Boss\n", "Notes/Ideas.md": "# Ideas\n", "conversations.json": `[{"uuid":"a","name":"Hut","created_at":"2026-01-02T10:00:00Z","chat_messages":[{"uuid":"b","sender":"human","text":"Hello"}]}]`,
	} {
		must(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	there, _ := json.Marshal(home)
	handles := make(map[*daemon]string) // of the conversation weekend_trip_k3x9
	fill := func(d *daemon, call string) (method, params string) {
		method, params, _ = strings.Cut(call, " ")
		return method, strings.NewReplacer("/home/me", strings.Trim(string(there), `"`), `"#42"`, `"#1"`, "weekend_trip_k3x9", handles[d]).Replace(params)
	}
	seeded := func() *daemon {
		set := models(t, func(_ *provider.Request, to *provider.Reply) { to.Text("In the hills.") })
		d := startOn(t, t.TempDir(), rpc.Options{Providers: set})
		for _, r := range exampleRecords() {
			method, params := fill(d, r)
			if made := d.do(method, params); method == "chat.put" {
				handles[d] = made["handle"].(string)
			}
		}
		return d
	}
	var reading *daemon
	for _, name := range protocol.Names()[1:] { // the client of the tests has made the first
		m := protocol.Lookup(name)
		d := reading
		if d == nil || m.Mode != protocol.Read {
			d = seeded()
		}
		if m.Mode == protocol.Read {
			reading = d
		}
		for _, first := range exampleFirst[name] {
			d.do(fill(d, first))
		}
		_, params := fill(d, name+" "+m.Example.Params)
		if _, err := d.try(name, params); fault.KindOf(err) != exampleRefused[name] {
			t.Errorf("%s %s: %v", name, params, err)
		}
	}
}
