package nats

import (
	"context"
	"crypto/ecdh"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Machines lists who takes part, by number.
func (l *Log) Machines(ctx context.Context) ([]Machine, error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return nil, err
	}
	return b.machines(ctx)
}

func (l *Log) bucket(ctx context.Context) (*bucket, error) {
	if !l.Connected() {
		return nil, l.offline()
	}
	return openBucket(ctx, l.js, l.id)
}

// Announce says that this machine is there and how far it has come. It also completes what a
// removal that was interrupted has left undone.
func (l *Log) Announce(ctx context.Context, p Presence) error {
	b, err := l.bucket(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.putMachine(ctx, p), b.putKeys(ctx))
}

// Remove begins another key, which a machine does not get, and returns its recovery words.
// The present ones are worth nothing from then on. It is called with a position that the store
// has applied.
func (l *Log) Remove(ctx context.Context, at outbox.Position, number uint32) (words string, err error) {
	if number == l.id.Machine() {
		return "", fault.Field("machine", "this is machine %d itself", number).WithHint("to leave the shared store: ctxd sync leave")
	}
	b, err := l.bucket(ctx)
	if err != nil {
		return "", err
	}
	l.appending.Lock()
	defer l.appending.Unlock()
	for range appendTries {
		w, err := l.walk(ctx, at, func(outbox.Position, []byte) error { return nil })
		if err != nil {
			return "", err
		}
		secret := newSecret()
		machines, err := b.machines(ctx)
		if err != nil {
			return "", err
		}
		snapshots, err := b.snapshots(ctx)
		if err != nil {
			return "", err
		}
		epoch, entry, err := b.rekeying(machines, number, secret)
		if err != nil {
			return "", err
		}
		put, err := l.put(ctx, w.chain, entry)
		if errors.Is(err, errTaken) {
			continue
		}
		if err != nil { // if it is there all the same, this machine finds its own box in it
			return "", err
		}
		err = l.id.addEpoch(epoch, put.Seq+1, secret)
		if err != nil {
			return "", err
		}
		return secret.Words(), b.renew(ctx, machines, snapshots, number)
	}
	f := fault.New(fault.Unavailable, "other machines did not let this one write to the shared store")
	f.Retryable = true
	return "", f.WithHint("try again")
}

// rekeying makes the entry by which a machine is removed.
func (b *bucket) rekeying(machines []Machine, number uint32, secret Secret) (epoch uint32, entry []byte, err error) {
	newest, _ := b.id.current()
	epoch = newest + 1
	r := rekeying{Epoch: epoch, Removed: number}
	there := false
	for _, m := range machines {
		if m.Number == number {
			there = true
			continue
		}
		public, err := ecdh.X25519().NewPublicKey(m.Public)
		if err != nil {
			return 0, nil, refuseMessage(ReasonMalformed)
		}
		box, err := SealBox(public, aboutBox(epoch, m.Number), secret[:])
		if err != nil {
			return 0, nil, err
		}
		r.Members = append(r.Members, member{Machine: m.Number, Name: m.Name, Public: m.Public, Box: box})
	}
	if !there {
		return 0, nil, fault.Missing("machine", decimal(number)).WithHint("list them: ctxd sync machines")
	}
	me := b.id.Machine()
	if !slices.ContainsFunc(r.Members, func(m member) bool { return m.Machine == me }) {
		return 0, nil, fault.Clash(fault.State, "this machine is not in the list of machines").WithHint("try again in a moment; it puts itself in the list")
	}
	entry, err = json.Marshal(r)
	return epoch, append([]byte{ofKeys}, entry...), err
}

// renew seals the list of machines with the newest key, without the one that was removed, and
// the records of the snapshots that were there before. Their pieces stay: the records hold the
// hash of them.
func (b *bucket) renew(ctx context.Context, machines []Machine, snapshots []*Snapshot, removed uint32) error {
	err := b.putKeys(ctx)
	if err != nil {
		return err
	}
	for _, m := range machines {
		if m.Number == removed {
			m.Removed = time.Now().UTC().Truncate(time.Second)
		}
		err := b.put(ctx, &m)
		if err != nil {
			return err
		}
	}
	for _, s := range snapshots {
		key := keyOfSnapshot(s)
		sealed, err := b.seal(key, s)
		if err != nil {
			return err
		}
		_, err = b.kv.Put(ctx, key, sealed)
		if err != nil {
			return explainError(err)
		}
	}
	return nil
}

// Leave takes this machine out of the list. The key file is to be deleted then.
func (l *Log) Leave(ctx context.Context) error {
	b, err := l.bucket(ctx)
	if err != nil {
		return err
	}
	m := b.self(Presence{})
	m.Removed = m.Seen
	return b.put(ctx, m)
}
