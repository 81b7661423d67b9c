package nats

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

const (
	// headerRoom is what is left of a message for what the client writes before it, in bytes.
	headerRoom = 1 << 10
	// committedWait is how long a message that has a place may take until it is committed, at
	// first; then twice as long each time.
	committedWait = 4 * time.Millisecond
	// appendTries is how often an entry is put behind what others have begun and not completed.
	appendTries = 8
)

// othersWait is how long an entry that another machine has begun may take for its next part,
// before one of ours makes it void. Tests change it.
var othersWait = 3 * time.Second

// Answers of a server to a message that it does not take. Those that are not here leave open
// whether it did.
const (
	codeWrongSequence         = 10071 // another message has the place
	codeWrongSequenceConstant = 10164
	codeTooLarge              = 10054
	codeNoResources           = 10023 // of the server
	codeNoStorage             = 10047
	codeNoMemory              = 10028
	codeAccountFull           = 10002
	codeStreamFull            = 10077 // the stream is at a limit of its own
	codeNoLimits              = 10120 // the account has none for such a stream, so no room either
)

// errTaken says that another message has the place of ours.
var errTaken = errors.New("another message has the place")

// Append puts an entry behind a position, as outbox.Log says.
func (l *Log) Append(ctx context.Context, after outbox.Position, entry []byte) (outbox.Position, error) {
	if len(entry) >= maxEntry {
		return outbox.Position{}, fault.New(fault.Limit, "the transaction is too large for the shared store")
	}
	l.appending.Lock()
	defer l.appending.Unlock()
	body := make([]byte, 0, len(entry)+1)
	body = append(append(body, ofStore), entry...)
	for range appendTries {
		behind := l.behind(after)
		at, err := l.put(ctx, behind, body)
		if err == nil {
			l.mu.Lock()
			l.head = head{after: at, chain: startChain(l.id, at)}
			l.mu.Unlock()
			return at, nil
		}
		if !errors.Is(err, errTaken) {
			return outbox.Position{}, err
		}
		err = l.passTaken(ctx, after, behind.tail)
		if err != nil {
			return outbox.Position{}, err
		}
	}
	f := fault.New(fault.Unavailable, "other machines did not let this one write to the shared store")
	f.Retryable = true
	return outbox.Position{}, f.WithHint("try again")
}

