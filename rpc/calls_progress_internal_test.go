package rpc

import (
	"testing"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// Reports of progress that a client is too slow to read are joined: the begin, the
// last report and the end are left.
func TestProgressOfASlowReaderIsJoined(t *testing.T) {
	report := func(kind string, done int64) protocol.ProgressParams {
		return protocol.ProgressParams{Token: 1, Value: protocol.Progress{Kind: kind, Done: done, Total: 9}}
	}
	got := joinProgress([]protocol.ProgressParams{report("begin", 0), report("report", 1), report("report", 2), report("report", 3), report("end", 9)})
	if len(got) != 3 || got[1].Value.Done != 3 || got[0].Value.Kind != "begin" || got[2].Value.Kind != "end" {
		t.Errorf("%+v", got)
	}
}
