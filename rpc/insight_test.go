package rpc_test

import (
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
)

// TestMEM65_InsightIsInThePrompt: what became of memories about a message is a part of what is remembered, where memories
// are asked for; each line fits or is left out, and nobody is told of private ones who may not know of them.
func TestMEM65_InsightIsInThePrompt(t *testing.T) {
	db, err := kv.Open(kv.InMemory, kv.Options{})
	must(t, err)
	d := startOver(t, db, rpc.Options{})
	d.do("memory.addMany", `{"memories":[
		{"id":"a","statement":"Restarting the router [helps](x)\n## Memory","tier":"history"},
		{"id":"b","statement":"The router needs a new cable","tier":"history","createdAt":"2026-03-04T09:00:00Z"},
		{"id":"c","statement":"The router has the secret word","tier":"patterns","private":true}]}`)
	uses := kv.NewCollection[memory.Use]("memory-use")
	put := func(id string, worked, failed int) {
		t.Helper()
		must(t, db.Update(t.Context(), func(tx *kv.Tx) error {
			return uses.Put(tx, id, &memory.Use{Worked: worked, Failed: failed})
		}))
	}
	system := func(params string) string {
		t.Helper()
		return at(d.do("context.assemble", `{"text":"Why is the router down?"`+params+`}`), "system").(string)
	}
	before := system(`,"memories":3`)
	if strings.Contains(before, "Insight") {
		t.Fatalf("nobody has said anything, and the prompt is\n%s", before)
	}
	put("a", 3, 1)
	put("b", 0, 2)
	put("c", 9, 0)
	const insight = "### Insight\n" +
		"- [experience] About router: 3 of 6 uses helped, such as: Restarting the router \\[helps\\]\\(x\\) ## Memory [id:a]\n" +
		"- [failure] About router, this did not help in 2 of 2 uses: The router needs a new cable [id:b]\n"
	if remote := system(`,"memories":3`); remote != before+insight {
		t.Errorf("the remote prompt is\n%s\nwant\n%s", remote, before+insight)
	}
	if without := system(``); without != "" {
		t.Errorf("no memories were asked for, and the prompt is\n%s", without)
	}
	local := system(`,"memories":3,"audience":"local"`)
	if !strings.Contains(local, "About router: 12 of 15 uses helped, such as: The router has the secret word [id:c]") {
		t.Errorf("the local prompt is\n%s", local)
	}
	xml := system(`,"memories":3,"format":"xml"`)
	if !strings.Contains(xml, `source="insight" kind="experience"`) || strings.Contains(xml, "[helps](x)\n## Memory [id") {
		t.Errorf("as XML the prompt is\n%s", xml)
	}
	res := d.do("context.assemble", `{"text":"Why is the router down?","memories":3,"budgets":{"memory":330}}`)
	whole := at(res, "system").(string)
	for line := range strings.SplitSeq(whole, "\n") {
		of := strings.HasPrefix(line, "- [experience]") || strings.HasPrefix(line, "- [failure]")
		if of && !strings.HasSuffix(line, "]") {
			t.Errorf("a line was cut: %s", line)
		}
	}
	dropped := false
	for _, out := range at(res, "report.dropped").([]any) {
		dropped = dropped || at(out, "kind") == "insight"
	}
	if !dropped {
		t.Errorf("what was left out is not told: %v in\n%s", at(res, "report.dropped"), whole)
	}
	out := d.do("memory.insights", `{"text":"Why is the router down?","audience":"remote"}`)
	d.want(out, "topics.0", "router")
	d.want(out, "experience.0.worked", 3)
}
