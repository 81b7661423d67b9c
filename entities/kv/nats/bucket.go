package nats

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
)

// Keys of the bucket of a store. Values are sealed under their key.
const (
	keyKeys  = "keys"  // the epochs, under the newest secret
	keyLease = "lease" // who makes a snapshot; it ends by itself
)

// leaseTime is how long a machine has the lease to make a snapshot.
const leaseTime = 10 * time.Minute

// Machine is one that takes part in a store.
type Machine struct {
	Number uint32    `json:"number"`
	Name   string    `json:"name"`
	Public []byte    `json:"public"`
	Joined time.Time `json:"joined"`
	Seen   time.Time `json:"seen"`          // when it last said so
	Run    string    `json:"run,omitempty"` // random, of the process that said so
	Presence
	Removed time.Time `json:"removed,omitzero"`
	Renewed time.Time `json:"-"` // when it last said so, by the clock of the servers
}

// Presence is what a machine says of itself.
type Presence struct {
	Applied   uint64 `json:"applied"`             // sequence up to which it has the log
	Compacted uint64 `json:"compacted,omitempty"` // number of the newest compaction that its own files have followed
	Copies    bool   `json:"copies,omitempty"`    // it keeps a copy of what was before it joined anew
	Stopped   bool   `json:"stopped,omitempty"`   // its daemon has ended
}

// bucket is what a store keeps beside its log: machines, keys, and the lease.
type bucket struct {
	js jetstream.JetStream
	kv jetstream.KeyValue
	id *Identity
}

func openBucket(ctx context.Context, js jetstream.JetStream, id *Identity) (*bucket, error) {
	kv, err := asked(ctx, func(ctx context.Context) (jetstream.KeyValue, error) { return js.KeyValue(ctx, id.names().bucket) })
	if err != nil {
		return nil, explainError(err)
	}
	return &bucket{js, kv, id}, nil
}

// get returns an entry. It asks again where nobody answers, see ask.
func (b *bucket) get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	return asked(ctx, func(ctx context.Context) (jetstream.KeyValueEntry, error) { return b.kv.Get(ctx, key) })
}

// streamOf returns a stream. It asks again where nobody answers, see ask.
func streamOf(ctx context.Context, js jetstream.JetStream, name string) (jetstream.Stream, error) {
	return asked(ctx, func(ctx context.Context) (jetstream.Stream, error) { return js.Stream(ctx, name) })
}

// streamOfBucket and streamOfObjects are the names of the streams behind a bucket and an object store.
func streamOfBucket(bucket string) string   { return "KV_" + bucket }
func streamOfObjects(objects string) string { return "OBJ_" + objects }

// readsFromLeader has the values of a stream be read from its leader alone: another server, which
// the library lets answer as well, may not have yet what was acknowledged.
func readsFromLeader(ctx context.Context, js jetstream.JetStream, stream string) error {
	s, err := streamOf(ctx, js, stream)
	if err != nil {
		return err
	}
	config := s.CachedInfo().Config
	config.AllowDirect = false
	_, err = repeated(ctx, func() (jetstream.Stream, error) { return js.UpdateStream(ctx, config) })
	return err
}

// keys lists the keys that begin with a prefix, which ends in a dot, in order. Some may be deleted. It asks the leader:
// the library's own list comes from any server.
func (b *bucket) keys(ctx context.Context, prefix string) ([]string, error) {
	name := b.id.names().bucket
	s, err := streamOf(ctx, b.js, streamOfBucket(name))
	if err != nil {
		return nil, explainError(err)
	}
	of := "$KV." + name + "."
	info, err := asked(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return s.Info(ctx, jetstream.WithSubjectFilter(of+prefix+">"))
	})
	if err != nil {
		return nil, explainError(err)
	}
	err = led(info)
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		list = append(list, strings.TrimPrefix(subject, of))
	}
	slices.Sort(list)
	return list, nil
}

// seal encrypts a value under its key with the newest key of the store.
func (b *bucket) seal(key string, value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	epoch, ring := b.id.current()
	return ring.SealRecord(epoch, key, data), nil
}

// open decrypts a value and returns the epoch of its key.
func (b *bucket) open(key string, sealed []byte, value any) (epoch uint32, err error) {
	_, ring := b.id.current()
	epoch, data, err := ring.OpenRecord(key, sealed)
	if err != nil {
		return epoch, err
	}
	if json.Unmarshal(data, value) != nil {
		return epoch, refuseMessage(ReasonMalformed)
	}
	return epoch, nil
}

