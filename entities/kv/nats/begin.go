package nats

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
)

// Keys of the metadata of a stream. None of their values says anything of the store but
// which secret fits.
const (
	metaCheck   = "c" // of the newest secret
	metaStore   = "i"
	metaBucket  = "b"
	metaObjects = "o"
	metaSynced  = "s" // present: somebody has said that the servers write to disk before they acknowledge
	metaLoss    = "l" // present: somebody accepts that they do not
)

const (
	duplicatesKept = 2 * time.Minute // how long the servers know the ids of messages
	// wantedReplicas is how many servers keep the log, so that it survives the loss of one.
	wantedReplicas = 3
	// minPayload is the least max_payload of the servers, in bytes.
	minPayload = 64 << 10
)

// CreateOptions are what a shared store is begun with.
type CreateOptions struct {
	Servers Servers
	Name    string // of this machine
	Synced  bool   // somebody says that all servers write to disk before they acknowledge
	Single  bool   // a single server is enough
	// AcceptLoss takes servers that say that they acknowledge before they write to disk.
	AcceptLoss bool
	Path       string // of the key file; "": none is written
}

// CreateStore makes a store on the servers: a stream, a bucket for machines, and one for snapshots,
// all with random names. It says what the cluster is worth. The log is empty and begins at
// Identity.Start.
func CreateStore(ctx context.Context, o CreateOptions) (*Identity, *Cluster, error) {
	d := newDialer()
	nc, js, err := connect(o.Servers, d)
	if err != nil {
		return nil, nil, err
	}
	defer nc.Close()
	store, secret := newStoreID(), newSecret()
	id := newIdentity(identity{
		Format: identityFormat, Store: store,
		Stream: randomName(), Subject: randomName(), Bucket: randomName(), Objects: randomName(),
		Machine: 1, Name: o.Name, Private: NewMachineKey().Bytes(),
		Epochs: []Epoch{{Secret: secret}}, Synced: o.Synced, Stage: StageBeginning,
	}, o.Path)
	replicas := wantedReplicas
	if o.Single {
		replicas = 1
	}
	found, err := examine(ctx, nc, nil)
	if err != nil {
		return nil, nil, err
	}
	err = found.enough()
	if err == nil && !o.AcceptLoss {
		err = found.writesFirst()
	}
	if err == nil {
		err = permitted(ctx, nc, d, id.needs(true))
	}
	if err != nil {
		return nil, nil, err
	}
	meta := map[string]string{
		metaCheck: secret.Check(), metaStore: hex.EncodeToString(store[:]),
		metaBucket: id.id.Bucket, metaObjects: id.id.Objects,
	}
	if o.Synced {
		meta[metaSynced] = "1"
	}
	if o.AcceptLoss {
		meta[metaLoss] = "1"
	}
	c, err := createAll(ctx, nc, js, id, meta, replicas)
	if err == nil {
		err = id.Save()
	}
	if err != nil {
		deleteAll(ctx, js, id)
		return nil, nil, err
	}
	return id, c, nil
}

// createAll makes what a store has on the servers.
func createAll(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, id *Identity, meta map[string]string, replicas int) (*Cluster, error) {
	s, err := repeated(ctx, func() (jetstream.Stream, error) {
		return js.CreateStream(ctx, jetstream.StreamConfig{
			Name: id.id.Stream, Subjects: []string{id.id.Subject}, Storage: jetstream.FileStorage, Replicas: replicas,
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, DenyDelete: true, Duplicates: duplicatesKept,
			Metadata: meta,
		})
	})
	if err != nil {
		return nil, cantMake(err)
	}
	_, err = repeated(ctx, func() (jetstream.KeyValue, error) {
		return js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: id.id.Bucket, Replicas: replicas, Storage: jetstream.FileStorage, LimitMarkerTTL: leaseTime,
		})
	})
	if err != nil {
		return nil, cantMake(err)
	}
	_, err = repeated(ctx, func() (jetstream.ObjectStore, error) {
		return js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: id.id.Objects, Replicas: replicas, Storage: jetstream.FileStorage})
	})
	if err != nil {
		return nil, cantMake(err)
	}
	for _, name := range []string{streamOfBucket(id.id.Bucket), streamOfObjects(id.id.Objects)} {
		err = readsFromLeader(ctx, js, name)
		if err != nil {
			return nil, cantMake(err)
		}
	}
	c, err := examine(ctx, nc, s)
	if err != nil {
		return nil, err
	}
	info := s.CachedInfo()
	err = checkStream(info, time.Time{})
	if err != nil {
		return nil, err
	}
	id.id.Created = info.Created // nobody else has it yet
	c.judge(id)
	b, err := openBucket(ctx, js, id)
	if err != nil {
		return nil, err
	}
	return c, errors.Join(b.putKeys(ctx), b.putMachine(ctx, Presence{}))
}

// makeTries is how often servers are told to make or change something.
const makeTries = 3

// repeated has something made or changed once more where nobody answers for as long as the client
// waits. The servers make nothing a second time that is there with the same configuration.
func repeated[T any](ctx context.Context, makes func() (T, error)) (made T, err error) {
	for range makeTries {
		made, err = makes()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			break
		}
	}
	return made, err
}

// deleteAll deletes what was made for a store that nobody gets the key of. What can't be deleted
// stays, under names that nobody knows.
func deleteAll(ctx context.Context, js jetstream.JetStream, id *Identity) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWait)
	defer cancel()
	_ = js.DeleteStream(end, id.id.Stream)
	_ = js.DeleteKeyValue(end, id.id.Bucket)
	_ = js.DeleteObjectStore(end, id.id.Objects)
}

