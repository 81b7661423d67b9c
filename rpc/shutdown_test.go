package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/rpc"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// wantEnding checks that a call is told that the daemon ends, and may be tried again.
func (p *peer) wantEnding(id string) {
	p.t.Helper()
	e := p.wantError(id, protocol.CodeUnavailable)
	if !strings.Contains(e.Message, "stopping") || !e.Data.Retryable || e.Data.Hint == "" {
		p.t.Errorf("%s: %+v %+v", id, e, e.Data)
	}
}

// The end does not wait for jobs, of whatever kind: they are told at once, and so are
// their callers. The log says which they were.
func TestREL8_TheEndStopsJobsAtOnce(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p, gone := b.connect(), b.connect()
	p.call(1, "test.job", `{"name":"j"}`)
	b.begun("j")
	gone.call(1, "test.job", `{"name":"left"}`) // it goes on without its caller
	b.begun("left")
	must(t, gone.nc.Close())
	must(t, b.srv.Shutdown(context.Background()))
	b.srv.Wait()
	p.wantEnding("1")
	p.closed()
	if log := b.log.String(); !strings.Contains(log, "interrupted") || !strings.Contains(log, "[test.job test.job]") {
		t.Errorf("the log does not say what was broken off:\n%s", log)
	}
}

// When the time is up, what has changed nothing is withdrawn, and told why; a mutation that
// has begun completes.
func TestREL8_TheEndWithdrawsWhatHasChangedNothing(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p, other := b.connect(), b.connect()
	p.call(1, "test.write", `{"name":"slow"}`)
	b.begun("slow")
	other.call(1, "test.wait", `{"name":"read"}`)
	b.begun("read")
	p.call(2, "test.write", `{"name":"never"}`)
	p.call(3, "test.history", `{}`) // waits for the mutations
	until(t, "both wait", func() bool { return b.srv.ConnStats().Queued == 2 })
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.srv.Shutdown(expired) }()
	other.wantEnding("1")
	told := map[string]bool{}
	for range 2 {
		r := p.reply()
		if r.Error == nil || r.Error.Code != protocol.CodeUnavailable {
			t.Fatalf("%s: %+v", r.ID, r.Error)
		}
		told[string(r.ID)] = true
	}
	if !told["2"] || !told["3"] {
		t.Errorf("told were %v", told)
	}
	b.open("slow")
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b.srv.Wait()
	if got := b.history(); got != "slow" {
		t.Errorf("written were %q", got)
	}
	if log := b.log.String(); !strings.Contains(log, "reads=2 mutations=1") {
		t.Errorf("the log does not say what was withdrawn:\n%s", log)
	}
}

// Who stops the daemon learns what that breaks off.
func TestREL8_StopSaysWhatItBreaksOff(t *testing.T) {
	b := serve(t, rpc.Limits{})
	p, q := b.connect(), b.connect()
	stops := func() []string {
		var out protocol.Stopped
		q.call(1, "admin.stop", "")
		must(t, json.Unmarshal(q.reply().Result, &out))
		return out.BrokenOff
	}
	if got := stops(); got == nil || len(got) > 0 {
		t.Errorf("it breaks off %#v", got)
	}
	p.call(1, "test.job", `{"name":"j"}`)
	b.begun("j")
	if got := stops(); len(got) != 1 || got[0] != "test.job" {
		t.Errorf("it breaks off %v", got)
	}
	b.open("j")
	p.wantResult("1", `"j"`)
	until(t, "the job is over", func() bool { return len(stops()) == 0 })
}
