package jsonrpc

import (
	"sync/atomic"
	"time"
)

// maxExtra is how many reads of a client may run without a place: those that run
// where they were read, or at once.
const maxExtra = 16

// process is a client: the process at the other end of some connections. What all
// clients share is shared by process, so that nobody gets more by opening more
// connections. Where the system does not tell which process it is, each connection is
// a client.
type process struct {
	pid             int          // 0 when it is not known
	open            int          // its connections, those that have not ended yet included; under Server.mu
	lastOwnEviction time.Time    // when it was last to evict one of its own, being over its share; under Server.mu
	extra           atomic.Int64 // reads that run without a place
	places          poolClient
	waitingReplies  atomic.Int64 // long replies that wait for memory
	lastReply       uint64       // when one of them had its turn last; under replies.mu
}

// enterProcess counts a connection of a process. mu is held.
func (s *Server) enterProcess(pid int) *process {
	p := s.processes[pid]
	if p == nil {
		p = &process{pid: pid}
		if pid != 0 {
			s.processes[pid] = p
		}
	}
	p.open++
	return p
}

// leaveProcess is called when a connection is over. mu is held.
func (s *Server) leaveProcess(p *process) {
	p.open--
	if p.open == 0 && p.pid != 0 {
		delete(s.processes, p.pid)
	}
}

// addExtra counts a read that is to run without a place, and reports whether it may.
func (p *process) addExtra() bool {
	if p.extra.Add(1) <= maxExtra {
		return true
	}
	p.extra.Add(-1)
	return false
}

// endExtra is called when a read is done.
func (p *process) endExtra(k *Call) {
	if k.extra {
		p.extra.Add(-1)
	}
}
