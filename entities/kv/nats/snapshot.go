package nats

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

const (
	// pieceSize is how much of a snapshot is sealed and sent at a time, in bytes.
	pieceSize = 4 << 20
	// keptSnapshots are how many stay; the log is purged behind the oldest of them.
	keptSnapshots = 2
)

// Snapshot is a whole state of the store on the servers.
type Snapshot struct {
	At      outbox.Position `json:"at"`
	Name    string          `json:"name"`   // what its pieces begin with
	Pieces  int             `json:"pieces"` // how many objects it is
	Bytes   int64           `json:"bytes"`  // of the state, as it was before it was packed
	Sum     []byte          `json:"sum"`    // SHA-256 of the state
	Machine uint32          `json:"machine"`
	Made    time.Time       `json:"made"`
}

// Progress is told how many bytes are done.
type Progress func(done int64)

// ErrLeased says that another machine makes a snapshot now.
var ErrLeased = errors.New("another machine makes a snapshot")

// PutSnapshot writes a state that stands at a position, under the lease of the store, and
// purges what no join needs any more. It is repeated as a whole when it fails.
func (l *Log) PutSnapshot(ctx context.Context, at outbox.Position, state io.Reader, progress Progress) (*Snapshot, error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return nil, err
	}
	release, err := b.lease(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	objects, err := l.objects(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{At: at, Name: randomName(), Machine: l.id.Machine(), Made: time.Now().UTC().Truncate(time.Second)}
	sum := sha256.New()
	piece := make([]byte, pieceSize)
	for {
		n, err := io.ReadFull(state, piece)
		if n > 0 {
			sum.Write(piece[:n])
			s.Bytes += int64(n)
			failed := l.putPiece(ctx, objects, s, piece[:n])
			if failed != nil {
				s.Pieces++ // something of it may be there
				return nil, errors.Join(failed, b.drop(context.WithoutCancel(ctx), objects, s))
			}
			progress(s.Bytes)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, b.drop(context.WithoutCancel(ctx), objects, s))
		}
	}
	s.Sum = sum.Sum(nil)
	key := keyOfSnapshot(s)
	sealed, err := b.seal(key, s)
	if err != nil {
		return nil, err
	}
	_, err = b.kv.Put(ctx, key, sealed)
	if err != nil {
		return nil, explainError(err)
	}
	return s, l.purge(ctx, b, objects)
}

// putPiece seals and sends the next piece.
func (l *Log) putPiece(ctx context.Context, objects jetstream.ObjectStore, s *Snapshot, piece []byte) error {
	packed, smaller := PackEntry(piece)
	body := append([]byte{0}, packed...)
	if smaller {
		body[0] = 1
	}
	name := pieceName(s, s.Pieces)
	epoch, ring := l.id.current()
	_, err := objects.PutBytes(ctx, name, ring.SealRecord(epoch, name, body))
	if err != nil {
		return explainError(err)
	}
	s.Pieces++
	return nil
}

func pieceName(s *Snapshot, n int) string { return fmt.Sprintf("%s.%d", s.Name, n) }

const snapshotPrefix = "s."

func keyOfSnapshot(s *Snapshot) string {
	return fmt.Sprintf("%s%020d.%s", snapshotPrefix, s.At.Seq, s.Name)
}

func (l *Log) objects(ctx context.Context) (jetstream.ObjectStore, error) {
	o, err := asked(ctx, func(ctx context.Context) (jetstream.ObjectStore, error) {
		return l.js.ObjectStore(ctx, l.id.names().objects)
	})
	return o, explainError(err)
}

// lease takes the lease of the store, which ends by itself when this process dies.
func (b *bucket) lease(ctx context.Context) (release func(), err error) {
	sealed, err := b.seal(keyLease, b.id.Machine())
	if err != nil {
		return nil, err
	}
	revision, err := b.kv.Create(ctx, keyLease, sealed, jetstream.KeyTTL(leaseTime))
	if exists(err) {
		f := fault.Wrap(fault.Unavailable, ErrLeased, "another machine makes a snapshot of the shared store")
		f.Retryable = true
		return nil, f.WithHint("try again in some minutes")
	}
	if err != nil {
		return nil, explainError(err)
	}
	return func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWait)
		defer cancel()
		err := b.kv.Delete(end, keyLease, jetstream.LastRevision(revision)) // it ends by itself
		if noRoom(err) != nil {
			_ = b.forget(end, keyLease)
		}
	}, nil
}

// Snapshots lists the snapshots, the newest first. One whose record does not have the newest
// key is left out: a machine that was removed may still write what it likes with the keys that it
// has. One that can't be read is no snapshot.
func (l *Log) Snapshots(ctx context.Context) ([]*Snapshot, error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return nil, err
	}
	return b.snapshots(ctx)
}

