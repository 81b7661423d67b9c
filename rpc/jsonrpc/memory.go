package jsonrpc

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ctxd/ctxd/rpc/protocol"
)

// What calls make of the messages that they came in takes much more memory than the
// messages: what is parsed, what is written and what is kept until it is written. So
// mutations, of which any number of connections may have one that runs, have the
// memory that they may take up booked before they begin. Those that find no room wait
// as the bytes that came, in the order in which they asked. Reads need not ask before they
// begin: only as many run at a time as there are processors, and long replies are booked
// when they are written (replies.go).
const (
	// Expansion is how many bytes are booked for a mutation for a byte of its params: what
	// a note is parsed into takes that at most, and most of a write takes less
	// (TestCampaignREL6_MemoryOfManyConnections).
	Expansion = 10
	// smallWork is what a call takes up without asking: it waits for no large one.
	smallWork = 160 << 10
	// muchWork is from when on the collector runs early.
	muchWork = 64 << 20
)

// memory is what calls of all connections take up. Its mu is taken after schedule.mu.
type memory struct {
	limit   int64        // of held and working together
	held    atomic.Int64 // bytes of the params of calls that are not answered
	working atomic.Int64 // bytes that are booked for mutations that run; changed under mu
	thrift  thrift

	mu    sync.Mutex // guards what follows, and Call.work
	room  sync.Cond  // less is held
	large int        // mutations that had to ask, and run
	queue []*Call    // that wait, in the order in which they asked
}

// work is what is booked for a mutation.
type work struct {
	bytes int64 // 0: nothing
	waits bool  // it stands in the queue
}

// hold books n bytes of params, or gives them back.
func (m *memory) hold(n int) {
	now := m.held.Add(int64(n))
	m.tune()
	if n < 0 && now <= m.limit && now-int64(n) > m.limit {
		m.wake()
	}
}

// tune lets the collector run early while much is taken up.
func (m *memory) tune() { m.thrift.set(m.held.Load()+m.working.Load() > muchWork) }

// full reports whether the params that are held leave no room for others. Calls are
// refused then.
func (m *memory) full() bool { return m.held.Load() > m.limit }

// await waits until there is room for the params of calls that can't be refused, since
// nobody would be told, or until their connection has ended.
func (m *memory) await(c *Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.full() && c.ctx.Err() == nil {
		m.room.Wait()
	}
}

// wake has await look again.
func (m *memory) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.room.Broadcast()
}

// begin books what a mutation takes up and reports whether it may begin. If not, its
// connection is resumed when it may. The connection's schedule.mu is held.
func (m *memory) begin(k *Call) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	need := Expansion * int64(len(k.params))
	switch {
	case k.work.bytes > 0 || need == 0:
		return true
	case k.work.waits:
		return false
	case need <= smallWork:
	case len(m.queue) > 0 || !m.fits(need):
		k.work.waits = true
		k.conn.srv.work.Add(1) // who waits for calls to end waits for it
		m.queue = append(m.queue, k)
		return false
	}
	m.take(k, need)
	return true
}

// fits reports whether there is room for so many bytes. There always is for one call,
// however large. mu is held.
func (m *memory) fits(need int64) bool {
	return m.large == 0 || m.held.Load()+m.working.Load()+need <= m.limit
}

// take books. mu is held.
func (m *memory) take(k *Call, need int64) {
	k.work.bytes = need
	m.working.Add(need)
	m.tune()
	if need > smallWork {
		m.large++
	}
}

// end gives back what is booked for a call that has ended, or takes one that was
// withdrawn out of the queue. It reports whether that had waited.
func (m *memory) end(k *Call) (waited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.work.waits {
		m.unqueue(k)
		waited = true
	}
	if need := k.work.bytes; need > 0 {
		k.work.bytes = 0
		m.working.Add(-need)
		m.tune()
		if need > smallWork {
			m.large--
		}
	}
	m.next()
	return waited
}

// unqueue takes a call out of the queue. mu is held.
func (m *memory) unqueue(k *Call) {
	m.queue = slices.DeleteFunc(m.queue, func(other *Call) bool { return other == k })
	k.work.waits = false
	k.conn.srv.work.Done()
}

// next lets those begin that waited for longest and find room. mu is held.
func (m *memory) next() {
	for len(m.queue) > 0 {
		k := m.queue[0]
		need := Expansion * int64(len(k.params))
		if !m.fits(need) {
			return
		}
		m.take(k, need)
		k.conn.srv.run(k.conn.resumeMutations) // before Done, of those who wait for all
		m.unqueue(k)
	}
}

// addTo sets the figures that a client sees.
func (m *memory) addTo(out *protocol.ConnStats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out.CallBytes, out.WorkBytes, out.MemoryTotal, out.WaitForMemory = m.held.Load(), m.working.Load(), m.limit, len(m.queue)
}
