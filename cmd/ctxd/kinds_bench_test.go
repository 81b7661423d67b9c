package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/cmd/ctxd/daemon"
	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// What the store of all kinds has: notes as the standard store, as many messages, and a tenth as many memories.
const (
	perConversation = 50
	messageBytes    = 500
	statementBytes  = 120
)

// kindsStore is standardStore with messages and memories, and the size of all their texts.
func kindsStore(b *testing.B, n int) benchData {
	b.Helper()
	of := standardStore(b, n) // before the lock
	prepared.mu.Lock()
	defer prepared.mu.Unlock()
	d := benchData{dir: of.dir + "-kinds", text: of.text}
	for said := range messagesOf(n) {
		d.text += int64(len(said))
	}
	for said := range statementsOf(n) {
		d.text += int64(len(said))
	}
	if _, err := os.Stat(d.dir); !errors.Is(err, fs.ErrNotExist) {
		return d
	}
	made := d.dir + ".tmp"
	err := errors.Join(os.RemoveAll(made), os.CopyFS(made, os.DirFS(of.dir)))
	if err != nil {
		b.Fatal(err)
	}
	rooms := openBench(b, made, config.Records{})
	err = errors.Join(fillKinds(b.Context(), rooms, n), rooms.KV.Snapshot(b.Context()), rooms.KV.Close(), os.Rename(made, d.dir))
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// messagesOf and statementsOf are texts of messages and of memories: parts of the standard notes, without links.
func messagesOf(n int) iter.Seq[string] { return plainParts(n, messageBytes, "") }

func statementsOf(n int) iter.Seq[string] { return plainParts(n/10, statementBytes, "I know of ") }

func plainParts(n, size int, before string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for d := range fixtures.StandardDocuments(n) {
			_, text, _ := strings.Cut(d.Body, "\n\n")
			if !yield(before + d.Title + ": " + strings.NewReplacer("[", "", "]", "").Replace(text[:size])) {
				return
			}
		}
	}
}

func fillKinds(ctx context.Context, rooms *rpc.Deps, n int) error {
	v := rooms.Audience.View(audience.Local)
	var drafts []memory.Draft
	for statement := range statementsOf(n) {
		drafts = append(drafts, memory.Draft{Tier: record.TierPatterns, Statement: statement})
		if len(drafts) == memory.MaxMany || len(drafts) == n/10 {
			if _, err := rooms.Memory.Add(ctx, v, drafts); err != nil {
				return err
			}
			drafts = drafts[:0]
		}
	}
	var said []chat.Draft
	for text := range messagesOf(n) {
		role := record.Roles[len(said)%2]
		said = append(said, chat.Draft{Role: role, Content: text})
		if len(said) == perConversation {
			if _, err := rooms.Chat.Append(ctx, v, chat.AppendRequest{Messages: said}); err != nil {
				return err
			}
			said = said[:0]
		}
	}
	return nil
}