// cantMake is the fault of a stream that could not be made.
func cantMake(err error) error {
	const tooFewServers, noSuitable = 10074, 10005
	if code := codeOf(err); code == tooFewServers || code == noSuitable {
		return fault.Wrap(fault.Unavailable, err, "there are not %d servers in the cluster", wantedReplicas).
			WithHint("start %d servers, or accept what one server is worth: ctxd sync init --single", wantedReplicas)
	}
	return explainError(err)
}

// randomName returns a name of 26 letters and digits, which says nothing.
func randomName() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// connect dials and fails when nobody answers.
func connect(s Servers, d *dialer) (*nats.Conn, jetstream.JetStream, error) {
	nc, err := dial(s, d)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(askWait))
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return nc, js, nil
}

// JoinOptions are what a store is joined with.
type JoinOptions struct {
	Servers    Servers
	Secret     Secret // from the recovery words
	Name       string // of this machine; it gets a number behind it where another one is called so
	AcceptLoss bool   // as in CreateOptions, unless whoever made the store has said so
	Former     uint32 // the number that this machine had before, whose name it may keep; 0: none
	Synced     bool
	Path       string // of the key file
}

// JoinStore finds the store of a secret on the servers and takes a number in it. The state of the
// store is then to be taken from its newest snapshot.
func JoinStore(ctx context.Context, o JoinOptions) (*Identity, *Cluster, error) {
	d := newDialer()
	nc, js, err := connect(o.Servers, d)
	if err != nil {
		return nil, nil, err
	}
	defer nc.Close()
	err = (&Cluster{Version: nc.ConnectedServerVersion(), MaxPayload: nc.MaxPayload()}).enough()
	if err == nil {
		err = permitted(ctx, nc, d, []need{{what: "list streams", subject: "$JS.API.STREAM.LIST"}})
	}
	if err != nil {
		return nil, nil, err
	}
	check := o.Secret.Check()
	var found *jetstream.StreamInfo
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		if info.Config.Metadata[metaCheck] == check {
			found = info
		}
	}
	err = list.Err()
	if err != nil {
		return nil, nil, explainError(err)
	}
	if found == nil {
		return nil, nil, fault.New(fault.NotFound, "no store on these servers has these recovery words").
			WithHint("compare the words and the address; removing a machine makes new words, which ctxd sync remove has printed there")
	}
	id, err := newMember(ctx, js, found, o, func(id *Identity) error { return permitted(ctx, nc, d, id.needs(false)) })
	if err != nil {
		return nil, nil, err
	}
	s, err := streamOf(ctx, js, id.id.Stream)
	if err != nil {
		return nil, nil, explainError(err)
	}
	c, err := examine(ctx, nc, s)
	if err != nil {
		return nil, nil, err
	}
	_, accepted := found.Config.Metadata[metaLoss]
	if !accepted && !o.AcceptLoss {
		err = c.writesFirst()
		if err != nil {
			return nil, nil, err
		}
	}
	c.judge(id)
	return id, c, id.Save()
}

// newMember makes the identity of this machine in a store that was found, when it may take part.
func newMember(ctx context.Context, js jetstream.JetStream, found *jetstream.StreamInfo, o JoinOptions, may func(*Identity) error) (*Identity, error) {
	meta := found.Config.Metadata
	var store StoreID
	_, err := hex.Decode(store[:], []byte(meta[metaStore]))
	if err != nil || len(meta[metaStore]) != 2*len(store) || len(found.Config.Subjects) != 1 {
		return nil, refuseMessage(ReasonMalformed)
	}
	raw := identity{
		Format: identityFormat, Store: store, Stream: found.Config.Name, Subject: found.Config.Subjects[0],
		Bucket: meta[metaBucket], Objects: meta[metaObjects], Name: o.Name, Private: NewMachineKey().Bytes(),
		Synced: o.Synced || meta[metaSynced] != "", Stage: StageJoining, Created: found.Created,
	}
	err = may(newIdentity(raw, ""))
	if err != nil {
		return nil, err
	}
	kv, err := asked(ctx, func(ctx context.Context) (jetstream.KeyValue, error) { return js.KeyValue(ctx, raw.Bucket) })
	if err != nil {
		return nil, explainError(err)
	}
	e, err := asked(ctx, func(ctx context.Context) (jetstream.KeyValueEntry, error) { return kv.Get(ctx, keyKeys) })
	if err != nil {
		return nil, explainError(err)
	}
	// Which epoch the secret is of stands in the record, and is proven by its opening.
	epoch, err := recordEpoch(e.Value())
	if err != nil {
		return nil, err
	}
	_, record, err := NewKeyRing(store, map[uint32]Secret{epoch: o.Secret}).OpenRecord(keyKeys, e.Value())
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(record, &raw.Epochs)
	if err != nil || len(raw.Epochs) != int(epoch)+1 {
		return nil, refuseMessage(ReasonMalformed)
	}
	id := newIdentity(raw, o.Path)
	b := &bucket{js: js, kv: kv, id: id}
	err = b.takeName(ctx, o.Former)
	if err != nil {
		return nil, err
	}
	return id, b.takeNumber(ctx)
}

const machinePrefix = "m."

// keyOfMachine is the key of a machine in the bucket.
func keyOfMachine(n uint32) string { return machinePrefix + decimal(n) }
