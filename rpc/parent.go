package rpc

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"
)

// parentRound is how often a process is looked at where the system does not
// tell when it ends.
const parentRound = 2 * time.Second

var errNoProcess = errors.New("there is no such process")

// watchParent ends the connection when the process that the client named ends,
// for a client whose socket outlives it: in a child that inherited it, or
// behind a relay. A process that can't be seen, such as one in another
// container, is not watched.
func (s *Session) watchParent(pid int) {
	c := s.conn
	var wait func(context.Context) bool
	err := errNoProcess
	if pid > 0 && pid <= math.MaxInt32 { // other numbers stand for groups of processes
		wait, err = watchProcess(pid)
	}
	if err != nil {
		c.srv.log.LogAttrs(c.ctx, slog.LevelDebug, "the client's process can't be watched", slog.Uint64("conn", s.id), slog.Int("pid", pid))
		return
	}
	c.srv.work.Add(1)
	go func() {
		defer c.srv.work.Done()
		if wait(c.ctx) {
			c.srv.log.LogAttrs(c.ctx, slog.LevelInfo, "connection closed", slog.Uint64("conn", s.id), slog.String("reason", "its process has ended"))
			c.cut("")
		}
	}()
}

// pollUntil looks at a process every round until it has ended (true) or ctx has
// (false).
func pollUntil(ctx context.Context, alive func() bool, round time.Duration) (ended bool) {
	ticker := time.NewTicker(round)
	defer ticker.Stop()
	for alive() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