// passTaken is passVoid for a place that the servers called taken behind a sequence. What has it
// may not be committed yet, for about as long as a commit takes. The consumer brings it then,
// so that nobody has to be asked.
func (l *Log) passTaken(ctx context.Context, after outbox.Position, sequence uint64) error {
	for wait := committedWait; ; wait = min(2*wait, reconnectWait) {
		more := l.tail.next()
		_, err := l.Arrived(after, func(outbox.Position, []byte) error { return outbox.ErrBehind })
		if err != nil {
			return others(err)
		}
		again := time.NewTimer(wait)
		select {
		case <-more:
			again.Stop()
			continue
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
		tail, err := l.passVoid(ctx, after)
		if err != nil || tail != sequence {
			return err
		}
	}
}

// others is the fault of who comes second.
func others(err error) error {
	return fault.Wrap(fault.Conflict, err, "another machine has written to the shared store first").WithReason(fault.Changed)
}

// behind returns the chain at the end of what is known behind a position of the store.
func (l *Log) behind(after outbox.Position) *chain {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.head.chain != nil && l.head.after == after {
		return l.head.chain
	}
	return startChain(l.id, after)
}

// passVoid looks at what has come behind a position. An entry of the store is ErrBehind.
// Parts of an entry get time to be completed, and are passed when they are not.
// It returns the sequence of the newest message.
func (l *Log) passVoid(ctx context.Context, after outbox.Position) (tail uint64, err error) {
	for {
		more := l.tail.next()
		w, err := l.walk(ctx, after, func(outbox.Position, []byte) error { return outbox.ErrBehind })
		if errors.Is(err, outbox.ErrBehind) {
			return 0, others(outbox.ErrBehind)
		}
		if err != nil {
			return 0, err
		}
		if w.incomplete() {
			wait := time.NewTimer(othersWait)
			select {
			case <-more:
				wait.Stop()
				continue
			case <-wait.C:
			case <-ctx.Done():
				wait.Stop()
				return 0, ctx.Err()
			}
		}
		l.mu.Lock()
		l.head = head{after: after, chain: w.chain}
		l.mu.Unlock()
		return w.tail, nil
	}
}

// put seals a body behind a chain and has it appended, in parts when it is too large for a
// message.
func (l *Log) put(ctx context.Context, c *chain, body []byte) (outbox.Position, error) {
	if !l.Connected() {
		return outbox.Position{}, l.offline()
	}
	packed, smaller := PackEntry(body)
	room := int(min(l.nc.MaxPayload(), maxPayload)) - headerRoom - MessageOverhead
	if room <= 0 {
		return outbox.Position{}, fault.New(fault.Unavailable, "the servers take no messages of a useful size").WithHint("set max_payload of the servers to 1MB")
	}
	epoch, ring := l.id.current()
	h := MessageHeader{Epoch: epoch, Machine: l.id.Machine(), Packed: smaller, Prev: c.at.Mark, Seq: c.tail}
	_, _ = rand.Read(h.Group[:])
	var sealed [][]byte
	for first := true; first || len(packed) > 0; first = false {
		n := min(room, len(packed))
		h.Seq++
		h.Last = n == len(packed)
		m := ring.Seal(&h, packed[:n])
		packed = packed[n:]
		err := l.publish(ctx, h.Seq, hex.EncodeToString(h.Group[:])+"."+strconv.Itoa(int(h.Part)), m)
		if err != nil && !h.Last && errors.Is(err, outbox.ErrUnknown) {
			f := unreachable(err) // without its last part it will never be valid
			f.Err = nil
			return outbox.Position{}, f
		}
		if err != nil {
			return outbox.Position{}, err
		}
		l.kept.add(h.Seq, m)
		sealed = append(sealed, m)
		h.Part++
	}
	return outbox.Position{Seq: h.Seq, Mark: NextMark(h.Prev, sealed...)}, nil
}

// publish has one message appended at a sequence, and finds out whether it was, for as long
// as ctx allows. The same message can be sent again: the sequence that it expects lets it in
// once, and the servers know it by its id.
func (l *Log) publish(ctx context.Context, seq uint64, id string, message []byte) error {
	subject := l.id.names().subject
	sent := false       // it may be there
	asked := time.Now() // since then this server was asked
	for {
		began := time.Now()
		ack, err := l.publishOnce(ctx, seq, id, &nats.Msg{Subject: subject, Data: message})
		switch {
		case err == nil && ack.Sequence == seq:
			return nil
		case err == nil:
			return forked(refuseMessage(ReasonMoved))
		case refusedForGood(err) != nil && !sent:
			return refusedForGood(err)
		case taken(err) && !sent:
			return errTaken
		case !sent && len(l.dialer.denies(began, subject)) > 0:
			return forbidden("write to the log (publish to " + subject + ")")
		case taken(err), refusedForGood(err) != nil: // maybe an earlier attempt of ours has got there
			switch l.ownerOf(ctx, seq, message) {
			case ours:
				return nil
			case theirs:
				return errTaken
			}
		case !reached(err) && !sent:
			return l.offline()
		case errors.Is(err, jetstream.ErrNoStreamResponse): // nobody has got it
		default:
			sent = true
		}
		if time.Since(asked) > otherServerAfter {
			asked = time.Now()
			l.moveOn()
		}
		paused := l.pause(ctx)
		switch {
		case paused != nil && !sent:
			return unreachable(err)
		case paused != nil:
			return fault.Wrap(fault.Unavailable, errors.Join(outbox.ErrUnknown, paused), "the servers of the shared store did not say whether they have taken the write").
				WithHint("look whether it is there before you repeat it")
		}
	}
}

// publishOnce is one attempt of publish.
func (l *Log) publishOnce(ctx context.Context, seq uint64, id string, m *nats.Msg) (*jetstream.PubAck, error) {
	if !l.Connected() {
		return nil, nats.ErrReconnectBufExceeded // as the client says that nothing is sent
	}
	attempt, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	return l.js.PublishMsg(attempt, m,
		jetstream.WithExpectLastSequence(seq-1), jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
}

// owner is whose message stands at a sequence.
type owner int

const (
	notKnown owner = iota // no server says
	ours
	theirs
)

// ownerOf asks whose message stands at a sequence.
func (l *Log) ownerOf(ctx context.Context, seq uint64, message []byte) owner {
	attempt, cancel := context.WithTimeout(ctx, attemptWait)
	defer cancel()
	s, err := l.js.Stream(attempt, l.id.names().stream)
	if err != nil {
		return notKnown
	}
	m, err := s.GetMsg(attempt, seq)
	switch {
	case err != nil:
		return notKnown
	case bytes.Equal(m.Data, message):
		return ours
	default:
		return theirs
	}
}

// pause waits until another attempt makes sense.
func (l *Log) pause(ctx context.Context) error {
	wait := time.NewTimer(reconnectWait)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return nil
	}
}

// taken reports whether the servers said that another message has the place.
func taken(err error) bool {
	code := codeOf(err)
	return code == codeWrongSequence || code == codeWrongSequenceConstant
}

// refusedForGood is the fault of an answer that leaves nothing behind, nil of any other.
func refusedForGood(err error) error {
	if codeOf(err) == codeTooLarge {
		return fault.New(fault.Limit, "the servers take no message as large as this write").WithHint("raise max_payload of the servers, and max_msg_size of the stream")
	}
	return noRoom(err)
}

// noRoom is the fault of servers that have no room, nil of any other answer.
func noRoom(err error) error {
	var msg, hint string
	switch codeOf(err) {
	case codeNoResources, codeNoStorage, codeNoMemory:
		msg, hint = "the servers of the shared store have no room", "make room on the servers, or raise max_file_store in their configuration"
	case codeAccountFull, codeNoLimits:
		msg, hint = "the account on the servers of the shared store has no room", "raise the limit of its storage on the servers"
	case codeStreamFull:
		msg, hint = "the log of the shared store is at a limit that somebody has set for it on the servers", "raise max_bytes and max_msgs of the stream"
	default:
		return nil
	}
	f := fault.Wrap(fault.Unavailable, errors.Join(outbox.ErrFull, err), "%s", msg)
	f.Retryable = true
	return f.WithHint("%s; ctxd compact frees what is not needed any more", hint)
}

// codeOf returns the number of what a server answered, 0 for anything else.
func codeOf(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	return 0
}

// reached reports whether a message may have reached a server. A connection that is closed
// tells nothing: the message may have gone before.
func reached(err error) bool {
	return !errors.Is(err, nats.ErrReconnectBufExceeded) && !errors.Is(err, nats.ErrInvalidConnection)
}
