package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

type inspectRPCCmd struct {
	Watch bool `short:"w" help:"Show it again each second, until q or Ctrl-C."`
}

func (inspectRPCCmd) Help() string {
	return "Connections, the calls that are not answered yet, and for each method how often it was called and how long it took. " +
		"A bar has one column for each doubling of the time, on the scale in its heading; its height says how many calls took that long."
}

func (inspectRPCCmd) Examples() []example {
	return []example{
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

func (c *inspectRPCCmd) Run(a *app) error {
	return a.with(func(cl *client.Client) error {
		if !c.Watch {
			v, err := readRPC(a.ctx, cl, nil)
			if err != nil {
				return err
			}
			return v.show(a)
		}
		var last *rpcView
		return a.live(func(ctx context.Context) (func(*screen), error) {
			v, err := readRPC(ctx, cl, last)
			if err != nil {
				return nil, a.lost(cl, err)
			}
			if last != nil {
				last.before = nil // one is enough to tell what happened since
			}
			last = v
			if a.JSON {
				return func(s *screen) { _ = s.json(v) }, nil // its flush tells
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

func (v *rpcView) show(a *app) error {
	if a.JSON {
		return a.out.json(v)
	}
	v.draw(a.out)
	return nil
}

// draw shows the view. In a live one the methods have their calls in the last
// second, too.
func (v *rpcView) draw(s *screen) {
	t := v.Totals
	s.say(styled(strong, v.server), styled(faint, fmt.Sprintf("  %s open, %s since the start, %s refused, %s cut",
		count(t.Open, "connection"), number(t.Accepted), number(t.Refused), number(t.Cut))))
	calls := fmt.Sprintf("%s in flight", count(max(0, t.InFlight-v.own()), "call"))
	if t.Queued > 0 {
		calls += fmt.Sprintf(", %s waiting for their turn", number(t.Queued))
	}
	unread := span{}
	if t.OutboundBytes > 0 {
		unread = styled(warn, fmt.Sprintf(", %s unread", size(t.OutboundBytes)))
	}
	s.say(text(calls+"; "+count(int(t.Requests), "request")+", "), errorCount(t.Errors),
		styled(faint, fmt.Sprintf("; %s in, %s out", size(t.BytesIn), size(t.BytesOut))), unread)
	v.drawConnections(s)
	v.drawCalls(s)
	v.drawMethods(s)
}

// narrow reports whether names and numbers alone fill the lines of a screen.
func narrow(s *screen) bool {
	const wide = 90
	return s.width > 0 && s.width < wide
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

func errorCount(n uint64) span {
	if n == 0 {
		return styled(faint, "no errors")
	}
	return styled(bad, count(int(n), "error"))
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
		return cmp.Or(cmp.Compare(b.InFlight, a.InFlight), cmp.Compare(b.WaitingBytes, a.WaitingBytes), cmp.Compare(b.Requests, a.Requests))
	})
	sorted = sorted[:n]
	slices.SortFunc(sorted, func(a, b protocol.Connection) int { return cmp.Compare(a.ID, b.ID) })
	return sorted
}

func (v *rpcView) drawConnections(s *screen) {
	shown := busiest(v.Connections.Connections, connectionsShown)
	var more []span
	if hidden := len(v.Connections.Connections) - len(shown); hidden > 0 {
		more = append(more, styled(faint, fmt.Sprintf("  the busiest; %s more", number(hidden))))
	}
	s.heading("Connections", more...)
	t := &table{
		indent: 2, head: []string{"id", "client", "pid", "open", "calls", "errors", "active", "in", "out", "unread", "events"},
		right: []int{0, 2, 3, 4, 5, 6, 7, 8, 9}, keep: []int{1},
	}
	for _, c := range shown {
		errs, unread := styled(faint, "0"), styled(faint, "0")
		if c.Errors > 0 {
			errs = styled(bad, number(c.Errors))
		}
		if c.WaitingBytes > 0 {
			unread = styled(warn, size(c.WaitingBytes))
		}
		t.row(line{text(number(c.ID))}, clientName(c), line{text(pidText(c.PID))}, line{text(shortly(v.at.Sub(c.OpenedAt)))},
			line{text(number(c.Requests))}, line{errs}, line{text(number(c.InFlight))},
			line{text(size(c.BytesIn))}, line{text(size(c.BytesOut))}, line{unread}, line{styled(faint, topicNames(c.Topics))})
	}
	if narrow(s) { // what was sent is in the totals
		const in, out = 7, 8
		t.without(out)
		t.without(in)
	}
	t.draw(s)
}

// clientName says whose connection it is.
func clientName(c protocol.Connection) line {
	switch {
	case c.PID == os.Getpid():
		return line{styled(faint, "this view")}
	case c.Client.Name == "":
		return line{styled(faint, "not initialized")}
	}
	return line{styled(accent, c.Client.Name), styled(faint, strings.TrimRight(" "+c.Client.Version, " "))}
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
func (v *rpcView) drawCalls(s *screen) {
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
	var more []span
	if hidden := len(calls) - len(shown); hidden > 0 {
		more = append(more, styled(faint, fmt.Sprintf("  the longest; %s more", number(hidden))))
	}
	s.heading("Calls in flight", more...)
	t := &table{indent: 2, head: []string{"conn", "call", "method", "client", "state", "for"}, right: []int{0, 1, 5}, keep: []int{2}}
	for _, k := range shown {
		state := styled(good, k.State)
		if k.State == protocol.CallQueued {
			state = styled(warn, k.State)
		}
		t.row(line{text(number(k.conn.ID))}, line{text(number(k.Call))}, line{text(k.Method)}, clientName(*k.conn), line{state},
			line{text(millis(float64(k.ForMS)))})
	}
	t.draw(s)
}

// drawMethods shows the methods that were called, the busiest first.
func (v *rpcView) drawMethods(s *screen) {
	if len(v.Methods) == 0 {
		return
	}
	s.heading("Methods", styled(faint, "  since the start; time to run, waiting not counted"))
	scale := scaleOf(v.Methods)
	t := &table{indent: 2, head: []string{"method", "calls", "errors", "half under", "99 % under", "longest", scale.title()}, right: []int{1, 2, 3, 4, 5}, keep: []int{0}}
	if v.before != nil {
		t.head, t.right = slices.Insert(t.head, 2, "now"), append(t.right, 6)
	}
	for _, m := range v.Methods {
		run := stageOf(m, "run")
		errs := styled(faint, "0")
		if m.Errors > 0 {
			errs = styled(bad, number(m.Errors))
		}
		cells := []line{
			{text(m.Method)},
			{text(number(m.Calls))},
			{errs},
			{text(micros(min(run.P50US, run.MaxUS)))},
			{text(micros(min(run.P99US, run.MaxUS)))},
			{text(micros(run.MaxUS))},
			{styled(accent, scale.bars(run.Buckets))},
		}
		if v.before != nil {
			cells = slices.Insert(cells, 2, line{text(v.rate(m))})
		}
		t.row(cells...)
	}
	if narrow(s) { // half of a histogram says nothing
		t.without(len(t.head) - 1)
	}
	t.draw(s)
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
