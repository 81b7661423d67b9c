package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/fixtures"
	"github.com/ctxd/ctxd/notes"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// BenchmarkRoundTrip is PERF-1: one client, a request and a reply of about the
// same size, no pipelining, against a raw echo of the same bytes in the same
// run. Prose is 20 KB with line breaks, quotes and letters of several bytes.
func BenchmarkRoundTrip(b *testing.B) {
	for _, c := range []struct {
		name, message string
	}{
		{"200B", request(200, "x")},
		{"20480B", request(20<<10, "x")},
		{"prose", request(20<<10, `She said: \"Straße, naïve café\" and wrote it down in [[Field Notes]] for later.\n`)},
	} {
		b.Run(c.name+"/ctxd", func(b *testing.B) { roundTrips(b, serve(b, rpc.Limits{}).connect(), c.message) })
		b.Run(c.name+"/echo", func(b *testing.B) { roundTrips(b, echoServer(b), c.message) })
	}
}

// BenchmarkThroughput is PERF-2: 8 clients.
func BenchmarkThroughput(b *testing.B) {
	const clients, size = 8, 200
	run := func(b *testing.B, dial func() *peer) {
		b.SetParallelism(clients / 2)
		b.RunParallel(func(pb *testing.PB) {
			p := dial()
			msg := []byte(request(size, "x"))
			for pb.Next() {
				exchange(b, p, msg)
			}
		})
	}
	b.Run("ctxd", func(b *testing.B) {
		s := serve(b, rpc.Limits{})
		run(b, s.connect)
	})
	b.Run("echo", func(b *testing.B) {
		path := echoPath(b)
		run(b, func() *peer { return dialRaw(b, path) })
	})
}

