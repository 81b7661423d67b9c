package send

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxd/ctxd/chat"
	"github.com/ctxd/ctxd/entities/record"
)

// keeper stores what comes of an answer while it is being given, so that it outlives the daemon: each second when
// there is anything new, or sooner when there is much. It never makes the answer wait for the disk.
type keeper struct {
	full chan struct{} // there is much
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex      // guards what follows
	text    strings.Builder // that is not stored yet
	thought strings.Builder
	secret  bool
	stands  record.StandsOn // what was not stored of what the answer stands on
	trace   *chat.Trace     // as it is before the provider is asked; is not changed
}

// keeping starts a keeper. Call close before the answer is stored.
func (s *sending) keeping(ctx context.Context) *keeper {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	k := &keeper{full: make(chan struct{}, 1), stop: stop, done: make(chan struct{}), secret: s.secret || s.answer.Private}
	go func() {
		defer close(k.done)
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for n := 0; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-k.full:
			}
			a := k.take()
			if a == nil {
				continue
			}
			a.Provider, a.Model = s.info.Name, s.params.Model
			if s.opts.Chat.Keep(ctx, s.turn, n, a) != nil { // the disk may be full: the finished answer says so
				k.giveBack(a)
				continue
			}
			n++
		}
	}()
	return k
}

// add takes a piece of the answer.
func (k *keeper) add(text, thought string) {
	k.mu.Lock()
	k.text.WriteString(text)
	k.thought.WriteString(thought)
	much := k.text.Len()+k.thought.Len() >= keepBytes
	k.mu.Unlock()
	if much {
		select {
		case k.full <- struct{}{}:
		default:
		}
	}
}

// private says that something private goes into what follows.
func (k *keeper) private(yes bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.secret = k.secret || yes
}

// standsOn says what goes into what follows.
func (k *keeper) standsOn(on record.StandsOn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stands.All(on)
}

// first says how the answer begins, before the provider is asked: private tells whether something private went into it.
func (k *keeper) first(t *chat.Trace, private bool) {
	begins := *t // what is known later is put in its place when the answer is stored
	begins.References = slices.Clone(t.References)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trace, k.secret = &begins, k.secret || private
}

// take returns what is new, nil for nothing.
func (k *keeper) take() *chat.Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.text.Len() == 0 && k.thought.Len() == 0 {
		return nil
	}
	a := &chat.Answer{Content: k.text.String(), Reasoning: k.thought.String(), Private: k.secret, StandsOn: k.stands, Trace: k.trace}
	k.stands = record.StandsOn{}
	k.text.Reset()
	k.thought.Reset()
	return a
}

// giveBack takes back what could not be stored, so that the next part has it.
func (k *keeper) giveBack(a *chat.Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, thought := k.text.String(), k.thought.String()
	k.text.Reset()
	k.thought.Reset()
	k.text.WriteString(a.Content + text)
	k.thought.WriteString(a.Reasoning + thought)
	a.StandsOn.All(k.stands)
	k.stands = a.StandsOn
}

// close ends the keeper, when it has written what it is writing.
func (k *keeper) close() {
	k.stop()
	<-k.done
}
