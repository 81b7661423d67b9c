package inspect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type rpcCmd struct {
	Watch bool `short:"w" help:"Refresh every second, until q or Ctrl-C."`
}

func (rpcCmd) Help() string {
	return "Shows connections, unanswered calls, and for each method how often it was called and how long it took. " +
		"In the chart of a method each column is twice as long a time as the one before, on the scale in the " +
		"heading; " +
		"its height is the number of calls."
}

func (rpcCmd) Examples() []term.Example {
	return []term.Example{
		{"ctxd inspect rpc", "who is connected, and what takes how long"},
		{"ctxd inspect rpc --watch", "the same, live"},
		{"ctxd inspect rpc --json | jq '.connections[] | {id, client: .client.name, waitingBytes}'", "for scripts"},
	}
}

// rpcView is what the daemon says of its connections and calls at one time.
type rpcView struct {
	protocol.Connections
	Methods []protocol.MethodStats `json:"methods"`

	server string // name, version
	at     time.Time
	before *rpcView // the one that was shown last, nil for the first
}

func (c *rpcCmd) Run(a *Options) error {
	return a.With(func(cl *client.Client) error {
		if !c.Watch {
			v, err := readRPC(a.Ctx, cl, nil)
			if err != nil {
				return err
			}
			return v.show(a)
		}
		var last *rpcView
		return a.Live(a.Ctx, func(ctx context.Context) (func(*term.Screen), error) {
			v, err := readRPC(ctx, cl, last)
			if err != nil {
				return nil, a.Lost(cl, err)
			}
			if last != nil {
				last.before = nil // one is enough to tell what happened since
			}
			last = v
			if a.JSON {
				return func(s *term.Screen) { _ = s.JSON(v) }, nil // its flush tells
			}
			return v.draw, nil
		})
	})
}

// readRPC asks the daemon.
func readRPC(ctx context.Context, cl *client.Client, before *rpcView) (*rpcView, error) {
	info := cl.Server().ServerInfo
	v := &rpcView{server: info.Name + " " + info.Version, before: before}
	if err := cl.Call(ctx, "admin.connections", nil, &v.Connections); err != nil {
		return nil, err
	}
	var stats protocol.Stats
	if err := cl.Call(ctx, "admin.stats", nil, &stats); err != nil {
		return nil, err
	}
	v.Methods, v.at = stats.Methods, time.Now()
	return v, nil
}

func (v *rpcView) show(a *Options) error {
	if a.JSON {
		return a.Out.JSON(v)
	}
	v.draw(a.Out)
	return nil
}

// draw shows the view. In a live one the methods have their calls in the last
// second, too.
func (v *rpcView) draw(s *term.Screen) {
	t := v.Totals
	s.Say(term.Styled(term.Strong, v.server),
		term.Styled(term.Faint, fmt.Sprintf("  %s open, %s since the start, %s refused, %s cut",
			term.Count(t.Open, "connection"), term.Number(t.Accepted), term.Number(t.Refused), term.Number(t.Cut))))
	calls := fmt.Sprintf("%s in progress", term.Count(max(0, t.InFlight-v.own()), "call"))
	if t.Queued > 0 {
		calls += fmt.Sprintf(", %s waiting for their turn", term.Number(t.Queued))
	}
	if t.WaitForMemory > 0 {
		calls += fmt.Sprintf(", %s for memory", term.Number(t.WaitForMemory))
	}
	unread := term.Span{}
	if t.OutboundBytes > 0 {
		unread = term.Styled(term.Warn, fmt.Sprintf(", %s unread", term.Size(t.OutboundBytes)))
	}
	s.Say(term.Text(calls+"; "+term.Count(int(t.Requests), "request")+", "), errorCount(t.Errors),
		term.Styled(term.Faint, fmt.Sprintf("; %s in, %s out", term.Size(t.BytesIn), term.Size(t.BytesOut))), unread)
	v.drawConnections(s)
	v.drawCalls(s)
	v.drawMethods(s)
}

// narrow reports whether names and numbers alone fill the lines of a screen.
func narrow(s *term.Screen) bool {
	const wide = 90
	return s.Width > 0 && s.Width < wide
}

// own returns how many of the calls in flight are those of the view itself.
func (v *rpcView) own() (n int) {
	for _, c := range v.Connections.Connections {
		if c.PID == os.Getpid() {
			n += c.InFlight
		}
	}
	return n
}

func errorCount(n uint64) term.Span {
	if n == 0 {
		return term.Styled(term.Faint, "no errors")
	}
	return term.Styled(term.Bad, term.Count(int(n), "error"))
}

