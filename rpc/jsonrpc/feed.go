package jsonrpc

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrOver is returned to who sends deltas when nobody will read them: the caller is
// gone, or was cut for reading too slowly, or its call has been answered.
var ErrOver = errors.New("the connection is over, or the call was answered")

const (
	// deltaBacklog is how much may wait for a client to read before further deltas
	// for it are kept back, to be joined.
	deltaBacklog = 256 << 10
	// callerRoom is how many bytes of deltas are kept back for a caller before its call
	// waits.
	callerRoom = 1 << 20
	// followerRoom is the same for a follower, which is then closed. It is more, so that
	// a follower who reads as fast as the caller stays.
	followerRoom = 4 << 20
)

// Feed sends deltas, which are notifications of one name about subjects: the pieces
// of an answer about its conversation, or how far a job has come. They go to the
// caller of the call that makes them and to the connections that follow the subject.
//
// Deltas are no events of a topic. While a connection lives, none of them is lost,
// none overtakes another, and those for the caller come before the reply. A slow
// reader gets those that wait joined, in the way of the feed. What is kept for one is
// bounded: Stream.Send waits for a slow caller, which is closed by the limits that
// hold for every slow reader (Limits.WriteStall, Limits.OutboundBytes), and then
// returns ErrOver. A follower is never waited for: one that has too much to read is
// closed.
type Feed[D any] struct {
	name string
	join func(waiting []D) []D

	mu        sync.Mutex // guards what follows
	followers map[string][]*receiver[D]
}

// NewFeed makes a Feed of notifications of that name. join makes fewer deltas of
// those that wait, in linear time and without losing what they say; it may return
// the list that it was given.
func NewFeed[D any](name string, join func(waiting []D) []D) *Feed[D] {
	return &Feed[D]{name: name, join: join, followers: map[string][]*receiver[D]{}}
}

// Follow has a connection get the deltas about a subject from now on, until Unfollow
// or its end.
func (f *Feed[D]) Follow(c *Conn, subject string) {
	f.mu.Lock()
	if slices.ContainsFunc(f.followers[subject], func(r *receiver[D]) bool { return r.conn == c }) {
		f.mu.Unlock()
		return
	}
	r := newReceiver(f, c, followerRoom)
	f.followers[subject] = append(slices.Clip(f.followers[subject]), r)
	f.mu.Unlock()
	// Runs at once when the connection is gone already.
	context.AfterFunc(c.ctx, func() { f.Unfollow(c, subject) })
}

// Unfollow takes Follow back. Deltas that wait are sent still.
func (f *Feed[D]) Unfollow(c *Conn, subject string) {
	var gone []*receiver[D]
	f.mu.Lock()
	rest := slices.DeleteFunc(slices.Clone(f.followers[subject]), func(r *receiver[D]) bool {
		if r.conn == c {
			gone = append(gone, r)
		}
		return r.conn == c
	})
	if len(rest) == 0 {
		delete(f.followers, subject)
	} else {
		f.followers[subject] = rest
	}
	f.mu.Unlock()
	for _, r := range gone {
		r.close()
	}
}

// Followers returns how many connections follow a subject.
func (f *Feed[D]) Followers(subject string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.followers[subject])
}

// Stream sends the deltas of one call about subjects. It may be used
// concurrently, in which case the order is that of the calls of Send.
type Stream[D any] struct {
	feed     *Feed[D]
	subjects []string
	caller   *receiver[D] // nil: they are for followers alone
}

// stream is what ends of a Stream with its call.
type stream interface{ close() }

// OpenQuiet starts a Stream that followers alone get; the caller is one of them if he follows a subject.
func (f *Feed[D]) OpenQuiet(subjects ...string) *Stream[D] {
	return &Stream[D]{feed: f, subjects: subjects}
}

// Open starts a Stream. It ends with the call, before its reply is sent. A connection may follow one of its subjects.
func (f *Feed[D]) Open(k *Call, subjects ...string) *Stream[D] {
	s := &Stream[D]{feed: f, subjects: subjects, caller: newReceiver(f, k.conn, callerRoom)}
	k.streams.CompareAndSwap(nil, new(callStreams))
	k.streams.Load().add(s.caller)
	if k.claimed.Load() {
		s.caller.close() // it was answered meanwhile, by who withdrew it
	}
	return s
}

// endStreams has what waits sent and lets no further delta through: the call is about
// to be answered.
func (k *Call) endStreams() {
	streams := k.streams.Load()
	if streams != nil {
		streams.close()
	}
}

// callStreams are the streams of one call.
type callStreams struct {
	mu   sync.Mutex // guards what follows
	list []stream
}

func (c *callStreams) add(s stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, s)
}

func (c *callStreams) close() {
	c.mu.Lock()
	list := c.list
	c.list = nil
	c.mu.Unlock()
	for _, s := range list {
		s.close()
	}
}

// Send sends a delta to the caller and to the followers. It waits while the caller
// has too much to read, and returns ErrOver when it will not read any more, or why
// ctx ended. The followers have the delta in any case.
func (s *Stream[D]) Send(ctx context.Context, delta D) error {
	data, err := encoder.Encode(delta)
	if err != nil {
		return err
	}
	defer data.Release()
	for _, subject := range s.subjects {
		s.tell(subject, delta, data)
	}
	if s.caller == nil {
		return nil
	}
	for !s.caller.add(delta, data) {
		err := s.caller.wait(ctx)
		if err != nil {
			return err
		}
	}
	return s.caller.over()
}

