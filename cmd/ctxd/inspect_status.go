package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/notes/watch"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectStatusCmd struct{}

func (inspectStatusCmd) Examples() []example {
	return []example{
		{"ctxd inspect status", "how the daemon is"},
		{"ctxd inspect status --json | jq -r .health.status", "healthy, warning or error"},
	}
}

// status is everything that the daemon says of itself.
type status struct {
	Health protocol.Health `json:"health"`
	Stats  protocol.Stats  `json:"stats"`
	Vaults []watch.Status  `json:"vaults"`
}

func (inspectStatusCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		var st status
		var list protocol.VaultList
		for method, into := range map[string]any{"admin.health": &st.Health, "admin.stats": &st.Stats, "vault.list": &list} {
			if err := cl.Call(a.ctx, method, nil, into); err != nil {
				return err
			}
		}
		st.Vaults = list.Vaults
		if a.JSON {
			return a.out.json(st)
		}
		st.draw(a.out)
		return nil
	})
}

// moods are the colours of the standings of the daemon.
var moods = map[string]style{protocol.Healthy: good, protocol.Warning: warn, protocol.Failing: bad}

func (st *status) draw(s *screen) {
	h := &st.Health
	s.say(styled(strong, "ctxd "+h.Version), text("  "), styled(moods[h.Status], h.Status),
		styled(faint, fmt.Sprintf("  pid %d, up %s", h.PID, (time.Duration(h.UptimeMS)*time.Millisecond).Round(time.Second))))
	for _, w := range h.Warnings {
		s.say(text("  "), styled(warn, "! "), text(w))
	}
	s.say()
	st.drawFacts(s)
	drawVaults(s, st.Vaults)
	drawMethods(s, st.Stats.Methods)
}

func (st *status) drawFacts(s *screen) {
	h, n := &st.Health, &st.Stats
	f := &facts{table{indent: 2}}
	f.addf("knows", "%s (%s archived), %s of %s", count(n.Notes, "note"), number(n.Archived), count(n.Entities, "entity"), count(n.Types, "type"))
	f.addf("store", "%s, %s; %s, transaction %s", h.Store.Mode, h.Store.Durability, count(h.Store.Records, "record"), number(h.Store.Seq))
	f.addf("journal", "%s since the last snapshot", size(h.Store.JournalBytes))
	f.add("last start", recovered(h))
	if h.Disk.TotalBytes > 0 {
		f.addf("disk", "%s of %s free", size(h.Disk.FreeBytes), size(h.Disk.TotalBytes))
	}
	f.addf("memory", "%s, %s of it live; %s", size(n.RSSBytes), size(n.HeapBytes), count(n.Goroutines, "goroutine"))
	embedder := "none: search is by words alone"
	if h.Embedder.Name != "" {
		embedder = fmt.Sprintf("%s, %d dimensions, on %s", h.Embedder.Name, h.Embedder.Dims, h.Embedder.Device)
	}
	f.add("embedder", embedder)
	c := n.Connections
	f.addf("clients", "%d open, %d since the start, %d refused, %d cut", c.Open, c.Accepted, c.Refused, c.Cut)
	f.draw(s)
}

// recovered says what the last start found on disk.
func recovered(h *protocol.Health) string {
	r := h.Store.Recovered
	if r.Clean {
		return "clean"
	}
	parts := []string{fmt.Sprintf("%s replayed", count(int(r.Replayed), "transaction"))}
	if r.TornBytes > 0 {
		parts = append(parts, "an unfinished write of "+size(r.TornBytes)+" cut off")
	}
	if len(r.Damaged) > 0 {
		parts = append(parts, count(len(r.Damaged), "damaged file")+" kept aside")
	}
	return strings.Join(parts, ", ")
}

func drawVaults(s *screen, vaults []watch.Status) {
	s.heading("Vaults")
	if len(vaults) == 0 {
		s.say(styled(faint, "  none yet: ctxd import ~/Notes"))
		return
	}
	t := &table{indent: 2, head: []string{"name", "notes", "links", "unresolved", "skipped", "read", "folder"}, right: []int{1, 2, 3, 4}}
	for _, v := range vaults {
		where := line{text(v.Path)}
		if v.Stale {
			where = append(where, styled(bad, "  is gone"))
		}
		t.row(line{styled(accent, v.Vault)}, line{text(number(v.Notes))}, line{text(number(v.Links))}, line{text(number(v.Unresolved))},
			line{text(number(len(v.Errors)))}, line{text(ago(v.LastScanAt))}, where)
	}
	t.draw(s)
}

// methodsShown is how many of the busiest methods are shown.
const methodsShown = 8

func drawMethods(s *screen, methods []protocol.MethodStats) {
	if len(methods) == 0 {
		return
	}
	s.heading("Calls", styled(faint, "  the busiest methods since the start"))
	t := &table{indent: 2, head: []string{"method", "calls", "errors", "half under", "99 % under", "longest"}, right: []int{1, 2, 3, 4, 5}}
	for _, m := range methods[:min(methodsShown, len(methods))] {
		var run protocol.StageStats
		for _, st := range m.Stages {
			if st.Stage == "run" {
				run = st
			}
		}
		t.add(m.Method, number(m.Calls), number(m.Errors), micros(run.P50US), micros(run.P99US), micros(run.MaxUS))
	}
	t.draw(s)
}

func micros(us int64) string { return millis(float64(us) / 1000) }