// BenchmarkAssemble is PERF-4: a prompt of 30 KB over the socket, of 5 pinned
// notes and 5 mentions among 20,000 entities, against a peer that answers the
// same request with 30 KB at once. The daemon sends more: the report besides,
// see reply-B. What 8 clients at once wait for, and what it does without the
// socket, is shown apart.
func BenchmarkAssemble(b *testing.B) {
	const size = 30 << 10
	rooms, params := promptRooms(b, 0)
	b.Run("ctxd", func(b *testing.B) {
		requests := make([]string, len(params))
		for i, p := range params {
			requests[i] = assembleRequest(p)
		}
		p := serveRooms(b, rpc.Limits{}, *rooms).connect()
		latencies(b, func(i int) int { return exchange(b, p, []byte(requests[i%len(requests)])) })
	})
	b.Run("clients=8", func(b *testing.B) {
		s := serveRooms(b, rpc.Limits{}, *rooms)
		var mu sync.Mutex
		var took []time.Duration
		b.SetParallelism((8 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			p := s.connect()
			var own []time.Duration
			for i := 0; pb.Next(); i++ {
				start := time.Now()
				exchange(b, p, []byte(assembleRequest(params[i%len(params)])))
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
		quantiles(b, took)
	})
	b.Run("in-process", func(b *testing.B) {
		b.ReportAllocs()
		latencies(b, func(i int) int {
			res, err := assemble(b.Context(), rooms, params[i%len(params)])
			if err != nil {
				b.Fatal(err)
			}
			return len(res.System)
		})
	})
	b.Run("echo", func(b *testing.B) {
		path := answering(b, []byte(request(size, "x")))
		p, msg := dialRaw(b, path), []byte(assembleRequest(params[0]))
		latencies(b, func(int) int { return exchange(b, p, msg) })
	})
}

// BenchmarkComplete is PERF-5: what is typed of the titles of 100,000 notes, over
// the socket, against a peer that answers each request at once with a reply of the
// same size. letter, letters and word are found as beginnings; part, fuzzy and vain
// have every title looked at.
func BenchmarkComplete(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 1000
	}
	for _, size := range []int{n / 10, n} {
		db, err := kv.Open(kv.InMemory, kv.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = db.Close() })
		rooms, err := roomsOver(db)
		if err != nil {
			b.Fatal(err)
		}
		fillTitles(b, rooms.Notes, size, 0)
		p := serveRooms(b, rpc.Limits{}, *rooms).connect()
		for _, c := range []struct{ name, typed string }{{"letter", "k"}, {"letters", "ka"}, {"word", "9"}, {"part", "kra"}, {"fuzzy", "kro7"}, {"vain", "xqxq"}} {
			msg := []byte(`{"jsonrpc":"2.0","id":1,"method":"notes.complete","params":{"prefix":"` + c.typed + "\"}}\n")
			b.Run(fmt.Sprintf("%d/%s/ctxd", size, c.name), func(b *testing.B) {
				latencies(b, func(int) int { return exchange(b, p, msg) })
			})
			b.Run(fmt.Sprintf("%d/%s/echo", size, c.name), func(b *testing.B) {
				echo := dialRaw(b, answering(b, []byte(request(exchange(b, p, msg), "x"))))
				latencies(b, func(int) int { return exchange(b, echo, msg) })
			})
		}
	}
}

// BenchmarkPERF22 compares what the two readers pay over the socket for the calls of PERF-4
// and PERF-5, where nothing or every tenth record is private. Gather compares what it
// costs without the socket.
func BenchmarkPERF22(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 1000
	}
	for _, every := range []int{0, 10} {
		share := fmt.Sprintf("private=%d%%", 100*min(every, 1)/max(every, 1))
		rooms, params := promptRooms(b, every)
		fillTitles(b, rooms.Notes, n, every)
		p := serveRooms(b, rpc.Limits{}, *rooms).connect()
		for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
			requests := make([][]byte, len(params))
			for i, asked := range params {
				asked.Audience = string(reader)
				requests[i] = []byte(assembleRequest(asked))
				exchange(b, p, requests[i]) // the first makes what queries keep
			}
			b.Run("assemble/"+share+"/"+string(reader), func(b *testing.B) {
				latencies(b, func(i int) int { return exchange(b, p, requests[i%len(requests)]) })
			})
		}
		for _, c := range []struct{ name, typed string }{{"letter", "k"}, {"word", "9"}, {"part", "kra"}} {
			for _, reader := range []audience.Reader{audience.Local, audience.Remote} {
				msg := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"notes.complete","params":{"prefix":%q,"audience":%q}}`, c.typed, reader) + "\n")
				b.Run("complete="+c.name+"/"+share+"/"+string(reader), func(b *testing.B) {
					latencies(b, func(int) int { return exchange(b, p, msg) })
				})
			}
		}
	}
}

// isPrivate says which of numbered records are private when one in every is; 0: none.
func isPrivate(i, every int) bool { return every > 0 && i%every == 7 }

// fillTitles writes n notes with the titles of the standard ones, of which one in every is
// private.
func fillTitles(b *testing.B, ns *notes.Store, n, every int) {
	b.Helper()
	var drafts []notes.Draft
	i := 0
	for title := range fixtures.StandardTitles(n) {
		drafts = append(drafts, notes.Draft{ID: fmt.Sprintf("note-%d", i*7919%n), Title: title, Path: fmt.Sprintf("folder-%02d/note-%06d.md", i%100, i), Private: isPrivate(i, every)})
		i++
		if len(drafts) == 100 || i == n {
			if _, err := ns.PutMany(b.Context(), drafts); err != nil {
				b.Fatal(err)
			}
			drafts = drafts[:0]
		}
	}
}

// answering listens and answers each line with the same reply at once.
func answering(b *testing.B, reply []byte) (path string) {
	return listenRaw(b, func(conn net.Conn) {
		for in := bufio.NewReader(conn); ; {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := conn.Write(reply); err != nil {
				return
			}
		}
	})
}

// latencies makes one call after the other and reports the time that half of
// them took at most, and 99 of 100, and how long an answer is.
func latencies(b *testing.B, call func(i int) (size int)) {
	b.Helper()
	var took []time.Duration
	received := 0
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		received += call(i)
		took = append(took, time.Since(start))
	}
	quantiles(b, took)
	b.ReportMetric(float64(received)/float64(len(took)), "reply-B")
}

func quantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
}

// promptRooms returns rooms over 20,000 standard entities and some notes of
// 3,500 characters, and requests that each give a prompt of about 30 KB. One entity in every
// is private, and then prompts may be shorter.
func promptRooms(b *testing.B, every int) (*rpc.Deps, []gather.Params) {
	b.Helper()
	return promptRoomsIn(b, kv.InMemory, every)
}

// promptRoomsIn is promptRooms over a store in a folder.
func promptRoomsIn(b *testing.B, dir string, every int) (*rpc.Deps, []gather.Params) {
	b.Helper()
	const sets = 16
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	rooms, err := roomsOver(db)
	if err != nil {
		b.Fatal(err)
	}
	fillThings(b, rooms.Entities, 20_000, every)
	var params []gather.Params
	for d := range fixtures.StandardDocuments(5 * sets) {
		n, err := rooms.Notes.Put(b.Context(), notes.Draft{Body: (d.Body + strings.ReplaceAll(d.Body, "#", "and"))[:3500]}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if len(params) == 0 || len(params[len(params)-1].MentionedNoteIDs) == 5 {
			params = append(params, gather.Params{Text: "What do they have in common?"})
		}
		p := &params[len(params)-1]
		p.MentionedNoteIDs = append(p.MentionedNoteIDs, n.ID)
		p.MentionedEntityIDs = append(p.MentionedEntityIDs, fmt.Sprintf("thing-%d", 500+7*(len(params)*5+len(p.MentionedNoteIDs))))
	}
	for _, p := range params {
		res, err := assemble(b.Context(), rooms, p)
		if err != nil || every == 0 && len(res.System) < 29_000 || len(res.System) > 32_000 {
			b.Fatalf("a prompt of %d bytes, %v", len(res.System), err)
		}
	}
	return rooms, params
}

// assemble makes a prompt over a local connection.
func assemble(ctx context.Context, rooms *rpc.Deps, p gather.Params) (*prompt.Result, error) {
	views := gather.Readers{Prompt: rooms.Audience.View(audience.Reader(p.Audience)), Report: rooms.Audience.View(audience.Local)}
	return rooms.Gather.Assemble(ctx, views, p)
}

func assembleRequest(p gather.Params) string {
	params, err := json.Marshal(p)
	if err != nil {
		panic(err) // there is nothing in it that JSON has not
	}
	return `{"jsonrpc":"2.0","id":1,"method":"context.assemble","params":` + string(params) + "}\n"
}

// fillThings writes n standard entities. The i-th has the id thing-i. The
// computed field is how lists of what refers to a record are had. One in every is private.
func fillThings(b *testing.B, ents *entities.Store, n, every int) {
	b.Helper()
	typ := entities.Type{Name: "Project", Fields: []entities.Field{
		{Name: "status", Type: record.Select, Options: []string{"open", "active", "blocked", "done"}},
		{Name: "score", Type: record.Number},
		{Name: "since", Type: record.Date},
		{Name: "done", Type: record.Boolean},
		{Name: "tags", Type: record.TextList},
		{Name: "note", Type: record.Text},
		{Name: "lead", Type: record.EntityRef},
		{Name: "parent", Type: record.EntityRef},
		{Name: "leads", Type: record.Computed, Query: "SELECT p FROM Project WHERE p.lead = {this}"},
	}}
	if _, _, err := ents.PutType(b.Context(), typ, nil, false); err != nil {
		b.Fatal(err)
	}
	ids := make(map[string]string, n)
	var list []entities.Entity
	for t := range fixtures.StandardThings(n) {
		e := entities.Entity{ID: fmt.Sprintf("thing-%d", len(ids)), Type: typ.Name, Name: t.Name, Fields: t.Fields, Private: isPrivate(len(ids), every)}
		for _, ref := range []string{"lead", "parent"} {
			e.Fields[ref] = ids[e.Fields[ref].(string)]
			if e.Fields[ref] == "" {
				delete(e.Fields, ref)
			}
		}
		ids[t.Name] = e.ID
		list = append(list, e)
		if len(list) == entities.MaxMany || len(ids) == n {
			if _, err := ents.PutMany(b.Context(), list); err != nil {
				b.Fatal(err)
			}
			list = list[:0]
		}
	}
}

// request is a call of about size bytes with the text over and over in it.
func request(size int, text string) string {
	head := `{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"`
	return head + strings.Repeat(text, max(0, size-len(head)-4)/len(text)) + "\"}}\n"
}

func roundTrips(b *testing.B, p *peer, message string) {
	msg := []byte(message)
	b.ReportAllocs()
	for b.Loop() {
		exchange(b, p, msg)
	}
}

// exchange sends a request and returns how long the answer is.
func exchange(b *testing.B, p *peer, msg []byte) (size int) {
	if _, err := p.nc.Write(msg); err != nil {
		b.Fatal(err)
	}
	for {
		part, err := p.in.ReadSlice('\n')
		size += len(part)
		if err == nil {
			return size
		}
		if err != bufio.ErrBufferFull {
			b.Fatal(err)
		}
	}
}

func echoPath(b *testing.B) string {
	return listenRaw(b, func(conn net.Conn) {
		_, _ = io.CopyBuffer(struct{ io.Writer }{conn}, struct{ io.Reader }{conn}, make([]byte, 64<<10))
	})
}

// listenRaw has each connection served by a function.
func listenRaw(b *testing.B, serve func(net.Conn)) (path string) {
	path = filepath.Join(shortDir(b), "echo")
	ln, err := socket.Listen(path, socket.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return path
}

func dialRaw(b *testing.B, path string) *peer {
	nc, err := socket.Dial(context.Background(), path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = nc.Close() })
	return &peer{t: b, nc: nc.(*net.UnixConn), in: bufio.NewReaderSize(nc, 64<<10)}
}

func echoServer(b *testing.B) *peer { return dialRaw(b, echoPath(b)) }