// SendBut sends a delta to the caller, and to the followers of all subjects but one.
func (s *Stream[D]) SendBut(ctx context.Context, but string, delta D) error {
	of := *s
	of.subjects = slices.DeleteFunc(slices.Clone(s.subjects), func(subject string) bool { return subject == but })
	return of.Send(ctx, delta)
}

// Leave sends a last delta to the followers of a subject, who get nothing more of the Stream by it. It must not be called
// concurrently with Send.
func (s *Stream[D]) Leave(subject string, last D) {
	data, err := encoder.Encode(last)
	if err == nil {
		s.tell(subject, last, data)
		data.Release()
	}
	s.subjects = slices.DeleteFunc(s.subjects, func(other string) bool { return other == subject })
}

// LeaveCaller is Leave for the caller, who may wait for what was sent to him before.
func (s *Stream[D]) LeaveCaller(ctx context.Context, last D) {
	of := *s
	of.subjects = nil
	_ = of.Send(ctx, last) // who does not read any more needs no end
	s.caller = nil
}

// tell sends a delta to the followers of a subject, but not to the caller.
func (s *Stream[D]) tell(subject string, delta D, data *Buffer) {
	s.feed.mu.Lock()
	followers := s.feed.followers[subject]
	s.feed.mu.Unlock()
	for _, r := range followers {
		if (s.caller == nil || r.conn != s.caller.conn) && !r.add(delta, data) {
			r.conn.cut("deltas wait for a slow follower beyond their limit")
		}
	}
}

// receiver is a connection that gets deltas.
type receiver[D any] struct {
	feed *Feed[D]
	conn *Conn
	room int // for waiting, in bytes

	mu      sync.Mutex // guards what follows; held while deltas are handed to the outbound
	waiting []D
	bytes   int           // of waiting, as JSON
	joined  int           // length of waiting when it was joined last
	flushed chan struct{} // closed when waiting was sent; nil unless somebody waits for that
	closed  bool
}

func newReceiver[D any](f *Feed[D], c *Conn, room int) *receiver[D] {
	r := &receiver[D]{feed: f, conn: c, room: room}
	c.deltas.add(r)
	return r
}

// add sends a delta, or keeps it until the client has read what waits for it. It
// reports false when there is no room; the delta is then to be given again.
func (r *receiver[D]) add(delta D, data *Buffer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return true
	case len(r.waiting) == 0 && r.conn.Backlog() <= r.conn.srv.deltaBacklog():
		r.conn.Push(r.feed.name, data.Bytes())
		return true
	}
	size := len(data.Bytes())
	if r.bytes > 0 && r.bytes+size > r.room && !r.shrink(size) {
		return false
	}
	r.waiting = append(r.waiting, delta)
	r.bytes += size
	// The outbound flushes when it runs empty, after which its backlog is none: one of
	// the two sees the other.
	if r.conn.Backlog() == 0 {
		r.send()
	}
	return true
}

// shrink joins what waits, and reports whether there is room then. mu is held.
func (r *receiver[D]) shrink(size int) bool {
	if r.joined == len(r.waiting) {
		return false
	}
	r.waiting = r.feed.join(r.waiting)
	r.joined = len(r.waiting)
	r.bytes = 0
	for _, d := range r.waiting {
		data, err := encoder.Encode(d)
		if err == nil {
			r.bytes += len(data.Bytes())
			data.Release()
		}
	}
	return r.bytes+size <= r.room
}

// send sends what waits, joined. mu is held.
func (r *receiver[D]) send() {
	if len(r.waiting) > 0 {
		for _, d := range r.feed.join(r.waiting) {
			data, err := encoder.Encode(d)
			if err == nil { // it could be encoded before
				r.conn.Push(r.feed.name, data.Bytes())
				data.Release()
			}
		}
	}
	r.waiting, r.bytes, r.joined = nil, 0, 0
	if r.flushed != nil {
		close(r.flushed)
		r.flushed = nil
	}
}

// flush is called when everything that waited for the client has gone out.
func (r *receiver[D]) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send()
}

// wait returns when what waited was sent.
func (r *receiver[D]) wait(ctx context.Context) error {
	r.mu.Lock()
	if len(r.waiting) == 0 || r.closed {
		r.mu.Unlock()
		return nil
	}
	if r.flushed == nil {
		r.flushed = make(chan struct{})
	}
	flushed := r.flushed
	r.mu.Unlock()
	select {
	case <-flushed:
		return nil
	case <-r.conn.ctx.Done():
		return ErrOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// over says why nothing is read any more, if so.
func (r *receiver[D]) over() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.conn.ctx.Err() != nil {
		return ErrOver
	}
	return nil
}

// close sends what waits and takes nothing more.
func (r *receiver[D]) close() {
	r.conn.deltas.remove(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send()
	r.closed = true
}

// deltaReceivers are the receivers of one connection.
type deltaReceivers struct {
	mu   sync.Mutex // guards what follows
	list []interface{ flush() }
}

func (d *deltaReceivers) add(r interface{ flush() }) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, r)
}

func (d *deltaReceivers) remove(r interface{ flush() }) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.DeleteFunc(d.list, func(other interface{ flush() }) bool { return other == r })
}

// any reports whether there are any.
func (d *deltaReceivers) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.list) > 0
}

// flush has all of them send what waits.
func (d *deltaReceivers) flush() {
	d.mu.Lock()
	list := slices.Clone(d.list)
	d.mu.Unlock()
	for _, r := range list {
		r.flush()
	}
}

// deltaBacklog is how much may wait for a client before deltas are kept back.
func (s *Server) deltaBacklog() int64 { return min(deltaBacklog, s.limits.OutboundBytes/4) }