func (b *bucket) snapshots(ctx context.Context) ([]*Snapshot, error) {
	keys, err := b.keys(ctx, snapshotPrefix)
	if err != nil {
		return nil, err
	}
	slices.Reverse(keys)
	newest, _ := b.id.current()
	var list []*Snapshot
	for _, key := range keys {
		e, err := b.get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, explainError(err)
		}
		var s Snapshot
		epoch, err := b.open(key, e.Value(), &s)
		if err == nil && epoch == newest && key == keyOfSnapshot(&s) {
			list = append(list, &s)
		}
	}
	return list, nil
}

// PartialSnapshot is how much of a snapshot is here: what was written, and its hash so far. The zero
// Taken is nothing. A join that was interrupted goes on with the one it had.
type PartialSnapshot struct {
	Pieces int
	Bytes  int64
	sum    hash.Hash
}

// ResumeSnapshot is what was taken already of a snapshot: so many pieces, whose bytes are read again.
func ResumeSnapshot(pieces int, r io.Reader) (*PartialSnapshot, error) {
	t := &PartialSnapshot{Pieces: pieces, sum: sha256.New()}
	n, err := io.Copy(t.sum, r)
	t.Bytes = n
	return t, err
}

// TakeSnapshot writes the state of a snapshot, from the piece on that taken names. A piece
// that is not the one that was put is refused.
func (l *Log) TakeSnapshot(ctx context.Context, s *Snapshot, taken *PartialSnapshot, w io.Writer, progress Progress) error {
	if !l.Connected() {
		return l.offline()
	}
	objects, err := l.objects(ctx)
	if err != nil {
		return err
	}
	if taken.sum == nil {
		taken.sum = sha256.New()
	}
	fetched, stop := l.fetchAhead(ctx, objects, s, taken.Pieces)
	defer stop()
	for taken.Pieces < s.Pieces {
		wait, ok := <-fetched
		if !ok {
			return withdrawn(ctx, ctx.Err())
		}
		piece, err := wait()
		if err != nil {
			return err
		}
		_, err = w.Write(piece)
		if err != nil {
			return err
		}
		taken.sum.Write(piece)
		taken.Pieces++
		taken.Bytes += int64(len(piece))
		progress(taken.Bytes)
	}
	if taken.Bytes != s.Bytes || !slices.Equal(taken.sum.Sum(nil), s.Sum) {
		return refuseMessage(ReasonAltered)
	}
	return nil
}

// piecesAhead is how many pieces are on their way while one is written: each takes several round
// trips to the servers. BenchmarkSYNC10_Join measures it.
const piecesAhead = 2

// fetchAhead fetches the pieces of a snapshot from one on. They come in order, each as a function
// that waits for it; the channel is closed behind the last one, or when ctx ends. stop ends it,
// and waits until nothing runs any more.
func (l *Log) fetchAhead(ctx context.Context, objects jetstream.ObjectStore, s *Snapshot, from int) (fetched <-chan func() ([]byte, error), stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	list := make(chan func() ([]byte, error), piecesAhead)
	running.Go(func() {
		defer close(list)
		for n := from; n < s.Pieces; n++ {
			done := make(chan struct{})
			var piece []byte
			var err error
			wait := func() ([]byte, error) {
				<-done
				return piece, err
			}
			select {
			case list <- wait:
			case <-ctx.Done():
				return
			}
			running.Go(func() {
				defer close(done)
				piece, err = l.takePiece(ctx, objects, pieceName(s, n))
			})
		}
	})
	return list, func() {
		cancel()
		running.Wait()
	}
}

func (l *Log) takePiece(ctx context.Context, objects jetstream.ObjectStore, name string) ([]byte, error) {
	sealed, err := object(ctx, objects, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		f := fault.Wrap(fault.Unavailable, err, "the snapshot is not on the servers any more")
		f.Retryable = true
		return nil, f.WithHint("begin again; there is a newer one")
	}
	if err != nil {
		return nil, withdrawn(ctx, explainError(err))
	}
	_, ring := l.id.current()
	_, body, err := ring.OpenRecord(name, sealed)
	if err != nil {
		return nil, err
	}
	switch {
	case len(body) == 0 || body[0] > 1:
		return nil, refuseMessage(ReasonMalformed)
	case body[0] == 1:
		return UnpackEntry(body[1:], pieceSize)
	}
	return body[1:], nil
}

// maxPiece bounds a sealed piece, in bytes.
const maxPiece = pieceSize + 1<<10

// object reads an object that is a piece. A larger one is refused before it is here.
func object(ctx context.Context, objects jetstream.ObjectStore, name string) ([]byte, error) {
	r, err := objects.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was read
	sealed, err := io.ReadAll(io.LimitReader(r, maxPiece+1))
	if len(sealed) > maxPiece {
		return nil, refuseMessage(ReasonTooLarge)
	}
	return sealed, err
}

