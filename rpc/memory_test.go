package rpc_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/jsonrpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// writes sends a call of test.write, which waits until its name is opened where that
// begins with slow, with so many bytes of params.
func (p *peer) writes(id any, name string, size int) {
	blanks := size - len(`{"name":""}`) - len(name)
	p.call(id, "test.write", fmt.Sprintf(`{"name":"%s"%s}`, name, strings.Repeat(" ", blanks)))
}

// waitFor waits until so many calls wait for memory.
func (b *bench) waitFor(t *testing.T, n int) {
	t.Helper()
	until(t, fmt.Sprint(n, " calls wait for memory"), func() bool { return b.srv.ConnStats().WaitForMemory == n })
}

// nothingBegins fails when a call has begun.
func (b *bench) nothingBegins(t *testing.T) {
	t.Helper()
	select {
	case name := <-b.started:
		t.Fatalf("%s has begun", name)
	default:
	}
}

const kb = 1000

func TestREL6_LargeWritesWaitForMemoryInTheirOrder(t *testing.T) {
	b := serve(t, rpc.Limits{MemoryTotal: 1000 * kb})
	first, second, third, small := b.connect(), b.connect(), b.connect(), b.connect()
	first.writes(1, "slow1", 60*kb)
	b.begun("slow1")
	second.writes(1, "slow2", 60*kb)
	b.waitFor(t, 1)
	third.writes(1, "slow3", 20*kb) // for which there would be room
	b.waitFor(t, 2)
	b.nothingBegins(t)
	small.writes(1, "small", 10*kb)
	small.wantResult("1", "")
	until(t, "only the first is booked", func() bool {
		got := b.srv.ConnStats()
		return got.WorkBytes == 60*kb*jsonrpc.Expansion && got.CallBytes == 140*kb && got.MemoryTotal == 1000*kb
	})
	b.open("slow1")
	first.wantResult("1", "")
	for _, name := range []string{<-b.started, <-b.started} { // for both there is room
		if name != "slow2" && name != "slow3" {
			t.Errorf("%s began", name)
		}
	}
	b.open("slow2")
	b.open("slow3")
	second.wantResult("1", "")
	third.wantResult("1", "")
	until(t, "nothing is booked", func() bool {
		got := b.srv.ConnStats()
		return got.WorkBytes == 0 && got.CallBytes == 0 && got.WaitForMemory == 0
	})
}

func TestREL6_AWriteLargerThanTheMemoryRunsAlone(t *testing.T) {
	b := serve(t, rpc.Limits{MemoryTotal: 1000 * kb})
	first, second, third := b.connect(), b.connect(), b.connect()
	first.writes(1, "slow1", 50*kb)
	b.begun("slow1")
	second.writes(1, "slow2", 500*kb)
	b.waitFor(t, 1)
	third.writes(1, "slow3", 20*kb)
	b.waitFor(t, 2)
	b.open("slow1")
	b.begun("slow2")
	b.nothingBegins(t)
	b.open("slow2")
	b.begun("slow3")
	b.open("slow3")
	for _, p := range []*peer{first, second, third} {
		p.wantResult("1", "")
	}
}

func TestREL8_AWriteThatWaitsForMemoryCanBeWithdrawn(t *testing.T) {
	b := serve(t, rpc.Limits{MemoryTotal: 1000 * kb})
	first, second, third := b.connect(), b.connect(), b.connect()
	first.writes(1, "slow1", 60*kb)
	b.begun("slow1")
	second.writes(1, "never", 60*kb)
	b.waitFor(t, 1)
	second.writes(2, "behind", kb) // the same connection, whose writes keep their order
	third.writes(1, "slow3", 20*kb)
	b.waitFor(t, 2)
	second.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n")
	// What is withdrawn is answered beside the writes that follow it: either reply may come first.
	for range 2 {
		text := second.line()
		switch r := parseReply(t, text); string(r.ID) {
		case "1":
			if r.Error == nil || r.Error.Code != protocol.CodeCancelled {
				t.Errorf("what was withdrawn: %s", text)
			}
		default:
			if string(r.ID) != "2" || string(r.Result) != `"behind"` {
				t.Errorf("what follows it: %s", text)
			}
		}
	}
	b.open("slow1")
	b.begun("slow3")
	b.open("slow3")
	first.wantResult("1", "")
	third.wantResult("1", "")
	if got := b.history(); strings.Contains(got, "never") {
		t.Errorf("a write that was withdrawn ran: %s", got)
	}
}