// How many rows are shown of what may be thousands; --json has them all.
const (
	connectionsShown = 12
	callsShown       = 12
)

// busiest returns the connections to show, oldest first.
func busiest(list []protocol.Connection, n int) []protocol.Connection {
	if len(list) <= n {
		return list
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b protocol.Connection) int {
		return cmp.Or(cmp.Compare(b.InFlight, a.InFlight), cmp.Compare(b.WaitingBytes, a.WaitingBytes),
			cmp.Compare(b.Requests, a.Requests))
	})
	sorted = sorted[:n]
	slices.SortFunc(sorted, func(a, b protocol.Connection) int { return cmp.Compare(a.ID, b.ID) })
	return sorted
}

func (v *rpcView) drawConnections(s *term.Screen) {
	shown := busiest(v.Connections.Connections, connectionsShown)
	var more []term.Span
	if hidden := len(v.Connections.Connections) - len(shown); hidden > 0 {
		more = append(more, term.Styled(term.Faint, fmt.Sprintf("  the busiest; %s more", term.Number(hidden))))
	}
	s.Heading("Connections", more...)
	t := &term.Table{
		Indent: 2, Head: []string{"id", "client", "pid", "open", "calls", "errors", "active", "in", "out", "unread", "events"},
		Right: []int{0, 2, 3, 4, 5, 6, 7, 8, 9}, Keep: []int{1},
	}
	for _, c := range shown {
		errs, unread := term.Styled(term.Faint, "0"), term.Styled(term.Faint, "0")
		if c.Errors > 0 {
			errs = term.Styled(term.Bad, term.Number(c.Errors))
		}
		if c.WaitingBytes > 0 {
			unread = term.Styled(term.Warn, term.Size(c.WaitingBytes))
		}
		t.Row(term.Line{term.Text(term.Number(c.ID))}, clientName(c), term.Line{term.Text(pidText(c.PID))},
			term.Line{term.Text(shortly(v.at.Sub(c.OpenedAt)))},
			term.Line{term.Text(term.Number(c.Requests))}, term.Line{errs},
			term.Line{term.Text(term.Number(c.InFlight))},
			term.Line{term.Text(term.Size(c.BytesIn))}, term.Line{term.Text(term.Size(c.BytesOut))}, term.Line{unread},
			term.Line{term.Styled(term.Faint, topicNames(c.Topics))})
	}
	if narrow(s) { // what was sent is in the totals
		const in, out = 7, 8
		t.Without(out)
		t.Without(in)
	}
	t.Draw(s)
}

// clientName says whose connection it is.
func clientName(c protocol.Connection) term.Line {
	switch {
	case c.PID == os.Getpid():
		return term.Line{term.Styled(term.Faint, "this view")}
	case c.Client.Name == "":
		return term.Line{term.Styled(term.Faint, "not initialized")}
	}
	return term.Line{
		term.Styled(term.Accent, c.Client.Name),
		term.Styled(term.Faint, strings.TrimRight(" "+c.Client.Version, " ")),
	}
}

func pidText(pid int) string {
	if pid == 0 {
		return "?"
	}
	return fmt.Sprint(pid)
}

func topicNames(list []protocol.Topic) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = string(t)
	}
	return strings.Join(names, " ")
}

