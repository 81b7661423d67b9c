package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// What a call returns is made into JSON that is as large as the result, or six times as
// large. So a long reply has the memory that it takes booked before it is written, over
// all connections, and gives it back when it lies in the queue of its connection, whose
// bytes Limits.OutboundTotal bounds, or is dropped. Who writes a reply waits for nobody,
// so those that find no room wait for moments only, and never for a slow reader.
//
// A call that waits has no place and no View of the store. While one does, its client
// begins no further read but those that run at once: what they return is not booked.

// replies are the replies of all connections that are being written.
type replies struct {
	limit int64

	mu     sync.Mutex // guards what follows, Call.reply and process.lastReply
	making int64      // bytes of them
	queue  []*waitingReply
	turns  uint64 // that were given so far
}

// waitingReply is a long reply that is not written yet.
type waitingReply struct {
	call    *Call
	bytes   int64
	granted chan struct{} // closed when it may be written
}

// Encode writes the result of a call, as its method does last. A long one waits until
// there is room for it. The error may be that of a context that has ended.
func (k *Call) Encode(ctx context.Context, enc *Encoder, result any) (*Buffer, error) {
	out, err := enc.EncodeShort(result)
	if !errors.Is(err, ErrLongValue) {
		return out, err
	}
	size := enc.Size(result)
	err = k.conn.srv.replies.book(ctx, k, int64(size))
	if err != nil {
		return nil, err
	}
	return enc.EncodeInto(result, size)
}

// book books a reply of so many bytes, when there is room.
func (r *replies) book(ctx context.Context, k *Call, bytes int64) error {
	w := r.ask(k, bytes)
	if w == nil {
		return nil
	}
	k.place.GiveUp()
	defer k.conn.srv.endWait(k.conn.process)
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		return r.leave(w, ctx.Err())
	case <-k.conn.ctx.Done():
		return r.leave(w, k.conn.ctx.Err())
	}
}

// ask books a reply, or puts it in the queue and returns what is there.
func (r *replies) ask(k *Call, bytes int64) *waitingReply {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 && r.fits(bytes) {
		r.take(k, bytes)
		return nil
	}
	w := &waitingReply{call: k, bytes: bytes, granted: make(chan struct{})}
	r.queue = append(r.queue, w)
	k.conn.process.waitingReplies.Add(1)
	return w
}

// fits reports whether there is room for so many bytes. There always is for one reply,
// however long. mu is held.
func (r *replies) fits(bytes int64) bool { return r.making == 0 || r.making+bytes <= r.limit }

// take books. mu is held.
func (r *replies) take(k *Call, bytes int64) {
	r.turns++
	k.conn.process.lastReply = r.turns
	k.reply = bytes
	r.making += bytes
}

// leave takes a reply out of the queue whose call has ended, unless it was granted
// meanwhile, and returns why.
func (r *replies) leave(w *waitingReply, why error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.call.reply > 0 {
		return nil
	}
	r.remove(w)
	r.next()
	return why
}

// end gives back what is booked for a call, when that has ended: nobody books for it any
// more, so that no lock is needed to see that nothing is booked.
func (r *replies) end(k *Call) {
	if k.reply == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.making -= k.reply
	k.reply = 0
	r.next()
}

// next lets those be written whose turn it is and for which there is room: first of the
// client that has waited for longest since it had a turn. mu is held.
func (r *replies) next() {
	for len(r.queue) > 0 {
		w := slices.MinFunc(r.queue, func(a, b *waitingReply) int {
			return cmp.Compare(a.call.conn.process.lastReply, b.call.conn.process.lastReply)
		})
		if !r.fits(w.bytes) {
			return
		}
		r.take(w.call, w.bytes)
		r.remove(w)
		close(w.granted)
	}
}

// remove takes out of the queue. mu is held.
func (r *replies) remove(w *waitingReply) {
	r.queue = slices.DeleteFunc(r.queue, func(other *waitingReply) bool { return other == w })
}

// endWait is called when a reply of a client no longer waits. When it was the last, reads
// of the client begin again.
func (s *Server) endWait(p *process) {
	if p.waitingReplies.Add(-1) > 0 {
		return
	}
	for _, c := range s.connections() {
		if c.process == p {
			c.mu.Lock()
			c.startReads()
			c.mu.Unlock()
		}
	}
}
