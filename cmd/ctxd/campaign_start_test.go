//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/cmd/ctxd/term"
)

// race starts n daemons at once and returns the one that serves and what the
// others ended with.
func race(t *testing.T, n int, next func(i int) *process) (winner *process, losers []*process) {
	t.Helper()
	list := make([]*process, n)
	for i := range list {
		list[i] = next(i)
	}
	for _, p := range list {
		p.launch()
	}
	timeout := time.After(2 * patience)
	for len(list) > 1 {
		var left []*process
		for _, p := range list {
			select {
			case <-p.exited:
				losers = append(losers, p)
			default:
				left = append(left, p)
			}
		}
		list = left
		if len(list) < 2 {
			break
		}
		select { // any one that ends; who is the winner is not known
		case <-list[0].exited:
		case <-list[1].exited:
		case <-timeout:
			t.Fatalf("%d of %d daemons run", len(list), n)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no daemon runs; one ended with:\n%s", losers[0].log())
	}
	return list[0], losers
}

// wantOwned checks that a loser ended as one and said who has won, and reports
// whether it also said of which version that is and since when it is up.
func (p *process) wantOwned(winner int) (inFull bool) {
	p.t.Helper()
	if code := p.cmd.ProcessState.ExitCode(); code != term.ExitOwned {
		p.t.Errorf("a loser exits with %d, want %d:\n%s", code, term.ExitOwned, p.log())
	}
	text := p.log()
	inFull = strings.Contains(text, fmt.Sprintf("(pid %d, version ", winner)) && strings.Contains(text, ", up ")
	// While the winner still opens the data, only its process is known.
	if !inFull && !strings.Contains(text, fmt.Sprintf("in use by process %d\n", winner)) {
		p.t.Errorf("a loser is not told that pid %d has won:\n%s", winner, text)
	}
	return inFull
}

// own gives a contender of a race a log of its own.
func (p *process) own(i int) *process {
	p.home = filepath.Join(p.home, fmt.Sprintf("contender-%d", i))
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		p.t.Fatal(err)
	}
	_ = os.Remove(p.logFile()) // of an earlier round
	return p
}

// TestCampaignREL5_OneOfManyStarts starts many daemons at once, time and again:
// one serves, and the others say who. Every round ends with a kill, so that the
// next one finds what a crash leaves, after a restart that has to be quick.
func TestCampaignREL5_OneOfManyStarts(t *testing.T) {
	starts, rounds := figure(20, 100), figure(3, 50)
	home := shortHome(t)
	var restarts latencies
	for range rounds {
		winner, losers := race(t, starts, func(i int) *process { return prepare(t, launchOptions{home: home}).own(i) })
		pid := winner.cmd.Process.Pid
		if h := winner.await(); h.PID != pid {
			t.Errorf("pid %d serves, not %d", h.PID, pid)
		}
		for _, p := range losers {
			if !p.wantOwned(pid) {
				t.Errorf("a loser is not told all of who has won:\n%s", p.log())
			}
		}
		winner.kill()
		again := prepare(t, launchOptions{home: home})
		began := time.Now()
		again.launch()
		again.await()
		restarts = append(restarts, time.Since(began))
		again.kill()
	}
	t.Logf("%d starts x %d: one served each time; after SIGKILL a restart serves: %v", starts, rounds, restarts)
	if worst := restarts.at(1); worst > inTime(time.Second) {
		t.Errorf("a restart took %v", worst)
	}
}

// TestCampaignREL5_OneOfManyOnTheSameData is the same race for the data, by
// daemons on sockets of their own.
func TestCampaignREL5_OneOfManyOnTheSameData(t *testing.T) {
	starts, rounds := figure(10, 50), figure(2, 20)
	data := filepath.Join(shortHome(t), "data")
	inFull, all := 0, 0
	for range rounds {
		winner, losers := race(t, starts, func(int) *process { return prepare(t, launchOptions{data: data}) })
		pid := winner.cmd.Process.Pid
		winner.await()
		for _, p := range losers {
			if p.wantOwned(pid) {
				inFull++
			}
			all++
		}
		winner.kill()
	}
	t.Logf("%d starts x %d: one served each time; %d of %d losers were told version and uptime too", starts, rounds, inFull, all)
}
