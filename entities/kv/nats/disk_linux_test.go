package nats_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// A server whose disk is full, for real. It says nothing to writes, or that it has no room; what
// is there can be read. With room, and started again, it takes them, and has what it acknowledged.
func TestSYNC2_AServerWhoseDiskIsFullLosesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	c, err := natstest.StartClusterIn(dir, natstest.ClusterOptions{Servers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id := begun(t, c)
	l := opened(t, c.URL(), id)
	at, count := id.Start(), 0
	for {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		next, failed := l.Append(short, at, noise(64<<10))
		cancel()
		if err = failed; err != nil {
			break
		}
		at, count = next, count+1
	}
	t.Logf("after %d entries: %v", count, err)
	if !errors.Is(err, outbox.ErrFull) && !errors.Is(err, outbox.ErrUnknown) {
		t.Errorf("told %v", err)
	}
	if entries, end := read(t, l, id.Start()); len(entries) < count || len(entries) > count+1 || end.Seq < at.Seq {
		t.Errorf("of %d entries %d can be read", count, len(entries))
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	c.Stop(0)
	if err := errors.Join(c.Start(0), c.Ready()); err != nil {
		t.Fatal(err)
	}
	reached(t, l)
	entries, end := read(t, l, id.Start())
	if len(entries) < count || len(entries) > count+1 {
		t.Errorf("of %d entries %d are there", count, len(entries))
	}
	last := appended(t, l, end, "with room again")
	if entries, at := read(t, opened(t, c.URL(), id), end); fmt.Sprint(entries) != "[with room again]" || at != last {
		t.Errorf("behind it %q is read", entries)
	}
}
