package kvtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv/outbox"
)

// Log is the log that machines share.
type Log struct {
	// AcceptAll has every Append succeed, whatever stands behind its position: a wrong design,
	// for tests that are to notice.
	AcceptAll bool

	mu       sync.Mutex
	base     outbox.Position // what the oldest entry left stands behind
	entries  []entry
	late     []late
	machines []*Machine
}

type entry struct {
	at    outbox.Position
	bytes []byte
}

// late is an entry on its way, of which its machine no longer hopes to hear.
type late struct {
	after outbox.Position
	bytes []byte
}

// NewLog returns an empty log that begins at a position.
func NewLog(start outbox.Position) *Log { return &Log{base: start} }

// Fault is what happens to one Append.
type Fault int

// Faults of an Append.
const (
	FaultNone        Fault = iota
	FaultRefuse            // it is refused; nothing was appended
	FaultLoseAnswer        // it is appended if its place is free; the outcome is not known
	FaultLoseRequest       // nothing was appended, and never will be; the outcome is not known
	FaultFull              // it is refused, since there is no room
	FaultSilent            // as LoseRequest, after as long as its caller waits
	FaultLate              // it is on its way, and appended at some time if its place is free then
	FaultTwice             // it is appended if its place is free, and is on its way once more
)

// Machine is a log as one store reaches it.
type Machine struct {
	log     *Log
	changes chan struct{}

	mu       sync.Mutex
	cut      bool
	staleEnd *outbox.Position // what reads end at; nil: at the end
	fault    func() Fault
	slow     func(op string)
}

// Machine returns another machine's way to the log.
func (l *Log) Machine() *Machine {
	m := &Machine{log: l, changes: make(chan struct{}, 1)}
	l.mu.Lock()
	l.machines = append(l.machines, m)
	l.mu.Unlock()
	return m
}

// Cut takes the machine off the others, or puts it back.
func (m *Machine) Cut(cut bool) {
	m.mu.Lock()
	m.cut = cut
	m.mu.Unlock()
	m.signal()
}

// StaleReads has reads end where the log ends now, as those from a server do that has not noticed
// yet that another one leads; or no longer.
func (m *Machine) StaleReads(stale bool) {
	end, _ := m.log.End()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.staleEnd = nil
	if stale {
		m.staleEnd = &end
	}
}

// Faults has fn choose what happens to each Append; nil: nothing does.
func (m *Machine) Faults(fn func() Fault) {
	m.mu.Lock()
	m.fault = fn
	m.mu.Unlock()
}

// Slow has fn called at the beginning ("append", "read") and before the answer ("appended")
// of each call; it may wait. nil: nothing is called.
func (m *Machine) Slow(fn func(op string)) {
	m.mu.Lock()
	m.slow = fn
	m.mu.Unlock()
}

// reach calls what Slow gave, and reports whether the log can be reached.
func (m *Machine) reach(op string) bool {
	m.mu.Lock()
	slow := m.slow
	m.mu.Unlock()
	if slow != nil {
		slow(op)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.cut
}

func unreachable() error {
	e := fault.New(fault.Unavailable, "the other machines can't be reached")
	e.Retryable = true
	return e
}

func full() error {
	e := fault.Wrap(fault.Unavailable, outbox.ErrFull, "the log has no room")
	e.Retryable = true
	return e
}

// Append implements outbox.Log.
func (m *Machine) Append(ctx context.Context, after outbox.Position, b []byte) (outbox.Position, error) {
	if err := ctx.Err(); err != nil {
		return outbox.Position{}, unreachable()
	}
	if !m.reach("append") {
		return outbox.Position{}, unreachable()
	}
	m.mu.Lock()
	choose := m.fault
	m.mu.Unlock()
	what := FaultNone
	if choose != nil {
		what = choose()
	}
	l := m.log
	l.mu.Lock()
	l.land()
	b = slices.Clone(b)
	var at outbox.Position
	var err error
	switch what {
	case FaultRefuse:
		err = unreachable()
	case FaultFull:
		err = full()
	case FaultLoseRequest:
		err = outbox.ErrUnknown
	case FaultSilent:
		err = errors.Join(outbox.ErrUnknown, context.DeadlineExceeded)
	case FaultLate:
		l.late = append(l.late, late{after, b})
		err = outbox.ErrUnknown
	default:
		at, err = l.append(after, b)
		switch what {
		case FaultLoseAnswer:
			err = outbox.ErrUnknown
		case FaultTwice:
			l.late = append(l.late, late{after, b})
		}
	}
	l.mu.Unlock()
	if !m.reach("appended") && err == nil {
		err = outbox.ErrUnknown
	}
	if err != nil {
		return outbox.Position{}, err
	}
	return at, nil
}

// append puts an entry behind a position, if that is the end.
func (l *Log) append(after outbox.Position, b []byte) (outbox.Position, error) {
	end := l.end()
	if after != end && !l.AcceptAll {
		return after, outbox.ErrBehind
	}
	at := outbox.Position{Seq: end.Seq + 1 + end.Seq%3}
	sum := sha256.New()
	sum.Write(end.Mark[:])
	sum.Write(b)
	sum.Sum(at.Mark[:0])
	l.entries = append(l.entries, entry{at, b})
	for _, m := range l.machines {
		m.signal()
	}
	return at, nil
}

// land has what was on its way arrive.
func (l *Log) land() {
	for _, e := range l.late {
		_, _ = l.append(e.after, e.bytes) // it comes too late when somebody has the place
	}
	l.late = nil
}

// Reorder changes the order in which what is on its way arrives.
func (l *Log) Reorder(shuffle func(n int, swap func(i, j int))) {
	l.mu.Lock()
	defer l.mu.Unlock()
	shuffle(len(l.late), func(i, j int) { l.late[i], l.late[j] = l.late[j], l.late[i] })
}

// Tear loses the last entries, as servers do that had not written them to disk.
func (l *Log) Tear(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.Clone(l.entries[:max(0, len(l.entries)-n)])
	for _, m := range l.machines {
		m.signal()
	}
}

// Land has every entry arrive that is on its way.
func (l *Log) Land() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.land()
}

