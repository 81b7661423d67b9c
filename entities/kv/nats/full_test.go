package nats_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	kvnats "github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// noise can't be packed.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// refusedForRoom wants an error of servers that have none.
func refusedForRoom(t *testing.T, what string, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || !f.Retryable || f.Hint == "" || !errors.Is(err, outbox.ErrFull) {
		t.Errorf("%s: %v", what, err)
	}
	if errors.Is(err, outbox.ErrUnknown) {
		t.Errorf("%s: it is said that nobody knows", what)
	}
}

// fill appends so many entries, or until one is refused.
func fill(t *testing.T, l *kvnats.Log, at outbox.Position, most int) (last outbox.Position, n int, err error) {
	t.Helper()
	for ; n < most; n++ {
		next, err := l.Append(t.Context(), at, noise(64<<10))
		if err != nil {
			return at, n, err
		}
		at = next
	}
	return at, n, nil
}

func TestSYNC2_ServersWithoutRoomRefuseAndTakeAgain(t *testing.T) {
	const room, endless = 4 << 20, 1000
	for name, test := range map[string]struct {
		server int64
		limit  func(t *testing.T, c *natstest.Cluster, bytes int64)
		lifted bool // the log alone is full
	}{
		"server":  {server: room},
		"account": {limit: func(t *testing.T, c *natstest.Cluster, bytes int64) { limitAccount(t, c, bytes) }},
		"stream":  {limit: limitLog, lifted: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1, MaxStore: test.server})
			id := begun(t, c)
			l := opened(t, c.URL(), id)
			if test.limit != nil {
				test.limit(t, c, room)
			}
			at, _, err := fill(t, l, appended(t, l, id.Start(), "first"), 20)
			if err != nil {
				t.Fatal(err)
			}
			state, err := l.PutSnapshot(t.Context(), at, bytes.NewReader(noise(1000)), func(int64) {})
			if err != nil {
				t.Fatal(err)
			}
			last, n, err := fill(t, l, at, endless)
			refusedForRoom(t, "a write", err)
			if entries, end := read(t, l, at); len(entries) != n || end != last || n == 0 {
				t.Errorf("of %d entries %d are read", n, len(entries))
			}
			objects := kvnats.Objects(t, l)
			if !test.lifted {
				_, err = l.PutSnapshot(t.Context(), last, bytes.NewReader(noise(2*room)), func(int64) {})
				refusedForRoom(t, "a state", err)
			}
			list, err := l.Snapshots(t.Context())
			if err != nil || len(list) != 1 || list[0].Name != state.Name || kvnats.Objects(t, l) != objects {
				t.Errorf("something is left of a state that had no room: %d states, %d objects, %v", len(list), kvnats.Objects(t, l)-objects, err)
			}
			if test.lifted {
				test.limit(t, c, -1)
			} else if err := l.Free(t.Context()); err != nil {
				t.Fatal(err)
			}
			appended(t, l, last, "with room again")
			if entries, _ := read(t, l, last); len(entries) != 1 || entries[0] != "with room again" {
				t.Errorf("behind it %q is read", entries)
			}
			if _, err := l.PutSnapshot(t.Context(), last, bytes.NewReader(noise(1000)), func(int64) {}); err != nil {
				t.Errorf("a state with room again: %v", err)
			}
		})
	}
}

func limitAccount(t *testing.T, c *natstest.Cluster, bytes int64) {
	t.Helper()
	if err := c.Limit(bytes); err != nil {
		t.Fatal(err)
	}
}

// limitLog sets how much the stream of the log may have, on servers that have one store.
func limitLog(t *testing.T, c *natstest.Cluster, bytes int64) {
	t.Helper()
	nc, err := nats.Connect(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for info := range js.ListStreams(t.Context()).Info() {
		if strings.HasPrefix(info.Config.Name, "KV_") || strings.HasPrefix(info.Config.Name, "OBJ_") {
			continue
		}
		info.Config.MaxBytes = bytes
		if _, err := js.UpdateStream(t.Context(), info.Config); err != nil {
			t.Fatal(err)
		}
	}
}
