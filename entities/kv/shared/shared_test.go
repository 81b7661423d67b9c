package shared_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxd/ctxd/entities/fault"
	"github.com/ctxd/ctxd/entities/kv"
	"github.com/ctxd/ctxd/entities/kv/nats"
	"github.com/ctxd/ctxd/entities/kv/nats/natstest"
	"github.com/ctxd/ctxd/entities/kv/outbox"
	"github.com/ctxd/ctxd/entities/kv/shared"
)

var facts = kv.NewCollection[string]("fact")

// machine is one daemon's part.
type machine struct {
	t       testing.TB
	dir     string
	url     string
	replica *shared.Replica
	db      *kv.Store
	upgrade func(o *kv.Options) // of the program; nil: it is the oldest
	queue   bool
}

var silent = slog.New(slog.DiscardHandler)

var options = kv.Options{Format: 1, Beside: []string{shared.Folder + "/"}}

func (m *machine) start() {
	m.t.Helper()
	o := options
	if m.upgrade != nil {
		m.upgrade(&o)
	}
	o.Queue = m.queue
	r, db, err := serve(m.dir, m.url, o)
	if err != nil {
		m.t.Fatal(err)
	}
	m.replica, m.db = r, db
}

func (m *machine) stop() {
	m.t.Helper()
	m.replica.Pause()
	if err := m.db.Close(); err != nil {
		m.t.Error(err)
	}
	m.replica.Close()
}

func (m *machine) put(id, text string) {
	m.t.Helper()
	if err := m.db.Update(m.t.Context(), func(tx *kv.Tx) error { return facts.Put(tx, id, &text) }); err != nil {
		m.t.Fatal(err)
	}
}

