package kv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/kvtest"
)

// call is an operation on one record, as a client sees it.
type call struct {
	key  string
	op   string // read, write, swap, add, remove, count
	text string // to write
	from string // what a swap expects
}

// answer is what a client was told.
type answer struct {
	text    string // of a read, a count
	ok      bool   // of a swap, an add, a remove: whether it changed anything
	unknown bool
}

// machineModel says what one record on one machine would answer. A record is "" when absent;
// members of sets are records that are there or not.
var machineModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(call).key
			byKey[key] = append(byKey[key], o)
		}
		var out [][]porcupine.Operation
		for _, list := range byKey {
			out = append(out, list)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(string), input.(call), output.(answer)
		right := func(ok bool) bool { return ok || out.unknown }
		switch in.op {
		case "read":
			return right(out.text == s), s
		case "write":
			return true, in.text
		case "swap":
			if s != in.from {
				return right(!out.ok), s
			}
			return right(out.ok), in.text
		case "add":
			if s != "" {
				return right(!out.ok), s
			}
			return right(out.ok), in.text
		case "remove":
			return right(out.ok == (s != "")), ""
		}
		n, _ := strconv.Atoi(s)
		next := strconv.Itoa(n + 1)
		return right(out.text == next), next
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v %+v", input, output) },
}

var errUnchanged = fault.New(fault.Conflict, "it is another by now")

// do carries out a call on a machine; refused says that nothing of it is there.
func do(s *kv.Store, in call) (out answer, refused bool) {
	if in.op == "read" {
		err := s.CatchUp(ctx)
		if err == nil {
			err = s.View(ctx, func(tx *kv.Tx) error {
				r, err := notes.Get(tx, in.key)
				if r != nil {
					out.text = r.Text
				}
				return err
			})
		}
		return out, err != nil
	}
	err := s.Update(ctx, func(tx *kv.Tx) error {
		out = answer{ok: true}
		r, err := notes.Get(tx, in.key)
		if err != nil {
			return err
		}
		have := ""
		if r != nil {
			have = r.Text
		}
		next := in.text
		switch in.op {
		case "swap":
			if have != in.from {
				return errUnchanged
			}
		case "add":
			if have != "" {
				return errUnchanged
			}
		case "remove":
			if have == "" {
				return errUnchanged
			}
			return notes.Delete(tx, in.key)
		case "count":
			n, _ := strconv.Atoi(have)
			next = strconv.Itoa(n + 1)
			out.text = next
		}
		return notes.Put(tx, in.key, &record{Text: next})
	})
	var e *fault.Error
	switch {
	case err == nil:
		return out, false
	case errors.Is(err, errUnchanged):
		// With the others out of reach it may be an old refusal: nobody can rely on it.
		return answer{}, errors.Is(err, kv.ErrUnconfirmed)
	case errors.As(err, &e) && e.Retryable:
		return answer{}, true
	}
	return answer{unknown: true}, false
}

func drawCall(rng *rand.Rand, text string) call {
	key := strconv.Itoa(rng.IntN(2))
	switch rng.IntN(8) {
	case 0, 1:
		return call{key: "register " + key, op: "read"}
	case 2:
		return call{key: "register " + key, op: "write", text: text}
	case 3:
		return call{key: "register " + key, op: "swap", text: text, from: ""}
	case 4:
		return call{key: "member " + key, op: "add", text: text}
	case 5:
		return call{key: "member " + key, op: "remove"}
	case 6:
		return call{key: "counter " + key, op: "read"}
	}
	return call{key: "counter " + key, op: "count"}
}

// What clients of three machines are told of registers, sets and counters, while machines are
// cut off and lose requests and answers, could have been told by one machine that does one
// thing after the other: some order explains all answers, in which nothing is moved before its
// call or behind its answer.
func TestSYNC2_HistoriesAreLinearizable(t *testing.T) {
	var calls, unsure atomic.Int64
	shards(t, func(t *testing.T, shard, of int) {
		for run := shard; run < figure(6, 200); run += of {
			history := recordCalls(t, uint64(run), &unsure)
			calls.Add(int64(len(history)))
			result := porcupine.CheckOperationsTimeout(machineModel, history, time.Minute)
			if result != porcupine.Ok {
				t.Fatalf("run %d: the verdict on %d calls is %s", run, len(history), result)
			}
		}
	})
	t.Logf("%d calls, %d of unknown outcome: linearizable", calls.Load(), unsure.Load())
}

func recordCalls(t *testing.T, seed uint64, unsure *atomic.Int64) []porcupine.Operation {
	_, machines, stores := replicas(t, 3)
	rng := rand.New(rand.NewPCG(seed, 5))
	var mu sync.Mutex
	var history []porcupine.Operation
	var clock, texts, clients atomic.Int64
	for range 8 {
		off := machines[rng.IntN(3)]
		switch rng.IntN(3) {
		case 0:
			off.Cut(true)
		case 1:
			faults := rand.New(rand.NewPCG(rng.Uint64(), 6))
			off.Faults(func() kvtest.Fault { return kvtest.Fault(faults.IntN(8) % 5) })
		}
		var wg sync.WaitGroup
		for i := range 6 {
			id, of := int(clients.Add(1)), rand.New(rand.NewPCG(rng.Uint64(), 7))
			wg.Go(func() {
				s, seen := stores[i%3], map[string]string{}
				for range 6 {
					in := drawCall(of, strconv.FormatInt(texts.Add(1), 10))
					if in.op == "swap" {
						in.from = seen[in.key]
					}
					begun := clock.Add(1)
					out, refused := do(s, in)
					ended := clock.Add(1)
					if refused {
						continue
					}
					if in.op == "read" {
						seen[in.key] = out.text
					}
					o := porcupine.Operation{ClientId: id, Input: in, Call: begun, Output: out, Return: ended}
					mu.Lock()
					if out.unknown { // it may come at any time, and the client says no more
						unsure.Add(1)
						o.Return = 1 << 60
						id = int(clients.Add(1))
					}
					history = append(history, o)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		off.Cut(false)
		off.Faults(nil)
	}
	return history
}