// purge deletes what is behind the second newest snapshot.
func (l *Log) purge(ctx context.Context, b *bucket, objects jetstream.ObjectStore) error {
	list, err := b.snapshots(ctx)
	if err != nil || len(list) < keptSnapshots {
		return err
	}
	_, err = l.purgeTo(ctx, b, objects, list[keptSnapshots-1].At.Seq, keptSnapshots)
	return err
}

// purgeTo deletes the messages up to a sequence and returns which is the first now. Snapshots
// go whose tail is gone, and those behind the newest so many; the newest stays.
func (l *Log) purgeTo(ctx context.Context, b *bucket, objects jetstream.ObjectStore, seq uint64, keep int) (first uint64, err error) {
	s, err := streamOf(ctx, l.js, l.id.names().stream)
	if err != nil {
		return 0, explainError(err)
	}
	err = s.Purge(ctx, jetstream.WithPurgeSequence(seq+1))
	if err != nil {
		return 0, explainError(err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return 0, explainError(err)
	}
	first = info.State.FirstSeq
	list, err := b.snapshots(ctx)
	if err != nil {
		return first, err
	}
	for n, old := range list {
		// The newest stays, whatever a leader says of the log: nobody could join without it.
		if n == 0 || n < keep && old.At.Seq+1 >= first {
			continue
		}
		err := b.drop(ctx, objects, old)
		if err != nil {
			return first, err
		}
	}
	return first, nil
}

// Purge deletes from the servers what stands up to a position: the messages, and the snapshots
// that were made before it, whether a join needs them or not. A newer snapshot must be there.
// It returns the sequence of the first message that is left, or will be next. Machines that
// have not applied the log up to there have to join anew.
func (l *Log) Purge(ctx context.Context, at outbox.Position) (first uint64, err error) {
	b, err := l.bucket(ctx)
	if err != nil {
		return 0, err
	}
	list, err := b.snapshots(ctx)
	if err != nil {
		return 0, err
	}
	if len(list) == 0 || list[0].At.Seq < at.Seq {
		f := fault.New(fault.Unavailable, "the servers have no state of the shared store that is new enough")
		f.Retryable = true
		return 0, f
	}
	objects, err := l.objects(ctx)
	if err != nil {
		return 0, err
	}
	return l.purgeTo(ctx, b, objects, at.Seq, keptSnapshots)
}

// Free makes room on servers that have none: it deletes what a join does not need, which is
// everything but the newest snapshot and what came after it. Machines that have not read as far
// have to join anew. It takes no room itself.
func (l *Log) Free(ctx context.Context) error {
	b, err := l.bucket(ctx)
	if err != nil {
		return err
	}
	list, err := b.snapshots(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	objects, err := l.objects(ctx)
	if err != nil {
		return err
	}
	_, err = l.purgeTo(ctx, b, objects, list[0].At.Seq, 1)
	return err
}

// drop deletes a snapshot, its record first: no join begins with half of one.
func (b *bucket) drop(ctx context.Context, objects jetstream.ObjectStore, s *Snapshot) error {
	key := keyOfSnapshot(s)
	err := b.kv.Purge(ctx, key, jetstream.PurgeTTL(leaseTime)) // what says so goes, too
	if noRoom(err) != nil {                                    // not even for a mark that it is gone
		err = b.forget(ctx, key)
	}
	if err != nil {
		return explainError(err)
	}
	for n := range s.Pieces {
		err := b.erase(ctx, objects, pieceName(s, n))
		if err != nil {
			return explainError(err)
		}
	}
	return nil
}

// erase deletes an object and leaves no mark of it, which servers without room would not take.
func (b *bucket) erase(ctx context.Context, objects jetstream.ObjectStore, name string) error {
	info, err := objects.GetInfo(ctx, name, jetstream.GetObjectInfoShowDeleted())
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	in := b.id.names().objects
	err = b.purge(ctx, streamOfObjects(in), "$O."+in+".C."+info.NUID)
	if err != nil {
		return err
	}
	return b.purge(ctx, streamOfObjects(in), "$O."+in+".M."+base64.URLEncoding.EncodeToString([]byte(name)))
}

// forget deletes an entry of the bucket and leaves no mark of it.
func (b *bucket) forget(ctx context.Context, key string) error {
	name := b.id.names().bucket
	return b.purge(ctx, streamOfBucket(name), "$KV."+name+"."+key)
}

// purge deletes the messages of a subject from a stream that is not the log.
func (b *bucket) purge(ctx context.Context, stream, subject string) error {
	s, err := streamOf(ctx, b.js, stream)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(subject))
}
