package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/ctxd/ctxd/context/outbound"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/entities/yield"
)

// Bounds of a Turn.
const (
	MaxRounds   = 8
	maxTurnTime = time.Minute // of tools, in all
	MaxCalls    = 32          // of a round
	atOnce      = 4           // calls that run side by side
)

// Call is a call of a tool as a model wrote it.
type Call struct {
	Name      string
	Arguments string // JSON
}

// Turn runs the calls that a model makes for one answer. Between rounds it belongs to one goroutine.
type Turn struct {
	set *Set
	env CallEnv
	now func() time.Time

	rounds int
	spent  time.Duration
	known  map[string]*Result // by name and arguments
	ran    []CallRun          // of the last round
	result summary
}

// CallRun says how a call was run.
type CallRun struct {
	Took   time.Duration
	Cached bool // it was made before: its result is the same one
}

// summary is what the calls of a turn came to.
type summary struct {
	references []Reference
	place      map[string]int // of a record in references
	proposals  []Proposal
	private    bool
	stood      record.StandsOn
}

// Turn begins a turn. now is the clock, nil: time.Now.
func (s *Set) Turn(env CallEnv, now func() time.Time) *Turn {
	if now == nil {
		now = time.Now
	}
	return &Turn{
		set: s, env: env, now: now, known: make(map[string]*Result), result: summary{place: make(map[string]int)},
	}
}

// Done reports whether no further round is to be asked for: the model then answers without tools.
func (t *Turn) Done() bool { return t.rounds >= MaxRounds || t.spent >= maxTurnTime }

// Rounds is how many rounds there were.
func (t *Turn) Rounds() int { return t.rounds }

// Spent is how long tools have run.
func (t *Turn) Spent() time.Duration { return t.spent }

// References are the records that the results show, in the order in which they came in, each once.
func (t *Turn) References() []Reference {
	out := make([]Reference, len(t.result.references))
	for i := range out {
		out[i] = clone(&t.result.references[i])
	}
	return out
}

// Proposals are the changes that the model has asked for, each once.
func (t *Turn) Proposals() []Proposal { return append([]Proposal(nil), t.result.proposals...) }

// Ran says how the calls of the last round were run, in their order.
func (t *Turn) Ran() []CallRun { return t.ran }

// Private reports whether something private went into a result.
func (t *Turn) Private() bool { return t.result.private }

// StandsOn is what the results were made of beside References.
func (t *Turn) StandsOn() record.StandsOn { return t.result.stood }

// Round runs the calls of one message of the model, side by side, since none of them changes what another reads. There is a
// Result for each call, in their order, also beyond the bounds: it then says so. The same call as before gives the
// same Result, also one that failed. The error is that of ctx.
func (t *Turn) Round(ctx context.Context, calls []Call) ([]*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = outbound.Asking(ctx, "") // the model asks, not the user
	out := make([]*Result, len(calls))
	t.ran = make([]CallRun, len(calls))
	if len(calls) == 0 {
		return out, nil
	}
	if t.Done() {
		for i := range out {
			out[i] = refused("No further call of a tool is run for this answer. Answer with what you have, and say what is missing.\n")
		}
		return out, nil
	}
	t.rounds++
	var fresh []*job // each call once, in their order
	jobs := make([]*job, len(calls))
	byKey := make(map[string]*job)
	for i, c := range calls {
		key := keyOf(c)
		switch {
		case i >= MaxCalls:
			out[i] = refused(fmt.Sprintf("Of the calls of one message the first %d are run. Call again for the others.\n", MaxCalls))
		case t.known[key] != nil:
			out[i], t.ran[i].Cached = t.known[key], true
		case byKey[key] != nil:
			jobs[i], t.ran[i].Cached = byKey[key], true
		default:
			j := &job{key: key, call: c}
			byKey[key], jobs[i] = j, j
			fresh = append(fresh, j)
		}
	}
	began := t.now()
	t.run(ctx, fresh)
	t.spent += t.now().Sub(began)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, j := range fresh {
		t.known[j.key] = j.result
		t.result.take(j.result)
	}
	for i, j := range jobs {
		if j != nil {
			out[i] = j.result
			if !t.ran[i].Cached {
				t.ran[i].Took = j.took
			}
		}
	}
	return out, nil
}

// job is a call that is run.
type job struct {
	key    string
	call   Call
	result *Result
	took   time.Duration
	thrown any
}

// run runs calls side by side. A panic in one of them is one in the caller, when all have ended.
func (t *Turn) run(ctx context.Context, list []*job) {
	// The calls run on goroutines of their own, and a place to compute in belongs to one.
	round, cancel := context.WithTimeout(yield.Never(ctx), maxTurnTime-t.spent)
	defer cancel()
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, j := range list {
		all.Go(func() {
			slots <- struct{}{}
			defer func() {
				j.thrown = recover()
				<-slots
			}()
			began := time.Now() // calls run side by side, which the clock of a turn need not allow
			defer func() { j.took = time.Since(began) }()
			j.result, _ = t.set.call(ctx, round, t.env, j.call.Name, json.RawMessage(j.call.Arguments))
		})
	}
	all.Wait()
	for _, j := range list {
		if j.thrown != nil {
			panic(j.thrown)
		}
	}
}

// refused is the result of a call that is not run.
func refused(text string) *Result { return &Result{Error: true, Text: text, References: []Reference{}} }

// keyOf is the same for two calls that ask the same: blanks and the order of the arguments say nothing.
func keyOf(c Call) string {
	var args map[string]any
	if len(c.Arguments) <= maxArgumentsSize && json.Unmarshal([]byte(c.Arguments), &args) == nil {
		if data, err := json.Marshal(args); err == nil {
			return c.Name + "\x00" + string(data)
		}
	}
	return c.Name + "\x01" + c.Arguments
}

// take takes a result into the summary.
func (s *summary) take(r *Result) {
	s.private = s.private || r.Private
	s.stood.All(r.StandsOn)
	if r.Proposal != nil {
		s.proposals = append(s.proposals, *r.Proposal)
	}
	for i := range r.References {
		o := &r.References[i]
		key := "note/" + o.NoteID
		if o.MemoryID != "" {
			key = "memory/" + o.MemoryID
		}
		at, ok := s.place[key]
		if !ok {
			s.place[key] = len(s.references)
			s.references = append(s.references, clone(o))
			continue
		}
		merge(&s.references[at], o)
	}
}
