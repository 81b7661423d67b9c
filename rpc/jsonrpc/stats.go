package jsonrpc

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// buckets is the number of latency buckets: up to 1 µs, 2 µs, 4 µs … 2^30 µs,
// which is 18 minutes.
const buckets = 31

// histogram counts durations by powers of two. It may be used concurrently.
type histogram struct {
	count [buckets]atomic.Uint64
	max   atomic.Int64 // microseconds
}

func (h *histogram) add(d time.Duration) {
	us := max(0, d.Microseconds())
	i := 0
	if us > 1 {
		i = min(bits.Len64(uint64(us-1)), buckets-1)
	}
	h.count[i].Add(1)
	for old := h.max.Load(); us > old && !h.max.CompareAndSwap(old, us); {
		old = h.max.Load()
	}
}

func (h *histogram) stage(name string) protocol.StageStats {
	out := protocol.StageStats{Stage: name, MaxUS: h.max.Load(), Buckets: []protocol.Bucket{}}
	total := uint64(0)
	for i := range h.count {
		if n := h.count[i].Load(); n > 0 {
			out.Buckets = append(out.Buckets, protocol.Bucket{UpToUS: 1 << i, Count: n})
			total += n
		}
	}
	out.P50US, out.P99US = quantile(out.Buckets, (total+1)/2), quantile(out.Buckets, total-total/100)
	return out
}

// quantile returns the bound of the bucket that the nth call lies in.
func quantile(list []protocol.Bucket, n uint64) int64 {
	for _, b := range list {
		if n <= b.Count {
			return b.UpToUS
		}
		n -= b.Count
	}
	return 0
}

// stats are the figures of one method.
type stats struct {
	errors    atomic.Uint64
	calls     atomic.Uint64
	wait, ran histogram
}

func (s *stats) observe(wait, ran time.Duration, failed bool) {
	s.calls.Add(1)
	if failed {
		s.errors.Add(1)
	}
	s.wait.add(wait)
	s.ran.add(ran)
}

// MethodStats returns the figures of the methods that were called, the busiest
// first.
func (s *Server) MethodStats() []protocol.MethodStats {
	list := []protocol.MethodStats{}
	for _, name := range s.names {
		m := s.methods[name]
		if n := m.calls.Load(); n > 0 {
			list = append(list, protocol.MethodStats{
				Method: name, Calls: n, Errors: m.errors.Load(),
				Stages: []protocol.StageStats{m.wait.stage("wait"), m.ran.stage("run")},
			})
		}
	}
	slices.SortStableFunc(list, func(a, b protocol.MethodStats) int {
		switch {
		case a.Calls > b.Calls:
			return -1
		case a.Calls < b.Calls:
			return 1
		}
		return 0
	})
	return list
}