// all is what the machine has, once it has caught up.
func (m *machine) all() string {
	m.t.Helper()
	if err := m.db.CatchUp(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	return records(m.t, m.db)
}

// snapshot has the servers get a state, by the machine or by what it does in the background.
func (m *machine) snapshot() {
	m.t.Helper()
	err := m.replica.Snapshot(m.t.Context(), func(int64) {})
	if err != nil && !errors.Is(err, nats.ErrLeased) {
		m.t.Fatal(err)
	}
}

func records(t testing.TB, db *kv.Store) string {
	t.Helper()
	var list []string
	err := db.View(t.Context(), func(tx *kv.Tx) error {
		for id, text := range facts.All(tx, "") {
			list = append(list, id+"="+*text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(list)
}

// begun is a machine that has begun a shared store with a record of its own.
func begun(t testing.TB, url string) (m *machine, words string) {
	t.Helper()
	m = &machine{t: t, dir: t.TempDir(), url: url}
	db, err := kv.Open(m.dir, options)
	if err != nil {
		t.Fatal(err)
	}
	m.db = db
	m.put("old", "from before")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	id, _, err := shared.Begin(t.Context(), shared.BeginOptions{Servers: nats.Servers{URL: url}, Dir: m.dir, Name: "laptop", Single: true})
	if err != nil {
		t.Fatal(err)
	}
	m.start()
	return m, id.Words()
}

func joinOptions(t testing.TB, url, dir, words string) shared.JoinOptions {
	t.Helper()
	secret, err := nats.ParseSecret(words)
	if err != nil {
		t.Fatal(err)
	}
	return shared.JoinOptions{
		Servers: nats.Servers{URL: url}, Dir: dir, Secret: secret, Name: "desktop", Store: options,
		Progress: func(int64, int64) {}, Logger: silent,
	}
}

func TestSYNC7_AMachineJoinsWithTheStateAndTheTail(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	a.snapshot()
	a.put("tail", "after the state")
	b := &machine{t: t, dir: t.TempDir(), url: c.URL()}
	joined, err := shared.Join(t.Context(), joinOptions(t, c.URL(), b.dir, words))
	if err != nil || joined.Machine != 2 || joined.Bytes == 0 || joined.Cluster.Durability != nats.DurabilitySingle {
		t.Fatalf("%+v, %v", joined, err)
	}
	b.start()
	b.put("own", "from the second")
	const want = "[old=from before own=from the second tail=after the state]"
	if got := a.all(); got != want {
		t.Errorf("the first has %s", got)
	}
	if got := b.all(); got != want {
		t.Errorf("the second has %s", got)
	}
	b.stop()
	a.put("meanwhile", "without the second")
	b.start()
	if got := b.all(); got != "[meanwhile=without the second old=from before own=from the second tail=after the state]" {
		t.Errorf("started again it has %s", got)
	}
	s, err := b.replica.Status(t.Context())
	if err != nil || s.Machine != 2 || len(s.Machines) != 2 || s.Applied != s.Newest || s.Applied == 0 || s.Trouble != nil || s.Snapshot == nil {
		t.Errorf("status %+v, %v", s, err)
	}
	a.stop()
	b.stop()
	o := joinOptions(t, c.URL(), b.dir, words)
	o.Again = true
	again, err := shared.Join(t.Context(), o)
	if err != nil || again.Machine != 3 || again.Kept == "" {
		t.Fatalf("joined anew: %+v, %v", again, err)
	}
	b.start()
	defer b.stop()
	if got := b.all(); got != "[meanwhile=without the second old=from before own=from the second tail=after the state]" {
		t.Errorf("joined anew it has %s", got)
	}
}

func TestSYNC7_AnInterruptedJoinGoesOn(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	defer a.stop()
	a.snapshot()
	dir := t.TempDir()
	o := joinOptions(t, c.URL(), dir, words)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(int64, int64) { cancel() }
	o.Store.Beside = options.Beside
	_, err := shared.Join(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if _, err := shared.Open(shared.Options{Servers: nats.Servers{URL: c.URL()}, Dir: dir}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("opened half-way: %v", err)
	}
	joined, err := shared.Join(t.Context(), joinOptions(t, c.URL(), dir, words))
	if err != nil || joined.Machine != 2 {
		t.Fatalf("%+v, %v", joined, err)
	}
	if _, err := os.Stat(filepath.Join(dir, shared.Folder, "joining.ctxdbackup")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state lies there still: %v", err)
	}
	if _, err := shared.Join(t.Context(), joinOptions(t, c.URL(), dir, words)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("joined again: %v", err)
	}
	if _, _, err := shared.Begin(t.Context(), shared.BeginOptions{Servers: nats.Servers{URL: c.URL()}, Dir: dir}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("begun again: %v", err)
	}
}

// What an interrupted join has written may be lost with the power of the machine.
func TestSYNC7_AJoinWhoseFileIsDamagedBeginsAnew(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	defer a.stop()
	a.snapshot()
	b := &machine{t: t, dir: t.TempDir(), url: c.URL()}
	o := joinOptions(t, c.URL(), b.dir, words)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(int64, int64) { cancel() }
	if _, err := shared.Join(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	path := filepath.Join(b.dir, shared.Folder, "joining.ctxdbackup")
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		t.Fatalf("nothing was taken: %v", err)
	}
	if err := os.WriteFile(path, make([]byte, info.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.Join(t.Context(), joinOptions(t, c.URL(), b.dir, words)); err != nil {
		t.Fatal(err)
	}
	b.start()
	defer b.stop()
	if got := b.all(); got != "[old=from before]" {
		t.Errorf("it has %s", got)
	}
}

// A folder that has lost its store does not pass for the beginning of the log.
func TestSYNC6_AnEmptyFolderWithAKeyIsNotTheBeginning(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	a.put("one", "entry")
	a.stop()
	key, err := os.ReadFile(filepath.Join(a.dir, shared.Folder, "key"))
	if err != nil {
		t.Fatal(err)
	}
	empty := &machine{t: t, dir: t.TempDir(), url: c.URL()}
	if err := errors.Join(os.Mkdir(filepath.Join(empty.dir, shared.Folder), 0o700), os.WriteFile(filepath.Join(empty.dir, shared.Folder, "key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
	empty.start()
	defer empty.stop()
	if err := empty.db.CatchUp(t.Context()); err == nil || records(t, empty.db) != "[]" {
		t.Errorf("it has %s, %v", records(t, empty.db), err)
	}
	text := "text"
	if err := empty.db.Update(t.Context(), func(tx *kv.Tx) error { return facts.Put(tx, "x", &text) }); err == nil {
		t.Error("it writes")
	}
}

func TestSYNC8_WhoLeavesKeepsTheRecordsAndWritesAlone(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	a.put("one", "entry")
	if untold, err := a.replica.Leave(t.Context()); err != nil || untold != nil {
		t.Fatal(untold, err)
	}
	a.stop()
	a.alone("two")
	a.alone("three") // a later start is one as well
	if got := a.alone("four"); got != "[four=alone old=from before one=entry three=alone two=alone]" {
		t.Errorf("it has %s", got)
	}
}

// alone starts a machine that has left, has it write, and returns what it has.
func (m *machine) alone(id string) string {
	m.t.Helper()
	if !shared.Left(m.dir) || shared.TakesPart(m.dir) {
		m.t.Fatal("nothing says that it has left")
	}
	o := options
	o.Leave = true
	db, err := kv.Open(m.dir, o)
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	m.db = db
	m.put(id, "alone")
	return records(m.t, db)
}

func TestSYNC8_LeavingNeedsNoServers(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	a.put("one", "entry")
	c.Stop(0)
	untold, err := a.replica.Leave(t.Context())
	if err != nil || untold == nil {
		t.Fatalf("untold %v, %v", untold, err)
	}
	a.stop()
	if got := a.alone("two"); got != "[old=from before one=entry two=alone]" {
		t.Errorf("it has %s", got)
	}
}

func TestSYNC8_AStoreThatTheServersHaveLostIsBegunAnew(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	a.put("one", "entry")
	other := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1}) // with nothing on its disk
	o := shared.BeginOptions{Servers: nats.Servers{URL: other.URL()}, Dir: a.dir, Name: "laptop", Single: true, Store: options}
	if _, _, err := shared.Begin(t.Context(), o); fault.KindOf(err) != fault.Conflict {
		t.Errorf("begun over another one: %v", err)
	}
	o.Again = true
	var opening *shared.OpenError
	if _, _, err := shared.Begin(t.Context(), o); !errors.As(err, &opening) {
		t.Errorf("begun anew beside a daemon: %v", err)
	}
	a.stop()
	id, _, err := shared.Begin(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	a.url = other.URL()
	a.start()
	a.put("two", "in the new one")
	a.snapshot()
	b := &machine{t: t, dir: t.TempDir(), url: other.URL()}
	if _, err := shared.Join(t.Context(), joinOptions(t, other.URL(), b.dir, id.Words())); err != nil {
		t.Fatal(err)
	}
	b.start()
	if got := b.all(); got != "[old=from before one=entry two=in the new one]" {
		t.Errorf("the second has %s", got)
	}
	b.stop()
	a.stop()

	// One that has left can begin another one without a start in between.
	a.start()
	if _, err := a.replica.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.stop()
	o.Again = false
	if _, _, err := shared.Begin(t.Context(), o); err != nil || shared.Left(a.dir) || !shared.TakesPart(a.dir) {
		t.Fatalf("begun after leaving: %v", err)
	}
	a.start()
	defer a.stop()
	a.put("three", "in a third")
	if got := a.all(); got != "[old=from before one=entry three=in a third two=in the new one]" {
		t.Errorf("in the third it has %s", got)
	}
}

func TestSYNC7_AJoinThatFailsLeavesTheStoreAsItIs(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	a.put("one", "entry")
	a.stop()
	other := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	o := joinOptions(t, other.URL(), a.dir, words)
	o.Again = true
	if _, err := shared.Join(t.Context(), o); fault.KindOf(err) != fault.NotFound {
		t.Fatalf("joined what is not there: %v", err)
	}
	b, strange := begun(t, other.URL()) // of which there is no state yet, or soon
	b.stop()
	ctx, cancel := context.WithCancel(t.Context())
	o = joinOptions(t, other.URL(), a.dir, strange)
	o.Again, o.Progress = true, func(int64, int64) { cancel() }
	_, err := shared.Join(ctx, o)
	if err == nil {
		t.Fatal("joined")
	}
	a.start()
	defer a.stop()
	a.put("two", "after it")
	if got := a.all(); got != "[old=from before one=entry two=after it]" {
		t.Errorf("it has %s", got)
	}
}

func TestSYNC8_ABackupOfASharedStoreCanBeRestoredAlone(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, _ := begun(t, c.URL())
	defer a.stop()
	a.put("one", "entry")
	file := filepath.Join(t.TempDir(), "all.ctxdbackup")
	if _, err := a.db.Backup(t.Context(), file, kv.BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := kv.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Restore(t.Context(), file, kv.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, err = kv.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := records(t, db); got != "[old=from before one=entry]" {
		t.Errorf("it has %s", got)
	}
}

func retryable(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Retryable
}

func TestSYNC7_EachBackupOfWhatAJoinReplacesStays(t *testing.T) {
	c := natstest.StartCluster(t, natstest.ClusterOptions{Servers: 1})
	a, words := begun(t, c.URL())
	defer a.stop()
	a.snapshot()
	dir, kept := t.TempDir(), make(map[string]bool)
	for n := range 3 {
		o := joinOptions(t, c.URL(), dir, words)
		o.Again = true
		joined, err := shared.Join(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			kept[joined.Kept] = true
		}
	}
	for path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if len(kept) != 2 {
		t.Errorf("kept %v", kept)
	}
}

// older runs a server, has first and then be done with it, and has it come back with what it had between them:
// all, or of the log alone. What down does is done before.
func older(t *testing.T, first, then func(url string), down func() (logOnly string)) {
	t.Helper()
	dir, old := t.TempDir(), filepath.Join(t.TempDir(), "old")
	c, err := natstest.StartClusterIn(dir, natstest.ClusterOptions{Servers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	first(c.URL())
	c.Stop(0)
	err = errors.Join(os.CopyFS(old, os.DirFS(dir)), c.Start(0))
	if err != nil {
		t.Fatal(err)
	}
	then(c.URL())
	c.Stop(0)
	if log := down(); log != "" {
		lost, err := filepath.Glob(filepath.Join(dir, "*", "jetstream", "*", "streams", log))
		if err != nil || len(lost) != 1 {
			t.Fatalf("the log is in %v, %v", lost, err)
		}
		name, err := filepath.Rel(dir, lost[0])
		if err != nil {
			t.Fatal(err)
		}
		dir, old = lost[0], filepath.Join(old, name)
	}
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(old)), c.Start(0)); err != nil {
		t.Fatal(err)
	}
}

// logOf is the name of the stream of a machine's log.
func logOf(t *testing.T, m *machine) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(m.dir, shared.Folder, "key"))
	if err != nil {
		t.Fatal(err)
	}
	var key struct {
		Stream string `json:"stream"`
	}
	if err := json.Unmarshal(raw, &key); err != nil {
		t.Fatal(err)
	}
	return key.Stream
}

// caughtUp waits until the servers answer.
func (m *machine) caughtUp() {
	m.t.Helper()
	for err := m.db.CatchUp(m.t.Context()); err != nil; err = m.db.CatchUp(m.t.Context()) {
		if !retryable(err) {
			m.t.Fatal(err)
		}
		runtime.Gosched()
	}
}

func TestSYNC6_ServersThatComeBackWithAnOlderStateAreRefused(t *testing.T) {
	var a *machine
	older(t, func(url string) {
		a, _ = begun(t, url)
		t.Cleanup(func() { a.stop() })
		a.put("one", "entry")
	}, func(string) {
		a.caughtUp()
		a.put("two", "entry")
	}, func() string { // what could be put back is gone
		a.stop()
		if err := os.Remove(filepath.Join(a.dir, shared.Folder, nats.KeptFile)); err != nil {
			t.Fatal(err)
		}
		a.start()
		return ""
	})
	var err error
	for !errors.Is(err, outbox.ErrForked) {
		err = a.db.CatchUp(t.Context())
		if err != nil && !errors.Is(err, outbox.ErrForked) && !retryable(err) {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	s, err := a.replica.Status(t.Context())
	if err != nil || s.Newest >= s.Applied || s.Trouble == nil || !errors.Is(s.Trouble, outbox.ErrForked) {
		t.Errorf("status %+v, %v", s, err)
	}
	if h := a.replica.Health(); h.Trouble == nil {
		t.Error("health does not tell")
	}
	text := "more"
	if err := a.db.Update(t.Context(), func(tx *kv.Tx) error { return facts.Put(tx, "three", &text) }); err == nil || retryable(err) {
		t.Errorf("it writes: %v", err)
	}
	if got := records(t, a.db); got != "[old=from before one=entry two=entry]" {
		t.Errorf("it has %s", got)
	}
}

// Servers that lose the end of the log get it back from a machine that has it, in the same places. One that
// has less writes nothing into them before.
func TestSYNC12_TheEndThatServersHaveLostIsPutBack(t *testing.T) {
	for name, logOnly := range map[string]bool{"all": false, "the log alone": true} {
		t.Run(name, func(t *testing.T) {
			var a, b *machine
			older(t, func(url string) {
				a, b = two(t, url)
				a.put("one", "entry")
				b.all()
			}, func(string) {
				a.caughtUp()
				b.stop() // it has nothing of what is lost
				for i := range 20 {
					a.put(fmt.Sprintf("lost %02d", i), "entry")
				}
				a.stop() // it says how far it has come, and the file outlives the process
			}, func() string {
				if logOnly {
					return logOf(t, a)
				}
				return ""
			})
			if logOnly { // the list of machines says that a has more
				b.start()
				toldOfMore(t, b)
			}
			a.start()
			a.caughtUp()
			if !logOnly {
				b.start()
			}
			a.put("next", "entry")
			b.caughtUp()
			b.put("last", "entry")
			want := a.all()
			if got := b.all(); got != want || strings.Count(got, "lost") != 20 || !strings.Contains(got, "next") {
				t.Errorf("one has %s\nthe other %s", want, got)
			}
			s, err := a.replica.Status(t.Context())
			if err != nil || s.Trouble != nil || s.Newest < s.Applied {
				t.Errorf("status %+v, %v", s, err)
			}
		})
	}
}

// two are machines with one store, which end with the test.
func two(t *testing.T, url string) (a, b *machine) {
	t.Helper()
	a, words := begun(t, url)
	t.Cleanup(func() { a.stop() })
	a.snapshot()
	b = &machine{t: t, dir: t.TempDir(), url: url}
	if _, err := shared.Join(t.Context(), joinOptions(t, url, b.dir, words)); err != nil {
		t.Fatal(err)
	}
	b.start()
	t.Cleanup(func() { b.stop() })
	return a, b
}

// toldOfMore waits until a machine is told that another one has more than the log, and lets it write nothing.
func toldOfMore(t *testing.T, m *machine) {
	t.Helper()
	for {
		err := m.db.CatchUp(t.Context())
		if err == nil || !retryable(err) {
			t.Fatalf("it reads a log that has lost its end: %v", err)
		}
		if errors.Is(err, outbox.ErrForked) {
			break
		}
		runtime.Gosched()
	}
	text := "entry"
	err := m.db.Update(t.Context(), func(tx *kv.Tx) error { return facts.Put(tx, "into its place", &text) })
	if !errors.Is(err, outbox.ErrForked) {
		t.Errorf("it writes: %v", err)
	}
}
