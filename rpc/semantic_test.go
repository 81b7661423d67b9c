package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
	"github.com/ctxd/ctxd/rpc/socket"
)

// meaningful is a daemon over a folder that searches by meaning as well.
func meaningful(t *testing.T, dir string, e embed.Embedder) *daemon {
	t.Helper()
	return startOn(t, dir, rpc.Options{OpenRooms: func(db *kv.Store) (*rpc.Deps, error) {
		return roomsWith(db, search.Options{Dir: filepath.Join(dir, "index"), Embedder: e})
	}})
}

// until waits for what comes by itself.
func (d *daemon) until(what string, ok func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (d *daemon) embedded() {
	d.t.Helper()
	d.until("every note has its vectors", func() bool {
		m := at(d.do("admin.stats", `{}`), "index.meanings")
		return at(m, "model") != nil && at(m, "waiting") == 0. && at(m, "building") == nil
	})
}

// shelf is three notes, of which one has none of the words that it is looked for by.
const shelf = `{"notes":[
	{"id":"car","title":"Garage","body":"The automobile needs new tyres before winter."},
	{"id":"cake","title":"Kitchen","body":"Bake it for forty minutes, then let the cake cool."},
	{"id":"cells","title":"Load cells","body":"Four load cells measure the weight of a hive."}]}`

func TestSRCH13_NotesSearchByMeaning(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	l := d.listen("index.progress")
	d.do("notes.putMany", shelf)
	d.embedded()
	out := d.do("notes.search", `{"query":"vehicle wheels for the snow","explain":true}`)
	d.want(out, "mode", "hybrid")
	d.want(out, "degraded", nil)
	d.want(out, "hits.0.id", "car")
	d.want(out, "hits.0.snippet", "The automobile needs new tyres before winter.")
	d.want(out, "hits.0.signals.chunk", 1)
	d.want(out, "hits.0.signals.rank:semantic", 1)
	d.want(d.do("notes.search", `{"query":"vehicle wheels for the snow","mode":"lexical"}`), "hits", "[]")
	out = d.do("notes.search", `{"query":"\"load cells\""}`)
	d.want(out, "mode", "lexical")
	d.want(out, "hits.0.id", "cells")
	for {
		var p protocol.IndexProgress
		must(t, json.Unmarshal(l.next().params, &p))
		if p.Stage != "embed" || p.Vault != "" {
			t.Errorf("progress %+v", p)
		}
		if p.Done == p.Total {
			break
		}
	}
}

// slowStart is an embedder that says which model it has when it is let.
type slowStart struct {
	embed.Embedder
	ready chan struct{}
}

func (s *slowStart) Model(ctx context.Context) (embed.Model, error) {
	select {
	case <-s.ready:
		return s.Embedder.Model(ctx)
	case <-ctx.Done():
		return embed.Model{}, ctx.Err()
	}
}

// TestSRCH24_WhatWaitsWhileTheEmbedderStartsIsCounted: all notes wait for their vectors
// before the first of them is in a queue.
func TestSRCH24_WhatWaitsWhileTheEmbedderStartsIsCounted(t *testing.T) {
	e := &slowStart{Embedder: embed.LazyBuiltinTable(), ready: make(chan struct{})}
	d := meaningful(t, t.TempDir(), e)
	d.do("notes.putMany", shelf)
	d.want(at(d.do("admin.stats", `{}`), "index"), "queue", 3)
	d.want(d.do("admin.health", `{}`), "index.queue", 3)
	close(e.ready)
	d.embedded()
	d.want(at(d.do("admin.stats", `{}`), "index"), "queue", 0)
	d.want(d.do("admin.health", `{}`), "index.queue", 0)
}

func TestSRCH24_FiguresOfTheIndex(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("notes.putMany", shelf)
	d.embedded()
	index := at(d.do("admin.stats", `{}`), "index")
	d.want(index, "queue", 0)
	d.want(index, "vectors", 3)
	d.want(index, "words.notes", 3)
	d.want(index, "meanings.notes", 3)
	d.want(index, "meanings.weights.semantic", 0.7)
	for _, name := range []string{"terms", "meanings.model.sha256", "meanings.memoryBytes", "meanings.diskBytes", "meanings.ratePerSecond", "meanings.embedded"} {
		if v := at(index, name); v == nil || v == 0. || v == "" {
			t.Errorf("%s is %v", name, v)
		}
	}
	h := d.do("admin.health", `{}`)
	d.want(h, "index.ready", true)
	d.want(h, "index.queue", 0)
	d.want(h, "embedder.kind", "builtin")
	d.want(h, "embedder.state", "ready")
	d.want(h, "embedder.dims", at(index, "meanings.model.dims"))
	nc, err := socket.Dial(context.Background(), d.path)
	must(t, err)
	defer nc.Close()
	p := &peer{t: t, nc: nc.(*net.UnixConn), in: bufio.NewReader(nc)}
	p.send(hello + "\n")
	if line := p.line(); !strings.Contains(line, `"embedder":{"name":"`+at(h, "embedder.name").(string)) {
		t.Errorf("initialize answers %s", line)
	}
}

// away is an embedder that can't be reached.
type away struct{}

func (away) Model(context.Context) (embed.Model, error) {
	return embed.Model{}, fault.New(fault.Unavailable, "nobody listens there")
}

func (a away) Embed(ctx context.Context, _ embed.Purpose, _ []string) (embed.Model, [][]float32, error) {
	m, err := a.Model(ctx)
	return m, nil, err
}

func (away) Status() embed.Status {
	return embed.Status{Kind: "http", State: embed.Failed, Why: "nobody listens there", Device: "localhost"}
}

func (away) Close() error { return nil }

func TestSRCH13_WithoutVectors(t *testing.T) {
	d := meaningful(t, t.TempDir(), away{})
	d.do("notes.putMany", shelf)
	d.until("the embedder was asked", func() bool { return at(d.do("admin.stats", `{}`), "index.meanings.lastError") != nil })
	out := d.do("notes.search", `{"query":"weight of cells"}`)
	d.want(out, "mode", "lexical")
	d.want(out, "degraded.stage", "semantic")
	d.want(out, "degraded.why", "nobody listens there")
	d.want(out, "hits.0.id", "cells")
	d.wantRefused("notes.search", `{"query":"weight of cells","mode":"semantic"}`, protocol.CodeUnavailable, "")
	d.wantRefused("admin.reindex", `{"what":"vectors"}`, protocol.CodeUnavailable, "")
	h := d.do("admin.health", `{}`)
	d.want(h, "status", "warning")
	d.want(h, "embedder.why", "nobody listens there")
	d.want(d.do("admin.stats", `{}`), "index.meanings.lastError", "nobody listens there")
}

func TestSRCH12_Reindex(t *testing.T) {
	d := meaningful(t, t.TempDir(), embed.LazyBuiltinTable())
	d.do("notes.putMany", shelf)
	d.embedded()
	// A note that is written while the first index is made may be embedded twice.
	before := at(d.do("admin.stats", `{}`), "index.meanings.embedded").(float64)
	for what, vectors := range map[string]int{"all": 3, "words": 0, "vectors": 3} {
		out := d.do("admin.reindex", `{"what":"`+what+`"}`)
		d.want(out, "what", what)
		d.want(out, "notes", 3)
		d.want(out, "vectors", vectors)
		d.want(d.do("notes.search", `{"query":"vehicle wheels for the snow"}`), "hits.0.id", "car")
		d.want(d.do("notes.search", `{"query":"load cells","mode":"lexical"}`), "hits.0.id", "cells")
	}
	d.want(d.do("admin.stats", `{}`), "index.meanings.embedded", before+6)
	d.want(d.do("admin.check", `{}`), "ok", true)
}

// Vectors that are damaged on disk are found by a check, and made anew.
func TestSRCH12_CheckCoversVectors(t *testing.T) {
	dir := t.TempDir()
	d := meaningful(t, dir, embed.LazyBuiltinTable())
	d.do("notes.putMany", shelf)
	d.embedded()
	files, err := filepath.Glob(filepath.Join(dir, "index", "vectors-*"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	data, err := os.ReadFile(files[0])
	must(t, err)
	f, err := os.OpenFile(files[0], os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte{^data[600]}, 600) // in the first vector
	must(t, err)
	must(t, f.Close())
	out := d.do("admin.check", `{}`)
	d.want(out, "ok", false)
	d.want(out, "drift.0.view", "vectors")
	d.want(out, "drift.0.found", 1)
	d.want(out, "drift.0.repaired", true)
	d.embedded()
	d.want(d.do("admin.check", `{}`), "ok", true)
	d.embedded()
	d.want(d.do("admin.stats", `{}`), "index.vectors", 3)
}
