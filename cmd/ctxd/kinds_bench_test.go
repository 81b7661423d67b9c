package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/chat"
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
	rooms := openBench(b, made)
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

func fillKinds(ctx context.Context, rooms *rpc.Rooms, n int) error {
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
			if _, err := rooms.Chat.Append(ctx, v, chat.Said{Messages: said}); err != nil {
				return err
			}
			said = said[:0]
		}
	}
	return nil
}

// BenchmarkKinds is what messages and memories add to a store of notes: to a start, to the memory of the daemon, and
// to calls over its socket, each beside the same of the notes alone.
func BenchmarkKinds(b *testing.B) {
	n := standardSize(b)
	program := buildProgram(b)
	for _, kind := range []struct {
		name string
		of   func(*testing.B, int) benchData
	}{{"notes", standardStore}, {"all", kindsStore}} {
		b.Run(kind.name, func(b *testing.B) {
			d := kind.of(b, n)
			b.Run("read", func(b *testing.B) {
				buf := make([]byte, 1<<20)
				for b.Loop() {
					for _, file := range startFiles(b, d.dir) {
						checksum(b, file, buf)
					}
				}
			})
			b.Run("start", func(b *testing.B) {
				for b.Loop() {
					p := startProgram(b, program, d.dir)
					p.search(b)
					b.StopTimer()
					p.end(b)
					b.StartTimer()
				}
			})
			b.Run("memory", func(b *testing.B) { memoryOfKinds(b, program, d) })
			copied := filepath.Join(b.TempDir(), "data")
			if err := os.CopyFS(copied, os.DirFS(d.dir)); err != nil {
				b.Fatal(err)
			}
			p := startProgram(b, program, copied)
			defer p.end(b)
			p.settle(b)
			callsOfKinds(b, p, kind.name == "all")
		})
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

// callsOfKinds measures calls over the socket of a daemon that may be written to.
func callsOfKinds(b *testing.B, p *measured, all bool) {
	const benchText = "I prefer morning workouts in the park by the river, and never train before long run %d"
	written := 0
	queries := []string{"Prosha", "garden river", "what do I know of the plan"}
	ask := map[string]func(c *client.Client, i int) error{
		"notes.search": func(c *client.Client, i int) error {
			q := protocol.NoteSearch{Query: queries[i%len(queries)]}
			return c.Call(b.Context(), "notes.search", q, new(protocol.SearchResult))
		},
		"notes.complete": func(c *client.Client, i int) error {
			return c.Call(b.Context(), "notes.complete", map[string]any{"prefix": string(rune('a' + i%26))}, nil)
		},
		"context.assemble": func(c *client.Client, i int) error {
			return c.Call(b.Context(), "context.assemble", map[string]any{"text": queries[i%len(queries)]}, nil)
		},
		"notes.put": func(c *client.Client, _ int) error {
			written++
			params := map[string]any{"title": fmt.Sprint("Workouts ", written), "body": fmt.Sprintf(benchText, written)}
			return c.Call(b.Context(), "notes.put", params, nil)
		},
	}
	if all {
		for method, params := range map[string]any{
			"memory.list": map[string]any{"tiers": []string{record.TierPatterns}}, "memory.stats": struct{}{}, "chat.list": struct{}{},
		} {
			ask[method] = func(c *client.Client, _ int) error { return c.Call(b.Context(), method, params, nil) }
		}
		ask["memory.add"] = func(c *client.Client, _ int) error {
			written++
			params := map[string]any{"tier": record.TierPatterns, "statement": fmt.Sprintf(benchText, written)}
			return c.Call(b.Context(), "memory.add", params, nil)
		}
		ask["chat.append"] = func(c *client.Client, _ int) error {
			written++
			message := map[string]any{"role": record.RoleUser, "content": fmt.Sprintf(benchText, written)}
			return c.Call(b.Context(), "chat.append", map[string]any{"messages": []any{message}}, nil)
		}
		ask["memory.search"] = func(c *client.Client, i int) error {
			return c.Call(b.Context(), "memory.search", map[string]any{"query": queries[i%len(queries)]}, nil)
		}
		ask["refs.complete"] = func(c *client.Client, i int) error {
			return c.Call(b.Context(), "refs.complete", map[string]any{"prefix": "@" + string(rune('a'+i%26))}, nil)
		}
	}
	c, err := client.Dial(b.Context(), p.socket, client.Options{Name: "benchmark"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, method := range slices.Sorted(maps.Keys(ask)) {
		call := ask[method]
		b.Run(method, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := call(c, i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// settle waits until all documents have their vectors.
func (p *measured) settle(b *testing.B) {
	b.Helper()
	for {
		var stats protocol.Stats
		p.call(b, "admin.stats", nil, &stats)
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
