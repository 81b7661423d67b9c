//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/rpc/client"
	"github.com/ctxd/ctxd/rpc/protocol"
)

// scribe is a client that writes transaction after transaction and remembers
// what it was told. Transaction n puts two or three notes that must agree, into
// one of a few slots in turn: the notes stay few, however many transactions
// there are, so all of them can be read after each kill.
type scribe struct {
	id    int
	last  int // the newest transaction that was sent
	slots [24]struct{ sent, acked int }
}

func (w *scribe) slot(n int) int { return n % len(w.slots) }

func (w *scribe) noteID(slot, part int) string {
	return fmt.Sprintf("w%d-s%02d-%c", w.id, slot, 'a'+part)
}

// parts is how many notes the transactions of a slot have.
func (w *scribe) parts(slot int) int { return 2 + slot%2 }

// body is the text of one note of a transaction. Nobody else would write it.
func (w *scribe) body(n, part int) string {
	filler := strings.Repeat(fmt.Sprintf("line %d of %d. ", n*31+part, w.id), 4+(n*7+part*13)%200)
	return fmt.Sprintf("Scribe %d slot %d part %d\n\ntoken %d\n\n%s\n", w.id, w.slot(n), part, n, filler)
}

// write sends transactions until the daemon is gone, and returns how many were
// acknowledged.
func (w *scribe) write(ctx context.Context, c *client.Client, acked func()) error {
	for {
		w.last++
		n := w.last
		var batch protocol.NotePutMany
		for part := range w.parts(w.slot(n)) {
			batch.Notes = append(batch.Notes, protocol.NoteRecord{ID: w.noteID(w.slot(n), part), Body: w.body(n, part)})
		}
		w.slots[w.slot(n)].sent = n
		err := c.Call(ctx, "notes.putMany", batch, nil)
		var said *client.Error
		switch {
		case errors.As(err, &said):
			return err // an answer, and no writer expects a refusal
		case fault.KindOf(err) == fault.Unavailable:
			return nil // the connection is lost
		case err != nil:
			return err
		}
		w.slots[w.slot(n)].acked = n
		acked()
	}
}

// tally is what a campaign has come to.
type tally struct {
	kills, duringSnapshot          int
	acked, unanswered              uint64 // unanswered and yet there
	lost, partial, strange, uneven int    // transactions
	restarts                       latencies
}

// check reads everything that a scribe may have written, and adds to the tally
// what is not as it was told.
func (w *scribe) check(ctx context.Context, c *client.Client, sum *tally) error {
	for i := range w.slots {
		slot := &w.slots[i]
		if slot.sent == 0 {
			continue
		}
		found := make([]int, w.parts(i))
		for part := range found {
			var note struct {
				Body string `json:"body"`
			}
			err := c.Call(ctx, "notes.get", protocol.NoteGet{Ref: w.noteID(i, part)}, &note)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			if _, token, ok := strings.Cut(note.Body, "\ntoken "); ok {
				token, _, _ = strings.Cut(token, "\n")
				found[part], _ = strconv.Atoi(token)
			}
			if note.Body != w.body(found[part], part) {
				sum.strange++
			}
		}
		for _, n := range found {
			if n != found[0] {
				sum.partial++
				break
			}
		}
		switch n := found[0]; {
		case n < slot.acked:
			sum.lost++
		case n != slot.acked && n != slot.sent:
			sum.strange++
		case n != slot.acked:
			sum.unanswered++
		}
		slot.acked, slot.sent = found[0], found[0] // it was shown, so it has to stay
	}
	return nil
}

// killing says how a campaign of kills is to go.
type killing struct {
	kills, perRound int
	durability      kv.Durability
}

// TestCampaignREL1_Kills kills the daemon under eight writers, time and again,
// half of the time while a snapshot is being written. Whatever was acknowledged
// is there, and every transaction as a whole or not at all. Whatever is left is
// for this user alone.
func TestCampaignREL1_Kills(t *testing.T) {
	sum := killing{kills: figure(10, 500), perRound: 420}.run(t)
	if want := uint64(figure(4000, 200_000)); sum.acked < want {
		t.Errorf("%d transactions were acknowledged, want %d", sum.acked, want)
	}
	if 2*sum.duringSnapshot < sum.kills {
		t.Errorf("%d of %d kills came while a snapshot was written", sum.duringSnapshot, sum.kills)
	}
}

// TestCampaignREL1_KillsRelaxed is the same with relaxed durability: what the
// operating system was given outlives the process.
func TestCampaignREL1_KillsRelaxed(t *testing.T) {
	killing{kills: figure(4, 60), perRound: 420, durability: kv.Relaxed}.run(t)
}

