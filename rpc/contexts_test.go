package rpc_test

import (
	"fmt"
	"testing"
)

// TestREF1_ContextsCountTheirMemories: their own, and with those of what lies below, each once. A remote reader's
// counts hold only what he sees, by the way that he sees (PRIV-6).
func TestREF1_ContextsCountTheirMemories(t *testing.T) {
	d := start(t)
	d.do("contexts.put", `{"id":"health","name":"Health"}`)
	d.do("contexts.put", `{"id":"hidden","name":"Hidden","parentId":"health","private":true}`)
	d.do("contexts.put", `{"id":"running","name":"Running","parentId":"health"}`)
	d.do("contexts.put", `{"id":"trail","name":"Trail","parentId":"hidden"}`)
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"I sleep well","contexts":["health"]},
		{"id":"b","statement":"I run on Mondays","contexts":["running","health"]},
		{"id":"c","statement":"I run in the wood","contexts":["trail"]},
		{"id":"d","statement":"My knee hurts","contexts":["running"],"private":true},
		{"id":"e","statement":"I ran on Sundays","contexts":["running"]}]}`)
	d.do("memory.archive", `{"id":"e"}`)
	counts := func(method, params, path string) string {
		got := ""
		for _, c := range at(d.do(method, params), path).([]any) {
			got += fmt.Sprintf("%v %v %v|", at(c, "id"), at(c, "memories"), at(c, "withBelow"))
		}
		return got
	}
	for _, tc := range []struct{ method, params, path, want string }{
		{"contexts.list", `{"tree":true}`, "contexts", "health 2 4|hidden 0 1|running 2 2|trail 1 1|"},
		{"contexts.list", `{"tree":true,"audience":"remote"}`, "contexts", "health 2 2|running 1 1|trail 1 1|"},
		{"contexts.list", `{}`, "contexts", "health 2 4|"},
		{"contexts.list", `{"parentId":"health","audience":"remote"}`, "contexts", "running 1 1|"},
		{"contexts.get", `{"ref":"health"}`, "children", "hidden 0 1|running 2 2|"},
	} {
		if got := counts(tc.method, tc.params, tc.path); got != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.method, tc.params, got, tc.want)
		}
	}
	d.wantAll(d.do("contexts.get", `{"ref":"health","audience":"remote"}`), "memories", 2, "withBelow", 2)
}
