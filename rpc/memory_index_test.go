package rpc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/embed/embedtest"
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
	d := meaningful(t, dir, embed.LazyBuiltinTable())
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
	id := at(d.do("memory.list", `{}`), "memories.0.id").(string)
	d.want(d.do("memory.get", `{"ref":"`+id+`"}`), "indexed", "meaning")
	d.want(d.do("memory.list", `{}`), "memories.1.indexed", "meaning")
	other := at(d.do("admin.stats", `{}`), "index.others.0")
	d.want(other, "kind", "memories")
	d.want(other, "vectors", 2)
	d.want(d.do("memory.stats", `{}`), "queue", 0)
	d.want(d.do("admin.health", `{}`), "index.ready", true)
	d.want(d.do("admin.reindex", `{}`), "others", 2)
	d.remembered(2)
	d.want(d.do("admin.reindex", `{"kind":"memories"}`), "others", 2) // MEM-83
	d.want(d.do("admin.reindex", `{"kind":"messages","what":"words"}`), "others", 0)
	d.want(d.do("admin.reindex", `{"kind":"notes"}`), "others", 0)
	d.do("books.add", `{"text":"# Bees\n\nThey fly.\n\n# Hives\n\nThey stand.","mimeType":"md"}`)
	d.want(d.do("admin.reindex", `{"kind":"passages"}`), "others", 2)
	d.remembered(2)
	d.want(d.do("admin.check", `{}`), "ok", true)
	files, err := os.ReadDir(filepath.Join(dir, "index-memories"))
	must(t, err)
	if len(files) == 0 {
		t.Error("nothing is kept of the index of memories")
	}
}

// TestMEM35_SimilarMemories: by the vectors that are there, with what the statements differ in.
func TestMEM35_SimilarMemories(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("memory.addMany", `{"memories":[
		{"id":"meat","statement":"I eat meat on Sundays"},
		{"id":"none","statement":"I do not eat meat on Sundays"},
		{"id":"cello","statement":"My sister plays the cello"},
		{"id":"secret","statement":"I eat meat on Sundays in secret","private":true}]}`)
	d.remembered(4)
	out := d.do("memory.similar", `{"ref":"meat"}`)
	d.want(out, "degraded", nil)
	ids := map[any]any{}
	for i := range at(out, "hits").([]any) {
		hit := at(out, "hits").([]any)[i]
		ids[at(hit, "memory.id")] = at(hit, "differs")
		if c := at(hit, "cosine").(float64); c <= 0.25 || c > 1 {
			t.Errorf("cosine %v", c)
		}
	}
	if ids["meat"] != nil || ids["secret"] == nil {
		t.Errorf("similar to meat: %v", ids)
	}
	d.want(ids["none"], "0", "negation")
	d.do("memory.delete", `{"id":"none","force":true}`)
	out = d.do("memory.similar", `{"ref":"meat","audience":"remote"}`)
	for i := range at(out, "hits").([]any) {
		if id := at(at(out, "hits").([]any)[i], "memory.id"); id == "secret" || id == "none" {
			t.Errorf("a remote reader is shown %v", id)
		}
	}
	d.wantRefused("memory.similar", `{"ref":"none"}`, 1001, "ref")
	d.wantRefused("memory.similar", `{"ref":"secret","audience":"remote"}`, 1001, "ref")
}

// TestMEM35_SimilarWithoutVectors finds by words, and says so.
func TestMEM35_SimilarWithoutVectors(t *testing.T) {
	d := start(t)
	d.do("memory.addMany", `{"memories":[
		{"id":"meat","statement":"I eat meat on Sundays"},{"id":"two","statement":"On Sundays we eat late"}]}`)
	out := d.do("memory.similar", `{"ref":"meat"}`)
	d.want(out, "hits.0.memory.id", "two")
	d.want(out, "hits.0.cosine", 0)
	d.want(out, "degraded.stage", "semantic")
	d.want(d.do("memory.get", `{"ref":"meat"}`), "indexed", "words")
}

// TestMEM9_WhatIsNearIsShown: to who writes a memory and asks for it; nothing is merged.
func TestMEM9_WhatIsNearIsShown(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("memory.addMany", `{"memories":[
		{"id":"meat","statement":"I eat meat on Sundays"},{"id":"cello","statement":"My sister plays the cello"},
		{"id":"secret","statement":"I eat meat on Sundays in secret","private":true}]}`)
	d.remembered(3)
	out := d.do("memory.add", `{"statement":"I do not eat meat on Sundays","similar":true}`)
	d.want(out, "duplicate", false)
	shown := map[any]any{}
	for _, hit := range at(out, "similar").([]any) {
		shown[at(hit, "memory.id")] = at(hit, "differs.0")
	}
	if len(shown) != 2 || shown["meat"] != "negation" || shown["secret"] != "negation" {
		t.Errorf("similar: %v", shown)
	}
	d.want(d.do("memory.add", `{"statement":"I never eat meat on Sundays"}`), "similar", nil)
	d.want(d.do("memory.add", `{"statement":"I do not eat meat on Sundays!","similar":true}`), "similar", nil)
	d.want(d.do("memory.list", `{}`), "total", 5)
	r := d.remote()
	r.call("a", "memory.add", `{"statement":"I hardly eat meat on Sundays","similar":true}`)
	if line := r.line(); strings.Contains(line, "secret") || !strings.Contains(line, `"similar":[`) {
		t.Errorf("a remote reader is answered %s", line)
	}
}

// TestMEM1_StatsTellTheQueue: how many memories wait for their vectors, which a reader from whom some are
// hidden is not told.
func TestMEM1_StatsTellTheQueue(t *testing.T) {
	e := &embedtest.Bags{Name: "held", Gate: make(chan struct{})}
	d := meaningful(t, t.TempDir(), e)
	d.do("memory.addMany", `{"memories":[{"statement":"I drink tea"},{"statement":"I have a dog","private":true}]}`)
	d.want(d.do("memory.stats", `{}`), "queue", 2)
	d.want(d.do("memory.stats", `{"audience":"remote"}`), "queue", 0)
	close(e.Gate)
	d.remembered(2)
	d.want(d.do("memory.stats", `{}`), "queue", 0)
}
