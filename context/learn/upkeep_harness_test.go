package learn_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/context/audience"
	"github.com/ctxd/ctxd/context/embed"
	"github.com/ctxd/ctxd/context/learn"
	"github.com/ctxd/ctxd/context/memory"
	"github.com/ctxd/ctxd/context/search"
	"github.com/ctxd/ctxd/entities"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/record"
	"github.com/ctxd/ctxd/notes"
)

var upkeepNoon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// keeperWorld is a store with facts, what was said, and their Keeper. The vectors are those of the built-in model.
type keeperWorld struct {
	rapid.TB
	db            *kv.Store
	mem           *memory.Store
	local, remote *audience.View
	now           time.Time
	said          []learn.FactMessage
	by            *adviser // nil: none
	runs          int
	sure          map[string]float64 // how sure facts were at first
	kill          int                // how many transactions a run may begin until it is killed; below 0: all
	between       func()             // is called between transactions; nil: nothing happens there
}

func openKeeper(t rapid.TB) *keeperWorld {
	t.Helper()
	db, err := kv.Open(kv.InMemory, kv.Options{})
	w := &keeperWorld{TB: t, db: db, now: upkeepNoon, kill: -1, sure: make(map[string]float64)}
	w.must(err)
	ents, err := entities.Open(db, entities.Options{})
	w.must(err)
	ns, err := notes.Open(db, ents, notes.Options{})
	w.must(err)
	rooms := audience.Open(db, audience.Stores{Entities: ents, Notes: ns})
	w.local, w.remote = rooms.View(audience.Local), rooms.View(audience.Remote)
	w.mem, err = memory.Open(db, memory.Options{
		Now: func() time.Time { return w.now }, Limits: memory.Limits{Bank: 20_000},
		Deleted: func(tx *kv.Tx, ids []string) error {
			return errors.Join(learn.ForgetInEvents(tx, ids), learn.ForgetInPairs(tx, ids))
		},
	})
	w.must(err)
	return w
}

