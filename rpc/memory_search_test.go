package rpc_test

import (
	"testing"

	"github.com/ctxd/ctxd/context/embed"
)

// TestMEM20_MemoriesAreSearched: by words and by meaning, with scores, reasons and stages.
func TestMEM20_MemoriesAreSearched(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("memory.addMany", `{"memories":[
		{"id":"old","statement":"The code of the gate is 4711","createdAt":"2023-01-01T00:00:00Z"},
		{"id":"new","statement":"The code of the gate is now 1204","createdAt":"2024-01-01T00:00:00Z"},
		{"id":"cello","statement":"My sister plays the cello","tags":["family"],"tier":"history"},
		{"id":"secret","statement":"A vault holds my coins","private":true}]}`)
	d.remembered(4)
	out := d.do("memory.search", `{"query":"What is the code of the gate?","explain":true}`)
	d.want(out, "hits.0.id", "new")
	d.want(out, "hits.0.position", 1)
	d.want(out, "hits.0.kind", "memories")
	d.want(out, "hits.0.ref", "#2")
	d.want(out, "hits.0.text", "The code of the gate is now 1204")
	d.want(out, "hits.1.id", "old")
	d.want(out, "hits.1.olderThan", "new")
	d.want(out, "understood.sort", "relevance")
	d.want(out, "stages.0.stage", "apart")
	d.want(out, "degraded", nil)
	if score := at(out, "hits.0.score").(float64); score <= 0 || score > 1 || at(out, "hits.0.signals.relevance") == nil {
		t.Errorf("score %v, signals %v", score, at(out, "hits.0.signals"))
	}
	out = d.do("memory.search", `{"query":"code of the gate","stages":{"newest":false},"before":"2023-06-01T00:00:00Z"}`)
	d.want(out, "hits.0.id", "old")
	d.want(out, "hits.1", nil)
	d.want(out, "stages", nil)
	d.want(d.do("memory.search", `{"query":"who plays","tiers":["history"],"tags":["family"]}`), "hits.0.id", "cello")
	out = d.do("memory.search", `{"query":"which vault holds coins","audience":"remote"}`)
	for _, hit := range at(out, "hits").([]any) {
		if at(hit, "id") == "secret" {
			t.Error("a remote reader finds a private memory")
		}
	}
	out = d.do("memory.search", `{"query":"zzyzx"}`)
	d.want(out, "confidence", "low")
	d.want(out, "hits.0", nil)
	d.wantRefused("memory.search", `{"query":"x","stages":{"luck":true}}`, -32602, "stages")
	d.wantRefused("memory.search", `{"query":" "}`, -32602, "query")
	d.wantRefused("memory.search", `{"query":"x","tiers":["none"]}`, -32602, "tiers[0]")
}

// TestMEM3_AMemoryIsChangedByWhatItSays: instead of an id a text names the memory.
func TestMEM3_AMemoryIsChangedByWhatItSays(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("memory.addMany", `{"memories":[
		{"id":"ida","statement":"Ida has shoes of size 31"},{"id":"jonas","statement":"Jonas has shoes of size 31"},
		{"id":"cello","statement":"My sister plays the cello"}]}`)
	d.remembered(3)
	d.want(d.do("memory.patch", `{"match":"my sister plays the cello","pinned":true}`), "id", "cello")
	d.wantRefused("memory.patch", `{"match":"who has shoes of size 31","pinned":true}`, 1002, "")
	d.wantRefused("memory.patch", `{"match":"zzyzx xyzzy","pinned":true}`, 1001, "")
	d.wantRefused("memory.patch", `{"match":" ","pinned":true}`, -32602, "match")
	d.wantRefused("memory.patch", `{"match":"cello","id":"cello","pinned":true}`, -32602, "id")
	d.wantRefused("memory.patch", `{"pinned":true}`, -32602, "id")
	d.want(d.do("memory.get", `{"ref":"ida"}`), "pinned", false)
}

// TestMEM20_MessagesAreSearchedBesideMemories: both on one scale, or one kind alone.
func TestMEM20_MessagesAreSearchedBesideMemories(t *testing.T) {
	d := start(t)
	d.do("memory.add", `{"id":"boat","statement":"The boat is called Alder"}`)
	id := at(d.do("chat.append", `{"messages":[
		{"role":"user","content":"The boat leaks at the stern."},{"role":"assistant","content":"Look at the shaft seal of the boat."},
		{"role":"user","content":"The boat key is under the mat.","private":true}]}`), "conversationId").(string)
	kinds := func(params string) (list []any) {
		for _, hit := range at(d.do("memory.search", params), "hits").([]any) {
			list = append(list, at(hit, "kind"))
			if at(hit, "kind") == "messages" {
				d.want(hit, "conversationId", id)
				d.want(hit, "tier", nil)
			}
		}
		return list
	}
	for params, want := range map[string]int{
		`{"query":"boat"}`: 4, `{"query":"boat","kinds":["memories"]}`: 1, `{"query":"boat","kinds":["messages"]}`: 3,
		`{"query":"boat","audience":"remote"}`: 3, `{"query":"boat","inConversation":"` + id + `"}`: 3, `{"query":"boat","inConversation":"none"}`: 0,
	} {
		if got := kinds(params); len(got) != want {
			t.Errorf("%s: %v", params, got)
		}
	}
	hit := at(d.do("memory.search", `{"query":"What did you say of the shaft seal?","limit":1}`), "hits.0")
	d.want(hit, "role", "assistant")
	d.want(hit, "index", 2)
	d.want(hit, "text", "Look at the shaft seal of the boat.")
}

// TestMEM95_OfTwoThatAreAlikeNoneIsChanged, however many moments lie between them: which of two is the newer one changes
// what is shown first, and not which one a text means.
func TestMEM95_OfTwoThatAreAlikeNoneIsChanged(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("memory.addMany", `{"memories":[
		{"id":"mon","statement":"The dentist appointment is on Monday","createdAt":"2024-05-01T10:00:00Z"},
		{"id":"cello","statement":"My sister plays the cello"}]}`)
	d.do("memory.add", `{"id":"thu","statement":"The dentist appointment is on Thursday"}`)
	d.remembered(3)
	hits := d.do("memory.search", `{"query":"dentist appointment"}`)
	if at(hits, "hits.0.id") != "thu" || at(hits, "hits.1.olderThan") != "thu" {
		t.Fatalf("the newer one is not told apart: %v", hits)
	}
	d.wantRefused("memory.patch", `{"match":"dentist appointment","pinned":true}`, 1002, "")
	d.want(d.do("memory.get", `{"ref":"thu"}`), "pinned", false)
	d.want(d.do("memory.patch", `{"match":"my sister plays the cello","pinned":true}`), "id", "cello")
}
