//go:build linux

package main

import (
	"testing"

	"github.com/ctxd/ctxd/context/gather"
	"github.com/ctxd/ctxd/context/prompt"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCTX33_HowManyReportsAreKept asks a daemon that keeps two.
func TestCTX33_HowManyReportsAreKept(t *testing.T) {
	c := serve(t, launchOptions{args: []string{"--set", "context.reports=2"}}).client()
	for _, conversation := range []string{"a", "b", "c"} {
		ask[prompt.Result](t, c, "context.assemble", gather.Params{Text: "hello", ConversationID: conversation})
	}
	kept := ask[protocol.RecentReports](t, c, "context.recent", protocol.Recent{Limit: 10}).Reports
	if len(kept) != 2 || kept[0].ConversationID != "c" || kept[1].ConversationID != "b" {
		t.Errorf("%+v", kept)
	}
}