func TestREL6_WhatWaitsIsBounded(t *testing.T) {
	b := serve(t, rpc.Limits{MemoryTotal: 300 * kb})
	first, second, third, fourth := b.connect(), b.connect(), b.connect(), b.connect()
	first.writes(1, "slow1", 200*kb)
	b.begun("slow1")
	second.writes(1, "slow2", 200*kb)
	b.waitFor(t, 1)
	third.writes(1, "refused", 50*kb)
	e := third.wantError("1", protocol.CodeLimit)
	if !e.Data.Retryable || !strings.Contains(e.Message, "bytes") {
		t.Errorf("refused with %+v", e)
	}
	fourth.writes(1, "small", 10*kb)
	fourth.wantResult("1", "")
	third.send(`{"jsonrpc":"2.0","method":"test.write","params":{"name":"told"` + strings.Repeat(" ", 50*kb) + "}}\n")
	b.open("slow1")
	first.wantResult("1", "")
	b.begun("slow2")
	b.open("slow2")
	second.wantResult("1", "")
	until(t, "what nobody is told of is written", func() bool { return strings.Contains(b.history(), "told") })
	third.writes(2, "again", 50*kb)
	third.wantResult("2", "")
}

// A connection that is over leaves nothing behind, and what it had accepted completes.
func TestREL10_ConnectionsThatWaitForMemoryMayEnd(t *testing.T) {
	b := serve(t, rpc.Limits{MemoryTotal: 1000 * kb})
	first, second := b.connect(), b.connect()
	first.writes(1, "slow1", 60*kb)
	b.begun("slow1")
	second.writes(1, "kept", 60*kb)
	b.waitFor(t, 1)
	_ = second.nc.Close()
	b.open("slow1")
	first.wantResult("1", "")
	until(t, "it is written", func() bool { return strings.Contains(b.history(), "kept") })
	until(t, "nothing is booked", func() bool {
		got := b.srv.ConnStats()
		return got.WorkBytes == 0 && got.CallBytes == 0
	})
}

// allocated returns how many bytes are allocated while a function runs, kept or not.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// TestREL6_LargeWritesAllocateLittle adds up what large writes allocate, of texts that
// there is much to say about: most of it is given back on the way, and what is alive at a
// time is the campaign's to measure. The client lives in this process, too.
func TestREL6_LargeWritesAllocateLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and nothing in it is concurrent")
	}
	const size, notes, most = 2000 * kb, 4, 60
	for _, unit := range []string{"[[a]] ", "[[a|b]]", "` ", "# a\\n", "["} {
		t.Run(unit, func(t *testing.T) {
			db, err := kv.Open(kv.InMemory, kv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			rooms, err := roomsOver(db)
			if err != nil {
				t.Fatal(err)
			}
			b := serveRooms(t, rpc.Limits{}, *rooms)
			p := b.connect()
			body := strings.Repeat(unit, size/notes/len(unit))
			var list []string
			for i := range notes {
				list = append(list, fmt.Sprintf(`{"id":"n%d","title":"x","body":"%s"}`, i, body))
			}
			params := `{"notes":[` + strings.Join(list, ",") + `]}`
			p.call(1, "notes.putMany", params)
			p.wantResult("1", "")
			got := allocated(func() {
				p.call(2, "notes.putMany", params)
				p.wantResult("2", "")
			})
			if got > most*len(params) {
				t.Errorf("%.1f times the params are allocated, at most %d are expected", float64(got)/float64(len(params)), most)
			}
			t.Logf("%.1f times the params", float64(got)/float64(len(params)))
		})
	}
}

// TestREL6_WhatWaitedOnAConnectionThatEndedIsGivenBack: reads that never ran hold nothing
// when their connection is gone.
func TestREL6_WhatWaitedOnAConnectionThatEndedIsGivenBack(t *testing.T) {
	b := serve(t, rpc.Limits{Concurrency: 1})
	p := b.connect()
	p.call(1, "test.wait", `{"name":"first"}`)
	b.begun("first")
	for id := range 10 {
		p.call(10+id, "test.wait", `{"name":"never"}`)
	}
	until(t, "all of them are booked", func() bool { return b.srv.ConnStats().InFlight == 11 })
	_ = p.nc.Close()
	b.srv.Wait()
	if got := b.srv.ConnStats().CallBytes; got != 0 {
		t.Errorf("%d bytes are booked", got)
	}
}

// TestMEM7_ANoteThatMemoriesComeFromIsDeleted like any other: the indexes follow, and the next write is taken.
func TestMEM7_ANoteThatMemoriesComeFromIsDeleted(t *testing.T) {
	d := start(t)
	for i, private := range []bool{false, true} {
		id := fmt.Sprint("n", i)
		d.do("notes.put", fmt.Sprintf(`{"id":%q,"title":"Garden %s","body":"---\ntype: Place\n---\n","private":%v}`, id, id, private))
		d.do("memory.add", `{"statement":"Bees are quiet in winter `+id+`","source":{"kind":"client","noteId":"`+id+`"}}`)
		d.do("notes.archive", `{"id":"`+id+`"}`)
		d.do("notes.delete", `{"id":"`+id+`"}`)
	}
	d.want(d.do("memory.list", `{"validity":"any"}`), "total", "2")
}
