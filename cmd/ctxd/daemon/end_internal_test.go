package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/config"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/socket"
)

// atOnce is the time of an end that has been over since it began.
func atOnce() <-chan time.Time {
	over := make(chan time.Time)
	close(over)
	return over
}

// socketPath returns where a socket can be: in a private folder, with a short path.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxd-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// started returns a daemon that serves.
func started(t *testing.T, data string) *Daemon {
	t.Helper()
	return startedWith(t, data, config.Chat{})
}

// startedWith returns a daemon that serves, with providers.
func startedWith(t *testing.T, data string, chat config.Chat) *Daemon {
	t.Helper()
	d, err := Start(Options{
		Socket: socketPath(t), Data: data, Log: slog.New(slog.DiscardHandler), limits: rpc.DefaultLimits(), chat: chat,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

// The end of a daemon does not wait for ever, and says what it did not wait for. What goes
// on is waited for by nobody; here it comes to its end, and then the store is whole.
func TestREL8_TheEndDoesNotWaitForEver(t *testing.T) {
	data := t.TempDir()
	d := started(t, data)
	release := make(chan struct{})
	d.Go(func() { <-release })
	d.late = atOnce
	err := d.Close()
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "did not wait for") {
		t.Errorf("the end that took too long: %v", err)
	}
	close(release)
	for {
		db, err := kv.Open(data, kv.Options{Format: StoreFormat})
		if err == nil {
			if st := db.Status(); !st.Recovered.Clean {
				t.Errorf("the store was not closed well: %+v", st.Recovered)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			return
		}
		if fault.KindOf(err) != fault.Conflict {
			t.Fatal(err)
		}
		<-time.After(time.Millisecond) // the lock is given up by what goes on
	}
}

// An end while the store is opened does not wait for ever, either.
func TestREL8_TheEndOfLoadingDoesNotWaitForEver(t *testing.T) {
	ln, err := socket.Listen(socketPath(t), socket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	release, opening := make(chan struct{}), make(chan struct{})
	d := &Daemon{Listener: ln, Stopped: make(chan struct{}), late: atOnce, Server: rpc.New(rpc.Options{
		OpenStore: func() (*kv.Store, error) {
			close(opening)
			<-release
			return nil, errors.New("nobody waits for it")
		},
	})}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-opening
		cancel()
	}()
	if err := d.Load(ctx); fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
	close(release)
}
