package rpc_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc"
)

// published makes a private memory, changes it, and makes it public with another statement. It returns the handle that it
// had while it was private, and the one that it has now.
func (d *daemon) published() (former, now string) {
	d.t.Helper()
	d.do("memory.add", `{"id":"mm","statement":"Zqplum merger closes in March","summary":"Zqplum deal","private":true}`)
	d.do("memory.patch", `{"id":"mm","statement":"Zqplum merger closes in April"}`)
	former = fmt.Sprint(at(d.do("memory.get", `{"ref":"mm"}`), "handle"))
	d.do("memory.patch", `{"id":"mm","statement":"The office moves in May","summary":null,"private":false}`)
	d.do("memory.patch", `{"id":"mm","statement":"The office moves in June"}`)
	return former, fmt.Sprint(at(d.do("memory.get", `{"ref":"mm"}`), "handle"))
}

// TestPRIV12_VersionsStayPrivate: what a memory said while it was private is shown to no remote reader after it has become
// public, by no method.
func TestPRIV12_VersionsStayPrivate(t *testing.T) {
	d := start(t)
	former, now := d.published()
	if !strings.HasPrefix(former, "zqplum") || strings.Contains(now, "zqplum") {
		t.Errorf("the handle is %s, and was %s", now, former)
	}
	remote := d.remote()
	words, _, _ := strings.Cut(former, "_closes_") // which an answer repeats that says that there is no such record
	for _, ask := range [][2]string{
		{"memory.versions", `{"ref":"mm"}`},
		{"memory.get", `{"ref":"mm"}`},
		{"memory.list", `{}`},
		{"memory.events", `{"id":"mm"}`},
		{"memory.search", `{"query":"office","asOf":"2000-01-01T00:00:00Z"}`},
		{"memory.search", `{"query":"office","asOf":"2001-09-09T01:46:41Z"}`},
		{"memory.search", `{"query":"merger"}`},
		{"memory.restore", `{"id":"mm","version":1}`},
		{"memory.export", `{"path":"/nowhere/m"}`},
		{"refs.complete", `{"prefix":""}`},
		{"context.assemble", `{"text":"what of @` + former + `","memories":5}`},
	} {
		if got := remote.answer(ask[0], ask[1]); strings.Contains(strings.ToLower(strings.ReplaceAll(got, words, "")), "zqplum") {
			t.Errorf("%s %s: %.900s", ask[0], ask[1], got)
		}
	}
	d.want(d.do("memory.versions", `{"ref":"mm"}`), "versions.2.statement", "Zqplum merger closes in March")
	d.want(d.do("memory.versions", `{"ref":"mm"}`), "versions.1.private", true)
	if got := remote.answer("memory.versions", `{"ref":"mm"}`); !strings.Contains(got, "office moves in May") {
		t.Errorf("what it said since is hidden, too: %s", got)
	}
}

// TestPRIV12_HandleIsMadeAnew: a handle that a record got while it was private leads a local reader to it for good, and no
// remote one, however he asks.
func TestPRIV12_HandleIsMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name    string
		secret  string // makes it, private
		publish string
		ref     string
		ask     string // shows it
		handle  string // where in that
	}{
		{
			"a memory", `memory.add {"id":"mm","handle":"zqplum_deal","statement":"Zqplum merger","private":true}`,
			`memory.patch {"id":"mm","statement":"The office moves","private":false}`, "mm", "memory.get", "handle",
		},
		{
			"a context", `contexts.put {"id":"cc","handle":"zqplum_deal_context","name":"Zqplum","private":true}`,
			`contexts.put {"id":"cc","name":"Office","private":false}`, "cc", "contexts.get", "handle",
		},
		{
			"a conversation", `chat.put {"id":"tt","title":"Zqplum deal","private":true}`,
			`chat.patch {"id":"tt","title":"Office","private":false}`, "tt", "chat.get", "conversation.handle",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := start(t)
			do := func(call string) map[string]any {
				method, params, _ := strings.Cut(call, " ")
				return d.do(method, params)
			}
			show := func() string { return fmt.Sprint(at(d.do(c.ask, `{"ref":"`+c.ref+`"}`), c.handle)) }
			do(c.secret)
			former := show()
			d.do("notes.put", `{"id":"n","title":"N","body":"They say @`+former+` is best."}`)
			do(c.publish)
			now := show()
			if now == former || strings.Contains(now, "zqplum") {
				t.Fatalf("it is called %s, and was %s", now, former)
			}
			remote := d.remote()
			for _, ask := range []string{
				c.ask + ` {"ref":"` + former + `"}`, `refs.resolve {"ref":"@` + former + `"}`, `refs.complete {"prefix":"` + former + `"}`,
				`refs.complete {"prefix":"zqplum"}`, `refs.gather {"text":"@` + former + `"}`, `context.assemble {"text":"@` + former + `"}`,
			} {
				method, params, _ := strings.Cut(ask, " ")
				unknown := strings.ReplaceAll(params, former, "other"+former)
				got, none := remote.answer(method, params), remote.answer(method, unknown)
				got, none = strings.ReplaceAll(got, "other"+former, former), strings.ReplaceAll(none, "other"+former, former)
				if strings.Contains(got, now) || strings.Contains(got, `"id":"`+c.ref) || method != "context.assemble" && method != "refs.gather" && got != none {
					t.Errorf("%s is answered by %.500s\nand another handle by %.500s", ask, got, none)
				}
			}
			for _, ask := range []string{"notes.get " + `{"ref":"n"}`, c.ask + ` {"ref":"` + c.ref + `"}`, "refs.resolve " + `{"ref":"@` + now + `"}`} {
				method, params, _ := strings.Cut(ask, " ")
				if got := remote.answer(method, params); strings.Contains(got, former) {
					t.Errorf("%s shows it: %.900s", ask, got)
				}
			}
			if got := remote.answer("notes.search", `{"query":"`+former+`"}`); !strings.Contains(got, `"hits":[]`) {
				t.Errorf("a search finds it: %.500s", got)
			}
			if got := fmt.Sprint(d.do("refs.resolve", `{"ref":"@`+former+`"}`)); !strings.Contains(got, c.ref) {
				t.Errorf("a local reader is not led by it: %s", got)
			}
			if got := fmt.Sprint(d.do("refs.complete", `{"prefix":"`+former+`"}`)); !strings.Contains(got, c.ref) {
				t.Errorf("it is not completed for a local reader: %s", got)
			}
		})
	}
}

