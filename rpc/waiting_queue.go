package rpc

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
)

// CallQueue holds the calls that wait in a store. New makes one. A nil Queue has no call wait.
type CallQueue struct {
	db    *kv.Store
	on    bool          // calls may wait
	ready chan struct{} // closed when maker is set
	maker callRetrier

	mu  sync.Mutex // guards what follows
	seq uint64     // of the store, when ids was made
	ids PendingIDs // nil: not made yet
}

// callRetrier makes a call again. An error of kind Unavailable, or a retryable one, has it wait on; any other refuses it.
type callRetrier func(ctx context.Context, method string, c *DeferrableCall) error

// NewCallQueue returns the queue of a store. on says that calls may wait; those that wait already do so without it, too. Call it
// before the store follows its log.
func NewCallQueue(db *kv.Store, on bool) *CallQueue {
	q := &CallQueue{db: db, on: on, ready: make(chan struct{})}
	db.Replay(q.replay)
	return q
}

// Begin returns the Call of a method, which its writes take by the context. params are what the handler is given to make
// it again; they must not change while it runs.
func (q *CallQueue) Begin(ctx context.Context, method string, reader audience.Reader, client string, params any) (context.Context, *DeferrableCall) {
	if c := deferrableCallOf(ctx); c != nil {
		return ctx, c
	}
	if q == nil || !q.on {
		return ctx, nil
	}
	c := &DeferrableCall{Audience: reader, Client: client, At: time.Now().UTC().Truncate(time.Millisecond), params: params}
	return kv.Queueable(ctx, kv.Later{Kind: method, Body: c.body}), c
}

// Replay sets what makes calls again. Until then they wait. Call it once.
func (q *CallQueue) Replay(maker callRetrier) {
	if q != nil {
		q.maker = maker
		close(q.ready)
	}
}

func (q *CallQueue) replay(ctx context.Context, w kv.Waiting) error {
	select {
	case <-q.ready:
	case <-ctx.Done():
		return waitsOn(ctx.Err())
	}
	c, err := parseDeferrableCall(w.Body)
	if err != nil {
		return err
	}
	err = q.maker(context.WithValue(ctx, deferrableCallKey{}, c), w.Kind, c)
	if err != nil && ctx.Err() != nil {
		return waitsOn(err)
	}
	return err
}

func waitsOn(err error) error {
	e := fault.Wrap(fault.Unavailable, err, "the store is being closed")
	e.Retryable = true
	return e
}

// QueuedCall is a call that waits or was refused.
type QueuedCall struct {
	kv.Waiting
	Call *DeferrableCall
}

// List returns what waits and what was refused, in the order in which it came.
func (q *CallQueue) List(ctx context.Context) ([]QueuedCall, error) {
	if q == nil {
		return nil, nil
	}
	list, err := q.db.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]QueuedCall, len(list))
	for i, w := range list {
		c, err := parseDeferrableCall(w.Body)
		if err != nil {
			return nil, err
		}
		out[i] = QueuedCall{w, c}
	}
	return out, nil
}

// PendingIDs are the ids of what waits. Nothing waits in a nil one.
type PendingIDs map[string]bool

// Pending returns the ids of what waits: not of what was refused, which is not there any more.
func (q *CallQueue) Pending() PendingIDs {
	if q == nil {
		return nil
	}
	if st, ok := q.db.Replica(); !ok || st.Waiting == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	seq := q.db.Seq()
	if q.ids != nil && q.seq == seq {
		return q.ids
	}
	list, err := q.db.Waiting(context.Background())
	if err != nil {
		return nil // whoever lists them is told
	}
	ids := make(PendingIDs)
	for _, w := range list {
		var made struct {
			IDs []string `json:"ids"`
		}
		if w.Refused != nil || json.Unmarshal(w.Body, &made) != nil {
			continue
		}
		for _, id := range made.IDs {
			ids[id] = true
		}
	}
	q.ids, q.seq = ids, seq
	return ids
}

// Drop forgets a call that was refused.
func (q *CallQueue) Drop(ctx context.Context, number uint64) error { return q.db.Drop(ctx, number) }

// Again has a call that was refused wait again.
func (q *CallQueue) Again(ctx context.Context, number uint64) error { return q.db.Again(ctx, number) }