// BenchmarkKinds is what messages and memories add to a store of notes: to a start, to the memory of the daemon, and
// to calls over its socket, each beside the same of the notes alone. Calls of both are measured one after the other,
// those that write last: what they write has no vectors yet, and the daemon makes them.
func BenchmarkKinds(b *testing.B) {
	n := standardSize(b)
	program := buildProgram(b)
	kinds := []struct {
		name  string
		of    func(*testing.B, int) benchData
		data  benchData
		calls *callsOfKind
	}{{name: "notes", of: standardStore}, {name: "all", of: kindsStore}}
	for i := range kinds {
		kind := &kinds[i]
		d := kind.of(b, n)
		kind.data = d
		b.Run(kind.name+"/read", func(b *testing.B) {
			buf := make([]byte, 1<<20)
			for b.Loop() {
				for _, file := range startFiles(b, d.dir) {
					checksum(b, file, buf)
				}
			}
		})
		b.Run(kind.name+"/start", func(b *testing.B) {
			for b.Loop() {
				p := startProgram(b, program, d.dir)
				p.search(b)
				b.StopTimer()
				p.end(b)
				b.StartTimer()
			}
		})
		b.Run(kind.name+"/memory", func(b *testing.B) { memoryOfKinds(b, program, d) })
	}
	for i := range kinds {
		kind := &kinds[i]
		copied := filepath.Join(b.TempDir(), "data")
		if err := os.CopyFS(copied, os.DirFS(kind.data.dir)); err != nil {
			b.Fatal(err)
		}
		p := startProgram(b, program, copied)
		defer p.end(b)
		p.settle(b)
		c, err := client.Dial(b.Context(), p.socket, client.Options{Name: "benchmark"})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		kind.calls = &callsOfKind{client: c}
	}
	for _, method := range methodsOfKinds {
		for _, kind := range kinds {
			if method.needsAll && kind.name != "all" {
				continue
			}
			b.Run(kind.name+"/"+method.name, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if err := kind.calls.client.Call(b.Context(), method.name, method.params(kind.calls, i), nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// memoryOfKinds reports the memory of a daemon without vectors, and the processor time that it takes while nobody
// asks.
func memoryOfKinds(b *testing.B, program string, d benchData) {
	for b.Loop() {
		for _, folder := range daemon.IndexFolders {
			made, err := filepath.Glob(filepath.Join(d.dir, folder, "vectors*"))
			if err != nil {
				b.Fatal(err)
			}
			for _, name := range made {
				if err := os.Remove(name); err != nil {
					b.Fatal(err)
				}
			}
		}
		p := startProgram(b, program, d.dir, "embedder=http", "embedding.url=http://127.0.0.1:9/v1", "embedding.model=none")
		p.call(b, "tags.list", protocol.TagFilter{}, new(protocol.TagPage)) // it waits for the store
		p.search(b)
		const quiet = 3 * time.Second
		<-time.After(time.Second) // what goes on after an answer is not idleness
		before := p.cpu(b)
		<-time.After(quiet)
		b.ReportMetric(100*(p.cpu(b)-before).Seconds()/quiet.Seconds(), "idle-%cpu")
		for name, line := range map[string]string{"used": "VmRSS", "peak": "VmHWM"} {
			bytes := p.status(b, line)
			b.ReportMetric(float64(bytes)/(1<<20), name+"-MiB")
			b.ReportMetric(float64(bytes)/float64(d.text), name+"/text")
		}
		p.end(b)
	}
}

// callsOfKind are the calls to one daemon.
type callsOfKind struct {
	client  *client.Client
	written int
}

// text is what a call writes, another one each time.
func (c *callsOfKind) text() string {
	c.written++
	return fmt.Sprintf("I prefer morning workouts in the park by the river, and never train before long run %d", c.written)
}

// queriesOfKinds are questions of one, three and six words that notes, messages and memories have.
var queriesOfKinds = slices.Concat(
	fixtures.StandardQueries(1, 4), fixtures.StandardQueries(3, 4), fixtures.StandardQueries(6, 4))

func queryOfKinds(i int) string { return queriesOfKinds[i%len(queriesOfKinds)] }

// methodsOfKinds are the calls that are measured, those that write at the end.
var methodsOfKinds = []struct {
	name     string
	needsAll bool // not measured of the notes alone
	params   func(c *callsOfKind, i int) any
}{
	{"notes.search", false, func(_ *callsOfKind, i int) any { return map[string]any{"query": queryOfKinds(i)} }},
	{"memory.search", true, func(_ *callsOfKind, i int) any { return map[string]any{"query": queryOfKinds(i)} }},
	{"notes.complete", false, func(_ *callsOfKind, i int) any { return map[string]any{"prefix": string(rune('a' + i%26))} }},
	{"refs.complete", true, func(_ *callsOfKind, i int) any { return map[string]any{"prefix": "@" + string(rune('a'+i%26))} }},
	{"context.assemble", false, func(_ *callsOfKind, i int) any { return map[string]any{"text": queryOfKinds(i)} }},
	{"memory.list", true, func(*callsOfKind, int) any { return map[string]any{"tiers": []string{record.TierPatterns}} }},
	{"memory.stats", true, func(*callsOfKind, int) any { return struct{}{} }},
	{"chat.list", true, func(*callsOfKind, int) any { return struct{}{} }},
	{"notes.put", false, func(c *callsOfKind, _ int) any {
		text := c.text()
		return map[string]any{"title": fmt.Sprint("Workouts ", c.written), "body": text}
	}},
	{"memory.add", true, func(c *callsOfKind, _ int) any {
		return map[string]any{"tier": record.TierPatterns, "statement": c.text()}
	}},
	{"chat.append", true, func(c *callsOfKind, _ int) any {
		return map[string]any{"messages": []any{map[string]any{"role": record.RoleUser, "content": c.text()}}}
	}},
}

// settle waits until all documents have their vectors.
func (p *measured) settle(tb testing.TB) {
	tb.Helper()
	for {
		var stats protocol.Stats
		p.call(tb, "admin.stats", nil, &stats)
		waiting := stats.Index.Queue + stats.Index.Words.Waiting
		for _, other := range stats.Index.Others {
			waiting += other.Queue + other.Waiting
		}
		if waiting == 0 {
			return
		}
		<-time.After(time.Second)
	}
}
