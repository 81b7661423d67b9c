package jsonrpc_test

import (
	"runtime/debug"
	"testing"

	"github.com/ctxd/ctxd/rpc/jsonrpc"
)

// TestCollectorOfTheProcess changes how early the collector runs while some are
// thrifty and some are not: what was asked for last holds when nobody is.
func TestCollectorOfTheProcess(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	thrifty := func(on bool) func() { return func() { jsonrpc.BeThrifty(on) } }
	for i, step := range []struct {
		do   func()
		want int
	}{
		{func() { jsonrpc.SetGCPercent(50) }, 50},
		{thrifty(true), 10},
		{func() { jsonrpc.SetGCPercent(70) }, 10},
		{thrifty(true), 10},
		{thrifty(false), 10},
		{thrifty(false), 70},
		{thrifty(true), 10},
		{thrifty(false), 70},
	} {
		step.do()
		got := debug.SetGCPercent(step.want)
		if got != step.want {
			t.Errorf("after step %d it is %d, want %d", i, got, step.want)
		}
	}
}
