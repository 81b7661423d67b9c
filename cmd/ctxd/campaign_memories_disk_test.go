//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxd/ctxd/rpc/client"
)

// works makes so many calls, each of which must succeed.
func (w *keeper) works(t *testing.T, c *client.Client, calls int) {
	t.Helper()
	for range calls {
		if err := w.do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// isRefused makes calls that a store refuses that can't be written. It returns the first.
func (w *keeper) isRefused(t *testing.T, c *client.Client, calls int, retryable bool) (first *operation) {
	t.Helper()
	for range calls {
		wantUnavailable(t, w.do(t.Context(), c), retryable)
		if first == nil {
			first = w.pending
		}
		w.pending = nil
	}
	return first
}

// wants checks that all is there.
func (w *keeper) wants(t *testing.T, c *client.Client) {
	t.Helper()
	if _, err := w.check(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// TestCampaignREL3_DiskErrorsOverMemories has the kernel refuse what the store asks of it while a client
// writes memories down: what is refused changes nothing, gives no number, and leaves no half behind.
func TestCampaignREL3_DiskErrorsOverMemories(t *testing.T) {
	for _, tc := range []struct {
		name, calls, errno string
		readOnly           bool // from then on, and not only while the calls fail
	}{
		{"flush", "fsync,fdatasync", "EIO", true},
		{"write, no room", "pwrite64", "ENOSPC", false},
		{"write and cut", "pwrite64,ftruncate", "EIO", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := launchOptions{home: shortHome(t)}
			p := serve(t, opts)
			w, c := newKeeper(1, &numbering{has: make(map[int64]string)}), p.client()
			w.works(t, c, 60)
			heal := p.fails(p.journal(), tc.calls, tc.errno)
			first := w.isRefused(t, c, 6, !tc.readOnly)
			w.wants(t, c)
			if heal() == 0 {
				t.Fatal("no call failed, so the test shows nothing")
			}
			if tc.readOnly {
				w.isRefused(t, c, 3, false)
				w.wants(t, c)
				w.pending = first // whether it was written nobody knows
			} else {
				w.works(t, c, 30)
			}
			p.kill()
			p = serve(t, opts)
			c = p.client()
			w.wants(t, c)
			w.works(t, c, 30)
			w.wants(t, c)
			w.numbers.wantNoGap(t)
			wantChecked(t, c)
		})
	}
}

// TestCampaignREL9_NoRoomForMemories fills the disk under a client that writes memories down: each call is
// done or refused, and with room again it goes on.
func TestCampaignREL9_NoRoomForMemories(t *testing.T) {
	home := shortHome(t)
	disk, data := smallDisk(t, home)
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3500<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := launchOptions{home: home, data: data, args: []string{"--set", "store.snapshotAfter=64KiB"}}
	p := serve(t, opts)
	w, c := newKeeper(1, &numbering{has: make(map[int64]string)}), p.client()
	// There may be room for the order to forget and none to carry it out: the next start goes on with it.
	w.without = "memory.forget"
	done, refused := 0, 0
	for refused < 20 && done < 5000 {
		err := w.do(t.Context(), c)
		if err == nil {
			done++
			continue
		}
		wantNoRoom(t, err)
		w.pending = nil
		refused++
	}
	if refused == 0 {
		t.Fatal("nothing was refused, so the test shows nothing")
	}
	w.wants(t, c)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	w.works(t, c, 200)
	p.kill()
	p = serve(t, opts)
	c = p.client()
	w.wants(t, c)
	w.works(t, c, 50)
	w.wants(t, c)
	w.numbers.wantNoGap(t)
	wantChecked(t, c)
	t.Logf("%d calls done, %d refused for want of room", done, refused)
}