// shortly writes how long something has lasted, in its two largest units.
func shortly(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// drawCalls lists the calls in flight, the longest first, but for those of the
// view itself.
func (v *rpcView) drawCalls(s *term.Screen) {
	type waiting struct {
		protocol.ConnCall
		conn *protocol.Connection
	}
	var calls []waiting
	for i := range v.Connections.Connections {
		c := &v.Connections.Connections[i]
		if c.PID == os.Getpid() {
			continue
		}
		for _, k := range c.Calls {
			calls = append(calls, waiting{k, c})
		}
	}
	if len(calls) == 0 {
		return
	}
	slices.SortStableFunc(calls, func(a, b waiting) int { return cmp.Compare(b.ForMS, a.ForMS) })
	shown := calls[:min(callsShown, len(calls))]
	var more []term.Span
	if hidden := len(calls) - len(shown); hidden > 0 {
		more = append(more, term.Styled(term.Faint, fmt.Sprintf("  the longest; %s more", term.Number(hidden))))
	}
	s.Heading("Calls in progress", more...)
	t := &term.Table{
		Indent: 2, Head: []string{"conn", "call", "method", "client", "state", "for"},
		Right: []int{0, 1, 5}, Keep: []int{2},
	}
	for _, k := range shown {
		state := term.Styled(term.Good, k.State)
		if k.State == protocol.CallQueued {
			state = term.Styled(term.Warn, k.State)
		}
		t.Row(term.Line{term.Text(term.Number(k.conn.ID))}, term.Line{term.Text(term.Number(k.Call))},
			term.Line{term.Text(k.Method)}, clientName(*k.conn), term.Line{state},
			term.Line{term.Text(term.Millis(float64(k.ForMS)))})
	}
	t.Draw(s)
}

// drawMethods shows the methods that were called, the busiest first.
func (v *rpcView) drawMethods(s *term.Screen) {
	if len(v.Methods) == 0 {
		return
	}
	s.Heading("Methods", term.Styled(term.Faint, "  since the start; run time without waiting"))
	scale := scaleOf(v.Methods)
	t := &term.Table{
		Indent: 2,
		Head:   []string{"method", "calls", "errors", "p50 ≤", "p99 ≤", "longest", scale.title()},
		Right:  []int{1, 2, 3, 4, 5}, Keep: []int{0},
	}
	if v.before != nil {
		t.Head, t.Right = slices.Insert(t.Head, 2, "now"), append(t.Right, 6)
	}
	for _, m := range v.Methods {
		run := stageOf(m, "run")
		errs := term.Styled(term.Faint, "0")
		if m.Errors > 0 {
			errs = term.Styled(term.Bad, term.Number(m.Errors))
		}
		cells := []term.Line{
			{term.Text(m.Method)},
			{term.Text(term.Number(m.Calls))},
			{errs},
			{term.Text(micros(min(run.P50US, run.MaxUS)))},
			{term.Text(micros(min(run.P99US, run.MaxUS)))},
			{term.Text(micros(run.MaxUS))},
			{term.Styled(term.Accent, scale.bars(run.Buckets))},
		}
		if v.before != nil {
			cells = slices.Insert(cells, 2, term.Line{term.Text(v.rate(m))})
		}
		t.Row(cells...)
	}
	if narrow(s) { // half of a histogram says nothing
		t.Without(len(t.Head) - 1)
	}
	t.Draw(s)
}

func stageOf(m protocol.MethodStats, name string) protocol.StageStats {
	for _, st := range m.Stages {
		if st.Stage == name {
			return st
		}
	}
	return protocol.StageStats{}
}

// rate returns the calls of a method a second since the view before.
func (v *rpcView) rate(m protocol.MethodStats) string {
	var earlier uint64
	for _, b := range v.before.Methods {
		if b.Method == m.Method {
			earlier = b.Calls
		}
	}
	lasted := v.at.Sub(v.before.at).Seconds()
	if m.Calls <= earlier || lasted <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f/s", max(1, float64(m.Calls-earlier)/lasted))
}

// timeScale is the range of durations that histograms are drawn on: one column
// for each doubling, the same for all methods.
type timeScale struct{ first, last int } // powers of two of microseconds

// scaleOf returns the scale that all calls lie on.
func scaleOf(methods []protocol.MethodStats) timeScale {
	sc := timeScale{first: 62, last: -1}
	for _, m := range methods {
		for _, b := range stageOf(m, "run").Buckets {
			sc.first, sc.last = min(sc.first, column(b)), max(sc.last, column(b))
		}
	}
	return sc
}

// column returns the power of two that is the bound of a bucket.
func column(b protocol.Bucket) int {
	n := 0
	for 1<<n < b.UpToUS && n < 62 {
		n++
	}
	return n
}

// title names both ends of the scale, above its first and last column.
func (sc timeScale) title() string {
	if sc.last < sc.first {
		return ""
	}
	from, to := micros(1<<sc.first), micros(1<<sc.last)
	return from + strings.Repeat(" ", max(1, sc.last-sc.first+1-len([]rune(from))-len([]rune(to)))) + to
}

var blocks = []rune(" ▁▂▃▄▅▆▇█")

// bars draws a histogram. Few calls beside very many still show.
func (sc timeScale) bars(buckets []protocol.Bucket) string {
	if sc.last < sc.first {
		return ""
	}
	most := uint64(1)
	for _, b := range buckets {
		most = max(most, b.Count)
	}
	out := []rune(strings.Repeat("·", sc.last-sc.first+1))
	for _, b := range buckets {
		height := 1 + int(uint64(len(blocks)-2)*b.Count/most)
		out[column(b)-sc.first] = blocks[min(height, len(blocks)-1)]
	}
	return string(out)
}
