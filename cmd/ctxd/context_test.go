//go:build linux

package main

import (
	"strconv"
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCTX33_HowManyReportsAreKept asks a daemon for one more than it keeps.
func TestCTX33_HowManyReportsAreKept(t *testing.T) {
	c := serve(t, launchOptions{}).client()
	for i := range gather.DefaultReports + 1 {
		ask[prompt.Result](t, c, "context.assemble", gather.Params{Text: "hello", ConversationID: strconv.Itoa(i)})
	}
	kept := ask[protocol.RecentReports](t, c, "context.recent", protocol.Recent{Limit: gather.DefaultReports}).Reports
	if len(kept) != gather.DefaultReports || kept[0].ConversationID != strconv.Itoa(gather.DefaultReports) || kept[len(kept)-1].ConversationID != "1" {
		t.Errorf("%d reports: %+v", len(kept), kept)
	}
}