func (k killing) run(t *testing.T) (sum tally) {
	opts := launchOptions{
		home: shortHome(t), wrapper: openUmask,
		args: []string{"--log-level", "info", "--set", "store.snapshotAfter=256KiB", "--set", "store.durability=" + k.durability.String()},
	}
	p := serve(t, opts)
	c := p.client()
	fill(t, c, 40, 20_000) // makes writing a snapshot take a while
	notes := ask[protocol.Stats](t, c, "admin.stats", nil).Notes
	store := ask[protocol.Health](t, c, "admin.health", nil).Store
	seq := store.Seq
	if want := k.durability.String(); store.Durability != want {
		t.Fatalf("durability %s, want %s", store.Durability, want)
	}
	scribes := make([]*scribe, 8)
	for i := range scribes {
		scribes[i] = &scribe{id: i}
	}
	rng := rand.New(rand.NewPCG(1, 500))
	began := time.Now()
	for range k.kills {
		before := sum
		k.round(t, p, scribes, &sum, rng, 2*sum.duringSnapshot <= sum.kills+2)
		wantPrivate(t, "a kill", opts.home)
		p = prepare(t, opts)
		start := time.Now()
		p.launch()
		h := p.await()
		sum.restarts = append(sum.restarts, time.Since(start))
		if r := h.Store.Recovered; h.Store.Mode != "read-write" || r.Lost != 0 || len(r.Damaged) > 0 {
			t.Fatalf("after kill %d: %+v", sum.kills, h.Store)
		}
		p.checkAll(t, scribes, &sum)
		wantPrivate(t, "a start", opts.home)
		// Each transaction is one of the store. So a lost one is found also when
		// a later one has written the same notes again.
		made := sum.acked - before.acked + sum.unanswered - before.unanswered
		if h.Store.Seq != seq+made {
			t.Errorf("after kill %d: the store has %d transactions more, %d were made", sum.kills, h.Store.Seq-seq, made)
			sum.uneven++
		}
		seq = h.Store.Seq
		if sum.lost+sum.partial+sum.strange+sum.uneven > 0 {
			break
		}
	}
	want := notes
	for _, w := range scribes {
		for i := range w.slots {
			if w.slots[i].acked > 0 {
				want += w.parts(i)
			}
		}
	}
	if got := ask[protocol.Stats](t, p.client(), "admin.stats", nil).Notes; got != want {
		t.Errorf("there are %d notes, want %d", got, want)
	}
	t.Logf("%d kills, %d of them while a snapshot was written; %d acknowledged by 8 writers, %d more were there unanswered; %d lost, %d partial, %d never written; restarts %v; all in %v",
		sum.kills, sum.duringSnapshot, sum.acked, sum.unanswered, sum.lost+sum.uneven, sum.partial, sum.strange, sum.restarts, time.Since(began).Round(time.Second))
	if sum.lost+sum.partial+sum.strange > 0 {
		t.Error("the promise is broken")
	}
	return sum
}

// round has all scribes write until enough is acknowledged and, if wanted, a
// snapshot is being written, and then kills the daemon.
func (k killing) round(t *testing.T, p *process, scribes []*scribe, sum *tally, rng *rand.Rand, inSnapshot bool) {
	t.Helper()
	began, stop := newFiles(t, p.data, "snapshot-*.tmp")
	defer stop()
	want, delay := uint64(k.perRound+rng.IntN(40)), time.Duration(rng.IntN(3000))*time.Microsecond
	var acked atomic.Uint64
	enough := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range scribes {
		c := p.client()
		wg.Go(func() {
			defer c.Close()
			err := w.write(t.Context(), c, func() {
				if acked.Add(1) == want {
					close(enough)
				}
			})
			if err != nil {
				t.Errorf("scribe %d: %v", w.id, err)
			}
		})
	}
	wait := func(what string, happens <-chan struct{}) {
		t.Helper()
		select {
		case <-happens:
		case <-p.exited:
			t.Fatalf("the daemon ended by itself:\n%s", p.log())
		case <-time.After(patience):
			t.Fatalf("%s does not come:\n%s", what, p.log())
		}
	}
	wait("the last acknowledgement", enough)
	if inSnapshot {
		select {
		case <-began: // it may be over
		default:
		}
		wait("a snapshot", began)
		spin(delay)
	}
	p.kill()
	wg.Wait()
	sum.kills++
	sum.acked += acked.Load()
	if left, err := filepath.Glob(filepath.Join(p.data, "snapshot-*.tmp")); err != nil {
		t.Fatal(err)
	} else if len(left) > 0 {
		sum.duringSnapshot++ // it would have its name otherwise
	}
}

// spin waits for less than a timer can.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// checkAll has every scribe read what it wrote.
func (p *process) checkAll(t *testing.T, scribes []*scribe, sum *tally) {
	t.Helper()
	sums := make([]tally, len(scribes))
	var wg sync.WaitGroup
	for i, w := range scribes {
		c := p.client()
		wg.Go(func() {
			defer c.Close()
			if err := w.check(t.Context(), c, &sums[i]); err != nil {
				t.Errorf("scribe %d: %v", w.id, err)
			}
		})
	}
	wg.Wait()
	for _, s := range sums {
		sum.lost += s.lost
		sum.partial += s.partial
		sum.strange += s.strange
		sum.unanswered += s.unanswered
	}
}

// newFiles tells when a file whose name matches the pattern appears in a folder.
// What is told and not taken is kept, once.
func newFiles(t *testing.T, dir, pattern string) (created chan struct{}, stop func()) {
	t.Helper()
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	created = make(chan struct{}, 1)
	go func() {
		for e := range w.Events {
			if ok, _ := filepath.Match(pattern, filepath.Base(e.Name)); ok && e.Has(fsnotify.Create) {
				select {
				case created <- struct{}{}:
				default:
				}
			}
		}
	}()
	return created, func() { _ = w.Close() }
}
