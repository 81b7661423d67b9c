package nats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// maxSingle is how many messages are asked for one by one at most. Making a consumer costs about as
// much.
const maxSingle = 8

// Read hands over the entries behind a position, as outbox.Log says.
func (l *Log) Read(ctx context.Context, after outbox.Position, fn func(at outbox.Position, entry []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := l.walk(ctx, after, fn)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = head{after: c.entry, chain: c.chain}
	return nil
}

// Arrived hands over what the consumer has brought of what stands behind a position, as
// outbox.Log says. What is not right is not handed over: Read refuses it.
func (l *Log) Arrived(after outbox.Position, fn func(at outbox.Position, entry []byte) error) (all bool, err error) {
	w := walked{startChain(l.id, after), after}
	for {
		message, ok := l.tail.get(w.tail + 1)
		if !ok {
			break
		}
		entry, complete, failed := w.take(message)
		if failed != nil {
			return false, nil // Read says it
		}
		l.kept.add(w.tail, message)
		if !complete {
			continue
		}
		w.entry = w.at
		err := fn(w.at, entry)
		if err != nil {
			return false, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.tail > after.Seq && !w.incomplete() {
		l.head = head{after: w.entry, chain: w.chain}
	}
	return l.verified == l.connects && l.tail.isEnd(w.tail), nil
}

// walked is how far a walk came.
type walked struct {
	*chain
	entry outbox.Position // of the newest entry of the store
}

// walk checks everything behind a position up to the end of the log as it is now.
func (l *Log) walk(ctx context.Context, after outbox.Position, fn func(at outbox.Position, entry []byte) error) (walked, error) {
	s, first, last, err := l.reach(ctx, after)
	if err != nil {
		return walked{}, err
	}
	err = l.verify(ctx, s, after, first, last)
	if err != nil {
		return walked{}, err
	}
	w := walked{startChain(l.id, after), after}
	err = l.messages(ctx, s, after.Seq+1, last, func(message []byte) error {
		entry, complete, err := w.take(message)
		if err != nil {
			return err
		}
		l.kept.add(w.tail, message)
		if !complete {
			return nil
		}
		w.entry = w.at
		return fn(w.at, entry)
	})
	return w, err
}

// reach asks for the bounds of the log, which are to hold a position. A server that has not
// noticed yet that another one leads, or does not have everything yet, shows an end of before:
// it is asked again for a while, before the log passes for one that has lost its end.
func (l *Log) reach(ctx context.Context, after outbox.Position) (s jetstream.Stream, first, last uint64, err error) {
	until := time.Now().Add(askWait)
	for {
		s, first, last, err = l.bounds(ctx)
		if err != nil {
			return s, first, last, err
		}
		if first <= last { // else it holds nothing, perhaps since it has lost all
			l.kept.forget(first)
		}
		short := last < after.Seq
		if short {
			restored, err := l.restore(ctx, s)
			if err != nil {
				return s, first, last, err
			}
			if restored {
				continue
			}
		}
		l.mu.Lock()
		told := l.short
		l.short = short && (told || time.Now().After(until))
		wait := short && !l.short
		l.mu.Unlock()
		if !wait {
			return s, first, last, within(after, first, last)
		}
		err = l.pause(ctx)
		if err != nil {
			return s, first, last, err
		}
	}
}

// within refuses a position outside what the log holds.
func within(after outbox.Position, first, last uint64) error {
	switch {
	case last < after.Seq:
		f := fault.Wrap(fault.Unavailable, outbox.ErrForked, "the log on the servers is shorter than what this machine has: the servers have lost entries that they had acknowledged")
		return f.WithHint("keep this folder; begin the shared store anew on the machine that has most: ctxd sync init --again")
	case after.Seq+1 < first:
		f := fault.Wrap(fault.Unavailable, outbox.ErrGone, "the log on the servers does not reach back to what this machine has")
		return f.WithHint("join anew with the recovery words: ctxd sync join --again; what is here can be read meanwhile")
	}
	return nil
}

// bounds asks the leader of the stream which sequences it holds.
func (l *Log) bounds(ctx context.Context) (s jetstream.Stream, first, last uint64, err error) {
	if !l.Connected() {
		return nil, 0, 0, l.offline()
	}
	name := l.id.names().stream
	began, asked := time.Now(), "$JS.API.STREAM.INFO."+name
	err = ask(ctx, func(ctx context.Context) error {
		s, err = l.js.Stream(ctx, name)
		if err != nil && len(l.dialer.denies(began, asked)) > 0 {
			return forbidden("look at the stream of the log (" + asked + ")")
		}
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		l.moveOn()
	}
	if err != nil {
		return nil, 0, 0, withdrawn(ctx, explainError(err))
	}
	err = led(s.CachedInfo())
	if err == nil {
		err = checkStream(s.CachedInfo(), l.id.created())
	}
	if err != nil {
		return nil, 0, 0, err
	}
	state := s.CachedInfo().State
	return s, state.FirstSeq, state.LastSeq, nil
}

// led refuses what a server says of a stream that no server leads: the others may have more.
func led(info *jetstream.StreamInfo) error {
	if info.Cluster == nil || info.Cluster.Leader != "" {
		return nil
	}
	f := fault.New(fault.Unavailable, "most servers of the shared store can't be reached, so none leads the others")
	f.Retryable = true
	return f.WithHint("start them again; what is here can be read meanwhile")
}

// End is the sequence of the newest message.
func (l *Log) End(ctx context.Context) (uint64, error) {
	_, _, last, err := l.bounds(ctx)
	return last, err
}

// ask puts a question again that nobody has answered, after a longer wait each time. One that
// reaches a server while another becomes the leader gets no answer. The answer to the first
// one of a connection may be lost between servers that do not know yet where to send it.
func ask(ctx context.Context, question func(ctx context.Context) error) error {
	for tries := 1; ; tries++ {
		attempt, cancel := context.WithTimeout(ctx, min(attemptWait, firstWait<<(tries-1)))
		err := question(attempt)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || tries == askTries {
			return err
		}
	}
}

// asked is ask for a question with an answer. Whoever writes with it writes the same when asked twice.
func asked[T any](ctx context.Context, question func(ctx context.Context) (T, error)) (answer T, err error) {
	err = ask(ctx, func(ctx context.Context) (err error) {
		answer, err = question(ctx)
		return err
	})
	return answer, err
}

// withdrawn is the error of a caller who has gone, or err.
func withdrawn(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// verify finds the entry of a position in the log, once a connection: a server that has lost
// what it acknowledged may have got something else in its place since.
func (l *Log) verify(ctx context.Context, s jetstream.Stream, after outbox.Position, first, last uint64) error {
	l.mu.Lock()
	connect := l.connects
	done := l.verified == connect
	l.mu.Unlock()
	if done {
		return nil
	}
	err := l.checkOthers(ctx, connect, last)
	if err != nil || after.Seq == 0 || after.Seq < first {
		return err
	}
	newest, err := l.message(ctx, s, after.Seq)
	if err != nil {
		return err
	}
	h, err := PeekHeader(newest)
	if err != nil {
		return err
	}
	begins := after.Seq - uint64(h.Part)
	if begins < first || begins > after.Seq {
		return nil // its first parts are purged
	}
	var parts [][]byte
	for seq := begins; seq < after.Seq; seq++ {
		part, err := l.message(ctx, s, seq)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	if NextMark(h.Prev, append(parts, newest)...) != after.Mark {
		return forked(refuseMessage(ReasonCut))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.verified = connect
	return nil
}

// message returns one message. Where a server has it not, it is asked for again for a while, as in
// reach, before the log passes for one that has lost it.
func (l *Log) message(ctx context.Context, s jetstream.Stream, seq uint64) ([]byte, error) {
	until := time.Now().Add(askWait)
	for {
		m, err := asked(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return s.GetMsg(ctx, seq) })
		if err == nil {
			return m.Data, nil
		}
		if !errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, withdrawn(ctx, explainError(err))
		}
		err = l.missing(ctx, seq)
		if ReasonOf(err) != ReasonCut || time.Now().After(until) {
			return nil, err
		}
		err = l.pause(ctx)
		if err != nil {
			return nil, err
		}
	}
}

// missing is the error of a message that should be there.
func (l *Log) missing(ctx context.Context, seq uint64) error {
	_, first, _, err := l.bounds(ctx)
	if err != nil {
		return err
	}
	if seq < first {
		return within(outbox.Position{Seq: seq - 1}, first, seq)
	}
	return forked(refuseMessage(ReasonCut))
}

// messages calls fn with the messages of a range.
func (l *Log) messages(ctx context.Context, s jetstream.Stream, from, to uint64, fn func([]byte) error) error {
	for seq := from; seq <= to; seq++ {
		m, ok := l.tail.get(seq)
		if !ok && to-seq >= maxSingle {
			return l.manyMessages(ctx, s, seq, to, fn)
		}
		if !ok {
			var err error
			m, err = l.message(ctx, s, seq)
			if err != nil {
				return err
			}
		}
		err := fn(m)
		if err != nil {
			return err
		}
	}
	return nil
}

// manyMessages reads a range by a consumer of its own. Another one goes on where the first message
// does not come: it may be lost like the answer to a question, see ask.
func (l *Log) manyMessages(ctx context.Context, s jetstream.Stream, from, to uint64, fn func([]byte) error) error {
	for tries := 1; ; tries++ {
		read, err := l.consume(ctx, s, from, to, attemptWait*time.Duration(tries), fn)
		if read > 0 {
			from, tries = from+read, 0
		}
		if !errors.Is(err, errSilent) || tries == silentTries {
			return err
		}
	}
}

// silentTries is how many consumers bring nothing before the servers are taken not to answer.
const silentTries = 3

// errSilent is why a consumer has brought nothing more.
var errSilent = errors.New("no message has come")

// consume calls fn with the messages of a range, of which the first may take so long. It returns how
// many there were.
func (l *Log) consume(ctx context.Context, s jetstream.Stream, from, to uint64, first time.Duration, fn func([]byte) error) (read uint64, err error) {
	c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, InactiveThreshold: askWait,
	})
	if err != nil {
		return 0, withdrawn(ctx, explainError(err))
	}
	list, err := c.Messages(jetstream.PullMaxBytes(keptBytes))
	if err != nil {
		return 0, withdrawn(ctx, explainError(err))
	}
	defer list.Stop()
	wait := first
	for seq := from; seq <= to; seq++ {
		m, err := next(ctx, list, wait)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return read, errors.Join(errSilent, explainError(err))
		}
		if err != nil {
			return read, withdrawn(ctx, explainError(err))
		}
		meta, err := m.Metadata()
		if err != nil {
			return read, withdrawn(ctx, explainError(err))
		}
		if meta.Sequence.Stream != seq {
			return read, l.missing(ctx, seq)
		}
		err = fn(m.Data())
		if err != nil {
			return read, err
		}
		read++
		wait = askWait
	}
	return read, nil
}

// next waits for one message.
func next(ctx context.Context, list jetstream.MessagesContext, wait time.Duration) (jetstream.Msg, error) {
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return list.Next(jetstream.NextContext(until))
}
