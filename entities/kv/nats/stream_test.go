package nats_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	kvnats "github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// tellsSync is a configuration whose user may ask how the server writes to disk.
const tellsSync = `
system_account: SYS
accounts {
  SYS { users: [ { user: sys, password: secret } ], exports: [ { service: "$SYS.REQ.SERVER.PING.VARZ" } ] }
  APP { jetstream: enabled, users: [ { user: app, password: secret } ],
        imports: [ { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.VARZ" } } ] }
}
no_auth_user: app
`

func TestSYNC11_ServersThatSayThatTheyLoseWritesAreRefused(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, Config: tellsSync, Lazy: lazy})
		o := kvnats.CreateOptions{Servers: kvnats.Servers{URL: c.URL()}, Name: "laptop", Single: true}
		_, found, err := kvnats.CreateStore(t.Context(), o)
		if !lazy {
			if err != nil || found.SyncAlways != "yes" {
				t.Errorf("they write first: %+v, %v", found, err)
			}
			continue
		}
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Retryable || !strings.Contains(f.Hint, "--accept-loss") {
			t.Fatalf("they do not: %v", err)
		}
		if n := len(streams(t, c.URL())); n > 0 {
			t.Errorf("%d streams were made", n)
		}
		o.AcceptLoss = true
		id, found, err := kvnats.CreateStore(t.Context(), o)
		if err != nil || found.SyncAlways != "no" || len(found.Warnings) == 0 {
			t.Fatalf("the loss is accepted: %+v, %v", found, err)
		}
		joined(t, c, id) // for all machines
	}
}

// streams are the names of what a server has.
func streams(t *testing.T, url string) (names []string) {
	t.Helper()
	list := manager(t, url).StreamNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if list.Err() != nil {
		t.Fatal(list.Err())
	}
	return names
}

// manager is who administers the servers.
func manager(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// logStream is the stream of the only log on a server.
func logStream(t *testing.T, js jetstream.JetStream) *jetstream.StreamInfo {
	t.Helper()
	list := js.ListStreams(t.Context())
	for info := range list.Info() {
		if !strings.HasPrefix(info.Config.Name, "KV_") && !strings.HasPrefix(info.Config.Name, "OBJ_") {
			return info
		}
	}
	t.Fatalf("there is no log, %v", list.Err())
	return nil
}

func TestSYNC11_AStreamThatSomebodyHasChangedIsNotUsed(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	l := opened(t, c.URL(), begun(t, c))
	at := appended(t, l, outbox.Position{}, "one")
	js := manager(t, c.URL())
	was := logStream(t, js).Config
	for what, change := range map[string]func(*jetstream.StreamConfig){
		"max_age":              func(s *jetstream.StreamConfig) { s.MaxAge = time.Hour },
		"discard":              func(s *jetstream.StreamConfig) { s.Discard = jetstream.DiscardOld },
		"max_msgs_per_subject": func(s *jetstream.StreamConfig) { s.MaxMsgsPerSubject = 10 },
		"subjects":             func(s *jetstream.StreamConfig) { s.Subjects = append([]string{"other"}, s.Subjects...) },
	} {
		t.Run(what, func(t *testing.T) {
			conf := was
			change(&conf)
			if _, err := js.UpdateStream(t.Context(), conf); err != nil {
				t.Fatal(err)
			}
			err := l.Read(t.Context(), at, func(outbox.Position, []byte) error { return nil })
			var f *fault.Error
			if !errors.As(err, &f) || f.Retryable || !strings.Contains(f.Msg, what) || f.Hint == "" {
				t.Errorf("it is read: %v", err)
			}
			if _, err := js.UpdateStream(t.Context(), was); err != nil {
				t.Fatal(err)
			}
			if got, _ := read(t, l, at); len(got) > 0 {
				t.Errorf("set back, it has %q", got)
			}
		})
	}
}

// A log that was made anew is never written to, though it would take what this machine appends.
func TestSYNC11_ALogThatIsYoungerThanTheStoreIsRefused(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	id := begun(t, c)
	js := manager(t, c.URL())
	was := logStream(t, js)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for made := was; !made.Created.After(was.Created.Add(time.Second)); { // the clock of the servers counts
		if err := js.DeleteStream(ctx, was.Config.Name); err != nil {
			t.Fatal(err)
		}
		s, err := js.CreateStream(ctx, was.Config)
		if err != nil {
			t.Fatal(err)
		}
		made = s.CachedInfo()
	}
	l := opened(t, c.URL(), id)
	if err := l.Await(ctx); err != nil {
		t.Fatal(err)
	}
	err := l.Read(ctx, outbox.Position{}, func(outbox.Position, []byte) error { return nil })
	var f *fault.Error
	if !errors.Is(err, outbox.ErrForked) || !errors.As(err, &f) || f.Retryable || !strings.Contains(f.Hint, "--again") {
		t.Errorf("it is read: %v", err)
	}
	if n := logStream(t, js).State.LastSeq; n != 0 {
		t.Errorf("%d messages were written", n)
	}
}
