package inspect

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/hook"
	"github.com/ctxd/ctxd/cmd/ctxd/store"
	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/notes/vault"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type statusCmd struct{}

func (statusCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect status", "how the daemon is"},
		{"ctxd inspect status --json | jq -r .health.status", "healthy, warning or error"},
	}
}

func (statusCmd) Help() string {
	return "While the daemon opens its store or restores a backup, only its health is shown."
}

// Status is everything that the daemon says of itself. While calls wait for its
// store there is only its health.
type Status struct {
	Health protocol.Health `json:"health"`
	Stats  *protocol.Stats `json:"stats"`
	Vaults []vault.Status  `json:"vaults"`
	// Capture is what was kept of the programs that call ctxd hook, when one of them is installed.
	Capture []hook.Capture `json:"capture,omitempty"`
}

func (statusCmd) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		var st Status
		if err := st.ask(a.Ctx, cl); err != nil {
			return err
		}
		if a.JSON {
			return a.Out.JSON(st)
		}
		st.draw(a.Out)
		return nil
	})
}

func (st *Status) ask(ctx context.Context, cl *client.Client) error {
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
	if err == nil && len(hook.Installed()) > 0 {
		st.Capture, err = hook.Captures(ctx, cl, time.Now())
	}
	return err
}

// Moods are the colours of the standings of the daemon.
var Moods = map[string]term.Style{protocol.Healthy: term.Good, protocol.Warning: term.Warn, protocol.Failing: term.Bad}

func (st *Status) draw(s *term.Screen) {
	h := &st.Health
	mood := h.Status
	if h.Loading != nil {
		mood = h.Loading.Phase
	}
	s.Say(term.Styled(term.Strong, "ctxd "+h.Version), term.Text("  "), term.Styled(Moods[h.Status], mood),
		term.Styled(term.Faint,
			fmt.Sprintf("  pid %d, up %s", h.PID, (time.Duration(h.UptimeMS)*time.Millisecond).Round(time.Second))))
	for _, w := range h.Warnings {
		s.Say(term.Text("  "), term.Styled(term.Warn, "! "), term.Text(w))
	}
	if st.Stats == nil {
		st.drawLoading(s)
		return
	}
	s.Say()
	st.drawFacts(s)
	DrawVaults(s, st.Vaults)
	drawMethods(s, st.Stats.Methods)
}

// stages say what a daemon does while calls wait.
var stages = map[string]string{
	protocol.StageCalls: "waiting for calls in progress", protocol.StageStore: "reading the records",
	protocol.StageRooms: "building the indexes",
}

func (st *Status) drawLoading(s *term.Screen) {
	if l := st.Health.Loading; l != nil {
		s.Say(term.Styled(term.Faint,
			fmt.Sprintf("  %s, for %s so far", cmp.Or(stages[l.Stage], l.Stage), term.Millis(float64(l.ForMS)))))
	}
}

