package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/entities/kv"
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

func (inspectStatusCmd) Help() string {
	return "While the daemon opens its store, or restores a backup, only its health is shown."
}

// status is everything that the daemon says of itself. While calls wait for its
// store there is only its health.
type status struct {
	Health protocol.Health `json:"health"`
	Stats  *protocol.Stats `json:"stats"`
	Vaults []watch.Status  `json:"vaults"`
}

func (inspectStatusCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		var st status
		if err := st.ask(a.ctx, cl); err != nil {
			return err
		}
		if a.JSON {
			return a.out.json(st)
		}
		st.draw(a.out)
		return nil
	})
}

func (st *status) ask(ctx context.Context, cl *client.Client) error {
	if err := cl.Call(ctx, "admin.health", nil, &st.Health); err != nil || !st.Health.Serves() {
		return err
	}
	st.Stats = &protocol.Stats{}
	if err := cl.Call(ctx, "admin.stats", nil, st.Stats); err != nil {
		return err
	}
	var list protocol.VaultList
	err := cl.Call(ctx, "vault.list", nil, &list)
	st.Vaults = list.Vaults
	return err
}

// moods are the colours of the standings of the daemon.
var moods = map[string]style{protocol.Healthy: good, protocol.Warning: warn, protocol.Failing: bad}

func (st *status) draw(s *screen) {
	h := &st.Health
	mood := h.Status
	if h.Loading != nil {
		mood = h.Loading.Phase
	}
	s.say(styled(strong, "ctxd "+h.Version), text("  "), styled(moods[h.Status], mood),
		styled(faint, fmt.Sprintf("  pid %d, up %s", h.PID, (time.Duration(h.UptimeMS)*time.Millisecond).Round(time.Second))))
	for _, w := range h.Warnings {
		s.say(text("  "), styled(warn, "! "), text(w))
	}
	if st.Stats == nil {
		st.drawLoading(s)
		return
	}
	s.say()
	st.drawFacts(s)
	drawVaults(s, st.Vaults)
	drawMethods(s, st.Stats.Methods)
}

// stages say what a daemon does while calls wait.
var stages = map[string]string{
	protocol.StageCalls: "waiting for calls under way", protocol.StageStore: "reading the records", protocol.StageRooms: "building the indexes",
}

func (st *status) drawLoading(s *screen) {
	if l := st.Health.Loading; l != nil {
		s.say(styled(faint, fmt.Sprintf("  %s, for %s so far", firstOf(stages[l.Stage], l.Stage), millis(float64(l.ForMS)))))
	}
}

func (st *status) drawFacts(s *screen) {
	h, n := &st.Health, st.Stats
	f := &facts{table{indent: 2}}
	f.addf("knows", "%s (%s archived), %s of %s", count(n.Notes, "note"), number(n.Archived), count(n.Entities, "entity"), count(n.Types, "type"))
	f.addf("store", "%s, %s; %s, transaction %s", h.Store.Mode, h.Store.Durability, count(h.Store.Records, "record"), number(h.Store.Seq))
	if h.Store.Durability == kv.Relaxed.String() {
		f.add("", "relaxed: a power cut may take what was written in the last second")
	}
	f.addf("journal", "%s since the last snapshot", size(h.Store.JournalBytes))
	name := "last start"
	for _, l := range recoveredInWords(h.Store.Recovered) {
		f.row(line{styled(faint, name)}, l)
		name = ""
	}
	if h.Disk.TotalBytes > 0 {
		f.addf("disk", "%s of %s free", size(h.Disk.FreeBytes), size(h.Disk.TotalBytes))
	}
	f.addf("memory", "%s, %s of it live; %s", size(n.RSSBytes), size(n.HeapBytes), count(n.Goroutines, "goroutine"))
	f.add("search", indexInWords(n))
	f.add("embedder", embedderInWords(&h.Embedder))
	c := n.Connections
	f.addf("clients", "%d open, %d since the start, %d refused, %d cut", c.Open, c.Accepted, c.Refused, c.Cut)
	f.draw(s)
}

// indexInWords says in one line how far the indexes are.
func indexInWords(n *protocol.Stats) string {
	w, m := &n.Index.Words, &n.Index.Meanings
	out := fmt.Sprintf("%s by words, %s by meaning", number(w.Notes), number(m.Notes))
	if waiting := w.Waiting + m.Waiting; waiting > 0 {
		out += fmt.Sprintf("; %s to come: ctxd inspect index", number(waiting))
	}
	return out
}

func drawVaults(s *screen, vaults []watch.Status) {
	s.heading("Vaults")
	if len(vaults) == 0 {
		s.say(styled(faint, "  none yet: ctxd import ~/Notes"))
		return
	}
	t := &table{indent: 2, head: []string{"name", "notes", "links", "unresolved", "skipped", "agreed", "folder"}, right: []int{1, 2, 3, 4}}
	for _, v := range vaults {
		where := line{text(v.Path)}
		switch {
		case v.Stale:
			where = append(where, styled(bad, "  stale: ctxd vault status "+v.Vault))
		case v.Watching:
			where = append(where, styled(faint, "  followed"))
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