// putKeys writes the epochs for machines that join, and has the stream say which secret they
// need. It may be repeated, and does nothing where a newer key is known already.
func (b *bucket) putKeys(ctx context.Context) error {
	b.id.mu.Lock()
	epochs := slices.Clone(b.id.id.Epochs)
	b.id.mu.Unlock()
	revision, written := uint64(0), -1
	e, err := b.get(ctx, keyKeys)
	switch {
	case err == nil:
		epoch, bad := recordEpoch(e.Value())
		if bad != nil {
			return bad
		}
		revision, written = e.Revision(), int(epoch)
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return explainError(err)
	}
	switch newest := len(epochs) - 1; {
	case written > newest:
		return nil
	case written < newest:
		sealed, err := b.seal(keyKeys, epochs)
		if err != nil {
			return err
		}
		_, err = b.kv.Update(ctx, keyKeys, sealed, revision)
		if err != nil {
			return explainError(err)
		}
	}
	_, err = repeated(ctx, func() (jetstream.Stream, error) {
		s, err := streamOf(ctx, b.js, b.id.names().stream) // again, since another machine may have changed it
		if err != nil {
			return nil, err
		}
		config := s.CachedInfo().Config
		check := b.id.newest().Check()
		if config.Metadata[metaCheck] == check {
			return s, nil
		}
		config.Metadata[metaCheck] = check
		return b.js.UpdateStream(ctx, config)
	})
	return explainError(err)
}

// exists reports whether a key could not be made since it is there, or was a moment ago.
func exists(err error) bool { return errors.Is(err, jetstream.ErrKeyExists) || taken(err) }

// maxMachines bounds the machines of a store.
const maxMachines = 1000

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// takeNumber takes the first number that no machine has had, and saves nothing.
func (b *bucket) takeNumber(ctx context.Context) error {
	for n := uint32(1); n <= maxMachines; n++ {
		_, err := b.get(ctx, keyOfMachine(n))
		if err == nil {
			continue
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) { // one that was removed is kept as its deletion
			return explainError(err)
		}
		b.id.mu.Lock()
		b.id.id.Machine = n
		b.id.mu.Unlock()
		sealed, err := b.seal(keyOfMachine(n), b.self(Presence{}))
		if err != nil {
			return err
		}
		_, err = b.kv.Create(ctx, keyOfMachine(n), sealed)
		if err == nil {
			return nil
		}
		if !exists(err) {
			return explainError(err)
		}
	}
	return fault.New(fault.Limit, "the store has %d machines already", maxMachines).WithHint("remove one with ctxd sync remove")
}

// takeName puts a number behind the name of this machine where another one has that name: a
// memory says by name who wrote it. former may have it.
func (b *bucket) takeName(ctx context.Context, former uint32) error {
	machines, err := b.machines(ctx)
	if err != nil {
		return err
	}
	taken := make(map[string]bool, len(machines))
	for _, m := range machines {
		taken[m.Name] = taken[m.Name] || m.Number != former
	}
	b.id.mu.Lock()
	defer b.id.mu.Unlock()
	name := b.id.id.Name
	for n := uint32(2); taken[b.id.id.Name]; n++ {
		b.id.id.Name = name + " " + decimal(n)
	}
	return nil
}

// self is what this machine says of itself.
func (b *bucket) self(p Presence) *Machine {
	b.id.mu.Lock()
	number, name := b.id.id.Machine, b.id.id.Name
	b.id.mu.Unlock()
	now := time.Now().UTC().Truncate(time.Second)
	return &Machine{Number: number, Name: name, Public: b.id.private().PublicKey().Bytes(), Joined: now, Seen: now, Run: b.id.run, Presence: p}
}

// putMachine says that this machine is there and how far it has come.
func (b *bucket) putMachine(ctx context.Context, p Presence) error {
	m := b.self(p)
	key := keyOfMachine(m.Number)
	old, err := b.get(ctx, key)
	var was Machine
	switch {
	case err == nil:
		_, err := b.open(key, old.Value(), &was)
		if ReasonOf(err) == ReasonWrongKey || err == nil && !was.Removed.IsZero() {
			return nil // removed, and it will read so in the log
		}
		if err == nil {
			m.Joined = was.Joined
		}
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return explainError(err)
	}
	err = b.put(ctx, m)
	if err == nil {
		b.id.announced(was.Run)
	}
	return err
}

// put writes the record of a machine.
func (b *bucket) put(ctx context.Context, m *Machine) error {
	key := keyOfMachine(m.Number)
	sealed, err := b.seal(key, m)
	if err != nil {
		return err
	}
	_, err = asked(ctx, func(ctx context.Context) (uint64, error) { return b.kv.Put(ctx, key, sealed) })
	return explainError(err)
}

// machines lists the machines by number. One whose record does not have the newest key is left
// out: a machine that was removed may still write what it likes with the keys that it has.
func (b *bucket) machines(ctx context.Context) ([]Machine, error) {
	keys, err := b.keys(ctx, machinePrefix)
	if err != nil {
		return nil, err
	}
	newest, _ := b.id.current()
	var list []Machine
	for _, key := range keys {
		n := strings.TrimPrefix(key, machinePrefix)
		e, err := b.get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, explainError(err)
		}
		var m Machine
		epoch, err := b.open(key, e.Value(), &m)
		m.Renewed = e.Created()
		if err == nil && epoch == newest && decimal(m.Number) == n && m.Removed.IsZero() {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b Machine) int { return int(a.Number) - int(b.Number) })
	return list, nil
}
