package rpc_test

import (
	"bufio"
	"context"
	"fmt"
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
// run.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{200, 20 << 10} {
		b.Run(fmt.Sprintf("%dB/ctxd", size), func(b *testing.B) { roundTrips(b, serve(b, rpc.Limits{}).connect(), size) })
		b.Run(fmt.Sprintf("%dB/echo", size), func(b *testing.B) { roundTrips(b, echoServer(b), size) })
	}
}

// BenchmarkThroughput is PERF-2: 8 clients.
func BenchmarkThroughput(b *testing.B) {
	const clients, size = 8, 200
	run := func(b *testing.B, dial func() *peer) {
		b.SetParallelism(clients / 2)
		b.RunParallel(func(pb *testing.PB) {
			p := dial()
			msg := []byte(request(size))
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

func request(size int) string {
	head := `{"jsonrpc":"2.0","id":1,"method":"test.echo","params":{"text":"`
	return head + strings.Repeat("x", size-len(head)-4) + "\"}}\n"
}

func roundTrips(b *testing.B, p *peer, size int) {
	msg := []byte(request(size))
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
