package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/fixtures/campaign"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// told calls a job with a progressToken, and withdraws it when it reports what withdrawAt names, "" for never. It
// returns the kinds of progress that came, and the code of the answer, 0 for a result.
func (p *peer) told(method, params, withdrawAt string) (kinds []string, code int) {
	p.t.Helper()
	if params = strings.TrimSuffix(params, "}"); params != "{" {
		params += ","
	}
	p.call(method, method, params+fmt.Sprintf(`"progressToken":%q}`, method))
	for {
		r := p.reply()
		if r.Method == "" {
			if r.Error != nil {
				code = r.Error.Code
			}
			return kinds, code
		}
		var of protocol.ProgressParams
		must(p.t, json.Unmarshal(r.Params, &of))
		if of.Token != method {
			p.t.Errorf("%s: progress of %v", method, of.Token)
		}
		report := of.Value
		if withdrawAt != "" && report.Message == withdrawAt && report.Done > 0 {
			p.cancel(method)
			withdrawAt = ""
		}
		kinds = append(kinds, report.Kind)
	}
}

// TestRPC7_JobsTellHowFarTheyAre, all of the contract: a new one without an entry here fails.
func TestRPC7_JobsTellHowFarTheyAre(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.seed()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "chats.json"), []byte(exportedChats), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "vault"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "vault", "n.md"), []byte("# Note\n"), 0o600))
	d.do("memory.add", `{"statement":"I like tea"}`)
	d.do("memory.export", `{"path":`+quoted(filepath.Join(dir, "in.jsonl"))+`}`)
	d.do("admin.backup", `{"path":`+quoted(filepath.Join(dir, "old"))+`}`)
	params := map[string]string{
		"books.add":     `{"text":"# Bees\n\nThey fly.","mimeType":"md"}`,
		"admin.backup":  `{"path":` + quoted(filepath.Join(dir, "new")) + `}`,
		"admin.check":   `{}`,
		"admin.compact": `{}`,
		"admin.reindex": `{}`,
		"admin.restore": `{"path":` + quoted(filepath.Join(dir, "old")) + `}`,
		"chat.import":   `{"path":` + quoted(filepath.Join(dir, "chats.json")) + `}`,
		"memory.export": `{"path":` + quoted(filepath.Join(dir, "out.jsonl")) + `}`,
		"memory.import": `{"path":` + quoted(filepath.Join(dir, "in.jsonl")) + `}`,
		"memory.upkeep": `{}`,
		"vault.import":  `{"path":` + quoted(filepath.Join(dir, "vault")) + `}`,
	}
	for _, m := range protocol.Methods {
		if m.Mode != protocol.Job || m.Kind.Interactive { // those send what they have made
			continue
		}
		text, ok := params[m.Name]
		if !ok {
			t.Errorf("%s is a job, and has no entry in this test", m.Name)
			continue
		}
		kinds, code := d.peer().told(m.Name, text, "")
		if len(kinds) < 3 || kinds[0] != protocol.ProgressBegin || kinds[1] != protocol.ProgressReport ||
			kinds[len(kinds)-1] != protocol.ProgressEnd || code != 0 {
			t.Errorf("%s: progress %v, code %d", m.Name, kinds, code)
		}
	}
}

// namesIn are the files in a folder.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	return names
}

// statements is a file with so many memories, one a line.
func statements(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "I know thing number %d of %d\n", i, n)
	}
	return b.String()
}

// exportOf is an export of another program with so many conversations of two messages, each with a title of its own.
func exportOf(n int) string {
	var list []string
	for i := range n {
		one := strings.ReplaceAll(strings.Trim(exportedChats, "[]"), "t1", fmt.Sprintf("of%d-%d", n, i))
		list = append(list, strings.Replace(one, `"Talk"`, fmt.Sprintf(`"Talk %d of %d"`, i, n), 1))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// TestREL8_AJobThatIsWithdrawnLeavesNothingHalf: an export no file, an import whole records that the next one
// completes, admin.compact a store that it can be done to again. A machine that is slow to read the withdrawal may be
// done before: then there is more to do.
func TestREL8_AJobThatIsWithdrawnLeavesNothingHalf(t *testing.T) {
	type job struct {
		method, at string
		prepare    func(d *daemon, dir string, n int) (params string)
		after      func(d *daemon, dir string, n int, params string)
	}
	for _, tc := range campaign.Sample([]job{
		{
			"memory.export", "write",
			func(d *daemon, dir string, n int) string {
				in := filepath.Join(d.t.TempDir(), "in")
				must(d.t, os.WriteFile(in, []byte(statements(n)), 0o600))
				d.do("memory.import", `{"path":`+quoted(in)+`}`)
				return `{"path":` + quoted(filepath.Join(dir, "out.jsonl")) + `}`
			},
			func(d *daemon, dir string, _ int, params string) {
				if names := namesIn(d.t, dir); len(names) > 0 {
					d.t.Errorf("an export that was withdrawn left %q", names)
				}
				d.do("memory.export", params)
			},
		},
		{
			"memory.import", "import",
			func(d *daemon, dir string, n int) string {
				in := filepath.Join(dir, "in")
				must(d.t, os.WriteFile(in, []byte(statements(n)), 0o600))
				return `{"path":` + quoted(in) + `}`
			},
			func(d *daemon, _ string, n int, params string) {
				out := d.do("memory.import", params)
				// The last group may have been written before the import was ended.
				if taken, same := at(out, "memories").(float64), at(out, "same").(float64); int(taken+same) != n || same == 0 {
					d.t.Errorf("of %d memories %v were there, and %v were new", n, same, taken)
				}
			},
		},
		{
			"chat.import", "read",
			func(d *daemon, dir string, n int) string {
				in := filepath.Join(dir, "in.json")
				must(d.t, os.WriteFile(in, []byte(exportOf(n)), 0o600))
				return `{"path":` + quoted(in) + `}`
			},
			func(d *daemon, _ string, n int, params string) {
				out := d.do("chat.import", params)
				d.want(out, "continued", 0) // no conversation was there in a part
				if fresh, same := at(out, "conversations").(float64), at(out, "unchanged").(float64); int(fresh+same) != n {
					d.t.Errorf("of %d conversations %v were there, and %v were new", n, same, fresh)
				}
			},
		},
		{
			"admin.compact", "write",
			func(d *daemon, dir string, n int) string {
				in := filepath.Join(dir, "in.json")
				must(d.t, os.WriteFile(in, []byte(exportOf(n)), 0o600))
				d.do("chat.import", `{"path":`+quoted(in)+`}`)
				return `{}`
			},
			func(d *daemon, _ string, _ int, params string) { d.do("admin.compact", params) },
		},
	}, 4) {
		t.Run(tc.method, func(t *testing.T) {
			d := startOn(t, t.TempDir(), rpc.Options{})
			for n := 2000; ; n *= 4 {
				dir := t.TempDir()
				params := tc.prepare(d, dir, n)
				_, code := d.peer().told(tc.method, params, tc.at)
				if code == 0 && n < 100_000 {
					continue // it was done before it was told
				}
				if code != protocol.CodeCancelled {
					t.Fatalf("answered with the code %d", code)
				}
				tc.after(d, dir, n, params)
				d.want(d.do("admin.check", `{}`), "ok", true)
				return
			}
		})
	}
}
