package jsonrpc

import (
	"context"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// lastAnswers is how long Shutdown waits for what it has withdrawn to be answered, and
// for mutations that have begun.
const lastAnswers = time.Second

// lookAgain is how often it looks for calls that came late to their queues meanwhile.
const lookAgain = 10 * time.Millisecond

// Shutdown closes the listeners, stops reading from every connection, ends jobs with why,
// which their callers are told when they have stopped, lets the other calls that were
// accepted finish, and closes the connections when their replies are out. When ctx ends
// first, reads, and mutations that have not begun, are answered with why, too; a moment
// later the connections are closed, and Shutdown returns the error of ctx. Mutations that
// have begun complete all the same, and Wait waits for them. Calls that wait for the gate
// are waited for too: open it first. The log says what was broken off.
func (s *Server) Shutdown(ctx context.Context, why error) error {
	s.mu.Lock()
	s.stopping = true
	s.idle.stop()
	for ln := range s.listeners {
		_ = ln.Close()
	}
	s.mu.Unlock()
	for _, c := range s.connections() {
		c.stopReading()
	}
	if jobs := s.Jobs(); len(jobs) > 0 {
		s.log.Info("jobs are interrupted; what they have done stays", "jobs", jobs)
	}
	s.endJobs(why)
	s.stop()
	idle := make(chan struct{})
	go func() {
		s.work.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	s.breakOff(why, idle)
	for _, c := range s.connections() {
		c.cut("")
	}
	return ctx.Err()
}

// breakOff answers the calls that have changed nothing with why, and waits a moment for
// the others. It looks again meanwhile: a call that was read may not be in its queue yet.
func (s *Server) breakOff(why error, idle <-chan struct{}) {
	reads, mutations := 0, 0
	look, moment := time.NewTicker(lookAgain), time.NewTimer(lastAnswers)
	defer look.Stop()
	defer moment.Stop()
	for waiting := true; waiting; {
		for _, c := range s.connections() {
			for _, k := range c.dropUnchanging() {
				if k.method.Mode == protocol.Mutation {
					mutations++
				} else {
					reads++
				}
				c.finish(k, nil, s.failed(c.ctx, &k.method.Method, why))
				c.cancelRead(k) // not before: it would answer by itself that it was withdrawn
			}
		}
		select {
		case <-look.C:
		case <-idle:
			waiting = false
		case <-moment.C:
			waiting = false
		}
	}
	if reads+mutations > 0 {
		s.log.Warn("calls took too long while stopping; they were cancelled and changed nothing", "reads", reads, "mutations", mutations)
	}
}

// dropUnchanging withdraws the reads of a connection, and the mutations that have not
// begun. They are to be answered by the caller.
func (c *Conn) dropUnchanging() (gone []*Call) {
	if k := c.inline.Load(); k != nil {
		c.handOver(k) // so that it can be withdrawn
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, waiting := range [][]*Call{c.reads, c.mutations} {
		for _, k := range waiting {
			if k.state == queued {
				k.state = dropped
				gone = append(gone, k)
			}
		}
	}
	for _, k := range c.mutations {
		if k.state == dropped && c.srv.memory.end(k) {
			c.startMutations() // which it held up
		}
	}
	for _, k := range c.calls {
		if k.state == running && k.method.Mode == protocol.Read && !k.claimed.Load() {
			gone = append(gone, k)
		}
	}
	c.forgetDropped()
	return gone
}

// cancelRead ends the context of a read that runs.
func (c *Conn) cancelRead(k *Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.cancel != nil {
		k.cancel()
	}
}
