package nats

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// restoreWait is how long a machine that has put back the end of the log waits before it goes on:
// another one may have more of it. Tests change it.
var restoreWait = 2 * time.Second

// restore puts back what the servers have lost of the end of the log: the messages that this
// machine keeps, byte for byte and in their places, if they continue what is there. So the positions
// of all machines hold again. It may run on several machines at a time: a message fits one place.
// Where servers only show an old end, each message is refused, since its place is taken.
func (l *Log) restore(ctx context.Context, s jetstream.Stream) (restored bool, err error) {
	state := s.CachedInfo().State
	_, more := l.kept.get(state.LastSeq + 1)
	if !more {
		return false, nil
	}
	if state.LastSeq > 0 {
		newest, ok := l.kept.get(state.LastSeq)
		if !ok {
			return false, nil
		}
		if state.Msgs > 0 {
			there, err := asked(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return s.GetMsg(ctx, state.LastSeq) })
			if err != nil || !bytes.Equal(there.Data, newest) {
				return false, nil // it does not continue that; whoever reads is told so
			}
		}
	}
	n := 0
	for seq := state.LastSeq + 1; ; seq++ {
		message, ok := l.kept.get(seq)
		if !ok {
			break
		}
		h, err := PeekHeader(message)
		if err != nil {
			return false, err
		}
		// An id of its own: the servers may know that of the message which they have lost.
		err = l.publish(ctx, seq, "again."+hex.EncodeToString(h.Group[:])+"."+strconv.Itoa(int(h.Part)), message)
		if errors.Is(err, errTaken) {
			return false, nil // another machine is at it, or nothing was lost
		}
		if err != nil {
			return false, err
		}
		n++
	}
	l.log.Warn("the servers of the shared store had lost the end of the log; this machine has put it back", "messages", n)
	wait := time.NewTimer(restoreWait)
	defer wait.Stop()
	select {
	case <-wait.C:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// checkOthers refuses a log that ends before what another machine says that it has: that machine
// puts it back, and nothing may get into its place before. Where the list of machines can't be
// read, nobody knows. It asks once a connection.
func (l *Log) checkOthers(ctx context.Context, connect, last uint64) error {
	l.mu.Lock()
	done := l.compared == connect
	l.mu.Unlock()
	if done {
		return nil
	}
	b, err := l.bucket(ctx)
	if err != nil {
		return nil
	}
	list, err := b.machines(ctx)
	if err != nil {
		return nil
	}
	for _, m := range list {
		if m.Applied > last { // it may have written that since
			if _, _, last, err = l.bounds(ctx); err != nil {
				return err
			}
		}
		if m.Applied > last {
			f := fault.Wrap(fault.Unavailable, outbox.ErrForked, "the servers of the shared store have lost entries that the machine %s has", m.Name)
			f.Retryable = true
			return f.WithHint("start ctxd on that machine: it puts them back. If it is gone, begin anew on the machine that has most: ctxd sync init --again")
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.compared = connect
	return nil
}
