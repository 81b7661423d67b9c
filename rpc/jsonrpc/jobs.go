package jsonrpc

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// jobKind is a kind of job with the number of those that run. Methods that name the
// same kind share it.
type jobKind struct {
	protocol.JobKind
	running atomic.Int64 // of all connections, those that wait for the gate included
}

// book books a job of the kind for a connection. The error says which limit is
// reached. schedule.mu is held.
func (j *jobKind) book(c *Conn) *protocol.Error {
	most := j.PerConnection
	if most == 0 {
		most = c.srv.limits.Jobs
	}
	if c.jobs[j] >= most {
		return LimitError(true, "wait for a job to end", "more than %d jobs run", most)
	}
	if n := j.running.Add(1); j.Total > 0 && n > int64(j.Total) {
		j.running.Add(-1)
		return LimitError(true, "wait for a job to end", "more than %d jobs of the kind %s run on all connections", j.Total, j.Name)
	}
	if c.jobs == nil {
		c.jobs = map[*jobKind]int{}
	}
	c.jobs[j]++
	return nil
}

// unbook takes book back. It comes before the reply, so that a client that has read
// it finds the place free. schedule.mu is held.
func (j *jobKind) unbook(c *Conn) {
	j.running.Add(-1)
	c.jobs[j]--
	if c.jobs[j] == 0 {
		delete(c.jobs, j)
	}
}

// queueJob lets a job run beside everything else.
func (c *Conn) queueJob(k *Call) {
	c.mu.Lock()
	full := k.method.kind.book(c)
	if full == nil {
		c.pending = append(c.pending, k)
		c.startJobs()
	}
	c.mu.Unlock()
	if full != nil {
		c.finish(k, nil, full)
	}
}

// startJobs starts the jobs that need not wait for the gate. mu is held.
func (c *Conn) startJobs() {
	c.pending = slices.DeleteFunc(c.pending, func(k *Call) bool {
		begins := k.enter()
		if begins {
			c.startJob(k)
		}
		return begins
	})
}

// startJob starts a job. It goes on when its connection is gone, like a mutation,
// unless its kind is interactive, and can be withdrawn. mu is held.
func (c *Conn) startJob(k *Call) {
	ctx := context.WithoutCancel(c.ctx)
	var cancel context.CancelCauseFunc
	if k.entered != nil {
		ctx, cancel = c.srv.gate.Lease(ctx)
	} else {
		ctx, cancel = context.WithCancelCause(ctx)
	}
	k.state, k.cancel = running, func() { cancel(nil) }
	kind, ending := k.method.kind, c.srv.ending
	release := context.AfterFunc(ending, func() { cancel(context.Cause(ending)) })
	leave := func() bool { return true }
	if kind.Interactive {
		leave = context.AfterFunc(c.ctx, k.cancel)
	}
	end := c.srv.jobs.begin(k.method.Name)
	c.srv.run(func() {
		defer end()
		c.execute(ctx, k)
		release()
		leave()
		cancel(nil)
		k.leave()
	})
}

// runningJobs are the jobs that run, with the names of their methods.
type runningJobs struct {
	mu   sync.Mutex // guards what follows
	list []*runningJob
}

type runningJob struct{ method string }

// begin counts a job in until end is called.
func (r *runningJobs) begin(method string) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	job := &runningJob{method}
	r.list = append(r.list, job)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.list = slices.DeleteFunc(r.list, func(other *runningJob) bool { return other == job })
	}
}

func (r *runningJobs) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.list) > 0
}

// methods returns the methods of the jobs, the one that began first at the beginning.
func (r *runningJobs) methods() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.list))
	for _, job := range r.list {
		names = append(names, job.method)
	}
	return names
}

// BeginJob counts work of the daemon's own among the jobs that run, until end is called.
func (s *Server) BeginJob(method string) (end func()) { return s.jobs.begin(method) }

// Jobs returns the methods of the jobs that run, the one that began first at the
// beginning.
func (s *Server) Jobs() []string { return s.jobs.methods() }