func (w *keeperWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// vectors are those of texts by the built-in model.
type vectors func(id string) (text string, ok bool)

func (of vectors) Stored(id string) (*search.Likeness, bool) {
	text, ok := of(id)
	if !ok {
		return nil, false
	}
	if known, ok := embedded.Load(text); ok {
		return known.(*search.Likeness), true
	}
	e, err := embed.BuiltinTable()
	if err != nil {
		return nil, false
	}
	model, v, err := e.Embed(context.Background(), embed.Passage, []string{text})
	if err != nil || v[0] == nil {
		return nil, false
	}
	l := &search.Likeness{Model: model, Vectors: v}
	embedded.Store(text, l)
	return l, true
}

var embedded sync.Map // likenesses by text

var errKilled = errors.New("killed")

// keeper is a Keeper as after a start.
func (w *keeperWorld) keeper() *learn.Keeper {
	return w.keeperOf(vectors(func(id string) (string, bool) {
		i := slices.IndexFunc(w.said, func(m learn.FactMessage) bool { return m.Key == id })
		if i < 0 {
			return "", false
		}
		return w.said[i].Text, true
	}))
}

func (w *keeperWorld) keeperOf(messages learn.FactVectors) *learn.Keeper {
	left := w.kill
	o := learn.KeeperOptions{
		DB: w.db, Memory: w.mem, Local: w.local, Remote: w.remote,
		Index: vectors(func(id string) (string, bool) {
			m := w.mem.Stored(id)
			if m == nil {
				return "", false
			}
			return m.Statement, true
		}),
		Messages: func(since time.Time) iter.Seq[learn.FactMessage] {
			return func(yield func(learn.FactMessage) bool) {
				for _, m := range w.said {
					if m.At.After(since) && !yield(m) {
						return
					}
				}
			}
		},
		MessageIndex: messages,
		Now:          func() time.Time { return w.now },
		NewID: func() string {
			w.runs++
			return "run-" + string(rune('a'+w.runs%26))
		},
		Stopped: func() error {
			if w.between != nil {
				w.between()
			}
			if left == 0 {
				return errKilled
			}
			left--
			return nil
		},
	}
	if w.by != nil {
		o.Adviser = w.by
	}
	return learn.NewKeeper(o)
}

// whole fails unless all records of the rooms fit together.
func (w *keeperWorld) whole() {
	w.Helper()
	w.must(w.db.View(context.Background(), func(tx *kv.Tx) error {
		for _, check := range []func(*kv.Tx) ([]string, error){memory.Check, learn.Check} {
			if problems, err := check(tx); err != nil || len(problems) > 0 {
				w.Fatalf("%q, %v", problems, err)
			}
		}
		return nil
	}))
}

// forget deletes a memory for good.
func (w *keeperWorld) forget(id string) {
	w.Helper()
	w.must(w.mem.Delete(context.Background(), w.local, id, true, nil))
}

func (w *keeperWorld) run(steps ...string) *learn.UpkeepReport {
	w.Helper()
	rep, err := w.keeper().Run(context.Background(), learn.UpkeepRequest{Steps: steps})
	w.must(err)
	return rep
}

// add adds a memory a minute after the one before it.
func (w *keeperWorld) add(d memory.Draft) string {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	list, err := w.mem.Add(context.Background(), w.local, []memory.Draft{d})
	w.must(err)
	m := list[0].Memory
	if !list[0].Duplicate {
		w.sure[m.ID] = m.Confidence
	}
	return m.ID
}

// first is how sure a fact was at first.
func (w *keeperWorld) first(id string) float64 { return w.sure[id] }

// alike reports whether two texts are near enough to be compared.
func (w *keeperWorld) alike(a, b string) bool {
	one := func(text string) []float32 {
		l, ok := vectors(func(string) (string, bool) { return text, true }).Stored("")
		if !ok {
			w.Fatal("no vector")
		}
		return l.Vectors[0]
	}
	v, u, cosine := one(a), one(b), 0.0
	for i := range v {
		cosine += float64(v[i]) * float64(u[i])
	}
	at := search.LevelsOf(search.BuiltInModel)
	return at.Likeness(cosine) >= 0.4
}

func (w *keeperWorld) fact(id, statement string) string {
	w.Helper()
	return w.add(memory.Draft{ID: id, Statement: statement, Source: record.MemorySource{Kind: "user"}})
}

// say says something a minute later.
func (w *keeperWorld) say(id, text string) {
	w.now = w.now.Add(time.Minute)
	w.said = append(w.said, learn.FactMessage{Key: "c/" + id, ID: id, At: w.now, Text: text})
}

func (w *keeperWorld) get(id string) *memory.Record {
	w.Helper()
	m := w.mem.Stored(id)
	if m == nil {
		w.Fatalf("there is no memory %s", id)
	}
	return m
}

func (w *keeperWorld) statuses(ids ...string) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = w.get(id).Status
	}
	return list
}

func (w *keeperWorld) conflicts(v *audience.View) []learn.Conflict {
	w.Helper()
	list, next, err := w.keeper().Conflicts(context.Background(), v, "", 100)
	w.must(err)
	if next != "" {
		w.Fatalf("there are more behind %q", next)
	}
	return list
}

// adviser answers as a model would.
type adviser struct {
	local  bool
	answer func(q learn.PairQuestion) string
	err    error
	asked  [][]learn.PairQuestion
	// meanwhile is called while it is asked; nil: nothing happens.
	meanwhile func(ctx context.Context)
}

func (a *adviser) Local() bool { return a.local }

func (a *adviser) Decide(ctx context.Context, list []learn.PairQuestion) (map[string]string, int64, error) {
	a.asked = append(a.asked, list)
	if a.meanwhile != nil {
		a.meanwhile(ctx)
	}
	if a.err != nil {
		return nil, 1, a.err
	}
	out := map[string]string{}
	for _, q := range list {
		out[q.ID] = a.answer(q)
	}
	return out, 10, nil
}
