package main

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
)

// syncCommands are the commands of scripts about a store that several machines share.
var syncCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"servers": runServer,
	"words":   keepWords,
}

// serversOf are the servers of scripts, by their $WORK.
var serversOf sync.Map

// runServer is "servers": it runs a NATS server until the end of the script and has
// $CTXD_STORE_SYNC_URL name it. "servers stop" ends it, and "servers start" runs it again.
func runServer(ts *testscript.TestScript, neg bool, args []string) {
	if running, ok := serversOf.Load(ts.Getenv("WORK")); ok && !neg && len(args) == 1 {
		switch c := running.(*natstest.Cluster); args[0] {
		case "stop":
			c.Stop(0)
			return
		case "start":
			ts.Check(c.Start(0))
			ts.Check(c.Ready())
			return
		}
	}
	if neg || len(args) != 0 {
		ts.Fatalf("usage: servers [stop|start]")
	}
	dir, err := os.MkdirTemp("", "ctxd-nats-")
	ts.Check(err)
	c, err := natstest.StartClusterIn(dir, natstest.ClusterOptions{Servers: 1})
	ts.Check(err)
	ts.Defer(func() {
		c.Close()
		_ = os.RemoveAll(dir)
	})
	serversOf.Store(ts.Getenv("WORK"), c)
	ts.Setenv("CTXD_STORE_SYNC_URL", c.URL())
}

// keepWords is "words FILE": it writes the recovery words of the JSON that was printed last.
func keepWords(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: words FILE")
	}
	var printed struct{ Words string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &printed))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(printed.Words), 0o600))
}
