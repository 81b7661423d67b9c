package rpc

// This file and syncing_*.go have the handlers of sync.*: the store that this machine shares with others. All are for
// local connections, as the contract says: they tell of machines and change how the daemon runs. But for
// sync.conflicts they read no record of a person: that one shows what a call was to write, and what is in its place,
// as the local reader sees it.
//
// [syncHandlers] stand over the replica of the daemon, or over none where the store is this machine's alone. The calls
// that wait are those of the [CallQueue]. Errors are those of entities/kv/shared, and Conflict where nothing is
// shared.

import (
	"context"
	"math"

	"github.com/ctxd/ctxd/chat/tools/render"
	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/shared"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// syncHandlers has the handlers. New makes one.
type syncHandlers struct {
	replica *shared.Replica
	queue   *CallQueue
	memory  memoryKeeper // where the other side of a conflict is read
	chat    chatKeeper   // as memory
}

// newSyncHandlers returns the handlers over the replica of a daemon, nil where the store is not shared, and over the calls that wait.
func newSyncHandlers(r *shared.Replica, q *CallQueue, m memoryKeeper, c chatKeeper) *syncHandlers {
	return &syncHandlers{r, q, m, c}
}

// Status is sync.status.
func (r *syncHandlers) Status(ctx context.Context, _ callReader, _ protocol.Empty) (protocol.SyncStatus, error) {
	if r.replica == nil {
		return protocol.SyncStatus{}, nil
	}
	s, err := r.replica.Status(ctx)
	if err != nil {
		return protocol.SyncStatus{}, err
	}
	out := protocol.SyncStatus{
		Shared: true, Machine: int(s.Machine), Connected: s.Connected, Server: s.Server, Durability: string(s.Durability),
		Applied: wireCount(s.Applied), Newest: wireCount(s.Newest), Reruns: wireCount(s.Conflicts), Foreign: wireCount(s.Foreign), Warnings: s.Warnings,
	}
	if s.Newest > s.Applied {
		out.Behind = wireCount(s.Newest - s.Applied)
	}
	if s.Trouble != nil {
		out.Trouble, out.Hint = s.Trouble.Msg, s.Trouble.Hint
	}
	out.Compacting = s.CompactionDue
	if out.Queue, err = r.counts(ctx); err != nil {
		return out, err
	}
	for _, m := range s.Machines {
		out.Machines = append(out.Machines, protocol.SyncMachine{
			Machine: int(m.Number), Name: m.Name, Self: m.Number == s.Machine, Joined: m.Joined, Seen: m.Seen, Applied: wireCount(m.Applied),
		})
	}
	if snap := s.Snapshot; snap != nil {
		out.Snapshot = &protocol.SyncSnapshot{At: wireCount(snap.At.Seq), Bytes: snap.Bytes, Machine: int(snap.Machine), Made: snap.Made}
	}
	return out, nil
}

// compactReplica is admin.compact for the store of a replica, nil where it is this machine's alone. local does the part of this
// machine and returns how many bytes it has freed.
func compactReplica(ctx context.Context, r *shared.Replica, local func() (int64, error)) (out protocol.Compacted, err error) {
	if r == nil {
		out.Freed, err = local()
		return out, err
	}
	here := func() (err error) {
		out.Freed, err = local()
		return err
	}
	c, err := r.Compact(ctx, here, func(stage string, done, total int64) { ReportProgress(ctx, stage, done, total) })
	if err != nil {
		return out, err
	}
	out.Shared = &protocol.SyncCompacted{Done: c.Done, First: wireCount(c.First)}
	if c.Trouble != nil {
		out.Shared.Trouble, out.Shared.Hint = c.Trouble.Msg, c.Trouble.Hint
	}
	self := r.Health().Machine
	for _, m := range c.Machines {
		if m.Number != self {
			out.Shared.Machines = append(out.Shared.Machines, protocol.SyncCompactedMachine{
				Machine: int(m.Number), Name: m.Name, Compacted: m.Compacted >= c.Number, Copies: m.Copies,
			})
		}
	}
	return out, nil
}

// wireCount is a number for the wire. Sequences of messages stay far below its end.
func wireCount(n uint64) int { return int(min(n, math.MaxInt)) }

// Remove is sync.remove.
func (r *syncHandlers) Remove(ctx context.Context, _ callReader, p protocol.SyncRemove) (protocol.SyncRemoved, error) {
	if p.Machine < 1 || p.Machine > math.MaxUint32 {
		return protocol.SyncRemoved{}, fault.Field("machine", "machines are numbered from 1").WithHint("give a number that sync.status lists")
	}
	if r.replica == nil {
		return protocol.SyncRemoved{}, notShared()
	}
	words, err := r.replica.Remove(ctx, uint32(p.Machine))
	return protocol.SyncRemoved{Words: words}, err
}

// Leave is sync.leave.
func (r *syncHandlers) Leave(ctx context.Context, _ callReader, _ protocol.Empty) (protocol.SyncLeft, error) {
	if r.replica == nil {
		return protocol.SyncLeft{}, notShared()
	}
	left := protocol.SyncLeft{Machine: int(r.replica.Health().Machine)}
	untold, err := r.replica.Leave(ctx)
	if untold != nil {
		left.Untold = untold.Msg
	}
	return left, err
}

func notShared() error {
	return fault.Clash(fault.State, "the store is not shared with other machines").
		WithHint("begin a shared store with ctxd sync init, or join one with ctxd sync join")
}

// Health is what admin.health says, nil where the store is not shared. whole says that counts of records may be told.
// warn is told what is wrong; failing says that nothing can be written.
func (r *syncHandlers) Health(whole bool, warn func(failing bool, text string)) *protocol.SyncHealth {
	if r == nil || r.replica == nil {
		return nil
	}
	h := r.replica.Health()
	switch t := h.Trouble; {
	case t == nil:
	case t.Retryable || t.Hint == "":
		warn(!t.Retryable, t.Msg)
	default: // it does not pass by itself
		warn(true, t.Msg+": "+t.Hint)
	}
	for _, w := range h.Warnings {
		warn(false, w)
	}
	if h.CompactionDue {
		warn(false, "what was deleted is still on the servers of the shared store; it goes when they can be used")
	}
	out := &protocol.SyncHealth{Connected: h.Connected, Durability: string(h.Durability)}
	if !whole {
		return out
	}
	out.Waiting, out.Refused = h.Waiting, h.Refused
	if n := h.Waiting; n > 0 {
		warn(false, render.Plural(n, "call")+" taken while the servers of the shared store could not be reached: the other machines do not have that yet")
	}
	if n := h.Refused; n > 0 {
		warn(false, render.Plural(n, "call")+" taken without the other machines could not be made again: ctxd sync conflicts shows both sides")
	}
	return out
}
