//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// TestCampaignMEM6_AHundredThousandMemories fills memoryBank up to a cap of 100,000 over the socket, in the short form
// up to one of 3,000: each memory has a number of its own, is listed once, found by its words, its number and its
// handle, and one more archives the one that is worth least. So it is after another start.
func TestCampaignMEM6_AHundredThousandMemories(t *testing.T) {
	home := shortHome(t)
	n := figure(3000, 100_000)
	opts := launchOptions{home: home, args: []string{"--set", fmt.Sprint("memory.bank=", n)}}
	p := serve(t, opts)
	c := p.client()
	statement := func(i int) string { return fmt.Sprintf("I know of plan word%d, which is number %d of many", i, i) }
	least := n / 3 // by what it is worth
	for from := 0; from < n; from += memory.MaxMany {
		var drafts []protocol.MemoryDraft
		for i := from; i < min(from+memory.MaxMany, n); i++ {
			d := protocol.MemoryDraft{Statement: statement(i)}
			if i == least {
				d.Importance = new(float64)
			}
			drafts = append(drafts, d)
		}
		ask[protocol.MemoryAddedMany](t, c, "memory.addMany", protocol.MemoryAddMany{Memories: drafts})
	}
	added := ask[protocol.MemoryAdded](t, c, "memory.add", protocol.MemoryAdd{MemoryDraft: protocol.MemoryDraft{Statement: "One more than fits"}})
	if added.Memory.Number != int64(n+1) || added.Memory.Status != record.MemoryActive {
		t.Errorf("one more is %+v", added.Memory)
	}
	for _, life := range []string{"first", "second"} {
		stats := ask[protocol.MemoryStats](t, c, "memory.stats", nil)
		if stats.Total != n+1 || stats.Bank != n || stats.MaxBank != n || stats.Status[record.MemoryArchived] != 1 {
			t.Errorf("in the %s life there are %+v", life, stats)
		}
		listedOnce(t, c, n)
		for _, i := range []int{0, least, n / 2, n - 1} {
			m := ask[record.Memory](t, c, "memory.get", map[string]any{"ref": fmt.Sprint("#", i+1)})
			want := record.MemoryActive
			if i == least {
				want = record.MemoryArchived
			}
			if m.Statement != statement(i) || m.Status != want {
				t.Errorf("number %d is %q, %s", i+1, m.Statement, m.Status)
			}
			if by := ask[record.Memory](t, c, "memory.get", map[string]any{"ref": "@" + m.Handle}); by.ID != m.ID {
				t.Errorf("%s leads to %s, not to %s", m.Handle, by.ID, m.ID)
			}
		}
		found := ask[protocol.MemoryFound](t, c, "memory.search", protocol.MemorySearch{Query: fmt.Sprint("plan word", n/2)})
		is := func(hit protocol.MemoryHit) bool { return hit.Text == statement(n/2) }
		if !slices.ContainsFunc(found.Hits, is) {
			t.Errorf("found: %+v", found.Hits)
		}
		if check := ask[protocol.Checked](t, c, "admin.check", nil); !check.OK {
			t.Errorf("problems: %+v", check)
		}
		if life == "first" {
			_ = c.Close()
			p.stop()
			p = serve(t, opts)
			c = p.client()
		}
	}
}

// listedOnce pages through all memories that are found, of which there are n.
func listedOnce(t *testing.T, c *client.Client, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	seen := make(map[int64]bool)
	for cursor := ""; ; {
		var page protocol.MemoryPage
		params := map[string]any{"limit": 500, "cursor": cursor}
		if err := c.Call(ctx, "memory.list", params, &page); err != nil {
			t.Fatal(err)
		}
		if page.Total != n {
			t.Fatalf("%d in all, want %d", page.Total, n)
		}
		for _, m := range page.Memories {
			if seen[m.Number] {
				t.Fatalf("number %d is listed twice", m.Number)
			}
			seen[m.Number] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != n {
		t.Errorf("%d are listed, want %d", len(seen), n)
	}
}
