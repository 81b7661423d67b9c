package host_test

import (
	"testing"

	"github.com/ctxd/ctxd/rpc/host"
)

func TestMEM82_RoomOnTheDisk(t *testing.T) {
	for free, want := range map[uint64]int{
		0: host.None, 500<<20 - 1: host.None, 500 << 20: host.VeryLittle, 1<<30 - 1: host.VeryLittle, 1 << 30: host.Little,
		5<<30 - 1: host.Little, 5 << 30: host.Enough, 1 << 50: host.Enough,
	} {
		if got := host.DefaultRoom.Of(free); got != want {
			t.Errorf("%d bytes: %d, want %d", free, got, want)
		}
	}
	if got := (host.Room{}).Of(0); got != host.Enough {
		t.Errorf("nobody is told: %d", got)
	}
	if got := host.Left(700 << 20); got != "the disk of the data has 700 MiB left" {
		t.Error(got)
	}
}
