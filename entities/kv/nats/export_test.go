package nats

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// With returns a machine that has the place of one store and the keys of another.
func With(place, keys *Identity) *Identity {
	id := place.id
	id.Epochs = keys.id.Epochs
	return newIdentity(id, "")
}

// Parts are the messages of an entry behind a position, cut into n.
func Parts(l *Log, after outbox.Position, entry []byte, n int) (sealed [][]byte) {
	body := append([]byte{ofStore}, entry...)
	epoch, ring := l.id.current()
	c := l.behind(after)
	h := MessageHeader{Epoch: epoch, Machine: 9, Group: [16]byte{1}, Prev: c.at.Mark, Seq: c.tail}
	for i := range n {
		h.Seq++
		h.Last = i == n-1
		sealed = append(sealed, ring.Seal(&h, body[i*len(body)/n:(i+1)*len(body)/n]))
		h.Part++
	}
	return sealed
}

// HurryPastOthers has Append not wait for the parts of others, until the end of a test.
func HurryPastOthers(t testing.TB) {
	t.Helper()
	was := othersWait
	othersWait = time.Millisecond
	t.Cleanup(func() { othersWait = was })
}

// HeadOf is the end of the log behind a position.
func HeadOf(t testing.TB, l *Log, after outbox.Position) outbox.Position {
	t.Helper()
	w, err := l.walk(t.Context(), after, func(outbox.Position, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return w.at
}

// SealedAt is an entry behind a position, with the newest key that a machine has.
func SealedAt(l *Log, at outbox.Position, entry []byte) []byte {
	epoch, ring := l.id.current()
	return ring.Seal(&MessageHeader{Epoch: epoch, Seq: at.Seq + 1, Last: true, Prev: at.Mark}, append([]byte{ofStore}, entry...))
}

// Publish has the servers take a message, whatever it is.
func Publish(t testing.TB, l *Log, message []byte) {
	t.Helper()
	_, err := l.js.Publish(t.Context(), l.id.id.Subject, message)
	if err != nil {
		t.Fatal(err)
	}
}

// NewIdentity is a machine of a store that is on no servers.
func NewIdentity() *Identity {
	return newIdentity(identity{Store: StoreID{1}, Epochs: []Epoch{{Secret: Secret{2}}}, Private: NewMachineKey().Bytes()}, "")
}

// Message is a part of an entry, for tests that put a log together by hand.
type Message struct {
	Seq   uint64
	Group byte
	Part  uint32
	Last  bool
	Prev  Mark
	Body  string
	Epoch uint32
}

// Seal seals it with the keys of a machine.
func (m Message) Seal(id *Identity) []byte {
	_, ring := id.current()
	body := []byte(m.Body)
	if m.Part == 0 {
		body = append([]byte{ofStore}, body...)
	}
	return ring.Seal(&MessageHeader{Seq: m.Seq, Group: [16]byte{m.Group}, Part: m.Part, Last: m.Last, Prev: m.Prev, Epoch: m.Epoch}, body)
}

// Take checks messages in order, as they would be read from a log, up to the first that is refused.
func Take(id *Identity, messages ...[]byte) (entries []string, err error) {
	c := startChain(id, id.Start())
	for _, m := range messages {
		entry, complete, err := c.take(m)
		if err != nil {
			return entries, err
		}
		if complete {
			entries = append(entries, string(entry))
		}
	}
	return entries, nil
}

// OtherKeys is a machine with another secret.
func OtherKeys() *Identity {
	id := NewIdentity()
	id.id.Epochs = []Epoch{{Secret: Secret{3}}}
	return id
}

// SpoilSnapshot writes something else over the record of a snapshot.
func SpoilSnapshot(t testing.TB, l *Log, s *Snapshot) {
	t.Helper()
	b, err := l.bucket(t.Context())
	if err == nil {
		_, err = b.kv.Put(t.Context(), keyOfSnapshot(s), []byte("spoilt"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Led is the error of what a server says of a stream.
func Led(info *jetstream.StreamInfo) error { return led(info) }

// Unreachable is the fault of a connection that did not come about.
func Unreachable(err error) error { return unreachable(err) }

// Objects counts what is in the object store.
func Objects(t testing.TB, l *Log) int {
	t.Helper()
	o, err := l.objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := o.List(t.Context())
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Follows reports whether a log has a consumer of the newest messages.
func Follows(l *Log) bool { return l.follows.Load() }

// SpoilPiece writes something else over the first piece of a snapshot.
func SpoilPiece(t testing.TB, l *Log, s *Snapshot, data []byte) {
	t.Helper()
	o, err := l.objects(t.Context())
	if err == nil {
		_, err = o.PutBytes(t.Context(), pieceName(s, 0), data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Entering are the options of credentials.
func Entering(text string) (o nats.Options, err error) {
	list, err := newDialer().entering(Servers{Credentials: text})
	for _, option := range list {
		err = errors.Join(err, option(&o))
	}
	return o, err
}

// TooOld is what is wrong with a version of servers.
func TooOld(version string) *fault.Error { return tooOld(version) }

// MoveOn has a log connect anew.
func MoveOn(l *Log) { l.moveOn() }

// Subject is where entries of a store are published.
func Subject(id *Identity) string { return id.id.Subject }

// Warned is what is said of servers of a version that are in use already.
func Warned(version string) []string {
	c := &Cluster{Version: version, Replicas: wantedReplicas, Reachable: wantedReplicas, SyncAlways: syncYes}
	c.judge(NewIdentity())
	return c.Warnings
}
