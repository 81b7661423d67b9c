package nats_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

func users(password, more string) string {
	return fmt.Sprintf(`authorization { users = [ { user: ctxd, password: %q }, { user: other, password: other, permissions: { publish: { deny: [%s] } } } ] }`, password, more)
}

// A password that is changed while machines run, and where one starts: each says what is wrong,
// and goes on by itself when it has the new one.
func TestSYNC8_CredentialsThatAreRefusedAreSaidAndReadAgain(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: users("old", "")})
	var text atomic.Value
	text.Store("ctxd:old")
	servers := nats.Servers{URL: c.URL(), Credentials: "ctxd:old", Renew: func() (string, error) {
		got := text.Load().(string)
		if got == "" {
			return "", fault.New(fault.Unavailable, "cannot use the file of the key: it does not exist").WithHint("write the key into it")
		}
		return got, nil
	}}
	id, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: servers, Name: "laptop", Single: true})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := nats.OpenLog(servers, id, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	if err := runs.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := appended(t, runs, id.Start(), "first")
	if err := c.Reconfigure(0, users("new", "")); err != nil {
		t.Fatal(err)
	}
	starts, err := nats.OpenLog(servers, id, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer starts.Close()
	for name, l := range map[string]*nats.Log{"that runs": runs, "that starts": starts} {
		told(t, name, "refuse the credentials", "store.sync.credentials", func() error { _, err := l.End(t.Context()); return err })
	}
	text.Store("")
	told(t, "without a file", "does not exist", "write the key into it", func() error { _, err := runs.End(t.Context()); return err })
	text.Store("ctxd:new")
	for !runs.Connected() || !starts.Connected() {
		<-time.After(time.Millisecond)
	}
	appended(t, runs, at, "second")
	if entries, _ := read(t, starts, id.Start()); fmt.Sprint(entries) != "[first second]" {
		t.Errorf("the log holds %q", entries)
	}
}

// told wants an error that says something, at last: the connection may not be given up yet.
func told(t *testing.T, what, says, hint string, ask func() error) {
	t.Helper()
	var f *fault.Error
	for limit := time.Now().Add(2 * time.Minute); ; <-time.After(time.Millisecond) {
		err := ask()
		if errors.As(err, &f) && f.Kind == fault.Unavailable && strings.Contains(f.Msg, says) && strings.Contains(f.Hint, hint) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: told %v", what, err)
		}
	}
}

func TestSYNC8_WhatAUserMayNotDoIsSaid(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: users("all", "")})
	all := nats.Servers{URL: c.URL(), Credentials: "ctxd:all"}
	id, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: all, Name: "laptop", Single: true})
	if err != nil {
		t.Fatal(err)
	}
	other := nats.Servers{URL: c.URL(), Credentials: "other:other"}
	secret, err := nats.ParseSecret(id.Words())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		deny    string
		missing string
		begins  bool // only that needs it
	}{
		{`"$JS.API.STREAM.CREATE.>"`, "make the stream of the log", true},
		{`"$JS.API.STREAM.PURGE.>"`, "purge the log", false},
		{`"$O.>"`, "write states", false},
		{`"$KV.>"`, "write to the list of machines", false},
		{`"$JS.API.CONSUMER.CREATE.>"`, "read the log by a consumer", false},
		{`"$JS.API.STREAM.LIST"`, "list streams", false},
	} {
		if err := c.Reconfigure(0, users("all", test.deny)); err != nil {
			t.Fatal(err)
		}
		_, _, begins := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: other, Name: "laptop", Single: true})
		_, _, joins := nats.JoinStore(t.Context(), nats.JoinOptions{Servers: other, Secret: secret, Name: "desktop"})
		if !forbids(begins, test.missing) && !strings.Contains(test.missing, "list") {
			t.Errorf("%s: who begins is told %v", test.deny, begins)
		}
		if forbids(joins, test.missing) == test.begins {
			t.Errorf("%s: who joins is told %v", test.deny, joins)
		}
	}
	if list, err := entered(t, all, id).Machines(t.Context()); err != nil || len(list) != 2 { // that of the first denial
		t.Errorf("who may not take part is in the list: %+v, %v", list, err)
	}
}

func forbids(err error, what string) bool {
	var f *fault.Error
	return errors.As(err, &f) && strings.Contains(f.Msg, "may not") && strings.Contains(f.Msg, what) && strings.Contains(f.Hint, "permissions")
}

// A write that a server does not take since its user may not is refused, not unknown.
func TestSYNC2_AWriteThatIsNotAllowedIsRefused(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: users("all", "")})
	id, _, err := nats.CreateStore(t.Context(), nats.CreateOptions{Servers: nats.Servers{URL: c.URL(), Credentials: "ctxd:all"}, Name: "laptop", Single: true})
	if err != nil {
		t.Fatal(err)
	}
	l := entered(t, nats.Servers{URL: c.URL(), Credentials: "other:other"}, id)
	at := appended(t, l, id.Start(), "first")
	if err := c.Reconfigure(0, users("all", fmt.Sprintf("%q", nats.Subject(id)))); err != nil {
		t.Fatal(err)
	}
	told(t, "who asks what is allowed", "write to the log", "permissions", func() error { return l.Permitted(t.Context()) })
	if _, err := l.Append(t.Context(), at, []byte("second")); !forbids(err, "write to the log") || errors.Is(err, outbox.ErrUnknown) {
		t.Errorf("a write: %v", err)
	}
	if err := c.Reconfigure(0, users("all", "")); err != nil {
		t.Fatal(err)
	}
	for l.Permitted(t.Context()) != nil {
		<-time.After(time.Millisecond)
	}
	appended(t, l, at, "second")
	if entries, _ := read(t, l, id.Start()); fmt.Sprint(entries) != "[first second]" {
		t.Errorf("the log holds %q", entries)
	}
}

func entered(t *testing.T, servers nats.Servers, id *nats.Identity) *nats.Log {
	t.Helper()
	l, err := nats.OpenLog(servers, id, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if err := l.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSYNC2_OlderServersAreRefused(t *testing.T) {
	for version, old := range map[string]bool{
		"2.9.25": true, "2.10.29": true, "1.4.1": true, "2.11.0": false, "2.11.0-RC.1": false, "2.15.2": false, "3.0.0": false, "dev": false, "": false,
	} {
		if f := nats.TooOld(version); (f != nil) != old || old && (f.Hint == "" || !strings.Contains(f.Msg, version) || !strings.Contains(f.Msg, "2.11")) {
			t.Errorf("%q: %v", version, f)
		}
		if list := nats.Warned(version); (len(list) > 0) != old || old && !strings.Contains(list[0], version) {
			t.Errorf("%q, in use: %q", version, list)
		}
	}
}