// TestPRIV12_OpenHandleStays: a handle that a record had while it was public stays, whatever it was in between.
func TestPRIV12_OpenHandleStays(t *testing.T) {
	d := start(t)
	d.do("memory.add", `{"id":"mm","handle":"open_handle","statement":"Jam is sweet"}`)
	d.do("memory.patch", `{"id":"mm","private":true}`)
	d.do("refs.rename", `{"ref":"mm","handle":"zqplum_handle"}`)
	d.do("memory.patch", `{"id":"mm","private":false}`)
	remote := d.remote()
	if got := remote.answer("refs.resolve", `{"ref":"@open_handle"}`); !strings.Contains(got, `"mm"`) && !strings.Contains(got, "open_handle") || strings.Contains(got, "error") {
		t.Errorf("the handle that was open: %s", got)
	}
	if got := remote.answer("refs.resolve", `{"ref":"@zqplum_handle"}`); !strings.Contains(got, "error") {
		t.Errorf("the handle that was private: %s", got)
	}
	d.do("refs.rename", `{"ref":"mm","handle":"later_handle"}`)
	d.do("refs.rename", `{"ref":"mm","handle":"last_handle"}`)
	if got := remote.answer("refs.resolve", `{"ref":"@later_handle"}`); strings.Contains(got, "error") {
		t.Errorf("a handle that it got since: %s", got)
	}
}

// TestPRIV12_ExportKeepsItPrivate: a store that takes an export in knows which versions and handles stay private.
func TestPRIV12_ExportKeepsItPrivate(t *testing.T) {
	d := startOn(t, t.TempDir(), rpc.Options{})
	former, now := d.published()
	path := filepath.Join(t.TempDir(), "m.jsonl")
	d.do("memory.export", fmt.Sprintf(`{"path":%q}`, path))
	other := startOn(t, t.TempDir(), rpc.Options{})
	other.do("memory.import", fmt.Sprintf(`{"path":%q}`, path))
	remote := other.remote()
	for _, ask := range []string{`memory.versions {"ref":"mm"}`, `memory.get {"ref":"mm"}`, `memory.get {"ref":"` + now + `"}`} {
		method, params, _ := strings.Cut(ask, " ")
		if got := remote.answer(method, params); strings.Contains(strings.ToLower(got), "zqplum") || strings.Contains(got, `"error"`) {
			t.Errorf("%s: %.600s", ask, got)
		}
	}
	if got := remote.answer("memory.get", `{"ref":"`+former+`"}`); !strings.Contains(got, `"error"`) {
		t.Errorf("the former handle leads a remote reader to %.500s", got)
	}
	other.want(other.do("memory.get", `{"ref":"`+former+`"}`), "id", "mm")
	other.want(other.do("memory.versions", `{"ref":"mm"}`), "versions.2.private", true)
}

// TestPRIV12_RestoredVersionIsPrivate: who brings back what a memory said while it was private makes it private.
func TestPRIV12_RestoredVersionIsPrivate(t *testing.T) {
	d := start(t)
	d.published()
	d.want(d.do("memory.restore", `{"id":"mm","version":1}`), "private", true)
	if got := d.remote().answer("memory.get", `{"ref":"mm"}`); !strings.Contains(got, `"error"`) {
		t.Errorf("a remote reader sees %.500s", got)
	}
}