func (st *Status) drawFacts(s *term.Screen) {
	h, n := &st.Health, st.Stats
	f := &term.Facts{Table: term.Table{Indent: 2}}
	f.Addf("knows", "%s (%s archived), %s of %s", term.Count(n.Notes, "note"), term.Number(n.Archived),
		term.Count(n.Entities, "entity"), term.Count(n.Types, "type"))
	f.Addf("store", "%s, %s; %s, transaction %s", h.Store.Mode, h.Store.Durability,
		term.Count(h.Store.Records, "record"), term.Number(h.Store.Seq))
	if h.Store.Durability == kv.Relaxed.String() {
		f.Add("", "relaxed: a power cut may lose the writes of the last second")
	}
	if h.Sync != nil {
		f.Addf("shared", "%s; %s", cmp.Or(h.Sync.Durability, "durability not known yet"), connected(h.Sync.Connected))
	}
	f.Addf("journal", "%s since the last snapshot", term.Size(h.Store.JournalBytes))
	name := "last start"
	for _, l := range store.RecoveredInWords(h.Store.Recovered) {
		f.Row(term.Line{term.Styled(term.Faint, name)}, l)
		name = ""
	}
	if h.Disk.TotalBytes > 0 {
		f.Addf("disk", "%s of %s free", term.Size(h.Disk.FreeBytes), term.Size(h.Disk.TotalBytes))
	}
	f.Addf("memory", "%s, %s of it live; %s", term.Size(n.RSSBytes), term.Size(n.HeapBytes),
		term.Count(n.Goroutines, "goroutine"))
	f.Add("search", indexInWords(n))
	f.Add("embedder", embedderInWords(&h.Embedder))
	if h.Reranker != nil {
		f.Add("reranker", rerankerInWords(h.Reranker))
	}
	for _, c := range st.Capture {
		if c.Installed {
			f.Row(term.Line{term.Styled(term.Faint, c.Host)}, lastKept(&c))
		}
	}
	c := n.Connections
	f.Addf("clients", "%d open, %d since the start, %d refused, %d cut", c.Open, c.Accepted, c.Refused, c.Cut)
	f.Draw(s)
}

// indexInWords says in one line how far the indexes are.
func indexInWords(n *protocol.Stats) string {
	w, m := &n.Index.Words, &n.Index.Meanings
	out := fmt.Sprintf("%s by words, %s by meaning", term.Number(w.Notes), term.Number(m.Notes))
	if waiting := w.Waiting + m.Waiting; waiting > 0 {
		out += fmt.Sprintf("; %s waiting: ctxd inspect index", term.Number(waiting))
	}
	return out
}

// DrawVaults draws the folders that are followed.
func DrawVaults(s *term.Screen, vaults []vault.Status) {
	s.Heading("Vaults")
	if len(vaults) == 0 {
		s.Say(term.Styled(term.Faint, "  none yet: ctxd import ~/Notes"))
		return
	}
	t := &term.Table{
		Indent: 2, Head: []string{"name", "notes", "links", "unresolved", "skipped", "last read", "folder"},
		Right: []int{1, 2, 3, 4},
	}
	for _, v := range vaults {
		where := term.Line{term.Text(v.Path)}
		switch {
		case v.Stale:
			where = append(where, term.Styled(term.Bad, "  stale: ctxd vault status "+v.Vault))
		case v.Watching:
			where = append(where, term.Styled(term.Faint, "  followed"))
		}
		t.Row(term.Line{term.Styled(term.Accent, v.Vault)}, term.Line{term.Text(term.Number(v.Notes))},
			term.Line{term.Text(term.Number(v.Links))}, term.Line{term.Text(term.Number(v.Unresolved))},
			term.Line{term.Text(term.Number(len(v.Errors)))}, term.Line{term.Text(term.Ago(v.LastScanAt))}, where)
	}
	t.Draw(s)
}

// methodsShown is how many of the busiest methods are shown.
const methodsShown = 8

func drawMethods(s *term.Screen, methods []protocol.MethodStats) {
	if len(methods) == 0 {
		return
	}
	s.Heading("Calls", term.Styled(term.Faint, "  the busiest methods since the start"))
	t := &term.Table{
		Indent: 2, Head: []string{"method", "calls", "errors", "p50 ≤", "p99 ≤", "longest"},
		Right: []int{1, 2, 3, 4, 5},
	}
	for _, m := range methods[:min(methodsShown, len(methods))] {
		var run protocol.StageStats
		for _, st := range m.Stages {
			if st.Stage == "run" {
				run = st
			}
		}
		t.Add(m.Method, term.Number(m.Calls), term.Number(m.Errors), micros(run.P50US), micros(run.P99US),
			micros(run.MaxUS))
	}
	t.Draw(s)
}

func micros(us int64) string { return term.Millis(float64(us) / 1000) }

// connected says whether the servers of a shared store can be reached.
func connected(yes bool) string {
	if yes {
		return "connected"
	}
	return "its servers can't be reached"
}
