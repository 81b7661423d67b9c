package rpc_test

import (
	"testing"

	"github.com/ctxd/ctxd/rpc"
)

func TestMEM82_RoomOnTheDisk(t *testing.T) {
	for free, want := range map[uint64]int{
		0: rpc.DiskFull, 500<<20 - 1: rpc.DiskFull, 500 << 20: rpc.DiskVeryLow, 1<<30 - 1: rpc.DiskVeryLow, 1 << 30: rpc.DiskLow,
		5<<30 - 1: rpc.DiskLow, 5 << 30: rpc.DiskEnough, 1 << 50: rpc.DiskEnough,
	} {
		if got := rpc.DefaultDiskThresholds.Of(free); got != want {
			t.Errorf("%d bytes: %d, want %d", free, got, want)
		}
	}
	if got := (rpc.DiskThresholds{}).Of(0); got != rpc.DiskEnough {
		t.Errorf("nobody is told: %d", got)
	}
	if got := rpc.DiskLeft(700 << 20); got != "the disk of the data has 700 MiB left" {
		t.Error(got)
	}
}
