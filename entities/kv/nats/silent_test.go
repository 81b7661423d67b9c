package nats_test

import (
	"net"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
)

// A server that lets everybody in and says nothing: the client waits for its first words, and who
// asks for something is answered before it gives that up.
func TestSYNC4_NobodyWaitsForAServerThatSaysNothing(t *testing.T) {
	id := begun(t, natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	attempts := make(chan net.Conn, 100)
	go func() {
		defer close(attempts)
		first := true
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if first { // Open waits for this one
				first = false
				closes(t, conn)
				continue
			}
			attempts <- conn
		}
	}()
	l := opened(t, "nats://"+ln.Addr().String(), id)
	defer func() { // so that Close does not wait for an attempt either
		closes(t, ln)
		for conn := range attempts {
			closes(t, conn)
		}
	}()
	conn := <-attempts
	defer closes(t, conn)
	read := l.Read(t.Context(), id.Start(), nil)
	_, written := l.Append(t.Context(), id.Start(), []byte("entry"))
	for what, err := range map[string]error{"reading": read, "writing": written} {
		if !retryable(err) || strings.Contains(err.Error(), "says nothing") { // that is known when the attempt is over
			t.Errorf("%s: %v", what, err)
		}
	}
}

func closes(t *testing.T, c interface{ Close() error }) {
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