func (l *Log) end() outbox.Position {
	if n := len(l.entries); n > 0 {
		return l.entries[n-1].at
	}
	return l.base
}

// Read implements outbox.Log.
func (m *Machine) Read(ctx context.Context, after outbox.Position, fn func(outbox.Position, []byte) error) error {
	if ctx.Err() != nil || !m.reach("read") {
		return unreachable()
	}
	l := m.log
	l.mu.Lock()
	list, err := l.behind(after)
	l.mu.Unlock()
	m.mu.Lock()
	staleEnd := m.staleEnd
	m.mu.Unlock()
	for _, e := range list {
		if staleEnd != nil && e.at.Seq > staleEnd.Seq {
			break
		}
		if err := fn(e.at, e.bytes); err != nil {
			return err
		}
	}
	return err
}

// Arrived implements outbox.Log: one entry at a time comes by itself.
func (m *Machine) Arrived(after outbox.Position, fn func(outbox.Position, []byte) error) (all bool, err error) {
	m.mu.Lock()
	cut, staleEnd := m.cut, m.staleEnd
	m.mu.Unlock()
	if cut {
		return false, nil
	}
	l := m.log
	l.mu.Lock()
	list, err := l.behind(after)
	l.mu.Unlock()
	if err != nil || len(list) == 0 || staleEnd != nil && list[0].at.Seq > staleEnd.Seq {
		return err == nil, nil //nolint:nilerr // Read says it
	}
	return len(list) == 1, fn(list[0].at, list[0].bytes)
}

func (l *Log) behind(after outbox.Position) ([]entry, error) {
	if l.AcceptAll {
		i := slices.IndexFunc(l.entries, func(e entry) bool { return e.at.Seq > after.Seq })
		if i < 0 {
			return nil, nil
		}
		return slices.Clone(l.entries[i:]), nil
	}
	if after == l.base {
		return slices.Clone(l.entries), nil
	}
	for i, e := range l.entries {
		if e.at == after {
			return slices.Clone(l.entries[i+1:]), nil
		}
	}
	if after.Seq < l.base.Seq {
		return nil, outbox.ErrGone
	}
	return nil, outbox.ErrForked
}

// Changes implements outbox.Log.
func (m *Machine) Changes() <-chan struct{} { return m.changes }

func (m *Machine) signal() {
	select {
	case m.changes <- struct{}{}:
	default:
	}
}

// End returns the position behind the last entry, and how many entries there are.
func (l *Log) End() (outbox.Position, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end(), len(l.entries)
}

// Has reports whether an entry stands before a position, or it is the beginning.
func (l *Log) Has(at outbox.Position) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return at == l.base || slices.ContainsFunc(l.entries, func(e entry) bool { return e.at == at })
}

// Purge drops the entries up to a position.
func (l *Log) Purge(upTo outbox.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.at == upTo })
	if i >= 0 {
		l.base, l.entries = upTo, slices.Clone(l.entries[i+1:])
	}
}

// Entries returns the entries as they were appended.
func (l *Log) Entries() (list [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		list = append(list, e.bytes)
	}
	return list
}
