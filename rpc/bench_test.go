package rpc_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

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

// request is a call of about size bytes with the text over and over in it.
func request(size int, text string) string {
	head := `{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"`
	return head + strings.Repeat(text, (size-len(head)-4)/len(text)) + "\"}}\n"
}

func roundTrips(b *testing.B, p *peer, message string) {
	msg := []byte(message)
	b.ReportAllocs()
	for b.Loop() {
		exchange(b, p, msg)
	}
}

func exchange(b *testing.B, p *peer, msg []byte) {
	if _, err := p.nc.Write(msg); err != nil {
		b.Fatal(err)
	}
	for {
		_, err := p.in.ReadSlice('\n')
		if err == nil {
			return
		}
		if err != bufio.ErrBufferFull {
			b.Fatal(err)
		}
	}
}

func echoPath(b *testing.B) string {
	path := filepath.Join(shortDir(b), "echo")
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
				_, _ = io.CopyBuffer(struct{ io.Writer }{conn}, struct{ io.Reader }{conn}, make([]byte, 64<<10))
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
